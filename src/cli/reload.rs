//! `selkie reload`: the running daemon reads its config again.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use tokio::time::timeout;

use super::outcome::{Failure, Outcome};
use super::print;
use selkie_app::Binary;
use selkie_app::answered::NotDone;
use selkie_app::build::{ConfigChoice, sources};
use selkie_app::client::RunningDaemon;
use selkie_app::http;
use selkie_app::lifecycle;
use selkie_app::reload::ReloadReport;
use selkie_config::problem::Problems;
use selkie_config::read;
use selkie_domain::count::counted;
use selkie_engine::flow::{ChannelChange, ChannelOutcome};
use selkie_guard::visible::one_line;

/// How long the daemon may take: a receiver may be slow to end.
const TIMEOUT: Duration = Duration::from_secs(120);

/// `selkie reload`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie config check && selkie reload
  selkie reload --json | jq .needs_restart
  kill -HUP $(selkie status --json | jq .pid)   the same; the log has the result

The running selkie reads its config and the files of its secrets again, and checks all of it. If anything is wrong, the previous \
config stays in force. Otherwise new tasks use the new config, and channels whose section has changed are restarted; the others \
are not touched. A channel whose platform rejects the new token keeps the old one. Environment variables stay those that selkie was \
started with.

Exit codes: 0 everything that can change without a restart has taken effect · 1 no daemon runs with this state folder, the reload failed, \
or a platform rejects what the config says of its channel (the rest has taken effect) · 2 the command line or the config is wrong, and \
the previous config stays in force")]
pub struct ReloadArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Has the running daemon read its config again.
pub fn reload(binary: &Binary, chosen: &ConfigChoice, args: &ReloadArgs) -> Outcome {
    // What is wrong is the daemon's to say: it may know secrets that this command does not.
    let reading = read(&sources(binary, chosen), &binary.kits)?;
    let Some(found) = reading.folders() else {
        let problems = Problems(reading.problems.clone());
        return Err(Failure::Usage(format!("{problems}\nNothing was reloaded.")));
    };
    let state = found.folders.state;
    let tls = http::tls().map_err(|error| anyhow!("{error}"))?;
    let answered = lifecycle::runtime()?.block_on(async {
        let Some(daemon) = RunningDaemon::find(&tls, &state).await? else {
            return Ok::<_, anyhow::Error>(None);
        };
        let told = timeout(TIMEOUT, daemon.reload()).await;
        let late = "the daemon has not answered for two minutes: its log says what it waits for";
        Ok(Some(told.context(late)??))
    })?;
    match answered {
        Some(Ok(reloaded)) => {
            match args.json {
                true => print::json(&reloaded)?,
                false => print::prose(&told(&reloaded))?,
            }
            if reloaded.is_refused() { Err(Failure::Told) } else { Ok(()) }
        }
        Some(Err(NotDone::Refused(why))) => Err(Failure::Failed(anyhow!("{why}"))),
        Some(Err(NotDone::Mistyped(faults))) => {
            Err(Failure::Usage(format!("{faults}\nThe previous config stays in force.")))
        }
        None => Err(Failure::Failed(anyhow!(
            "no daemon runs with the state folder {}: start one with `selkie run`, or name the folder of the one that runs \
             with --state",
            state.display()
        ))),
    }
}

fn told(reloaded: &ReloadReport) -> String {
    let ReloadReport { changed, channels, needs_restart, notes } = reloaded;
    let mut lines = Vec::new();
    if changed.is_empty() && needs_restart.is_empty() && channels.is_empty() {
        lines.push("Nothing has changed.".to_owned());
    }
    if !changed.is_empty() {
        lines.push(format!("In effect now: {}", changed.join(", ")));
    }
    lines.extend(channels.iter().map(channel));
    if !needs_restart.is_empty() {
        lines.push(format!("In effect after a restart: {}", needs_restart.join(", ")));
    }
    lines.extend(notes.iter().map(|note| format!("note: {}", one_line(note))));
    lines.join("\n") + "\n"
}

fn channel(change: &ChannelChange) -> String {
    let ChannelChange { name, account, became, running, refused, unanswered } = change;
    let who = format!("{name} ({account})");
    let refused = refused.as_deref().map(one_line);
    let answer = match (&refused, unanswered) {
        (Some(why), _) => format!(", and is rejected: {why}"),
        (None, true) => "; its platform has not answered yet: selkie status".to_owned(),
        (None, false) => String::new(),
    };
    let why = refused.as_deref().unwrap_or("no reason is known");
    match (became, running) {
        (ChannelOutcome::Added, _) => format!("{who} was added and listens{answer}"),
        (ChannelOutcome::Remade, _) => format!("{who} was restarted{answer}"),
        (ChannelOutcome::Kept, _) => format!("{who} keeps its previous settings: {why}"),
        (ChannelOutcome::LeftOut, _) => format!("{who} was not added: {why}"),
        (ChannelOutcome::Removed, 0) => {
            format!("{who} was removed; messages that wait for it stay in the store")
        }
        (ChannelOutcome::Removed, running) => {
            let tasks = counted(*running as u64, ["task has", "tasks have"]);
            format!(
                "{who} no longer listens, and will be gone when {tasks} ended; messages that wait for it stay in the store"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_is_told_line_by_line() {
        assert_eq!(told(&ReloadReport::default()), "Nothing has changed.\n");
        let change = |became, running| ChannelChange {
            name: "bird".to_owned(),
            account: "b:1".to_owned(),
            became,
            running,
            refused: None,
            unanswered: false,
        };
        let refused = |became| ChannelChange {
            refused: Some("401: no such token".to_owned()),
            ..change(became, 0)
        };
        let reloaded = ReloadReport {
            changed: vec!["bird.token".to_owned(), "owners".to_owned()],
            channels: vec![
                change(ChannelOutcome::Remade, 0),
                change(ChannelOutcome::Added, 0),
                change(ChannelOutcome::Removed, 0),
                change(ChannelOutcome::Removed, 2),
                refused(ChannelOutcome::Kept),
                refused(ChannelOutcome::LeftOut),
                refused(ChannelOutcome::Remade),
                ChannelChange { unanswered: true, ..change(ChannelOutcome::Remade, 0) },
            ],
            needs_restart: vec!["store.url".to_owned()],
            notes: vec!["two\nlines".to_owned()],
        };
        let lines = told(&reloaded);
        for part in [
            "In effect now: bird.token, owners\n",
            "bird (b:1) was restarted\n",
            "bird (b:1) was added and listens\n",
            "was removed; messages",
            "will be gone when 2 tasks have ended;",
            "bird (b:1) keeps its previous settings: 401: no such token\n",
            "bird (b:1) was not added: 401: no such token\n",
            "bird (b:1) was restarted, and is rejected: 401: no such token\n",
            "bird (b:1) was restarted; its platform has not answered yet: selkie status\n",
            "In effect after a restart: store.url\n",
        ] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
        assert_eq!(lines.lines().count(), 11, "{lines}");
    }
}
