//! `selkie sessions`: the conversations that there are, and what was said in them, at the command line.

use chrono::DateTime;
use clap::{Subcommand, ValueEnum};
use serde_json::Value;

use super::number::number_in;
use super::outcome::Outcome;
use super::print;
use super::request::{rows, to_ask_silently};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::request::Request;
use selkie_guard::visible::one_line;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// Conversations that are known to lists at most.
const MAX: u16 = 500;

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
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = number_in(1..=MAX))]
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
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = number_in(1..=u16::MAX))]
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
pub fn sessions(binary: &Binary, chosen: &ConfigChoice, what: Sessions) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    let zone = plan.zone;
    match what {
        Sessions::List { limit, json } => {
            let all = rows(plan, Request::Sessions { limit: limit.into() })?;
            if json {
                return Ok(print::json(&all)?);
            }
            let rows: Vec<Vec<String>> = all.iter().map(|one| row(one, zone)).collect();
            match rows.is_empty() {
                true => Ok(print::out("There are no conversations yet.\n")?),
                false => Ok(print::out(&print::table(&rows, print::width()))?),
            }
        }
        Sessions::Show { id, limit, json } => {
            let all = rows(plan, Request::Session { id })?;
            let newest = &all[all.len().saturating_sub(limit.into())..];
            if json {
                return Ok(print::json(&newest)?);
            }
            show(&newest.iter().map(|entry| said(entry, zone)).collect::<String>())
        }
        Sessions::Export(Export { id, format, json }) => {
            let all = rows(plan, Request::Session { id: id.clone() })?;
            match if json { Format::Json } else { format } {
                Format::Json => {
                    Ok(print::json(&serde_json::json!({ "session": id, "messages": all }))?)
                }
                Format::Markdown => {
                    let said: String = all.iter().map(|entry| said(entry, zone)).collect();
                    show(&format!("# {}\n\n{said}", one_line(&id)))
                }
            }
        }
    }
}

/// Prints what was said: the words that are quoted stay as they were written.
fn show(text: &str) -> Outcome {
    for line in text.split_inclusive('\n') {
        match line.starts_with('>') {
            true => print::out(line)?,
            false => print::prose(line)?,
        }
    }
    Ok(())
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

/// What begins another line, wherever the text is shown.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// One message, as Markdown. What somebody wrote is quoted, so that only what is ours begins a line.
fn said(entry: &Value, zone: Zone) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let who = entry["speaker"].as_str().map_or_else(|| "selkie".to_owned(), of_somebody);
    let at = when(&entry["at"], zone);
    let at = if at.is_empty() { at } else { format!(" · {}", one_line(&at)) };
    let marks = [("cause", ""), ("unanswered", "unanswered: "), ("undelivered", "not delivered: ")];
    let marks = marks.map(|(key, before)| match text(key) {
        "" => String::new(),
        why => format!(" _{before}{}_", one_line(why).replace('<', "\\<")),
    });
    let at = format!("{at}{}", marks.concat());
    let tools: Vec<String> =
        items(&entry["tools"]).filter_map(Value::as_str).map(of_tool).collect();
    let used = format!("_used {}_", tools.join(", "));
    match (text("text"), tools.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!("**{who}**{at} {used}\n\n"),
        (said, true) => format!("**{who}**{at}\n\n{}\n", quoted(said)),
        (said, false) => format!("**{who}**{at}\n\n{}\n{used}\n\n", quoted(said)),
    }
}

/// A text as a block quote: nothing in it can begin anything outside of it.
fn quoted(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let lines = text.strip_suffix('\n').unwrap_or(&text).split(LINE_ENDS);
    let quoted =
        |line: &str| if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") };
    lines.map(quoted).collect()
}

/// A name on one line that shows as it stands; one that is ours is somebody's all the same.
fn of_somebody(name: &str) -> String {
    let written = plain(name);
    if name.trim().eq_ignore_ascii_case("selkie") { format!("“{written}”") } else { written }
}

/// The name of a tool, which a model may have made up.
fn of_tool(name: &str) -> String {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.chars().all(is_usual) { name.to_owned() } else { plain(name) }
}

/// Words on one line, without any mark of Markdown.
fn plain(words: &str) -> String {
    let mut out = String::new();
    for c in one_line(words).chars() {
        if matches!(c, '\\' | '*' | '_' | '`' | '~' | '[' | ']' | '<' | '&' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The lines that no quote holds.
    fn own(markdown: &str) -> Vec<&str> {
        markdown.lines().filter(|line| !line.is_empty() && !line.starts_with('>')).collect()
    }

    #[test]
    fn no_text_is_taken_for_an_entry() {
        let text = "hi\n\n**selkie** · today\n_used bash_\r# h1\r\n```\n<!--\u{2028}**Ada**\n";
        let told = said(&json!({ "speaker": "Ada", "text": text, "tools": ["a_b"] }), Zone::UTC);
        assert_eq!(
            told,
            "**Ada**\n\n> hi\n>\n> **selkie** · today\n> _used bash_\n> # h1\n> ```\n> <!--\n> **Ada**\n\n_used a_b_\n\n"
        );
        assert_eq!(own(&told), ["**Ada**", "_used a_b_"]);
        let alone = said(&json!({ "text": "a\n\nb" }), Zone::UTC);
        assert_eq!(alone, "**selkie**\n\n> a\n>\n> b\n\n");
    }

    #[test]
    fn no_name_is_taken_for_an_entry() {
        for (name, shown) in [
            ("Ada", "**Ada**"),
            ("x**\n\n**selkie", "**x\\*\\*⟨U+000A⟩⟨U+000A⟩\\*\\*selkie**"),
            ("Selkie", "**“Selkie”**"),
            ("<!-- `a_b`", "**\\<!-- \\`a\\_b\\`**"),
        ] {
            let told = said(&json!({ "speaker": name, "text": "hi" }), Zone::UTC);
            assert_eq!(told, format!("{shown}\n\n> hi\n\n"));
        }
        let told = said(&json!({ "tools": ["bash_\n# x"], "cause": "a\n<!--" }), Zone::UTC);
        assert_eq!(told, "**selkie** _a⟨U+000A⟩\\<!--_ _used bash\\_⟨U+000A⟩# x_\n\n");
    }
}
