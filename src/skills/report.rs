//! What an owner reads before they take a skill: all its files, its words, and what in them deserves a second look.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selkie_guard::visible::{one_line, visible};

use crate::lines::{self, Line};
use crate::package::Package;
use crate::tree::SKILL_MD;

/// Lines of one list that are shown of all files together.
const MAX_LINES: usize = 5_000;

/// Writes it.
pub fn report(package: &Package) -> String {
    let Package { tree, source, .. } = package;
    let mut text = String::new();
    if let Some(words) = tree.text(SKILL_MD) {
        _ = writeln!(text, "{SKILL_MD}:\n\n{}\n", visible(words).trim_end());
    }
    _ = writeln!(text, "Files ({}, {}):", tree.files.len(), size(tree.bytes()));
    for (path, file) in &tree.files {
        let program = if file.is_program { ", can be started" } else { "" };
        let unread = if tree.text(path).is_none() { ", no text: not looked into" } else { "" };
        _ = writeln!(text, "  {path}  {}{program}{unread}", size(file.bytes.len() as u64));
    }
    let found = |look: fn(&str, &str) -> Vec<Line>| {
        let texts = tree.files.keys().filter_map(|path| Some((path, tree.text(path)?)));
        texts.flat_map(move |(path, text)| {
            look(path, text).into_iter().map(move |line| (path, line))
        })
    };
    let odd = found(|_, text| lines::hidden(text));
    list(&mut text, "Characters that do not show, or pose as others", odd);
    list(&mut text, "Commands, and code that starts programs", found(lines::commands));
    let mut known = BTreeSet::new();
    let leads = found(|_, text| lines::addresses(text));
    list(&mut text, "Addresses", leads.filter(|(_, line)| known.insert(line.text.clone())));
    for warning in &package.warnings {
        _ = writeln!(text, "\nNote: {}", one_line(&visible(warning)));
    }
    _ = writeln!(text, "\nSkill:  {}\nFor:    {}", package.name, visible(&package.description));
    _ = writeln!(text, "From:   {}\nHash:   {}", one_line(&visible(source)), package.hash);
    text
}

fn list<'a>(text: &mut String, title: &str, found: impl Iterator<Item = (&'a String, Line)>) {
    let mut lines = found.map(|(path, line)| format!("{path}:{}: {}", line.number, line.text));
    let shown: Vec<String> = lines.by_ref().take(MAX_LINES).collect();
    let more = lines.count();
    if shown.is_empty() {
        _ = writeln!(text, "\n{title}: none");
        return;
    }
    _ = writeln!(text, "\n{title} ({}):", shown.len() + more);
    shown.iter().for_each(|line| _ = writeln!(text, "  {line}"));
    if more > 0 {
        _ = writeln!(text, "  and {more} more");
    }
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{} MB", bytes.div_ceil(1_048_576)),
    }
}
