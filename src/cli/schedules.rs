//! `selkie schedules`: what is done later, or again, at the command line.

use chrono::{DateTime, Utc};

use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, to_ask};
use super::schedule_args::{AddSchedule, Schedules};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::request::{Request, Response};
use selkie_app::schedules::New;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Budget, Misfire, Terms, Wish, micro_usd};
use selkie_domain::span::Span;
use selkie_schedule::hours::ActiveHours;
use selkie_schedule::view::{Time, View};
use selkie_store::DeliveryState;

mod import;
mod shown;

use shown::{details, line};

/// Lists, makes and changes schedules, through the daemon when one runs.
pub fn schedules(binary: &Binary, chosen: &ConfigChoice, what: Schedules) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    match what {
        Schedules::List { all, json } => list(plan, all, json),
        Schedules::Add(add) => {
            let json = add.json;
            one(plan, Request::AddSchedule(Box::new(new(*add)?)), json, "Made ")
        }
        Schedules::Import { file, preview } => import::import(plan, &file, preview),
        Schedules::Show { id, json } => {
            one(plan, Request::Schedule { id: ScheduleId(id) }, json, "")
        }
        Schedules::Remove { id } => wish(plan, id, Wish::Remove, "Removed"),
        Schedules::Pause { id } => wish(plan, id, Wish::Pause, "Paused"),
        Schedules::Resume { id } => wish(plan, id, Wish::Resume, "Resumed"),
        Schedules::Run { id } => {
            let due = asked(plan, Request::RunSchedule { id: ScheduleId(id) })?;
            told(&due, "Due now:")
        }
        Schedules::History { id, limit, json } => history(plan, id, limit, json),
    }
}

fn asked(plan: AppConfig, request: Request) -> Result<Vec<View>, Failure> {
    match ask(plan, request)? {
        Response::Schedules(schedules) => Ok(schedules),
        _ => mismatched(),
    }
}

fn list(plan: AppConfig, all: bool, json: bool) -> Outcome {
    let schedules = asked(plan, Request::Schedules { all })?;
    if json {
        return Ok(print::json(&schedules)?);
    }
    if schedules.is_empty() {
        return Ok(print::prose(
            "There are no schedules. `selkie schedules add --help` says how to add one.\n",
        )?);
    }
    let lines: String = schedules.iter().map(line).collect();
    Ok(print::out(&print::hanging(&lines, print::width()))?)
}

/// Shows one in full.
fn one(plan: AppConfig, request: Request, json: bool, done: &str) -> Outcome {
    let schedules = asked(plan, request)?;
    if json {
        return Ok(print::json(&schedules.first())?);
    }
    let whole = |view: &View| format!("{done}{}{}", line(view), details(view));
    Ok(print::prose(&schedules.iter().map(whole).collect::<String>())?)
}

fn wish(plan: AppConfig, id: i64, wish: Wish, done: &str) -> Outcome {
    told(&asked(plan, Request::WishSchedule { id: ScheduleId(id), wish })?, done)
}

fn told(schedules: &[View], done: &str) -> Outcome {
    let lines = schedules.iter().map(|view| format!("{done} {}", line(view)));
    Ok(print::prose(&lines.collect::<String>())?)
}

fn history(plan: AppConfig, id: i64, limit: usize, json: bool) -> Outcome {
    let times = ask(plan, Request::Times { id: ScheduleId(id), limit })?;
    let Response::Times(times) = times else { return mismatched() };
    if json {
        return Ok(print::json(&times)?);
    }
    if times.is_empty() {
        return Ok(print::out("It has not come due yet.\n")?);
    }
    let lines: String = times.iter().map(past).collect();
    Ok(print::out(&print::hanging(&lines, print::width()))?)
}

/// What is said of flags that only a model's answer has a use for.
fn asks_no_model(add: &AddSchedule) -> Option<Failure> {
    let terms = &add.terms;
    let given = [
        ("--model", add.model.is_some()),
        ("--effort", add.effort.is_some()),
        ("--history", terms.history.is_some()),
        ("--budget-calls", terms.budget_calls.is_some()),
        ("--budget-usd", terms.budget_usd.is_some()),
    ];
    let (flag, _) = given.into_iter().find(|(_, is_given)| add.prompt.is_none() && *is_given)?;
    Some(mistyped(&format!("{flag} goes with --prompt: no model is asked for a fixed text")))
}

fn new(add: AddSchedule) -> Result<New, Failure> {
    if let Some(why) = asks_no_model(&add) {
        return Err(why);
    }
    let AddSchedule { when, prompt, say, remind, tz, to, title, terms, model, effort, .. } = add;
    let action = match (prompt, say, remind) {
        (Some(prompt), None, None) => Action::Prompt { prompt, model, effort },
        (None, Some(markdown), None) => Action::Say { markdown },
        (None, None, Some(markdown)) => Action::Remind { markdown },
        _ => return Err(mistyped("give one of --prompt, --say and --remind")),
    };
    let when = match (when.cron, when.every, when.within, when.at) {
        (Some(cron), None, None, None) => cron,
        (None, Some(every), None, None) => format!("every {every}"),
        (None, None, Some(within), None) => format!("in {within}"),
        (None, None, None, Some(at)) => format!("at {at}"),
        _ => return Err(mistyped("give one of --cron, --every, --in and --at")),
    };
    let span = |key: &str, text: Option<String>| match text {
        None => Ok(None),
        Some(text) => Span::parse(&text).map(Some).ok_or_else(|| {
            mistyped(&format!("--{key} {text:?} is not a length of time (takes 90s, 10m, 2h, 1d)"))
        }),
    };
    let usual = Terms::default();
    let active = terms.active.map(|text| text.parse::<ActiveHours>()).transpose();
    let misfire = terms.misfire.map(|text| text.parse::<Misfire>()).transpose();
    let until = terms.until.map(|text| {
        DateTime::parse_from_rfc3339(&text).map_err(|_| {
            mistyped(&format!("--until {text:?} is not a time (takes 2026-12-24T18:00:00+01:00)"))
        })
    });
    let terms = Terms {
        starts: None,
        until: until.transpose()?.map(|at| at.with_timezone(&Utc)),
        times: terms.times,
        active: active
            .map_err(|e| mistyped(&format!("--active: {e}")))?
            .map(|hours| hours.to_string()),
        jitter: span("jitter", terms.jitter)?.unwrap_or(usual.jitter),
        misfire: misfire.map_err(|e| mistyped(&format!("--misfire: {e}")))?.unwrap_or_default(),
        lateness: span("lateness", terms.lateness)?.unwrap_or(usual.lateness),
        history: terms.history.unwrap_or(usual.history),
        budget: Budget {
            calls: terms.budget_calls.unwrap_or(usual.budget.calls),
            micro_usd: match terms.budget_usd {
                None => usual.budget.micro_usd,
                Some(usd) => micro_usd(usd).ok_or_else(|| {
                    mistyped(&format!("--budget-usd {usd} is not an amount (takes 0.5, 5)"))
                })?,
            },
        },
    };
    let key = format!("cli:{}", uuid::Uuid::now_v7());
    Ok(New { key, when, zone: tz, action, to, title: title.unwrap_or_default(), terms })
}

fn mistyped(why: &str) -> Failure {
    Failure::Usage(why.to_owned())
}

/// One time in a line.
fn past(time: &Time) -> String {
    let Time { times, state, why, task, delivered, .. } = time;
    let at = time.shown();
    let several = if *times > 1 { format!(" and {} more", times - 1) } else { String::new() };
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let task = task.map_or_else(String::new, |task| format!(" · task {task}"));
    let delivered =
        delivered.as_ref().map_or_else(String::new, |stands| format!(" · {}", standing(stands)));
    format!("{at}{several} · {state}{why}{task}{delivered}\n")
}

fn standing(state: &DeliveryState) -> String {
    match state {
        DeliveryState::Open => "on its way".to_owned(),
        DeliveryState::Delivered { .. } => "delivered".to_owned(),
        DeliveryState::Partly { reason } => format!("partly delivered: {reason}"),
        DeliveryState::Refused { reason } => format!("refused: {reason}"),
        DeliveryState::Unclear => "unclear whether it arrived".to_owned(),
        DeliveryState::Cancelled => "withdrawn".to_owned(),
        DeliveryState::Expired => "too late to be sent".to_owned(),
    }
}
