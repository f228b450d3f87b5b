//! `selkie contacts` and `selkie undo`: whom the bot knows, and what state files said before.

use serde_json::json;

use super::args::{Contacts, Undo};
use super::outcome::Outcome;
use super::print;
use super::request::told;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::people::{AskedOfPeople, ToldOfPeople};
use crate::daemon::{Binary, telemetry};
use crate::guard::visible::one_line;
use crate::people::book::ContactView;
use crate::people::contacts::keys;

/// What an empty list says.
const NONE: &str = "There are no contacts yet: people are noted when they write to the bot.\n";

/// Lists, shows and merges contacts, through the daemon when one runs.
pub fn contacts(binary: &Binary, chosen: &Chosen, what: Contacts) -> Outcome {
    let plan = quiet(binary, chosen)?;
    match what {
        Contacts::List { json } => list(plan, json),
        Contacts::Show { who, json } => {
            let told = told(plan, AskedOfPeople::Show { who })?;
            if json {
                return Ok(print::json(&told.contacts.first())?);
            }
            Ok(print::out(&told.contacts.iter().map(details).collect::<String>())?)
        }
        Contacts::Merge { from, into } => {
            let told = told(plan, AskedOfPeople::Merge { from, into })?;
            let all: String = told.contacts.iter().map(details).collect();
            Ok(print::out(&format!("Merged: {all}"))?)
        }
    }
}

/// Lists earlier versions of a file, or puts one back.
pub fn undo(binary: &Binary, chosen: &Chosen, undo: Undo) -> Outcome {
    let plan = quiet(binary, chosen)?;
    let Undo { file, list, to, json } = undo;
    let asked = match list {
        true => AskedOfPeople::Versions { file: file.clone() },
        false => AskedOfPeople::Undo { file: file.clone(), to },
    };
    let ToldOfPeople { versions, .. } = told(plan, asked)?;
    if json {
        return match list {
            true => Ok(print::json(&versions)?),
            false => Ok(print::json(&json!({ "file": file, "restored": versions.first() }))?),
        };
    }
    if !list {
        let names: Vec<&str> = versions.iter().map(|version| version.name.as_str()).collect();
        let line =
            format!("{file} is as it was in {}; what stood there is kept.\n", names.join(", "));
        return Ok(print::out(&line)?);
    }
    if versions.is_empty() {
        return Ok(print::out(&format!("No earlier version of {file} is kept.\n"))?);
    }
    let row = |version: &crate::people::files::Version| {
        vec![version.name.clone(), format!("{} bytes", version.bytes)]
    };
    Ok(print::out(&print::table(&versions.iter().map(row).collect::<Vec<_>>()))?)
}

fn quiet(binary: &Binary, chosen: &Chosen) -> Result<AppConfig, super::outcome::Failure> {
    let plan = plan(binary, chosen)?;
    let colour = telemetry::colour(&binary.env);
    telemetry::start(plan.settings.logging.quieter(), &plan.redactor, colour);
    Ok(plan)
}

fn list(plan: AppConfig, json: bool) -> Outcome {
    let ToldOfPeople { contacts, faults, .. } = told(plan, AskedOfPeople::List)?;
    if json {
        return Ok(print::json(&json!({ "contacts": contacts, "faults": faults }))?);
    }
    let rows: Vec<Vec<String>> = contacts.iter().map(row).collect();
    let unread: String = faults.iter().map(|fault| format!("cannot be read: {fault}\n")).collect();
    let all = print::table(&rows) + &unread;
    Ok(print::out(if all.is_empty() { NONE } else { &all })?)
}

fn row(view: &ContactView) -> Vec<String> {
    let last = view.last_interaction_at.map(|at| at.format("%Y-%m-%d %H:%M UTC").to_string());
    let channel = view.fields.text(keys::CHANNEL).unwrap_or_default();
    vec![
        one_line(&view.contact_id),
        one_line(&view.name),
        one_line(&channel),
        last.unwrap_or_default(),
    ]
}

fn details(view: &ContactView) -> String {
    let head =
        format!("{} ({}), in {}\n", one_line(&view.name), one_line(&view.contact_id), view.file);
    let ids = format!("  ids  {}\n", one_line(&view.ids.join(", ")));
    let fields = view.fields.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("  {key}  {}\n", one_line(text)),
        None => format!("  {key}  {value}\n"),
    });
    let remarks = view.remarks.iter().map(|line| format!("  {}\n", one_line(line)));
    std::iter::once(head).chain([ids]).chain(fields).chain(remarks).collect()
}
