//! `selkie schedules import`: every task of a file becomes a schedule, or none does and each problem is told.

use std::path::Path;

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use super::shown::line;
use crate::outcome::Outcome;
use crate::print;
use crate::request::{ask, mismatched};
use selkie_app::build::AppConfig;
use selkie_app::request::{Request, Response};
use selkie_app::schedules::{ImportResult, New, Unfit};
use selkie_config::cron_file::{CronFile, CronTask};
use selkie_config::problem::{Problem, Problems};
use selkie_domain::schedule::{Action, Terms};
use selkie_schedule::expression::Expression;
use selkie_schedule::words::words;
use selkie_schedule::zone::Zone;

/// Reads a file and has its tasks made.
pub(super) fn import(plan: AppConfig, path: &Path, preview: bool) -> Outcome {
    let file = CronFile::read(path)?;
    if file.tasks.is_empty() {
        return Ok(print::out("The file holds no tasks.\n")?);
    }
    let usual = plan.zone;
    let now = plan.now();
    let mut found: Vec<Problem> = Vec::new();
    let mut lines = Vec::new();
    for task in &file.tasks {
        match when(task, usual, now) {
            Ok(when) => lines.push(format!("{when}: {}\n", shown(task))),
            Err(Unfit { key, why, .. }) => found.push(file.problem(task.index, &key, why)),
        }
    }
    if !found.is_empty() {
        return Err(Problems(found).into());
    }
    let all = file.tasks.iter().map(new).collect();
    let imported = ask(plan, Request::ImportSchedules { all, preview })?;
    let Response::Imported(imported) = imported else { return mismatched() };
    let ImportResult { schedules, unfit, there } = imported;
    if !unfit.is_empty() {
        let told =
            |unfit: Unfit| file.problem(file.tasks[unfit.index].index, &unfit.key, unfit.why);
        return Err(Problems(unfit.into_iter().map(told).collect()).into());
    }
    let (lines, makes) = match preview {
        true => (lines, "Would make:"),
        false => (schedules.iter().map(line).collect(), "Made"),
    };
    let said = lines.iter().enumerate().map(|(index, line)| {
        let what = if there.contains(&index) { "There already:" } else { makes };
        format!("{what} {line}")
    });
    Ok(print::prose(&said.collect::<String>())?)
}

/// Says when a task comes due, or which of its keys says it wrongly.
fn when(task: &CronTask, usual: Zone, now: DateTime<Utc>) -> Result<String, Unfit> {
    let unfit = |key: &str, why: String| Unfit { index: task.index, key: key.to_owned(), why };
    let zone = match task.tz.as_deref() {
        Some(tz) => Zone::named(tz).map_err(|error| unfit("tz", error.to_string()))?,
        None => usual,
    };
    let key = if task.when.starts_with("at ") { "at" } else { "cron" };
    let expression = Expression::written(&task.when, zone, now);
    let expression = expression.map_err(|error| unfit(key, error.to_string()))?;
    Ok(words(&expression, zone))
}

fn shown(task: &CronTask) -> &str {
    if task.title.is_empty() { &task.content } else { &task.title }
}

/// The same task is the same schedule, however often its file is read.
fn new(task: &CronTask) -> New {
    let CronTask { title, when, tz, content, chat_id, llm_profile, .. } = task.clone();
    let told = format!("{title}\n{when}\n{tz:?}\n{chat_id:?}\n{llm_profile:?}\n{content}");
    let digest = Sha256::digest(told);
    let key =
        digest.iter().take(16).fold("import:".to_owned(), |key, byte| key + &format!("{byte:02x}"));
    let action = Action::Prompt { prompt: content, model: llm_profile, effort: None };
    New { key, when, zone: tz, action, to: chat_id, title, terms: Terms::default() }
}
