//! Which file a path in the code leads to, re-exports followed.

use crate::facts::{How, Named};
use crate::source::{Module, Source, Tree};

/// How far a chain of re-exports is followed.
const CHAIN: usize = 8;

/// A path from its crate's root, when it is one of this crate's own.
pub fn absolute(source: &Source, named: &Named) -> Option<Vec<String>> {
    let here = [source.module.path.clone(), named.inside.clone()].concat();
    spelled(source, &here, &named.path, 0)
}

fn spelled(source: &Source, here: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([here, rest].concat()),
        "super" => {
            let (_, above) = here.split_last()?;
            match rest.first().is_some_and(|next| next == "super") {
                true => spelled(source, above, rest, depth),
                false => Some([above, rest].concat()),
            }
        }
        child if source.facts.modules.contains(child) => {
            Some([source.module.path.as_slice(), path].concat())
        }
        alias => {
            let meant =
                source.facts.aliases.get(alias).filter(|m| depth < CHAIN && m.path[0] != alias)?;
            let there = [source.module.path.clone(), meant.inside.clone()].concat();
            let full = spelled(source, &there, &meant.path, depth + 1)?;
            Some([full.as_slice(), rest].concat())
        }
    }
}

/// The file that a path of `package` leads to, and whether it names something in it or only the module.
pub fn file<'t>(tree: &'t Tree, package: &str, path: &[String]) -> Option<(&'t String, bool)> {
    follow(tree, package, path, 0)
}

fn follow<'t>(
    tree: &'t Tree,
    package: &str,
    path: &[String],
    depth: usize,
) -> Option<(&'t String, bool)> {
    let (name, source, tail) = (0..=path.len()).rev().find_map(|length| {
        let module = Module { package: package.to_owned(), path: path[..length].to_vec() };
        tree.at(&module).map(|(name, source)| (name, source, &path[length..]))
    })?;
    let Some((item, rest)) = tail.split_first() else { return Some((name, false)) };
    if depth >= CHAIN || source.facts.defined.contains(item) {
        return Some((name, true));
    }
    let elsewhere = exported(tree, source, item).map(|full| [full.as_slice(), rest].concat());
    let found = elsewhere.and_then(|full| follow(tree, package, &full, depth + 1));
    Some(found.unwrap_or((name, true)))
}

/// The path that `item` is re-exported from by a file.
fn exported(tree: &Tree, source: &Source, item: &str) -> Option<Vec<String>> {
    let exports = || source.facts.named.iter().filter(|n| n.how == How::Export);
    let by_name = exports().find(|n| n.path.last().is_some_and(|last| last == item));
    if let Some(named) = by_name {
        return absolute(source, named);
    }
    exports().filter(|n| n.path.last().is_some_and(|last| last == "*")).find_map(|named| {
        let mut full = absolute(source, named)?;
        full.pop();
        let module = Module { package: source.module.package.clone(), path: full.clone() };
        let (_, target) = tree.at(&module)?;
        full.push(item.to_owned());
        target.facts.defined.contains(item).then_some(full)
    })
}
