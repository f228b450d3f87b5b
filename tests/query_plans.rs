//! No statement reads through a table that grows with every message, but those that are named here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};
use selkie::store::postgres::{ReturnKind, spelled};

const SCHEMA: &str = include_str!("../src/store/sqlite/schema.sql");
const POSTGRES: &str = include_str!("../src/store/postgres/schema.sql");

/// What grows with every message.
const GROWING: [&str; 6] = ["inbox", "task", "transcript", "outbound", "part", "question"];

/// Folders whose statements are no verbs of SQLite's.
const SKIPPED: [&str; 4] = ["tests", "fixtures", "conformance", "postgres"];

/// Beginnings of statements that may: a group that moves, once; the janitor's pages and the newest tasks, which end
/// at a LIMIT in the order of the rows; what the owner is shown before a person is forgotten, and what is exported, by hand.
const MAY: [&str; 15] = [
    "SELECT i.conversation, i.inbound FROM inbox i WHERE i.inbound LIKE ?1",
    "SELECT i.disposition, i.inbound, i.conversation, i.id, i.stored_at, t.state, t.finish, i.spoken FROM inbox i LEFT JOIN task t",
    "SELECT o.id, o.body, o.task, o.inbox, o.call, o.created_at, t.conversation",
    "UPDATE inbox SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE outbound SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE part SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE question SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE task SET lane = ?2 WHERE lane = ?1",
    "DELETE FROM transcript WHERE (task, seq) IN",
    "DELETE FROM inbox WHERE id IN (SELECT i.id FROM (SELECT id, task, stored_at FROM inbox ORDER BY id LIMIT ?2)",
    "SELECT o.id FROM (SELECT id, created_at FROM outbound ORDER BY id LIMIT ?2)",
    "SELECT t.id FROM (SELECT id, ended_at FROM task ORDER BY id LIMIT ?2)",
    "SELECT t.id, c.account, c.key, t.state, t.why",
    "SELECT c.account, c.key, c.place,",
    "SELECT COUNT(*), CAST(COALESCE(SUM(calls), 0) AS BIGINT), CAST(COALESCE(SUM(input), 0) AS BIGINT), CAST(COALESCE(SUM(cached), 0) AS BIGINT), CAST(COALESCE(SUM(output), 0) AS BIGINT), CAST(COALESCE(SUM(micro_usd), 0) AS BIGINT) FROM (SELECT created_at",
];

#[test]
fn no_statement_reads_a_growing_table_through() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    let mut looked_at = 0;
    let mut unused: BTreeSet<&str> = MAY.into();
    let mut wrong = Vec::new();
    let files = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store")));
    let heads: Heads = files.iter().flat_map(|file| heads(tokens(file))).collect();
    assert!(heads.len() >= 3, "only {} heads of statements were found", heads.len());
    for file in &files {
        for sql in statements(file, &heads, "sqlite") {
            // What code composes is not known here.
            if sql.contains(['{', '}']) {
                continue;
            }
            let plan = plan(&conn, &sql);
            looked_at += 1;
            let scans: Vec<&String> =
                plan.iter().filter(|line| reads_through(line, &sql)).collect();
            if scans.is_empty() {
                continue;
            }
            match MAY.iter().find(|may| sql.starts_with(**may)) {
                Some(may) => _ = unused.remove(may),
                None => wrong.push(format!("{}: {sql}\n    {scans:?}", file.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "these read nothing through any more: {unused:?}");
    assert!(looked_at > 150, "only {looked_at} statements were found");
}

/// What the verbs bind: integers of 64 bits, texts and bytes. A parameter that the server takes for less would refuse a large
/// number, and a statement that it does not take at all would fail where no test goes.
#[test]
fn postgresql_takes_every_statement() {
    let server = selkie_test_postgres::server();
    let url = server.database();
    let database = url.rsplit('/').next().unwrap();
    let files = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/verbs")));
    let heads: Heads = files.iter().flat_map(|file| heads(tokens(file))).collect();
    let all: Vec<String> =
        files.iter().flat_map(|file| statements(file, &heads, "postgres")).collect();
    // What code composes is not known here, nor is a part of a statement.
    let whole = |sql: &&String| {
        !sql.contains(['{', '}']) && sql.contains(" FROM ") | !sql.starts_with("SELECT")
    };
    let all: Vec<&String> = all.iter().filter(whole).collect();
    assert!(all.len() > 150, "only {} statements were found", all.len());
    let prepare = all
        .iter()
        .enumerate()
        .map(|(n, sql)| format!("PREPARE s{n} AS {};", spelled(sql, ReturnKind::AsWritten)));
    let ask = "SELECT statement, parameter_types FROM pg_prepared_statements
        WHERE parameter_types::TEXT !~ '^[{](bigint|text|bytea|,)*[}]$'";
    let script = format!("{POSTGRES};{}{ask}", prepare.collect::<String>());
    assert_eq!(server.psql(database, &script), "", "parameters of other types");
}

/// Whether this line of a plan goes through all of a growing table, under the name the statement gives it.
fn reads_through(line: &str, sql: &str) -> bool {
    let Some(rest) = line.strip_prefix("SCAN ") else { return false };
    let (name, how) = rest.split_once(' ').unwrap_or((rest, ""));
    // A partial index holds few rows.
    let grows = |table: &str| {
        name == table
            || [" ", " AS "].iter().any(|by| sql.contains(&format!(" {table}{by}{name} ")))
    };
    !how.contains("INDEX") && GROWING.iter().any(|table| grows(table))
}

fn plan(conn: &Connection, sql: &str) -> Vec<String> {
    let prepared = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"));
    let mut statement = prepared.unwrap_or_else(|e| panic!("{e}: {sql}"));
    let nothing = vec![Null; statement.parameter_count()];
    let lines = statement.query_map(params_from_iter(nothing), |row| row.get(3)).unwrap();
    lines.collect::<Result<_, _>>().unwrap()
}

/// What macros put before a statement's end, by their names.
type Heads = BTreeMap<String, String>;

/// What a file does in production.
fn tokens(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap().parse().unwrap()
}

/// The macros of a file that put a statement together: each has one text, to which its argument is added.
fn heads(tokens: TokenStream) -> Vec<(String, String)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let defined = tokens.windows(4).filter_map(|window| match window {
        [
            TokenTree::Ident(word),
            TokenTree::Punct(_),
            TokenTree::Ident(name),
            TokenTree::Group(body),
        ] if word == "macro_rules" => {
            let mut texts = Vec::new();
            collect(body.stream(), &Heads::new(), &mut texts);
            texts.pop().map(|head| (name.to_string(), head))
        }
        _ => None,
    });
    defined.collect()
}

/// The statements of a file, one line each, as one engine reads them.
fn statements(file: &Path, heads: &Heads, engine: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let other = if engine == "sqlite" { "postgres" } else { "sqlite" };
    let spelled = without_spelling(tokens(file), other);
    collect(spelled, heads, &mut texts);
    let verbs = ["SELECT ", "UPDATE ", "DELETE ", "INSERT ", "WITH "];
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let statements = texts.into_iter().map(one_line);
    statements.filter(|sql| verbs.iter().any(|verb| sql.starts_with(verb))).collect()
}

/// Takes out the texts of `Spellings` that another engine reads: `sqlite: "…"`.
fn without_spelling(tokens: TokenStream, other: &str) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_other = |at: usize| {
        let before = |many: usize| at.checked_sub(many).map(|at| tokens[at].to_string());
        before(2).as_deref() == Some(other) && before(1).as_deref() == Some(":")
    };
    let kept = tokens.iter().enumerate().filter_map(|(at, token)| match token {
        TokenTree::Literal(_) if is_other(at) => None,
        TokenTree::Group(group) => {
            let inner = without_spelling(group.stream(), other);
            Some(TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner)))
        }
        token => Some(token.clone()),
    });
    kept.collect()
}

/// Collects string literals; that of a macro which puts a statement together comes with its head.
fn collect(tokens: TokenStream, heads: &Heads, texts: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let text = |place: Option<usize>| place.map(|at| tokens[at].to_string()).unwrap_or_default();
    for (at, token) in tokens.iter().enumerate() {
        let before = |many| text(at.checked_sub(many));
        match token {
            TokenTree::Group(_) if before(3) == "macro_rules" => {}
            TokenTree::Group(group) => {
                let head = heads.get(&before(2)).filter(|_| before(1) == "!");
                let from = texts.len();
                collect(group.stream(), heads, texts);
                if let (Some(head), [rest]) = (head, &mut texts[from..]) {
                    rest.insert_str(0, head);
                }
            }
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    texts.push(text.value());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
