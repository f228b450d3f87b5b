//! The step of the owner: the bot is started, and whoever sends it the code in private owns it.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use selkie_channel_core::{ChannelKit, PersonId};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use super::Answers;
use super::prompt::{PromptClosed, Prompter};
use super::trial::Trial;
use selkie_app::build::AppConfig;
use selkie_app::pairing::{OpenCode, open_code, unpair};
use selkie_app::run::{Attendant, Up, daemon};
use selkie_app::service_manager::ServiceManager;
use selkie_engine::delivery::{ChannelState, ListenState};

/// How long the code is waited for.
const TIMEOUT: Duration = Duration::from_secs(600);
/// How long no hint means that it is time to look.
const LOOK: Duration = Duration::from_millis(500);

/// What came of the waiting.
enum PairingOutcome {
    /// Somebody sent the code, or typed their id.
    Owner(String),
    /// Nobody did, and it goes on without.
    Nobody,
    /// Nobody goes on answering.
    Stopped,
}

/// Learns who owns the bot, where a channel is set up that hears people.
///
/// # Errors
/// When nobody goes on answering.
pub async fn ask(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<(), PromptClosed> {
    let Ok(plan) = trial.plan(answers) else { return Ok(()) };
    let hears = |kit: &&ChannelKit| {
        plan.channels.iter().any(|channel| channel.name == kit.name && channel.receiver.is_some())
    };
    let kits: Vec<&ChannelKit> = trial.binary.kits.iter().filter(hears).collect();
    if kits.is_empty() || !answers.owners().is_empty() {
        return Ok(());
    }
    prompter.say("");
    prompter.say("Who owns the bot? It always answers its owners, and asks them to approve what needs approval.");
    let met = match meet(prompter, &kits, plan).await {
        Ok(met) => met,
        Err(error) => {
            prompter.say(&format!("  ✗ The bot could not be started: {error:#}"));
            by_hand(prompter, &kits).await?
        }
    };
    match met {
        PairingOutcome::Owner(person) => {
            prompter.say(&format!("  ✓ {person} owns the bot."));
            answers.own(&person);
            prompter.say(
                "When somebody else writes to it, it asks you in private whether to let them in. The key pairing in \
                 the config says what happens instead.",
            );
        }
        PairingOutcome::Nobody => {
            prompter.say("Nobody owns the bot yet. To become its owner later, run selkie pair.")
        }
        PairingOutcome::Stopped => return Err(PromptClosed),
    }
    Ok(())
}

/// Runs the bot until its owner is known. What others write meanwhile is stored, as always.
async fn meet(
    prompter: &mut Prompter,
    kits: &[&ChannelKit],
    plan: AppConfig,
) -> anyhow::Result<PairingOutcome> {
    let (up, started) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    // A database that is away is waited for; who does not want to wait stops it.
    let waits = |_: String| {};
    let manager = ServiceManager::default();
    let attendant =
        Attendant { up, end: Some(ended), waits: &waits, manager, signals: None, reread: None };
    let mut daemon = pin!(daemon(plan, attendant));
    let waiting = async {
        let Ok(up) = started.await else { return Ok(PairingOutcome::Stopped) };
        let met = wait(prompter, kits, &up).await;
        // A daemon that has ended needs no telling.
        end.send(()).ok();
        met
    };
    tokio::select! {
        ran = &mut daemon => ran.map(|()| PairingOutcome::Stopped),
        met = waiting => {
            daemon.await?;
            met
        }
    }
}

async fn wait(
    prompter: &mut Prompter,
    kits: &[&ChannelKit],
    up: &Up,
) -> anyhow::Result<PairingOutcome> {
    let mut events = up.app.events.listen();
    let OpenCode { code, .. } = open_code(&up.app.flow).await?;
    let titles: Vec<&str> = kits.iter().filter_map(|kit| Some(kit.setup?.title)).collect();
    prompter.say(&format!(
        "Send this to the bot in a private chat ({}) within 10 minutes:",
        titles.join(", ")
    ));
    prompter.say(&format!("\n  pair {code}\n"));
    prompter.say(&format!(
        "Waiting for it. You can also type your id ({}), or press Enter to do this later.",
        such_as(kits)
    ));
    let late = Instant::now() + TIMEOUT;
    let mut told = BTreeSet::new();
    loop {
        // Some secrets are tried by listening alone.
        for (name, reason) in up.app.flow.channels().into_iter().filter_map(refused) {
            if told.insert(name) {
                prompter.say(&format!("  ✗ {name} cannot listen: {reason}"));
            }
        }
        let paired = up.app.flow.timetable.owners.first().cloned();
        if let Some(owner) = paired {
            // The config is about to name them: one place says who owns the bot, and who is taken out there is out.
            unpair(&up.app.flow, &owner).await?;
            return Ok(PairingOutcome::Owner(owner.to_string()));
        }
        tokio::select! {
            line = prompter.typed() => match line {
                Ok(line) => if let Some(met) = read(prompter, kits, line.trim()) { return Ok(met) },
                Err(PromptClosed) => return Ok(PairingOutcome::Stopped),
            },
            looked = timeout_at(late, timeout(LOOK, events.recv())) => if looked.is_err() {
                prompter.say("Nobody sent the code in time.");
                return Ok(PairingOutcome::Nobody);
            },
        }
    }
}

/// Names a channel that its platform refuses, and says why.
fn refused(channel: ChannelState) -> Option<(&'static str, String)> {
    match channel.hearing {
        ListenState::Refused { reason } => Some((channel.name, reason)),
        ListenState::Listening | ListenState::Off => None,
    }
}

/// Asks for the id alone.
async fn by_hand(
    prompter: &mut Prompter,
    kits: &[&ChannelKit],
) -> Result<PairingOutcome, PromptClosed> {
    loop {
        let line = prompter.line(&format!("Your id ({})", such_as(kits)), "").await?;
        if let Some(met) = read(prompter, kits, &line) {
            return Ok(met);
        }
    }
}

fn read(prompter: &Prompter, kits: &[&ChannelKit], line: &str) -> Option<PairingOutcome> {
    if line.is_empty() {
        return Some(PairingOutcome::Nobody);
    }
    if kits.iter().any(|kit| (kit.people.fit)(line)) {
        return Some(PairingOutcome::Owner(PersonId::new(line).to_string()));
    }
    prompter.say(&format!("{line:?} is not an id ({}).", such_as(kits)));
    None
}

fn such_as(kits: &[&ChannelKit]) -> String {
    let all: Vec<&str> = kits.iter().map(|kit| kit.people.such_as).collect();
    format!("such as {}", all.join(", "))
}
