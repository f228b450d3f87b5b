//! `selkie config check|show|schema|example`.

use serde_json::{Value, json};

use super::args::Config;
use super::outcome::{Failure, Outcome};
use super::print;
use selkie_app::Binary;
use selkie_app::build::{ConfigChoice, plan_to_run, sources};
use selkie_app::notes::notes;
use selkie_config::problem::{Problem, Problems};
use selkie_config::{EXAMPLE, read, show, whole_schema};

/// Checks or shows.
pub fn config(binary: &Binary, chosen: &ConfigChoice, what: Config) -> Outcome {
    match what {
        Config::Check { json } => check(binary, chosen, json),
        Config::Show { json } => show(binary, chosen, json),
        Config::Schema => Ok(print::json(&whole_schema(&binary.kits))?),
        Config::Example => Ok(print::out(EXAMPLE)?),
    }
}

fn check(binary: &Binary, chosen: &ConfigChoice, json: bool) -> Outcome {
    let plan = match plan_to_run(binary, chosen) {
        Err(problems) if json => return wrong(&problems),
        plan => plan?,
    };
    let file = chosen.file.path().map_or("no config file".to_owned(), |p| p.display().to_string());
    let channels: Vec<&str> = plan.channels.iter().map(|c| c.name).collect();
    if json {
        return Ok(print::json(&json!({
            "config": chosen.file.path(), "channels": channels, "model": plan.model.card().name,
            "state": plan.folders.state, "cache": plan.folders.cache, "notes": notes(&plan), "problems": [],
        }))?);
    }
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
    let width = print::width();
    let rows = print::table(&rows, width);
    let notes = print::hanging(&notes, width);
    Ok(print::out(&format!("{rows}{notes}no mistakes\n"))?)
}

/// Prints the mistakes as JSON, which the exit code tells, too.
fn wrong(problems: &Problems) -> Outcome {
    let told = |it: &Problem| json!({ "place": it.place.to_string(), "key": it.key, "message": it.message });
    let problems: Vec<Value> = problems.0.iter().map(told).collect();
    print::json(&json!({ "problems": problems }))?;
    Err(Failure::Usage(String::new()))
}

fn show(binary: &Binary, chosen: &ConfigChoice, json: bool) -> Outcome {
    let reading = read(&sources(binary, chosen), &binary.kits)?;
    let lines = show::lines(&reading);
    // What is wrong is told, and is no reason to show nothing.
    let checked = reading.finish();
    if json {
        print::json(&lines)?;
    } else {
        let row = |l: show::Line| vec![l.key, format!("{}  {}", l.value, l.from)];
        let rows: Vec<Vec<String>> = lines.into_iter().map(row).collect();
        print::out(&print::table(&rows, print::width()))?;
    }
    checked?;
    Ok(())
}
