//! `selkie memory`: what is remembered, at the command line. It reads the files, whether a daemon runs or not.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::anyhow;
use chrono::DateTime;
use serde::Serialize;

use super::confirm::{agreed, unasked};
use super::memory_args::Memory;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{no_state, to_ask_silently};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_domain::clock::SystemClock;
use selkie_domain::count::counted;
use selkie_domain::taint::Taint;
use selkie_guard::visible::{one_line, visible};
use selkie_memory::Subject;
use selkie_memory::remembered::{self, EntryView, MemoryEntry};
use selkie_people::files::Files;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// Lists, shows, searches and prints what is remembered.
pub fn memory(binary: &Binary, chosen: &ConfigChoice, what: Memory) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    if !plan.has_state() {
        return Err(Failure::Failed(anyhow::anyhow!(no_state(&plan))));
    }
    let zone = plan.zone;
    let files = Files::new(plan.folders.state, Arc::new(SystemClock));
    let files = match what {
        Memory::Trust { .. } => files,
        _ => files.only_looked_at(),
    };
    match what {
        Memory::List { json } => list(&files, json),
        Memory::Show { name, json } => {
            let subject = named(&files, &name)?;
            let all = numbered(remembered::entries(&files, &subject)?);
            let none = match subject.is_general() {
                true => "Nothing is remembered for all private chats of owners (MEMORY.md).\n"
                    .to_owned(),
                false => format!("Nothing is remembered about {name}.\n"),
            };
            shown(&all, MemoryStyle { zone, json, none: &none, has_files: false })
        }
        Memory::Search { query, .. } if query.trim().is_empty() => {
            Err(Failure::Usage("QUERY is empty: takes words to look for".to_owned()))
        }
        Memory::Search { query, name, min_score, json } => {
            let mut all = Vec::new();
            for subject in chosen_of(&files, name.as_deref())? {
                all.extend(found(&files, &subject, &query, min_score)?);
            }
            let by_score = |found: &NumberedMemory| found.entry.score.unwrap_or_default();
            all.sort_by(|a, b| by_score(b).total_cmp(&by_score(a)));
            let none = "Nothing that is remembered matches.\n";
            shown(&all, MemoryStyle { zone, json, none, has_files: true })
        }
        Memory::Export { name, json } => export(&files, name.as_deref(), json),
        Memory::Trust { name, yes } => trust(&files, &named(&files, &name)?, yes),
    }
}

/// Something that is remembered, with the number by which `/memory` in its chat shows it and takes it out.
#[derive(Debug, Serialize)]
struct NumberedMemory {
    number: usize,
    #[serde(flatten)]
    entry: MemoryEntry,
}

fn numbered(all: Vec<MemoryEntry>) -> Vec<NumberedMemory> {
    (1..).zip(all).map(|(number, entry)| NumberedMemory { number, entry }).collect()
}

/// Finds what fits, by the numbers that it has among all.
fn found(
    files: &Files,
    subject: &Subject,
    query: &str,
    least: f64,
) -> Result<Vec<NumberedMemory>, Failure> {
    let place = |one: &MemoryEntry| (one.path.clone(), one.line);
    let all = numbered(remembered::entries(files, subject)?);
    let numbers: HashMap<_, _> = all.iter().map(|one| (place(&one.entry), one.number)).collect();
    let found = remembered::search(files, subject, query, least)?.into_iter();
    // What was written in between has no number yet.
    let known = found.filter_map(|entry| {
        let number = *numbers.get(&place(&entry))?;
        Some(NumberedMemory { number, entry })
    });
    Ok(known.collect())
}

/// Shows which lines are in doubt, asks, and takes them.
fn trust(files: &Files, subject: &Subject, yes: bool) -> Outcome {
    let Some(shown) = remembered::doubtful(files, subject)? else {
        return Ok(print::prose("There is nothing to do: selkie knows who wrote each line.\n")?);
    };
    print::prose(&in_doubt(&shown))?;
    if !yes {
        agreed(question(shown.len()), || unasked("selkie memory trust", "add --yes"))?;
    }
    if remembered::doubtful(files, subject)?.is_none_or(|now| now != shown) {
        return Err(Failure::Failed(anyhow!(
            "the memory has changed while you looked at it: run the command once more"
        )));
    }
    let lines = remembered::trust(files, subject)?.unwrap_or_default();
    let lines = counted(u64::try_from(lines).unwrap_or(u64::MAX), ["entry", "entries"]);
    Ok(print::prose(&format!("{lines} without a mark: taken as your own words.\n"))?)
}

fn question(lines: usize) -> &'static str {
    match lines {
        0 => "Accept the memory as it is?",
        1 => "Accept this line as your own words?",
        _ => "Accept these lines as your own words?",
    }
}

fn in_doubt(lines: &[MemoryEntry]) -> String {
    if lines.is_empty() {
        return "Every line has a mark: selkie knows again who wrote each one.\n".to_owned();
    }
    let line = |one: &MemoryEntry| {
        format!("  {}:{}  {}\n", one.path, one.line, one_line(&visible(&one.text)))
    };
    let lines: String = lines.iter().map(line).collect();
    format!(
        "These lines have no mark. They may be other people's words, and would count as yours:\n{lines}"
    )
}

fn list(files: &Files, json: bool) -> Outcome {
    // A file that is left of what was forgotten remembers nothing.
    let mut all = remembered::list(files)?;
    all.retain(|one| one.entries > 0 || !one.faults.is_empty());
    if json {
        return Ok(print::json(&all)?);
    }
    if all.is_empty() {
        return Ok(print::out("Nothing is remembered yet.\n")?);
    }
    let row = |one: &EntryView| {
        let EntryView { name, files, entries, faults, .. } = one;
        let entries = counted(u64::try_from(*entries).unwrap_or(u64::MAX), ["entry", "entries"]);
        vec![name.clone(), entries, [files.join(" "), faults.join("; ")].join("  ")]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    Ok(print::out(&print::table(&rows, print::width()))?)
}

/// How entries are shown.
#[derive(Clone, Copy)]
struct MemoryStyle<'a> {
    zone: Zone,
    json: bool,
    /// What is said where there are none.
    none: &'a str,
    /// They are of several memories: each says of which.
    has_files: bool,
}

fn shown(all: &[NumberedMemory], showing: MemoryStyle<'_>) -> Outcome {
    if showing.json {
        return Ok(print::json(&all)?);
    }
    let lines: String = all.iter().map(|one| line(one, showing)).collect();
    Ok(print::prose(if lines.is_empty() { showing.none } else { &lines })?)
}

fn line(one: &NumberedMemory, showing: MemoryStyle<'_>) -> String {
    let NumberedMemory { number, entry: one } = one;
    let MemoryEntry { path, section, text, author, at, .. } = one;
    let score = one.score.map_or(String::new(), |score| format!(" (score {score:.2})"));
    let section = match section.as_str() {
        "" | "Notes" => String::new(),
        section => format!("{section}: "),
    };
    let whose = match (author, at) {
        (Some(author), Some(at)) => {
            let read = DateTime::parse_from_rfc3339(at);
            let at = read.map_or_else(|_| at.clone(), |at| moment(at.to_utc(), showing.zone));
            format!("{author} ({}), {at}", one.trust.name())
        }
        _ => "by hand".to_owned(),
    };
    let others = match one.level {
        Taint::Clean => "",
        Taint::Derived | Taint::Raw => ", out of others' words",
    };
    let of = if showing.has_files { format!("{path} ") } else { String::new() };
    format!("{of}{number}.{score} {section}{text}  [{whose}{others}]\n")
}

fn export(files: &Files, name: Option<&str>, json: bool) -> Outcome {
    let subjects = chosen_of(files, name)?;
    if json {
        let mut all = Vec::new();
        for subject in subjects {
            all.extend(remembered::entries(files, &subject)?);
        }
        return Ok(print::json(&all)?);
    }
    for subject in subjects {
        print::out(&remembered::export(files, &subject)?)?;
    }
    Ok(())
}

/// Returns the one that is named, or all.
fn chosen_of(files: &Files, name: Option<&str>) -> Result<Vec<Subject>, Failure> {
    match name {
        Some(name) => Ok(vec![named(files, name)?]),
        None => {
            let all = remembered::list(files)?;
            Ok(all.iter().map(|one| Subject::named(&one.name)).collect())
        }
    }
}

/// Finds a memory by its name.
fn named(files: &Files, name: &str) -> Result<Subject, Failure> {
    let all = remembered::list(files)?;
    let is_one = |subject: &Subject| {
        subject.is_general() || all.iter().any(|one| one.name == subject.name())
    };
    if let Some(subject) = [Subject::named(name), Subject::of_key(name)].into_iter().find(is_one) {
        return Ok(subject);
    }
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let takes = match names.is_empty() {
        true => "nothing is remembered yet".to_owned(),
        false => format!("takes {}", names.join(", ")),
    };
    Err(Failure::Failed(anyhow!("no memory is called {name:?} ({takes})")))
}
