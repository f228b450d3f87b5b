//! `selkie tweets`: what is posted in public, at the command line.

use clap::Subcommand;

use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, to_ask};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::posts::PostEdit;
use selkie_app::request::{Request, Response};
use selkie_channel_core::shorten_line;
use selkie_guard::visible::{one_line, visible};
use selkie_schedule::line::next_beside;
use selkie_schedule::post_view::PostView;
use selkie_schedule::view::in_zone;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// Characters of a post in a list.
const SHOWN: usize = 60;

/// What an empty list says.
const NONE: &str =
    "There are no posts. Ask for one in a chat: \"post this in public every day at 8\".\n";

/// `selkie tweets`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie tweets list
  selkie tweets show 3
  selkie tweets edit 3 --text \"Good morning, and mind the tide!\"
  selkie tweets retry p12
  selkie tweets cancel 3

A scheduled post goes by the number of its schedule (3), one that was posted or refused by p and a number (p12), and a draft \
that waits for approval by its code (3fa9c1).")]
pub enum Tweets {
    /// List drafts, scheduled posts, and those most recently posted, refused or withdrawn
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show a post in full
    Show {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Stop a post: deny a draft, remove a schedule, or withdraw what is waiting to be sent
    Cancel {
        /// Its number (3), p and a number (p12), or a draft's code
        id: String,
    },
    /// Try again to post what was refused, came too late, or may not have arrived; in that case selkie looks at the
    /// timeline first. Needs a running daemon
    Retry {
        /// p and a number (p12)
        id: String,
    },
    /// Change the text or the time of a scheduled post; needs no approval, since you are the owner
    Edit(EditTweet),
}

/// `selkie tweets edit`.
#[derive(Debug, clap::Args)]
pub struct EditTweet {
    /// Its number
    pub id: String,
    /// The new text; it replaces the whole post, including its thread
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// Another post of its thread; may be repeated
    #[arg(long, value_name = "TEXT", requires = "text")]
    pub thread: Vec<String>,
    /// When to post it next: 08:00, "tomorrow 08:00", or 2026-12-24T18:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// How often from then on: once, hourly, daily or weekly [default: as before]
    #[arg(long, value_name = "HOW", requires = "time")]
    pub recurrence: Option<String>,
}

/// Lists and changes posts, through the daemon when one runs.
pub fn tweets(binary: &Binary, chosen: &ConfigChoice, what: Tweets) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    let (asked, json, whole) = match what {
        Tweets::List { json } => (Request::Posts, json, false),
        Tweets::Show { id, json } => (Request::Post { id }, json, true),
        Tweets::Cancel { id } => (Request::CancelPost { id }, false, false),
        Tweets::Retry { id } => (Request::RetryPost { id }, false, false),
        Tweets::Edit(edit) => {
            let texts = edit.text.map(|text| std::iter::once(text).chain(edit.thread).collect());
            if texts.is_none() && edit.time.is_none() {
                return Err(Failure::Usage("give --text, --time, or both".to_owned()));
            }
            (
                Request::EditPost {
                    id: edit.id,
                    edit: PostEdit { texts, time: edit.time, recurrence: edit.recurrence },
                },
                false,
                true,
            )
        }
    };
    let is_list = matches!(asked, Request::Posts);
    let zone = plan.zone;
    let Response::Posts(posts) = ask(plan, asked)? else { return mismatched() };
    if json {
        return match is_list {
            true => Ok(print::json(&posts)?),
            false => Ok(print::json(&posts.first())?),
        };
    }
    if posts.is_empty() {
        return Ok(print::prose(NONE)?);
    }
    let lines: String = posts
        .iter()
        .map(|post| if whole { line(post) + &details(post, zone) } else { line(post) })
        .collect();
    Ok(print::out(&print::hanging(&lines, print::width()))?)
}

/// One post in a line.
fn line(post: &PostView) -> String {
    let PostView { id, state, why, when, schedule, texts, pictures, url, .. } = post;
    let next = next(post);
    let of = schedule.filter(|of| of.to_string() != *id).map(|of| format!(" · schedule {of}"));
    let when = if when.is_empty() { String::new() } else { format!(" · {when}") };
    let next = match (state.as_str(), next.first()) {
        ("scheduled", Some(at)) => next_beside(&post.when, at),
        _ => String::new(),
    };
    let url = url.as_ref().map(|url| format!(" · {url}")).unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!(": {}", visible(&one_line(why))) };
    let more = match texts.len() {
        0 | 1 => String::new(),
        more => format!(" (thread of {more})"),
    };
    let pictured = match pictures.len() {
        0 => String::new(),
        1 => " (1 picture)".to_owned(),
        more => format!(" ({more} pictures)"),
    };
    let words = beginning(texts.first().map_or("", String::as_str));
    format!(
        "{id}  {state}{why}{}{when}{next}{url} · {words}{more}{pictured}\n",
        of.unwrap_or_default()
    )
}

fn beginning(text: &str) -> String {
    visible(&shorten_line(text, SHOWN))
}

/// Its next times as people read them.
fn next(post: &PostView) -> Vec<String> {
    post.next.iter().map(|at| in_zone(*at, &post.zone)).collect()
}

fn details(post: &PostView, zone: Zone) -> String {
    let PostView { texts, pictures, asked, at, .. } = post;
    let indented = |text: &String| format!("    {}\n", visible(text).replace('\n', "\n    "));
    let texts: Vec<String> = texts.iter().map(indented).collect();
    let pictures: String = pictures
        .iter()
        .map(|name| format!("    [picture] {}\n", visible(&one_line(name))))
        .collect();
    let then = match next(post).as_slice() {
        [] | [_] => String::new(),
        [_, later @ ..] => format!("   then {}\n", later.join(", ")),
    };
    let at = at.map(|at| format!("   stored {}", moment(at, zone))).unwrap_or_default();
    let asked = asked.as_ref().map(|asked| format!("   asked for in {asked}"));
    let whence = match at + &asked.unwrap_or_default() {
        whence if whence.is_empty() => whence,
        whence => whence + "\n",
    };
    format!("{then}{whence}{}{pictures}{}", texts.join("    ---\n"), hint(post))
}

/// What may be done about it.
fn hint(post: &PostView) -> String {
    let id = &post.id;
    let hint = match post.state.as_str() {
        "draft" => {
            format!("selkie approvals approve {id} posts it, selkie tweets cancel {id} drops it")
        }
        "scheduled" => format!(
            "selkie tweets edit {id} --text … changes it, selkie tweets cancel {id} removes it"
        ),
        "paused" => {
            format!("selkie schedules resume {id} resumes it, selkie tweets cancel {id} removes it")
        }
        "refused" | "expired" => format!("selkie tweets retry {id} tries it again"),
        "unclear" => format!(
            "selkie tweets retry {id} looks at the timeline, and posts it only if it is not there"
        ),
        "posting" => format!("selkie tweets cancel {id} withdraws what is still waiting"),
        _ => return String::new(),
    };
    format!("   {hint}\n")
}
