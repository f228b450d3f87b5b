//! `selkie sessions`: the conversations that there are, and what was said in them, at the command line.

use chrono::DateTime;
use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{done, no_state, to_ask_silently};
use crate::daemon::build::{AppConfig, Chosen};
use crate::daemon::client::Running;
use crate::daemon::sessions::{AskedOfSessions, carry_out_sessions};
use crate::daemon::{Binary, lifecycle};
use crate::guard::visible::one_line;
use crate::schedule::words::moment;
use crate::schedule::zone::Zone;

/// Conversations that are known to lists at most.
const MOST: i64 = 500;

/// `selkie sessions`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie sessions list
  selkie sessions show tg:4711 --limit 20
  selkie sessions export tg:-100123 > talk.md
  selkie sessions export tg:-100123 --format json")]
pub enum Sessions {
    /// List the conversations, the most recently active first
    List {
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=MOST))]
        limit: u16,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in a conversation
    Show {
        /// Its id, as the list shows it
        id: String,
        /// How many of the newest messages
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
        limit: u16,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Print everything that selkie has stored of a conversation
    Export(Export),
}

/// `selkie export`, and `selkie sessions export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie export tg:-100123 > talk.md
  selkie export tg:-100123 --format json

Exit codes: 0 printed · 1 there is no such conversation · 2 the command line or the config is wrong")]
pub struct Export {
    /// Its id, as `selkie sessions list` shows it
    pub id: String,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    pub format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// As what a conversation is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Markdown,
    /// For programs
    Json,
}

/// Lists, shows or exports, through the daemon when one runs.
pub fn sessions(binary: &Binary, chosen: &Chosen, what: Sessions) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    let zone = plan.zone;
    match what {
        Sessions::List { limit, json } => {
            let all = read(plan, AskedOfSessions::List { limit: limit.into() })?;
            if json {
                return Ok(print::json(&all)?);
            }
            let rows: Vec<Vec<String>> = items(&all).map(|one| row(one, zone)).collect();
            match rows.is_empty() {
                true => Ok(print::out("There are no conversations yet.\n")?),
                false => Ok(print::out(&print::table(&rows, print::width()))?),
            }
        }
        Sessions::Show { id, limit, json } => {
            let all = read(plan, AskedOfSessions::Said { id })?;
            let all: Vec<&Value> = items(&all).collect();
            let newest = &all[all.len().saturating_sub(limit.into())..];
            if json {
                return Ok(print::json(&newest)?);
            }
            Ok(print::out(&newest.iter().map(|entry| said(entry, zone)).collect::<String>())?)
        }
        Sessions::Export(Export { id, format, json }) => {
            let all = read(plan, AskedOfSessions::Said { id: id.clone() })?;
            match if json { Format::Json } else { format } {
                Format::Json => {
                    Ok(print::json(&serde_json::json!({ "session": id, "messages": all }))?)
                }
                Format::Markdown => {
                    let said: String = items(&all).map(|entry| said(entry, zone)).collect();
                    Ok(print::out(&format!("# {id}\n\n{said}"))?)
                }
            }
        }
    }
}

fn read(plan: AppConfig, wanted: AskedOfSessions) -> Result<Value, Failure> {
    let answered = lifecycle::runtime()?.block_on(async {
        if let Some(daemon) = Running::find(&plan.tls, &plan.folders.state).await? {
            return daemon.call("/v1/sessions", &wanted).await;
        }
        if !plan.has_state() {
            anyhow::bail!(no_state(&plan));
        }
        let app = plan.open()?;
        let found = carry_out_sessions(&*app.ledger, wanted).await;
        app.ledger.close().await;
        found
    })?;
    done(answered)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A moment that is given as RFC 3339, by the clocks of this machine; empty for none.
fn when(at: &Value, zone: Zone) -> String {
    let at = at.as_str().unwrap_or_default();
    let read = DateTime::parse_from_rfc3339(at).map(|at| moment(at.to_utc(), zone));
    read.unwrap_or_else(|_| at.to_owned())
}

fn row(row: &Value, zone: Zone) -> Vec<String> {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let tasks = row["tasks"].as_u64().unwrap_or_default();
    let closed = if row["closed"].is_null() { "" } else { " (closed)" };
    vec![
        text("key"),
        when(&row["last_at"], zone),
        format!("{tasks} task{}", if tasks == 1 { "" } else { "s" }),
        format!("{}{closed}", one_line(&text("title"))),
    ]
}

/// One message, as Markdown.
fn said(entry: &Value, zone: Zone) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let who = entry["speaker"].as_str().unwrap_or("selkie");
    let at = when(&entry["at"], zone);
    let at = if at.is_empty() { at } else { format!(" · {at}") };
    let marks = [("cause", ""), ("unanswered", "unanswered: "), ("undelivered", "not delivered: ")];
    let marks = marks.map(|(key, before)| match text(key) {
        "" => String::new(),
        why => format!(" _{before}{}_", one_line(why)),
    });
    let at = format!("{at}{}", marks.concat());
    let tools: Vec<&str> = items(&entry["tools"]).filter_map(Value::as_str).collect();
    let used = format!("_used {}_", tools.join(", "));
    match (text("text"), tools.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!("**{who}**{at} {used}\n\n"),
        (said, true) => format!("**{who}**{at}\n\n{said}\n\n"),
        (said, false) => format!("**{who}**{at}\n\n{said}\n{used}\n\n"),
    }
}
