//! `selkie contacts` and `selkie undo`: whom the bot knows, and what state files said before.

use serde_json::{Value, json};

use super::args::{Contacts, Undo};
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, to_ask};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::request::{Request, Response};
use selkie_domain::count::counted;
use selkie_guard::visible::one_line;
use selkie_people::book::{ContactList, ContactView};
use selkie_people::contacts::keys;
use selkie_people::files::Version;
use selkie_people::undone::RestoredVersion;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// What an empty list says.
const NONE: &str = "There are no contacts yet: people are noted when they write to the bot.\n";

/// Lists, shows and merges contacts, through the daemon when one runs.
pub fn contacts(binary: &Binary, chosen: &ConfigChoice, what: Contacts) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    let zone = plan.zone;
    match what {
        Contacts::List { json } => list(plan, json),
        Contacts::Show { who, json } => {
            let shown = found(plan, Request::Contact { who })?.contacts;
            if json {
                return Ok(print::json(&shown.first())?);
            }
            Ok(print::prose(&all(&shown, zone))?)
        }
        Contacts::Merge { from, into } => {
            let merged = found(plan, Request::MergeContacts { from, into })?.contacts;
            Ok(print::prose(&format!("Merged: {}", all(&merged, zone)))?)
        }
    }
}

fn found(plan: AppConfig, request: Request) -> Result<ContactList, Failure> {
    match ask(plan, request)? {
        Response::Contacts(found) => Ok(found),
        _ => mismatched(),
    }
}

/// Lists earlier versions of a file, or puts one back.
pub fn undo(binary: &Binary, chosen: &ConfigChoice, undo: Undo) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    let zone = plan.zone;
    let Undo { file, list, to, json } = undo;
    let request = match list {
        true => Request::Versions { file: file.clone() },
        false => Request::Undo { file: file.clone(), to },
    };
    let versions = match ask(plan, request)? {
        Response::Undone(undone) if json => {
            return Ok(print::json(&undone_as_json(&file, &undone))?);
        }
        Response::Undone(undone) => return Ok(print::prose(&taken_back(&file, &undone, zone))?),
        Response::Versions(versions) => versions,
        _ => return mismatched(),
    };
    if json {
        return Ok(print::json(&versions)?);
    }
    if versions.is_empty() {
        return Ok(print::prose(&format!("No earlier version of {file} is kept.\n"))?);
    }
    let row = |version: &Version| {
        let until = version.at.map(|at| format!("until {}", moment(at, zone)));
        vec![version.name.clone(), until.unwrap_or_default(), format!("{} bytes", version.bytes)]
    };
    let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
    Ok(print::out(&print::table(&rows, print::width()))?)
}

fn undone_as_json(file: &str, undone: &RestoredVersion) -> Value {
    let RestoredVersion { version, gone, back, more } = undone;
    json!({ "file": file, "restored": version, "gone": gone, "back": back, "more": more })
}

/// Says what an undo has taken back.
fn taken_back(file: &str, undone: &RestoredVersion, zone: Zone) -> String {
    let RestoredVersion { version: Version { name, at, .. }, gone, back, more } = undone;
    let when = at.map_or_else(|| format!("in {name}"), |at| format!("until {}", moment(at, zone)));
    let lines = |title: &str, lines: &[String]| match lines {
        [] => String::new(),
        lines => {
            let lines = lines.iter().map(|line| format!("  {}\n", one_line(line)));
            format!("{title}\n{}", lines.collect::<String>())
        }
    };
    let more = match u64::try_from(*more).unwrap_or(u64::MAX) {
        0 if gone.is_empty() && back.is_empty() => "No line has changed.\n".to_owned(),
        0 => String::new(),
        more => format!("and {}\n", counted(more, ["more line", "more lines"])),
    };
    let gone = lines("Gone:", gone);
    let back = lines("Back:", back);
    format!(
        "{file} is as it was {when}.\n{gone}{back}{more}The replaced version is kept: `selkie undo {file}` brings it back.\n"
    )
}

fn all(contacts: &[ContactView], zone: Zone) -> String {
    contacts.iter().map(|view| details(view, zone)).collect()
}

fn list(plan: AppConfig, json: bool) -> Outcome {
    let zone = plan.zone;
    let list = found(plan, Request::Contacts)?;
    if json {
        return Ok(print::json(&list)?);
    }
    let ContactList { contacts, faults } = list;
    let rows: Vec<Vec<String>> = contacts.iter().map(|view| row(view, zone)).collect();
    let unread: String = faults.iter().map(|fault| format!("cannot be read: {fault}\n")).collect();
    let width = print::width();
    let all = print::table(&rows, width) + &print::hanging(&unread, width);
    Ok(print::prose(if all.is_empty() { NONE } else { &all })?)
}

fn row(view: &ContactView, zone: Zone) -> Vec<String> {
    let last = view.last_interaction_at.map(|at| moment(at, zone));
    let channel = view.fields.text(keys::CHANNEL).unwrap_or_default();
    vec![
        one_line(&view.contact_id),
        one_line(&channel),
        last.unwrap_or_default(),
        one_line(&view.name),
    ]
}

fn details(view: &ContactView, zone: Zone) -> String {
    let head =
        format!("{} ({}), in {}\n", one_line(&view.name), one_line(&view.contact_id), view.file);
    let ids = format!("  ids  {}\n", one_line(&view.ids.join(", ")));
    let chats = match view.chats.as_slice() {
        [] => String::new(),
        chats => format!("  chats  {}\n", one_line(&chats.join(", "))),
    };
    let last = view.last_interaction_at.map(|at| format!("  last wrote  {}\n", moment(at, zone)));
    let known = std::iter::once(ids + &chats).chain(last);
    // It stands above, by the clocks of this machine and as it is known now.
    let others = view.fields.iter().filter(|(key, _)| key.as_str() != keys::LAST);
    let fields = others.map(|(key, value)| match value.as_str() {
        Some(text) => format!("  {key}  {}\n", one_line(text)),
        None => format!("  {key}  {value}\n"),
    });
    let remarks = view.remarks.iter().map(|line| format!("  {}\n", one_line(line)));
    std::iter::once(head).chain(known).chain(fields).chain(remarks).collect()
}
