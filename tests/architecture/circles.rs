//! Circles: files that need each other, by whatever way round.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::How;
use crate::resolve;
use crate::source::Tree;

/// Who needs whom.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Which production file names something of which other one; a re-export needs nothing.
pub fn needs(tree: &Tree) -> Graph {
    let mut graph = Graph::new();
    for (name, source) in tree.production() {
        let others = graph.entry(name.clone()).or_default();
        for named in source.facts.named.iter().filter(|n| n.how != How::Export) {
            let Some(path) = resolve::absolute(source, named) else { continue };
            match resolve::file(tree, &source.module.package, &path) {
                Some((other, true)) if other != name => others.insert(other.clone()),
                _ => continue,
            };
        }
    }
    graph
}

/// Which script imports which, by its `from "./…"` lines.
pub fn script_needs(scripts: &BTreeMap<String, String>) -> Graph {
    let imports = |file: &String, text: &String| {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        text.split(['"', '\''])
            .filter_map(|part| part.strip_prefix("./").filter(|rest| rest.ends_with(".js")))
            .map(|other| format!("{folder}/{other}"))
            .filter(|other| other != file)
            .collect()
    };
    scripts.iter().map(|(file, text)| (file.clone(), imports(file, text))).collect()
}

/// The circles of a graph, each as its files in order.
pub fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|from| (from, reached(graph, from))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, all) in &reach {
        if !all.contains(*from) || found.iter().any(|circle| circle.contains(*from)) {
            continue;
        }
        let back = |other: &&&String| reach.get(**other).is_some_and(|r| r.contains(*from));
        found.push(all.iter().filter(back).map(|other| (*other).clone()).collect());
    }
    found
}

fn reached<'g>(graph: &'g Graph, from: &String) -> BTreeSet<&'g String> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&String> = graph.get(from).into_iter().flatten().collect();
    while let Some(file) = next.pop() {
        if seen.insert(file) {
            next.extend(graph.get(file).into_iter().flatten());
        }
    }
    seen
}
