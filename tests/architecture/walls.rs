//! The walls themselves: each takes the tree and gives its offences.

use std::collections::BTreeSet;

use crate::circles;
use crate::facts::Word;
use crate::resolve;
use crate::source::{self, Source, Tree};

/// The engine's floors from the ground up: a folder imports lower ones alone. Between crates the manifests say so.
const FLOORS: &[&str] = &["clocks", "delivery", "work", "intake", "terminal", "flow"];

/// Parts of words that only a platform's own home may say, in any case.
const PLATFORMS: &[&str] = &["telegram", "slack", "twitter", "discord", "line_bot", "linebot"];

/// What ids of a platform begin with.
const PREFIXES: &[&str] = &["tg:", "slack:", "line:", "x:"];

/// The addresses that library code may hold, with the file that holds them: defaults of settings.
const ADDRESSES: &[(&str, &str)] = &[
    ("src/config/conventional_env.rs", "api.search.brave.com"),
    ("src/llm/settings/check.rs", "api.openai.com"),
    ("src/llm/settings/provider.rs", "api.anthropic.com"),
    ("src/llm/settings/provider.rs", "api.deepseek.com"),
    ("src/llm/settings/provider.rs", "api.groq.com"),
    ("src/llm/settings/provider.rs", "api.mistral.ai"),
    ("src/llm/settings/provider.rs", "api.openai.com"),
    ("src/llm/settings/provider.rs", "generativelanguage.googleapis.com"),
    ("src/llm/settings/provider.rs", "openrouter.ai"),
    ("src/tools/web/search.rs", "duckduckgo.com"),
    ("src/tools/web/web_search.rs", "api.search.brave.com"),
    ("src/tools/web/web_search.rs", "html.duckduckgo.com"),
];

/// The files that may do what the compiler cannot check.
const UNSAFE: &[&str] = &["src/app/idle_memory.rs", "src/sandbox/kernel.rs"];

/// Longest file, in lines that are not for tests.
const MAX_LENGTH: usize = 420;

/// Every wall's offences.
pub fn all(tree: &Tree) -> Vec<String> {
    [
        floors(tree),
        crates(tree),
        clients(tree),
        platforms(tree),
        files(tree),
        tuples(tree),
        circles(tree),
        unchecked(tree),
    ]
    .concat()
}

/// The engine's folders import lower floors only, and each is known.
pub fn floors(tree: &Tree) -> Vec<String> {
    let mut offences = BTreeSet::new();
    let engine = tree
        .production()
        .filter(|(_, source)| source.module.package == "engine" && !source.module.path.is_empty());
    for (name, source) in engine {
        let room = source.module.path[0].as_str();
        let Some(own) = floor(room) else {
            offences.insert(format!("{name}: no floor is named for the folder {room}"));
            continue;
        };
        for named in &source.facts.named {
            let Some(path) = resolve::absolute(source, named) else { continue };
            let Some(other) = path.first().filter(|other| *other != room) else { continue };
            let higher = floor(other).is_some_and(|floor| floor >= own);
            if higher {
                offences.insert(format!("{name}:{}: {room} imports {other}", named.line));
            }
        }
    }
    offences.into_iter().collect()
}

/// A channel's crate knows `core` and no other crate of ours; `core` knows none.
pub fn crates(tree: &Tree) -> Vec<String> {
    let mut offences = Vec::new();
    for (name, source) in tree.production().filter(|(name, _)| name.starts_with("channels/")) {
        for named in &source.facts.named {
            let first = named.path[0].as_str();
            let may = match source.module.package.as_str() {
                "core" => "",
                _ => "selkie_channel_core",
            };
            let ours = first == "selkie" || first.starts_with("selkie_");
            if ours && first != may {
                offences.push(format!("{name}:{}: imports {first}", named.line));
            }
        }
    }
    offences
}

/// Calls leave over one HTTP client. Others are linked as soon as they are named.
pub fn clients(tree: &Tree) -> Vec<String> {
    let mut offences = Vec::new();
    for (name, source) in tree.production() {
        for named in source.facts.named.iter().filter(|named| is_another_client(&named.path)) {
            let path = named.path.join("::");
            offences.push(format!("{name}:{}: names another HTTP client: {path}", named.line));
        }
    }
    offences
}

fn is_another_client(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["teloxide", "net", item, ..] => *item != "TELEGRAM_API_URL",
        ["teloxide", "Bot" | "prelude" | "requests", ..] => true,
        ["hyper", "client", ..] | ["hyper_util", "client", ..] => true,
        [first, ..] => matches!(*first, "teloxide_core" | "teloxide_reqwest" | "hyper_rustls"),
        [] => false,
    }
}

/// What a lock file holds: the older reqwest serves teloxide's own types alone, nobody speaks HTTP/2, and
/// ring is the only crypto provider: with a second one the first handshake panics.
pub fn lock(text: &str) -> Vec<String> {
    let mut offences = Vec::new();
    for package in text.split("[[package]]").skip(1) {
        let name =
            package.lines().find_map(|line| line.strip_prefix("name = ")).unwrap_or_default();
        let name = name.trim_matches('"');
        if ["h2", "aws-lc-rs", "openssl", "native-tls"].contains(&name) {
            offences.push(format!("Cargo.lock: {name} is in the tree"));
        }
        let older = package.lines().any(|line| line.trim().starts_with("\"reqwest 0.12."));
        if older && name != "teloxide-core" {
            offences.push(format!("Cargo.lock: {name} takes the older reqwest"));
        }
    }
    offences
}

/// No platform is named in library code, nor an address that is no setting's default.
pub fn platforms(tree: &Tree) -> Vec<String> {
    let is_library =
        |name: &str, source: &Source| name.starts_with("src/") && source.module.package != "bin";
    let library = tree.production().filter(|(name, source)| is_library(name, source));
    let mut offences = Vec::new();
    for (name, source) in library {
        for word in &source.facts.words {
            if names_platform(word) {
                offences.push(format!("{name}:{}: names a platform: {:?}", word.line, word.text));
            }
            for host in hosts(word).filter(|host| !ADDRESSES.contains(&(name, host))) {
                offences.push(format!("{name}:{}: holds an address: {host}", word.line));
            }
        }
    }
    offences
}

/// A file does one thing, and its first line says which.
pub fn files(tree: &Tree) -> Vec<String> {
    let mut offences = Vec::new();
    for (name, source) in tree.production() {
        if source.facts.lines > MAX_LENGTH {
            offences.push(format!("{name}: {} lines of production code", source.facts.lines));
        }
        if !source.facts.documented {
            offences.push(format!("{name}: its first line does not say what it does"));
        }
    }
    offences
}

/// What the compiler cannot check stands in the files that are named, and nowhere else.
pub fn unchecked(tree: &Tree) -> Vec<String> {
    let others = tree.production().filter(|(name, _)| !UNSAFE.contains(&name.as_str()));
    let lines =
        others.flat_map(|(name, source)| source.facts.unsafe_at.iter().map(move |at| (name, at)));
    lines.map(|(name, at)| format!("{name}:{at}: is unsafe")).collect()
}

/// No function takes a tuple: what belongs together is a struct that says so, what does not is several parameters.
pub fn tuples(tree: &Tree) -> Vec<String> {
    let of = |(name, source): (&String, &Source)| {
        let found = source.facts.tuples.iter();
        found.map(|(f, line)| format!("{name}:{line}: {f} takes a tuple")).collect::<Vec<_>>()
    };
    tree.production().flat_map(of).collect()
}

/// No two files need each other in a circle.
pub fn circles(tree: &Tree) -> Vec<String> {
    let mut found = circles::circles(&circles::needs(tree));
    found.extend(circles::circles(&circles::script_needs(&source::scripts())));
    let told = |circle: Vec<String>| format!("a circle: {}", circle.join(" ↔ "));
    found.into_iter().map(|circle| told(circle.into_iter().collect())).collect()
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| *floor == room)
}

fn names_platform(word: &Word) -> bool {
    let lower = word.text.to_lowercase();
    let prefixed = |p: &str| lower.starts_with(p) || lower.contains(&format!("`{p}"));
    let line = word.literal && (lower == "line" || whole_words(&word.text).any(|w| w == "LINE"));
    line || PLATFORMS.iter().any(|p| lower.contains(p))
        || word.literal && PREFIXES.iter().any(|p| prefixed(p))
}

fn whole_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

/// The hosts of addresses in a text: those with a name of two parts or more.
fn hosts(word: &Word) -> impl Iterator<Item = &str> {
    word.text.split("://").skip(1).filter(|_| word.literal).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-');
        let host = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        (host.contains('.') && host.contains(|c: char| c.is_ascii_alphabetic())).then_some(host)
    })
}
