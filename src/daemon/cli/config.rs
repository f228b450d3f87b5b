//! `selkie config check|show|schema|example`.

use super::args::Config;
use super::outcome::Outcome;
use super::print;
use crate::config::{EXAMPLE, fixed, read, show, whole_schema};
use crate::daemon::Binary;
use crate::daemon::build::{AppConfig, Chosen, plan_to_run, sources};

/// Checks or shows.
pub fn config(binary: &Binary, chosen: &Chosen, what: Config) -> Outcome {
    match what {
        Config::Check => check(binary, chosen),
        Config::Show { json } => show(binary, chosen, json),
        Config::Schema => Ok(print::json(&whole_schema(&binary.kits))?),
        Config::Example => Ok(print::out(EXAMPLE)?),
    }
}

fn check(binary: &Binary, chosen: &Chosen) -> Outcome {
    let plan = plan_to_run(binary, chosen)?;
    let file = chosen.file.path().map_or("no config file".to_owned(), |p| p.display().to_string());
    let channels: Vec<&str> = plan.channels.iter().map(|c| c.name).collect();
    let channels = if channels.is_empty() { "none".to_owned() } else { channels.join(", ") };
    let rows = [
        ("config", file),
        ("channels", channels),
        ("model", plan.model.card().name),
        ("state", plan.folders.state.display().to_string()),
        ("cache", plan.folders.cache.display().to_string()),
        ("memory", plan.finds_memory_by()),
    ];
    let rows: Vec<Vec<String>> = rows.map(|(k, v)| vec![k.to_owned(), v]).into();
    let notes: String = notes(&plan).iter().map(|note| format!("note: {note}\n")).collect();
    Ok(print::out(&format!("{}{notes}nothing is wrong\n", print::table(&rows)))?)
}

/// What is right and still may not be what its writer wants.
fn notes(plan: &AppConfig) -> Vec<String> {
    let mut notes = plan.notes.clone();
    if plan.channels.is_empty() {
        notes.push(
            "no channel has a section: `selkie run` would have nothing to listen to".to_owned(),
        );
    } else if plan.settings.owners.is_empty()
        && plan.channels.iter().any(|c| c.receiver.is_some())
        && plan.channels.iter().filter(|c| c.receiver.is_some()).all(|c| c.allow.is_empty())
    {
        notes.push(
            "the bot would answer nobody: owners and every allow list are empty. Write to the bot: it tells you \
             your id, which goes into owners"
                .to_owned(),
        );
    }
    let lets_in = plan.channels.iter().any(|c| c.receiver.is_some() && !c.allow.is_empty());
    if plan.settings.owners.is_empty() && lets_in {
        notes.push(
            "owners is empty: nobody can approve anything, so what asks first is refused. Write to the bot: it tells \
             you your id, which goes into owners"
                .to_owned(),
        );
    }
    notes.extend(fixed::over(&plan.settings, plan.zone, plan.now()));
    if plan.settings.workspace.shared && plan.settings.workspace.dir.is_none() {
        notes.push("workspace.shared does nothing without workspace.dir".to_owned());
    }
    let hears = |id: &str| plan.channels.iter().any(|c| c.allow.is_everyone() || c.allow.names(id));
    for group in plan.settings.groups.keys().filter(|group| !hears(group)) {
        notes.push(format!(
            "groups.{group} is on no channel's allow list: only owners are answered there"
        ));
    }
    if let Some(dir) = plan.settings.workspace.dir.as_ref().filter(|dir| !dir.exists()) {
        notes.push(format!(
            "workspace.dir {} does not exist yet: selkie will create it",
            dir.display()
        ));
    }
    notes
}

fn show(binary: &Binary, chosen: &Chosen, json: bool) -> Outcome {
    let reading = read(&sources(binary, chosen), &binary.kits)?;
    let lines = show::lines(&reading);
    // What is wrong is told, and is no reason to show nothing.
    let checked = reading.finish();
    if json {
        print::json(&lines)?;
    } else {
        let row = |l: show::Line| vec![l.key, l.value.to_string(), l.from];
        print::out(&print::table(&lines.into_iter().map(row).collect::<Vec<_>>()))?;
    }
    checked?;
    Ok(())
}
