//! What commands print for programs stands in the page that says so: every key of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::reload::up;
use crate::support::world::World;

const PAGE: &str = include_str!("../../src/docs/json.md");

/// Rows that say "the same" of what another row prints.
const SAME: [(&str, &str); 4] = [
    ("schedules show ID --json", "schedules list --json"),
    ("memory search QUERY --json", "memory show NAME --json"),
    ("contacts show NAME --json", "contacts list --json"),
    ("forget PERSON --json", "contacts list --json"),
];

/// The words of a row's second column that stand as code.
fn documented(command: &str) -> BTreeSet<&'static str> {
    let begins = format!("| `selkie {command}` | ");
    let row = PAGE.lines().find_map(|line| line.strip_prefix(&begins));
    let row = row.unwrap_or_else(|| panic!("json.md has no row for {command}"));
    let same = SAME.iter().filter(|(row, _)| *row == command).flat_map(|(_, of)| documented(of));
    row.split('`').skip(1).step_by(2).chain(same).collect()
}

/// The keys of a value, so many levels deep.
fn keys(value: &Value, depth: usize, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, depth, found)),
        Value::Object(map) if depth > 0 => {
            for (key, inner) in map {
                found.insert(key.clone());
                keys(inner, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// Every key that is printed stands in the row.
fn stands(row: &str, depth: usize, printed: &Value) {
    let (mut found, known) = (BTreeSet::new(), documented(row));
    keys(printed, depth, &mut found);
    assert!(!found.is_empty(), "{row}: {printed}");
    let missing: Vec<_> = found.iter().filter(|key| !known.contains(key.as_str())).collect();
    assert!(
        missing.is_empty(),
        "{row} prints {missing:?}, which json.md does not name: {printed:#}"
    );
}

fn printed(world: &World, arguments: &[&str]) -> Value {
    let (_, out, err) = world.home.run(&[arguments, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments:?}: {out}{err}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_that_is_printed_stands_in_the_page() {
    let mut world = World::offline().await;
    let daemon = up(&world).await;
    world.ask("note: buy milk").await;
    world.ask("remember that I like tea").await;
    world.home.set("worker", json!({ "max_concurrency": 3 }));
    let add = ["schedules", "add", "--cron", "0 8 * * *", "--remind", "Tea"];
    stands("schedules show ID --json", 2, &printed(&world, &add));
    for (row, depth, arguments) in [
        ("status --json", 3, &["status"][..]),
        ("schedules list --json", 2, &["schedules", "list"]),
        ("schedules show ID --json", 2, &["schedules", "show", "1"]),
        ("trace --json", 2, &["trace"]),
        ("trace MESSAGE --json", 1, &["trace", "1"]),
        ("sessions list --json", 1, &["sessions", "list"]),
        ("sessions show ID --json", 1, &["sessions", "show", "tg:4711"]),
        ("export ID --json", 1, &["export", "tg:4711"]),
        ("todos list --json", 3, &["todos", "list"]),
        ("contacts list --json", 2, &["contacts", "list"]),
        ("memory list --json", 2, &["memory", "list"]),
        ("contacts show NAME --json", 1, &["contacts", "show", "tg:4711"]),
        ("memory show NAME --json", 2, &["memory", "show", "tg:4711"]),
        ("memory search QUERY --json", 2, &["memory", "search", "tea"]),
        ("tools list --json", 1, &["tools", "list"]),
        ("tools list --in WHERE --json", 2, &["tools", "list", "--in", "telegram:group"]),
        ("tools why NAME --json", 1, &["tools", "why", "bash"]),
        ("tools call NAME JSON --json", 1, &["tools", "call", "todo_read", "{}"]),
        ("config check --json", 2, &["config", "check"]),
        ("config show --json", 1, &["config", "show"]),
        ("doctor --json", 1, &["doctor"]),
        ("errors WORD --json", 1, &["errors", "token"]),
        ("pair --json", 1, &["pair"]),
        ("pair list --json", 1, &["pair", "list"]),
        ("say --to ID TEXT --json", 3, &["say", "--to", "tg:4711", "hello"]),
        ("forget PERSON --json", 2, &["forget", "tg:4711"]),
        ("reload --json", 2, &["reload"]),
        ("support-bundle FILE --json", 2, &["support-bundle", "bundle.tar.gz"]),
        ("backup FILE --json", 1, &["backup", "life.tar.gz"]),
        ("service status --json", 1, &["service", "status"]),
    ] {
        stands(row, depth, &printed(&world, arguments));
    }
    assert!(daemon.stop().await.success());
    stands("restore FILE --json", 1, &printed(&world, &["restore", "life.tar.gz", "--force"]));
    stands("resume --json", 2, &printed(&world, &["resume"]));
}
