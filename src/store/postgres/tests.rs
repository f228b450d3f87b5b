//! The engine against a real server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering as Memory};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use selkie_test_postgres::{Server, server};

use super::metrics::Metrics;
use super::shared::ConnectionSettings;
use super::tls::Tls;
use super::{Address, Postgres, schema};
use crate::conformance::{
    Fixture, at, cursor, draft, finish, finished, fuse, histories_agree, instance, message,
    random_histories, receipt, run_all, task,
};
use crate::database::Opener;
use crate::engine::{Class, Engine, Key, Verb, job};
use crate::error::{Result, StoreError};
use crate::sql::SqlLedger;
use crate::sqlite::Sqlite;
use crate::tables::TABLES;
use crate::tx::Tx;
use crate::value::params;
use crate::{Ledger, Outcome};
use selkie_domain::clock::ManualClock;

mod encrypted;
mod proxy;

use proxy::{Cut, Proxy, in_url};

fn owner(name: &str) -> Opener {
    Opener { instance: name.to_owned(), host: "here".to_owned(), pid: 4711 }
}

fn open(url: &str) -> Result<Postgres> {
    open_as(url, "one")
}

fn open_as(url: &str, name: &str) -> Result<Postgres> {
    let address = Address::read(url, None).unwrap();
    let tls = selkie_channel_core::tls::client_config(rustls::RootCertStore::empty).unwrap();
    Postgres::open(address, owner(name), &tls)
}

fn open_with_patience(url: &str, patience: Duration) -> Result<Postgres> {
    let address = Address::read(url, None).unwrap();
    let tls = selkie_channel_core::tls::client_config(rustls::RootCertStore::empty).unwrap();
    let shared = ConnectionSettings::new(address, Tls::new(&tls), owner("one"), Metrics::new(6));
    Postgres::over(shared.with_patience(patience))
}

fn refusal(opened: Result<Postgres>) -> String {
    opened.map(|_| ()).unwrap_err().to_string()
}

fn database(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

async fn write<T: Send + 'static>(
    engine: &dyn Engine,
    key: u64,
    verb: impl Fn(&mut dyn Tx) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (job, answer) = job(verb);
    let (class, key) = (Class::Durable, Key(key));
    engine.write(Verb { class, bytes: 0, key, came: std::time::Instant::now(), job });
    answer.wait().await
}

/// A verb that writes and reads: one more lane of this name, and how many there are.
async fn add(engine: &dyn Engine, name: &'static str) -> Result<i64> {
    let verb = move |tx: &mut dyn Tx| {
        let count: i64 = tx.only("SELECT COUNT(*) FROM lane", params![])?;
        let id =
            tx.insert("INSERT INTO lane (name) VALUES (?1)", params![&format!("{name} {count}")])?;
        tx.execute_later("UPDATE lane SET ready_at = ?2 WHERE id = ?1", params![id, count])?;
        tx.execute_later("UPDATE lane SET oldest = ?2 WHERE id = ?1", params![id, count])?;
        Ok(count + 1)
    };
    write(engine, 0, verb).await
}

#[test]
fn an_opening_that_is_cut_anywhere_is_a_database_that_is_away() {
    for cut in [Cut::Before, Cut::After] {
        let url = server().database();
        let proxy = Proxy::before(server().socket_folder());
        let through = format!("postgres://selkie@{}/{}", in_url(proxy.folder()), database(&url));
        for message in 1..100 {
            proxy.cut(message, cut);
            let opened = open(&through).map(drop);
            if proxy.cuts() < message {
                opened.unwrap();
                assert!(message > 8, "{message} messages are too few");
                break;
            }
            assert!(
                !matches!(&opened, Err(error) if !matches!(error, StoreError::Away(_))),
                "{cut:?} {message}: {opened:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_verb_is_written_and_read() {
    let url = server().database();
    let store = open(&url).unwrap();
    let lane = write(&store, 0, |tx| {
        let lane = tx.insert("INSERT INTO lane (name) VALUES (?1)", params!["a\0b"])?.unwrap();
        tx.execute_later("UPDATE lane SET ready_at = ?2 WHERE id = ?1", params![lane, 7_i64])?;
        tx.execute_later("UPDATE lane SET oldest = ?2 WHERE id = ?1", params![lane, 9_i64])?;
        let sum = "SELECT SUM(ready_at + oldest) FROM lane WHERE id = ?1";
        assert_eq!(tx.only::<i64>(sum, params![lane])?, 16);
        Ok(lane)
    });
    let lane = lane.await.unwrap();
    let (job, name) = job(move |tx: &mut dyn Tx| {
        tx.only::<String>("SELECT name FROM lane WHERE id = ?1", params![lane])
    });
    store.read(job).await;
    assert_eq!(name.wait().await.unwrap(), "a\u{FFFD}b");
    assert_eq!(store.syncs(), 1);
    // Once prepared: BEGIN, the proof and the insert in one, three more with the commit.
    add(&store, "x").await.unwrap();
    let before = store.traffic();
    add(&store, "x").await.unwrap();
    let after = store.traffic();
    assert_eq!(after.round_trips - before.round_trips, 3);
    assert_eq!(after.statements - before.statements, 7);
}

#[tokio::test]
async fn a_verb_that_fails_leaves_nothing() {
    let url = server().database();
    let store = open(&url).unwrap();
    let refused = write(&store, 0, |tx| {
        tx.execute("INSERT INTO lane (name) VALUES (?1)", params!["lost"])?;
        Err::<(), _>(StoreError::Corrupt("as it happens".to_owned()))
    });
    assert!(matches!(refused.await, Err(StoreError::Corrupt(_))));
    let refused = write(&store, 0, |tx| tx.execute("SELECT nothing FROM nowhere", params![]));
    assert!(matches!(refused.await, Err(StoreError::Broken(_))));
    assert_eq!(add(&store, "x").await.unwrap(), 1);
}

#[tokio::test]
async fn one_selkie_has_a_database() {
    let url = server().database();
    let store = open(&url).unwrap();
    add(&store, "x").await.unwrap();
    let why = refusal(open_as(&url, "two"));
    assert!(why.contains("process 4711 on here has had it since 20"), "{why}");
    drop(store);
    let store = open_as(&url, "two").unwrap();
    assert_eq!(add(&store, "x").await.unwrap(), 2);
}

#[tokio::test]
async fn who_has_lost_the_database_writes_nothing_more() {
    let url = server().database();
    let first = open(&url).unwrap();
    add(&first, "x").await.unwrap();
    // The connection that holds the lock is cut, and another selkie starts before it is made again.
    let cut =
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database =
        (SELECT oid FROM pg_database WHERE datname = current_database())";
    server().psql(database(&url), cut);
    let second = open_as(&url, "two").unwrap();
    for key in 0..4 {
        let lost =
            write(&first, key, |tx| tx.execute("INSERT INTO lane (name) VALUES ('y')", params![]));
        let why = lost.await.unwrap_err().to_string();
        assert!(why.contains("another selkie has the database"), "{why}");
    }
    assert!(first.in_place().is_err());
    assert_eq!(add(&second, "x").await.unwrap(), 2);
}

#[tokio::test]
async fn who_was_in_the_way_is_got_over() {
    let url = server().database();
    let store = open(&url).unwrap();
    let fail = "CREATE FUNCTION fail(code TEXT) RETURNS BIGINT LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''on demand'' USING ERRCODE = code; END'";
    server().psql(database(&url), fail);
    for (code, most, holds) in
        [("40001", 3, true), ("40P01", 3, true), ("40001", 4, false), ("57014", 1, false)]
    {
        let runs = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&runs);
        let verb = move |tx: &mut dyn Tx| {
            tx.execute_later(
                "INSERT INTO lane (name) SELECT 'n' || COUNT(*) FROM lane",
                params![],
            )?;
            if seen.fetch_add(1, Memory::SeqCst) < most {
                tx.only::<i64>("SELECT fail(?1)", params![code])?;
            }
            Ok(())
        };
        assert_eq!(write(&store, 0, verb).await.is_ok(), holds, "{code}");
        assert_eq!(runs.load(Memory::SeqCst), if code == "57014" { 1 } else { 4 }, "{code}");
    }
    assert_eq!(server().psql(database(&url), "SELECT COUNT(*) FROM lane"), "2");
    assert_eq!(store.traffic().reruns, 9);
}

#[tokio::test]
async fn two_that_wait_for_each_other_both_come_through() {
    let url = server().database();
    let store = Arc::new(open(&url).unwrap());
    server().psql(database(&url), "INSERT INTO lane (name) VALUES ('a'), ('b')");
    let both = Arc::new(Barrier::new(2));
    let verb = |first: i64, second: i64| {
        let (both, met) = (Arc::clone(&both), Mutex::new(false));
        move |tx: &mut dyn Tx| {
            let add = "UPDATE lane SET ready_at = COALESCE(ready_at, 0) + 1 WHERE id = ?1";
            tx.execute(add, params![first])?;
            if !std::mem::replace(&mut *met.lock().unwrap(), true) {
                both.wait();
            }
            tx.execute(add, params![second])
        }
    };
    let (one, other) =
        tokio::join!(write(store.as_ref(), 0, verb(1, 2)), write(store.as_ref(), 1, verb(2, 1)));
    assert_eq!((one.unwrap(), other.unwrap()), (1, 1));
    assert_eq!(
        server().psql(database(&url), "SELECT MIN(ready_at), MAX(ready_at) FROM lane"),
        "2|2"
    );
    // At least one was the deadlock's victim; on a slow machine the server may choose both.
    assert!(store.traffic().reruns >= 1);
}

#[tokio::test]
async fn wherever_the_connection_is_cut_a_verb_is_done_once() {
    for cut in [Cut::Before, Cut::After] {
        let url = server().database();
        let proxy = Proxy::before(server().socket_folder());
        let through = format!("postgres://selkie@{}/{}", in_url(proxy.folder()), database(&url));
        let store = open(&through).unwrap();
        add(&store, "x").await.unwrap();
        let mut done = 1;
        for message in 1.. {
            proxy.cut(message, cut);
            done += 1;
            assert_eq!(add(&store, "x").await.unwrap(), done, "{cut:?} {message}");
            if proxy.cuts() < message {
                assert!(message > 12, "{message} messages are too few");
                break;
            }
        }
        proxy.cut(0, cut);
        assert_eq!(server().psql(database(&url), "SELECT COUNT(*) FROM lane"), done.to_string());
    }
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_given_up_and_the_verb_done_once() {
    let url = server().database();
    let proxy = Proxy::before(server().socket_folder());
    let through = format!("postgres://selkie@{}/{}", in_url(proxy.folder()), database(&url));
    let store = open_with_patience(&through, Duration::from_millis(300)).unwrap();
    add(&store, "x").await.unwrap();
    let mut done = 1;
    for message in [1, 2, 4, 6] {
        proxy.cut(message, Cut::Silent);
        done += 1;
        assert_eq!(add(&store, "x").await.unwrap(), done, "{message}");
        assert!(proxy.cuts() > 0);
    }
    proxy.cut(0, Cut::Silent);
    assert_eq!(server().psql(database(&url), "SELECT COUNT(*) FROM lane"), done.to_string());
}

#[tokio::test]
async fn tables_that_are_not_what_they_are_said_to_be_are_refused_by_name() {
    let url = server().database();
    drop(open(&url).unwrap());
    let run = |sql: &str| server().psql(database(&url), sql);
    run("UPDATE schema_version SET version = 3");
    let why = refusal(open(&url));
    assert!(why.contains("schema_version says that the tables are of version 3"), "{why}");
    run("DELETE FROM schema_version");
    let why = refusal(open(&url));
    assert!(why.contains("the table schema_version has no row"), "{why}");
    run(&format!("INSERT INTO schema_version (id, version) VALUES (1, {})", schema::NEWEST));
    run("DROP TABLE penalty CASCADE");
    let why = refusal(open(&url));
    assert!(why.contains("the table penalty is missing"), "{why}");
}

#[tokio::test]
async fn a_database_that_is_away_acknowledges_nothing_and_comes_back() {
    let server = Server::start("");
    let url = server.database();
    let store = open(&url).unwrap();
    add(&store, "x").await.unwrap();
    server.crash();
    for _ in 0..3 {
        assert!(matches!(add(&store, "x").await, Err(StoreError::Broken(_))));
    }
    assert!(store.in_place().is_err());
    let why = open_as(&url, "two").map(|_| ()).unwrap_err();
    assert!(matches!(why, StoreError::Away(_)), "{why:?}");
    server.start_again("");
    let mut back = add(&store, "x").await;
    while back.is_err() {
        tokio::task::yield_now().await;
        back = add(&store, "x").await;
    }
    assert_eq!(back.unwrap(), 2);
    store.in_place().unwrap();
}

#[tokio::test]
async fn a_server_that_forgets_or_only_reads_is_refused() {
    let server = Server::start("-c fsync=off");
    let url = server.database();
    let why = refusal(open(&url));
    assert!(why.contains("set fsync = on in postgresql.conf"), "{why}");
    server.stop();
    server.start_again("-c fsync=on -c default_transaction_read_only=on");
    let why = open(&url).map(|_| ()).unwrap_err();
    assert!(
        matches!(&why, StoreError::Away(why) if why.contains("default_transaction_read_only is on")),
        "{why:?}"
    );
    server.stop();
    server.start_again("-c fsync=on");
    let store = open(&url).unwrap();
    add(&store, "x").await.unwrap();
    // It becomes a replica while we are connected.
    server.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    server.psql("postgres", "SELECT pg_reload_conf()");
    while add(&store, "x").await.is_ok() {}
    let why = store.in_place().unwrap_err().to_string();
    assert!(why.contains("default_transaction_read_only is on"), "{why}");
}

#[tokio::test]
async fn a_missing_right_is_named_with_its_grant() {
    let url = server().database();
    let name = database(&url);
    server().psql("postgres", "CREATE ROLE guest LOGIN");
    let guest = server().url_for("guest", name);
    let why = refusal(open(&guest));
    assert!(why.contains("GRANT USAGE, CREATE ON SCHEMA public TO \"guest\""), "{why}");
    drop(open(&url).unwrap());
    let why = refusal(open(&guest));
    assert!(why.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES"), "{why}");
    server()
        .psql(name, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest");
    server().psql(name, "REVOKE DELETE ON part FROM guest");
    let why = refusal(open(&guest));
    assert!(why.contains("no right to DELETE in the table part"), "{why}");
    server().psql(name, "GRANT DELETE ON part TO guest");
    open(&guest).unwrap();
    server().psql("postgres", &format!("REVOKE CONNECT ON DATABASE {name} FROM PUBLIC"));
    let why = refusal(open(&guest));
    assert!(why.contains("GRANT CONNECT ON DATABASE"), "{why}");
    let why = refusal(open(&server().url("nowhere")));
    assert!(why.contains("CREATE DATABASE \"nowhere\""), "{why}");
}

#[test]
fn what_stays_until_somebody_changes_it_is_not_waited_for() {
    let url = server().database();
    let name = database(&url);
    server().psql(name, "CREATE TABLE task (id INT)");
    let why = open(&url).map(drop).unwrap_err();
    assert!(matches!(&why, StoreError::Damaged(why) if why.contains("another program")), "{why:?}");
    let why = open(&server().url_for("nobody_here", name)).map(drop).unwrap_err();
    assert!(
        matches!(&why, StoreError::Damaged(why) if why.contains("rejects the login")),
        "{why:?}"
    );
    server()
        .psql("postgres", &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    let why = open(&url).map(drop).unwrap_err();
    let told = |why: &str| why.contains("default_transaction_read_only is on");
    assert!(matches!(&why, StoreError::Away(why) if told(why)), "{why:?}");
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let url = server().database();
    drop(open(&url).unwrap());
    server().psql(database(&url), "UPDATE schema_version SET version = 99");
    assert!(matches!(open(&url), Err(StoreError::Newer { found: 99, .. })));
}

#[tokio::test]
async fn another_encoding_is_refused() {
    let name = "latin";
    let make = "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'";
    server().psql("postgres", make);
    let why = refusal(open(&server().url(name)));
    assert!(why.contains("its encoding is LATIN1"), "{why}");
}

struct OnServer {
    url: String,
    opened: AtomicU32,
}

impl Fixture for OnServer {
    fn open(&self) -> Arc<dyn Ledger> {
        let instance = format!("start {}", self.opened.fetch_add(1, Memory::SeqCst));
        ledger(open_as(&self.url, &instance).unwrap())
    }
}

fn fixture() -> Box<dyn Fixture> {
    Box::new(OnServer { url: server().database(), opened: AtomicU32::new(0) })
}

fn ledger(engine: Postgres) -> Arc<dyn Ledger> {
    Arc::new(SqlLedger::over(Arc::new(engine), Arc::new(ManualClock::at(at(0)))))
}

#[tokio::test]
async fn it_keeps_every_law() {
    run_all(fixture).await;
}

#[test]
fn random_histories_keep_the_promises() {
    random_histories(fixture);
}

struct InFile(tempfile::TempDir);

impl Fixture for InFile {
    fn open(&self) -> Arc<dyn Ledger> {
        let engine = Sqlite::open(&self.0.path().join("selkie.db"), at(0)).unwrap();
        Arc::new(SqlLedger::over(Arc::new(engine), Arc::new(ManualClock::at(at(0)))))
    }
}

#[test]
fn both_engines_come_to_the_same() {
    histories_agree(|| Box::new(InFile(tempfile::tempdir().unwrap())), fixture);
}

/// One plain message: stored and claimed, answered, sent, its receipt stored.
async fn plain(ledger: &dyn Ledger, n: i64, order: i64) {
    let accepted = ledger.accept(vec![task(message(n, order))], Some(cursor("1")), fuse(1)).await;
    let claimed = accepted.unwrap().claimed.remove(0);
    let said = finished(ledger, &claimed.claim, finish("yes", vec![draft(n, 1)])).await;
    let part = said[0].parts[0].id;
    assert!(ledger.sending(part, &instance("a")).await.unwrap());
    ledger.settle(part, Outcome::Sent(receipt("1"))).await.unwrap();
}

/// What is stored of plain messages, all of it in order.
fn stored(database: &str) -> String {
    let all = "SELECT t.state, t.attempts, t.finish, p.state, p.attempts, i.key FROM inbox i
        JOIN task t ON t.id = i.task JOIN outbound o ON o.task = t.id JOIN part p ON p.outbound = o.id
        ORDER BY i.ord";
    server().psql(database, all)
}

#[tokio::test]
async fn wherever_the_connection_is_cut_a_message_goes_through_once() {
    for cut in [Cut::Before, Cut::After] {
        let url = server().database();
        let proxy = Proxy::before(server().socket_folder());
        let through = format!("postgres://selkie@{}/{}", in_url(proxy.folder()), database(&url));
        let ledger = ledger(open(&through).unwrap());
        for order in 1..5 {
            plain(ledger.as_ref(), 1, order).await;
        }
        let mut order = 5;
        loop {
            proxy.cut(u64::try_from(order - 4).unwrap(), cut);
            plain(ledger.as_ref(), 1, order).await;
            if proxy.cuts() < u64::try_from(order - 4).unwrap() {
                break;
            }
            order += 1;
        }
        proxy.cut(0, cut);
        assert!(order > 30, "{order} statements are too few");
        let wanted: Vec<String> =
            (1..=order).map(|n| format!("done|1|{n}|sent|1|tg:8:-1:{n}")).collect();
        assert_eq!(stored(database(&url)), wanted.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_stand_in_nobodys_way_for_good() {
    const EACH: i64 = 12;
    let url = server().database();
    let engine = Arc::new(open(&url).unwrap());
    let clock = Arc::new(ManualClock::at(at(0)));
    let ledger: Arc<dyn Ledger> =
        Arc::new(SqlLedger::over(Arc::clone(&engine) as Arc<dyn Engine>, clock));
    let talks = (1..=16).map(|n| {
        let ledger = Arc::clone(&ledger);
        async move {
            for order in 0..EACH {
                plain(ledger.as_ref(), n, n * 1000 + order).await;
            }
        }
    });
    futures_util::future::join_all(talks).await;
    let counts = ledger.counts().await.unwrap();
    assert_eq!((counts.inbox, counts.waiting, counts.running, counts.queued), (16 * 12, 0, 0, 0));
    println!("{:?}", engine.traffic());
}

#[test]
fn both_engines_have_the_same_columns() {
    let url = server().database();
    drop(open(&url).unwrap());
    for table in TABLES {
        let sql = format!(
            "SELECT column_name FROM information_schema.columns WHERE table_name = '{}'
                 AND is_generated = 'NEVER' ORDER BY ordinal_position",
            table.name
        );
        let columns = server().psql(database(&url), &sql);
        let columns: Vec<&str> = columns.lines().collect();
        assert_eq!(columns.join(", "), table.columns, "{}", table.name);
    }
    let sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'
        AND table_name NOT IN ('schema_version', 'owner', 'fence')";
    assert_eq!(server().psql(database(&url), sql), TABLES.len().to_string());
}
