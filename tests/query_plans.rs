//! No statement reads through a table that grows with every message, but those that are named here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use rusqlite::types::Null;
use rusqlite::{Connection, params_from_iter};

const SCHEMA: &str = include_str!("../src/store/sqlite/schema.sql");

/// What grows with every message.
const GROWING: [&str; 6] = ["inbox", "task", "transcript", "outbound", "part", "question"];

/// Beginnings of statements that may: a group that moves, once; the janitor's pages, which end at a LIMIT in the
/// order of the rows.
const MAY: [&str; 9] = [
    "UPDATE inbox SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE outbound SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE part SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE question SET conversation = ?1 WHERE conversation = ?2",
    "UPDATE task SET lane = ?2 WHERE lane = ?1",
    "DELETE FROM transcript WHERE (task, seq) IN",
    "DELETE FROM inbox WHERE id IN (SELECT i.id FROM (SELECT id, task, stored_at FROM inbox ORDER BY id LIMIT ?2)",
    "SELECT o.id FROM (SELECT id, created_at FROM outbound ORDER BY id LIMIT ?2)",
    "SELECT t.id FROM (SELECT id, ended_at FROM task ORDER BY id LIMIT ?2)",
];

#[test]
fn no_statement_reads_a_growing_table_through() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    let mut looked_at = 0;
    let mut unused: BTreeSet<&str> = MAY.into();
    let mut wrong = Vec::new();
    for file in sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/sqlite"))) {
        for sql in statements(&file) {
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

/// The statements of a file, one line each, with the file's own constants put in.
fn statements(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let production = text.split("#[cfg(test)]").next().unwrap();
    let mut literals = Vec::new();
    collect(production.parse().unwrap(), &mut literals);
    let constants: BTreeMap<&str, &str> =
        literals.iter().filter_map(|(name, text)| Some((name.as_deref()?, &**text))).collect();
    let filled = |text: &str| {
        constants
            .iter()
            .fold(text.to_owned(), |sql, (name, value)| sql.replace(&format!("{{{name}}}"), value))
    };
    let is_part = |name: &Option<String>| {
        let placed = name.as_ref().map(|name| format!("{{{name}}}"));
        placed.is_some_and(|placed| literals.iter().any(|(_, text)| text.contains(&placed)))
    };
    let verbs = ["SELECT ", "UPDATE ", "DELETE ", "INSERT ", "WITH "];
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    literals
        .iter()
        .filter(|(name, _)| !is_part(name))
        .map(|(_, text)| one_line(&filled(&filled(text))))
        .filter(|sql| verbs.iter().any(|verb| sql.starts_with(verb)))
        .collect()
}

/// Collects string literals, each with the name of the constant that it is.
fn collect(tokens: TokenStream, literals: &mut Vec<(Option<String>, String)>) {
    let mut name = None;
    let mut after_const = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), literals),
            TokenTree::Ident(ident) if after_const => name = Some(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ';' => name = None,
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    literals.push((name.take(), text.value()));
                }
            }
            TokenTree::Ident(ident) if ident == "const" => {
                after_const = true;
                continue;
            }
            _ => {}
        }
        after_const = false;
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("fixtures") {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
