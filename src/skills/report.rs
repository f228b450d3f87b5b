//! What an owner reads before they take a skill: all its files, its words, and what in them deserves a second look.

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
    let files = tree.files();
    _ = writeln!(text, "Files ({}, {}):", files.len(), size(tree.bytes()));
    for (path, file) in files {
        let program = if file.is_program { ", can be started" } else { "" };
        let unread = if tree.text(path).is_none() { ", no text: not looked into" } else { "" };
        _ = writeln!(text, "  {path}  {}{program}{unread}", size(file.bytes.len() as u64));
    }
    let texts = || files.keys().filter_map(|path| Some((path, tree.text(path)?)));
    let odd =
        texts().flat_map(|(path, text)| lines::hidden(text).into_iter().map(|it| at(path, &it)));
    list(&mut text, "Characters that do not show, or pose as others", odd);
    let runs = texts()
        .flat_map(|(path, text)| lines::commands(path, text).into_iter().map(|it| at(path, &it)));
    list(&mut text, "Commands, and code that starts programs", runs);
    let mut known = std::collections::BTreeSet::new();
    let leads = texts().flat_map(|(path, text)| {
        let all = lines::addresses(text).into_iter();
        all.map(move |(address, number)| (path, Line { number, text: address }))
    });
    let leads = leads.filter(|(_, line)| known.insert(line.text.clone()));
    list(&mut text, "Addresses", leads.map(|(path, line)| at(path, &line)));
    for warning in &package.warnings {
        _ = writeln!(text, "\nNote: {}", one_line(&visible(warning)));
    }
    _ = writeln!(text, "\nSkill:  {}\nFor:    {}", package.name, visible(&package.description));
    _ = writeln!(text, "From:   {}\nHash:   {}", one_line(&visible(source)), package.hash);
    text
}

fn at(path: &str, line: &Line) -> String {
    format!("{path}:{}: {}", line.number, line.text)
}

fn list(text: &mut String, title: &str, mut lines: impl Iterator<Item = String>) {
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

/// `7 KB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{} MB", bytes.div_ceil(1_048_576)),
    }
}
