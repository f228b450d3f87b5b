//! A life is put into one file while messages flow, and restored elsewhere: all of it is there, and nothing of it is
//! heard, begun or sent before its owner says so.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use selkie_playground::telegram::{ADA, PRIVATE};
use selkie_playground::{Fault, FaultKind, Turn};
use selkie_test_postgres::server;
use serde_json::{Value, json};
use tar::{Archive, Builder};

use crate::support::daemon::Home;
use crate::support::joined::joined;
use crate::support::once::{marks, said};
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

const HELD: &str = "this selkie was restored from";

fn backup(home: &Home, name: &str) -> PathBuf {
    let file = home.folder().join(name);
    let (code, out, error) = home.run(&["backup", path(&file)]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("was checked by reading it again"), "{out}");
    file
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a path")
}

/// What lies beside a backup.
fn beside(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.folder()).expect("a folder");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.contains("tar.gz")).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_life_in_a_file_goes_on_elsewhere_when_its_owner_says_so() {
    goes_on_elsewhere(World::start().await, |home| {
        std::fs::remove_dir_all(home.state()).expect("gone");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_life_in_a_database_goes_on_in_another_one() {
    let mut world = World::start().await;
    world.home.keep_in_postgres();
    goes_on_elsewhere(world, |home| {
        std::fs::remove_dir_all(home.state()).expect("gone");
        home.set("store", json!({ "url": server().database() }));
    })
    .await;
}

async fn goes_on_elsewhere(mut world: World, lose: impl Fn(&mut Home)) {
    let daemon = world.daemon();
    world.ask("the first words").await;
    world.ask("note: buy milk").await;
    settled(&world, 2).await;
    for n in 0..20 {
        world.telegram().say(ADA, ADA, &format!("message {n}"));
    }
    let file = backup(&world.home, "life.tar.gz");
    settled(&world, 22).await;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(beside(&world.home), ["life.tar.gz"], "nothing else is left");
    std::fs::write(world.home.state().join("TODO.md"), "later words").expect("a file");
    let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
    assert!(code == 1 && error.contains("stop it first"), "{error}");
    assert!(daemon.stop().await.success());

    lose(&mut world.home);
    let (code, out, error) = world.home.run(&["restore", path(&file)]);
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.contains("run `selkie resume`"), "{out}");
    let heard = number(&world.home, "SELECT count(*) FROM inbox");
    assert!(heard.is_some_and(|heard| (2..=22).contains(&heard)), "{heard:?}");
    let todo = std::fs::read_to_string(world.home.state().join("TODO.md")).expect("a file");
    assert!(!todo.contains("later words"), "{todo}");
    let left: Vec<_> = std::fs::read_dir(world.home.state()).expect("a folder").flatten().collect();
    assert!(
        !left.iter().any(|e| e.file_name().to_string_lossy().starts_with("restore.")),
        "{left:?}"
    );
    let (code, _, error) = world.home.run(&["ask", "are you there?"]);
    assert!(code == 1 && error.contains(HELD), "{error}");
    let (_, out, _) = world.home.run(&["doctor"]);
    assert!(joined(&out).contains("it was restored from"), "{out}");

    let said = world.said(ADA).len();
    let before = world.home.log().len();
    let daemon = world.home.start();
    world.within("a word of it", world.home.logged(before, |log| log.contains(HELD))).await;
    world.telegram().say(ADA, ADA, "what were my first words?");
    let (code, out, error) = world.home.run(&["status"]);
    assert!(code == 1 && joined(&out).contains(HELD), "{out}{error}");
    let (code, _, error) = world.home.run(&["say", "--to", "tg:4711", "hello"]);
    assert!(code == 1 && error.contains(HELD), "{error}");
    assert_eq!((world.telegram().pending_updates(), world.said(ADA).len()), (1, said));

    let (code, _, error) = world.home.run(&["resume"]);
    assert!(code == 2 && error.contains("add --yes"), "{error}");
    let (code, out, error) = world.home.run(&["resume", "--yes", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!((&told["resumed"], &told["waiting"]), (&true.into(), &"drop".into()), "{told}");
    let up = |log: &str| log.contains("selkie is up");
    world.within("the start", world.home.logged(before, up)).await;
    let answered =
        |_: &str| world.telegram().pending_updates() == 0 && world.said(ADA).len() == said + 1;
    world.within("an answer", world.home.logged(before, answered)).await;
    let last = world.playground.model().requests().last().expect("a request").body.to_string();
    assert!(last.contains("the first words"), "it is not remembered");
    let (code, _, error) = world.home.run(&["resume", "--yes"]);
    assert!(code == 1 && error.contains("there is nothing to resume"), "{error}");
    assert!(daemon.stop().await.success());
}

fn mode(file: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().expect("a file").permissions().mode() & 0o777
}

/// What waited while nothing ran is answered once it goes on: nobody else has done it.
#[tokio::test(flavor = "multi_thread")]
async fn what_waited_in_a_stopped_life_is_answered_where_it_goes_on() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("before").await;
    settled(&world, 1).await;
    let (code, _, error) =
        world.home.run(&["schedules", "add", "--cron", "0 8 * * *", "--say", "good morning"]);
    assert_eq!(code, 0, "{error}");
    assert!(daemon.stop().await.success());
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    conn.execute("UPDATE schedule SET next_at = 1000 WHERE state = 'active'", []).expect("a row");
    drop(conn);
    let file = backup(&world.home, "life.tar.gz");
    let (code, _, error) = world.home.run(&["restore", path(&file)]);
    assert!(code == 1 && error.contains("is not empty") && error.contains("--force"), "{error}");
    let (code, out, error) = world.home.run(&["restore", path(&file), "--force", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(told["was_running"], false);
    let aside = PathBuf::from(told["moved_aside"].as_str().expect("a folder"));
    assert!(aside.starts_with(world.home.state()) && aside.join("selkie.db").exists(), "{aside:?}");
    let (code, out, error) = world.home.run(&["resume", "--yes", "--waiting", "drop", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(told["schedules"], 1, "{told}");
    let why = texts(&world.home, "SELECT why FROM occurrence ORDER BY at DESC LIMIT 1");
    assert!(
        why[0].contains("before selkie was restored") || why[0].contains("too late"),
        "{why:?}"
    );
    let daemon = world.daemon();
    world.ask("after").await;
    assert!(daemon.stop().await.success());
    assert_eq!(world.said(PRIVATE).iter().filter(|m| m.text.contains("good morning")).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_killed_leaves_no_half_one() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    settled(&world, 1).await;
    std::fs::write(world.home.state().join("big.bin"), vec![7; 8 << 20]).expect("a file");
    let file = world.home.folder().join("life.tar.gz");
    let part = world.home.folder().join("life.tar.gz.part");
    for _ in 0..5 {
        let mut command = world.home.command(&["backup", path(&file)]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        while !part.exists() && child.try_wait().expect("a child").is_none() {
            std::thread::yield_now();
        }
        child.kill().expect("a kill");
        child.wait().expect("an end");
        assert!(!file.exists(), "it was killed, and there is a backup");
    }
    let file = backup(&world.home, "life.tar.gz");
    assert_eq!(beside(&world.home), ["life.tar.gz"], "what was killed is taken away");
    let (code, _, error) = world.home.run(&["backup", path(&file)]);
    assert!(code == 1 && error.contains("is there already"), "{error}");
    let (code, _, error) = world.home.run(&["backup", path(&file), "--force"]);
    assert_eq!(code, 0, "{error}");
    let inside = world.home.state().join("life.tar.gz");
    let (code, _, error) = world.home.run(&["backup", path(&inside)]);
    assert!(code == 1 && error.contains("among the files that it is a backup of"), "{error}");
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_leaves_nothing_and_the_old_backup_stays() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let file = backup(&world.home, "life.tar.gz");
    let old = std::fs::read(&file).expect("a file");
    let noise: Vec<u8> =
        (0..1_u32 << 20).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    std::fs::write(world.home.state().join("noise"), noise).expect("a file");
    // Files of at most a megabyte: the database fits, the backup does not.
    let inner = world.home.command(&["backup", path(&file), "--force"]);
    let mut small = Command::new("/bin/sh");
    small.args(["-c", r#"trap "" XFSZ; ulimit -f 2048; exec "$0" "$@""#]).arg(inner.get_program());
    small.args(inner.get_args()).env_clear().stdin(Stdio::null());
    small.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let refused = small.output().expect("it runs");
    let says = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{says}");
    assert!(says.contains("no room for the backup"), "{says}");
    assert_eq!(beside(&world.home), ["life.tar.gz"]);
    assert_eq!(std::fs::read(&file).expect("a file"), old);
}

/// The same backup, whose label says another version of its database.
fn relabelled(whole: &[u8], schema: i64) -> Vec<u8> {
    let mut archive = Archive::new(GzDecoder::new(whole));
    let mut again = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for entry in archive.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let (mut header, mut bytes) = (entry.header().clone(), Vec::new());
        entry.read_to_end(&mut bytes).expect("its bytes");
        let name = entry.path().expect("its name").into_owned();
        if name == Path::new("backup.json") {
            let mut label: Value = serde_json::from_slice(&bytes).expect("a label");
            label["schema"] = schema.into();
            bytes = label.to_string().into_bytes();
        }
        header.set_size(bytes.len() as u64);
        again.append_data(&mut header, name, bytes.as_slice()).expect("written");
    }
    again.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

/// What a damaged database says to run brings its backup back.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_names_the_commands_that_bring_a_backup_back() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("the first words").await;
    assert!(daemon.stop().await.success());
    let file = backup(&world.home, "good.tar.gz");
    std::fs::write(world.home.state().join("selkie.db"), "no database").expect("a file");
    let (code, _, says) = world.home.run(&["run"]);
    assert!(code == 1 && says.contains("selkie.db cannot be used"), "{says}");
    let commands: Vec<&str> =
        says.split('`').filter_map(|words| words.strip_prefix("selkie ")).collect();
    let [restore, resume] = commands[..] else { panic!("{says}") };
    let restore = restore.replacen("FILE", path(&file), 1);
    let (code, out, error) = world.home.run(&restore.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{out}{error}");
    let resume = [&resume.split(' ').collect::<Vec<_>>()[..], &["--yes"]].concat();
    assert_eq!(world.home.run(&resume).0, 0);
    let daemon = world.daemon();
    world.ask("more words").await;
    assert!(daemon.stop().await.success());
    let requests = world.playground.model().requests();
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("the first words"), "it remembers: {last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_or_no_backup_is_not_restored_and_nothing_changes() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let file = backup(&world.home, "life.tar.gz");
    let whole = std::fs::read(&file).expect("a file");
    let mut changed = whole.clone();
    let middle = whole.len() / 2;
    changed[middle] ^= 0xff;
    let (older, odd) = (relabelled(&whole, 3), relabelled(&whole, -7));
    for bytes in [&whole[..middle], &changed, b"no backup".as_slice(), b"", &older, &odd] {
        std::fs::write(&file, bytes).expect("a file");
        let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
        assert!(code == 1 && error.contains("cannot be restored"), "{error}");
    }
    assert_eq!(texts(&world.home, "SELECT count(*) || '' FROM inbox"), ["1"]);
    assert!(!world.home.state().join("restore.part").exists());
    let daemon = world.daemon();
    world.ask("still here").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_config_asks_for_backups_and_a_failure_is_told_once() {
    let mut world = World::start().await;
    let dir = world.home.folder().join("backups");
    std::fs::write(&dir, "in the way").expect("a file");
    world.home.set("backup", json!({ "dir": dir, "keep": 2 }));
    let daemon = world.daemon();
    let failed = |log: &str| log.contains("no backup can be made");
    world.within("a failure", world.home.logged(0, failed)).await;
    let (code, out, error) = world.home.run(&["status"]);
    assert!(code == 1 && joined(&out).contains("none can be made"), "{out}{error}");
    assert!(daemon.stop().await.success());
    std::fs::remove_file(&dir).expect("gone");
    std::fs::create_dir(&dir).expect("a folder");
    for year in [2023, 2024, 2025] {
        std::fs::write(dir.join(format!("selkie-{year}0101T000000Z.tar.gz")), "").expect("a file");
    }
    let from = world.home.log().len();
    let daemon = world.daemon();
    let made = |log: &str| log.contains("a backup was made");
    world.within("a backup", world.home.logged(from, made)).await;
    let (code, out, error) = world.home.run(&["status", "--json"]);
    assert_eq!(code, 0, "{out}{error}");
    let status: Value = serde_json::from_str(&out).expect("json");
    assert!(
        status["backup"]["last_at"].is_string() && status["backup"]["trouble"].is_null(),
        "{status}"
    );
    let mut names: Vec<_> =
        std::fs::read_dir(&dir).expect("a folder").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(
        (names.len(), &names[0]),
        (2, &"selkie-20250101T000000Z.tar.gz".into()),
        "{names:?}"
    );
    assert!(daemon.stop().await.success());
}

/// A database of a newer selkie is refused with the way back, and the copy that the upgrade made goes back.
#[tokio::test(flavor = "multi_thread")]
async fn a_downgrade_is_refused_and_says_how_to_go_back() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("before the upgrade").await;
    assert!(daemon.stop().await.success());
    let copy = world.home.state().join("selkie.db.backup-20260102T030405Z-v1");
    let conn = rusqlite::Connection::open(world.home.database()).expect("a database");
    conn.execute("VACUUM INTO ?1", [path(&copy)]).expect("a copy");
    conn.pragma_update(None, "user_version", 99).expect("a version");
    drop(conn);
    std::fs::write(world.home.state().join("TODO.md"), "written since").expect("a file");
    let (code, _, error) = world.home.run(&["run"]);
    assert!(code == 1 && error.contains("of version 99, this selkie (0.1.0) knows"), "{error}");
    assert!(error.contains(&format!("`selkie restore {} --force`", copy.display())), "{error}");
    let (code, _, error) = world.home.run(&["backup", path(&world.home.folder().join("x"))]);
    assert!(code == 1 && error.contains("of version 99"), "{error}");

    let (code, out, error) = world.home.run(&["restore", path(&copy), "--force", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    let aside = PathBuf::from(told["moved_aside"].as_str().expect("a folder"));
    assert!(aside.join("selkie.db").exists() && copy.exists(), "nothing is thrown away");
    let todo = std::fs::read_to_string(world.home.state().join("TODO.md")).expect("a file");
    assert_eq!(todo, "written since", "the database alone goes back");
    let (code, _, error) = world.home.run(&["resume", "--yes"]);
    assert_eq!(code, 0, "{error}");
    let daemon = world.daemon();
    world.ask("after it").await;
    let last = world.playground.model().requests().last().expect("a request").body.to_string();
    assert!(last.contains("before the upgrade"), "it is not remembered");
    assert!(daemon.stop().await.success());
}

/// The moving of a restore that was broken off goes on where it was, and nothing starts before.
#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_was_broken_off_goes_on_where_it_was() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    let file = backup(&world.home, "life.tar.gz");
    let state = world.home.state();
    // As a kill leaves it between two names: one file of the life before has moved, and one of the new life waits.
    std::fs::create_dir_all(state.join("restore.part")).expect("a folder");
    std::fs::write(state.join("restore.part/TODO.md"), "of the new life").expect("a file");
    std::fs::create_dir_all(state.join("before-restore-1")).expect("a folder");
    std::fs::rename(state.join("selkie.db"), state.join("before-restore-1/selkie.db"))
        .expect("moved");
    std::fs::write(state.join("restore.moving-away"), "before-restore-1\n").expect("a mark");
    let (code, _, error) = world.home.run(&["run"]);
    assert!(code == 1 && error.contains("a restore was interrupted"), "{error}");
    let (code, _, error) = world.home.run(&["restore", path(&file)]);
    assert!(code == 1 && error.contains("is complete now"), "{error}");
    let todo = std::fs::read_to_string(state.join("TODO.md")).expect("a file");
    assert_eq!(todo, "of the new life");
    assert!(state.join("before-restore-1/persona").exists() && !state.join("persona").exists());
    assert!(!state.join("restore.part").exists());
    let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(number(&world.home, "SELECT count(*) FROM inbox"), Some(1));
}

/// Who waited for a task that ran while the backup was made gets no answer from the restored life, and is named.
#[tokio::test(flavor = "multi_thread")]
async fn who_gets_no_answer_from_a_restored_life_is_named() {
    let world = World::start().await;
    let daemon = world.home.start();
    world.playground.model().script(vec![Turn::text("late").delayed(600_000)]);
    world.telegram().say(ADA, ADA, "how long does this take?");
    world.within("a question", world.playground.model().wait_for_calls(1)).await;
    daemon.kill();
    let file = backup(&world.home, "life.tar.gz");
    let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
    assert_eq!(code, 0, "{error}");
    // Once more, of the life that nobody has let go on.
    let file = backup(&world.home, "held.tar.gz");
    let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = world.home.run(&["resume", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!(told["restored"]["stopped"], json!([format!("tg:{ADA}")]), "{told}");
    let (_, out, _) = world.home.run(&["resume", "--waiting", "answer"]);
    let names = format!("1 task was running when the backup was made and is stopped: tg:{ADA}");
    assert!(joined(&out).contains(&names), "{out}");
    let (code, out, error) = world.home.run(&["resume", "--yes"]);
    assert_eq!(code, 0, "{error}");
    assert!(joined(&out).contains(&names), "{out}");
}

/// An answer that the platform has held back was not on its way: the restored life says that it waits, and sends it.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_waits_to_be_sent_is_sent_by_the_restored_life() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.telegram().fault(Fault::next("sendMessage", FaultKind::TooMany { retry_after: 5 }));
    world.telegram().say(ADA, ADA, "a patient one");
    let waits =
        |log: &str| log.contains("will be tried again") && log.contains("receipt is stored");
    world.within("a penalty", world.home.logged(0, waits)).await;
    // A stop would wait for it.
    daemon.kill();
    let file = backup(&world.home, "life.tar.gz");
    let (code, _, error) = world.home.run(&["restore", path(&file), "--force"]);
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = world.home.run(&["resume", "--json"]);
    assert_eq!(code, 0, "{error}");
    let told: Value = serde_json::from_str(&out).expect("json");
    assert_eq!((&told["to_send"], &told["waiting"]), (&1.into(), &"answer".into()), "{told}");
    let (code, out, error) = world.home.run(&["resume", "--yes"]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("1 message that waited is sent now"), "{out}");
    let _daemon = world.daemon();
    settled(&world, 1).await;
    assert_eq!(marks(&said(&world, PRIVATE), &[vec!["a patient one"]]), 0);
}
