//! `selkie tweets`: what is posted in public, at the command line.

use anyhow::anyhow;

use super::outcome::{Failure, Outcome};
use super::post_args::Tweets;
use super::print;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::client::Running;
use crate::daemon::posts::{AskedOfPosts, PostView, ToldOfPosts, carry_out_posts};
use crate::daemon::{Binary, lifecycle, telemetry};
use crate::guard::visible::{one_line, visible};

/// Characters of a post in a list.
const SHOWN: usize = 60;

/// Lists and changes posts, through the daemon when one runs.
pub fn tweets(binary: &Binary, chosen: &Chosen, what: Tweets) -> Outcome {
    let plan = plan(binary, chosen)?;
    telemetry::start(
        plan.settings.logging.quieter(),
        &plan.redactor,
        telemetry::colour(&binary.env),
    );
    let (asked, json, whole) = match what {
        Tweets::List { json } => (AskedOfPosts::List, json, false),
        Tweets::Show { id, json } => (AskedOfPosts::Show { id }, json, true),
        Tweets::Cancel { id } => (AskedOfPosts::Cancel { id }, false, false),
        Tweets::Retry { id } => (AskedOfPosts::Retry { id }, false, false),
        Tweets::Edit(edit) => {
            let texts = edit.text.map(|text| std::iter::once(text).chain(edit.thread).collect());
            if texts.is_none() && edit.time.is_none() {
                return Err(Failure::Usage("give --text, --time, or both".to_owned()));
            }
            let (time, recurrence) = (edit.time, edit.recurrence);
            (AskedOfPosts::Edit { id: edit.id, texts, time, recurrence }, false, true)
        }
    };
    let is_list = matches!(asked, AskedOfPosts::List);
    let ToldOfPosts { posts, .. } = told(plan, asked)?;
    if json {
        return match is_list {
            true => Ok(print::json(&posts)?),
            false => Ok(print::json(&posts.first())?),
        };
    }
    if posts.is_empty() {
        return Ok(print::out("There are no posts.\n")?);
    }
    let lines: String = posts
        .iter()
        .map(|post| if whole { line(post) + &details(post) } else { line(post) })
        .collect();
    Ok(print::out(&lines)?)
}

/// Asks the daemon, or does it alone.
fn told(plan: AppConfig, asked: AskedOfPosts) -> Result<ToldOfPosts, Failure> {
    let told: ToldOfPosts = lifecycle::runtime()?.block_on(async {
        match Running::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.call("/v1/posts", &asked).await,
            None if matches!(asked, AskedOfPosts::Retry { .. }) => {
                anyhow::bail!("selkie is not running: start it, then try the post again")
            }
            None => {
                let app = plan.open()?;
                let told = carry_out_posts(&app.flow, asked).await;
                app.ledger.close().await;
                told
            }
        }
    })?;
    match &told.refused {
        Some(why) => Err(Failure::Failed(anyhow!("{why}"))),
        None => Ok(told),
    }
}

/// One post in a line.
fn line(post: &PostView) -> String {
    let PostView { id, state, why, when, next, schedule, texts, url, .. } = post;
    let of = schedule.filter(|of| of.to_string() != *id).map(|of| format!(" · schedule {of}"));
    let when = if when.is_empty() { String::new() } else { format!(" · {when}") };
    let next = match (state.as_str(), next.first()) {
        ("scheduled", Some(next)) => format!(" · next {next}"),
        _ => String::new(),
    };
    let url = url.as_ref().map(|url| format!(" · {url}")).unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!(": {}", visible(&one_line(why))) };
    let more = match texts.len() {
        0 | 1 => String::new(),
        more => format!(" (thread of {more})"),
    };
    let words = beginning(texts.first().map_or("", String::as_str));
    format!("{id}  {state}{why}{}{when}{next}{url} · {words}{more}\n", of.unwrap_or_default())
}

fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = visible(&line);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn details(post: &PostView) -> String {
    let indented = |text: &String| format!("    {}\n", visible(text).replace('\n', "\n    "));
    let texts: Vec<String> = post.texts.iter().map(indented).collect();
    let then = match post.next.len() {
        0 | 1 => String::new(),
        _ => format!("   then {}\n", post.next[1..].join(", ")),
    };
    format!("{then}{}", texts.join("    ---\n"))
}
