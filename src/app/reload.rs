//! `selkie reload` and SIGHUP: the config is read again and checked whole. Where anything is wrong, the one of before stays;
//! where all is good, what can change while selkie runs is put in the place of what stood, and the rest is named.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use selkie_channel_core::{Channel, locked};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::answered::NotDone;
use crate::app::App;
use crate::build::{AppConfig, Carryover};
use crate::config_drift::{InForce, Peek};
use crate::credentials::{Refusal, refusals};
use crate::mcp;
use crate::service_manager::ServiceManager;
use selkie_config::paths::Folders;
use selkie_config::problem::Problems;
use selkie_config::{Effective, written};
use selkie_domain::count::counted;
use selkie_engine::flow::{ChannelChange, ChannelOutcome};

/// What can change while selkie runs, besides the channels' own sections: these keys and all beneath them.
const LIVE: [&str; 32] = [
    "acp",
    "agent",
    "agents",
    "approvals",
    "debounce",
    "gate",
    "group_trigger_mode",
    "groups",
    "guard",
    "heartbeat",
    "images",
    "join_within",
    "limits",
    "llm",
    "mcp",
    "memory.summary",
    "outbox",
    "owners",
    "pairing",
    "places",
    "progress",
    "record_untriggered",
    "schedules",
    "secrets",
    "skills",
    "speech",
    "store.retention",
    "tools",
    "transcription",
    "webhooks.hooks",
    "while_busy",
    "workspace",
];

/// Folders in which everything stands that was opened.
const FOLDERS: [&str; 2] = ["file_state_dir", "file_cache_dir"];

/// Stands among the keys for what an owner has agreed to of servers and skills: files, which no config names.
const AGREED: &str = "skills and servers' tools";

/// How long channels that began anew may take to prove themselves.
const PROOF: Duration = Duration::from_secs(10);

/// Reads the config once more, as at the start; the folders stay these where they are named.
pub type ReadAnew =
    Arc<dyn Fn(Carryover, Option<&Folders>) -> Result<AppConfig, Problems> + Send + Sync>;

/// The config of a process, to be read again.
#[derive(Clone)]
pub struct Reread {
    /// Reads, checks and builds all of it.
    pub read: ReadAnew,
    /// Reads what it says and builds nothing.
    pub peek: Peek,
}

/// What a reload came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReloadReport {
    /// Keys that are in force with other values than before.
    pub changed: Vec<String>,
    /// Channels that were added, made anew or taken away, and those whose platforms refuse what the config says of them.
    pub channels: Vec<ChannelChange>,
    /// Keys that have other values than before, and are in force from the next start on.
    pub needs_restart: Vec<String>,
    /// What is right and still may not be what the config's writer wants, and what could not be done.
    pub notes: Vec<String>,
}

impl ReloadReport {
    /// Whether a platform refuses what the config says of its channel.
    pub fn is_refused(&self) -> bool {
        self.channels.iter().any(|channel| channel.refused.is_some())
    }

    fn is_nothing(&self) -> bool {
        self.changed.is_empty() && self.channels.is_empty() && self.needs_restart.is_empty()
    }
}

/// Reloads.
pub struct Reloader {
    /// None: there is no config that could be read again.
    read: Option<ReadAnew>,
    app: Arc<App>,
    manager: Arc<ServiceManager>,
    in_force: Arc<InForce>,
    /// What is in force. One reload after the other holds it.
    stands: Mutex<Effective>,
    /// What was agreed to of servers and skills, and is in force.
    agreed: std::sync::Mutex<String>,
}

impl Reloader {
    /// Reloads an app.
    pub fn of(
        app: &Arc<App>,
        reread: Option<Reread>,
        manager: &Arc<ServiceManager>,
        in_force: Arc<InForce>,
    ) -> Self {
        Self {
            read: reread.map(|reread| reread.read),
            app: Arc::clone(app),
            manager: Arc::clone(manager),
            in_force,
            stands: Mutex::new(app.plan.written.clone()),
            agreed: std::sync::Mutex::new(app.plan.agreed.clone()),
        }
    }

    /// Reads the config again and puts what it says in force; carried to its end, whoever hangs up.
    pub async fn reload(self: Arc<Self>) -> Result<ReloadReport, NotDone> {
        let flow = Arc::clone(&self.app.flow);
        let reloads = async move {
            let mut stands = self.stands.lock().await;
            if self.app.flow.is_draining() {
                let why = "selkie is stopping: it reads its config at the next start";
                return Err(NotDone::refused(why));
            }
            self.manager.reloading();
            let reloaded = self.carried_out(&mut stands).await;
            self.tell(&reloaded);
            self.manager.ready();
            reloaded
        };
        flow.to_the_end(reloads).await
    }

    async fn carried_out(&self, stands: &mut Effective) -> Result<ReloadReport, NotDone> {
        let plan = self.planned(None).await?;
        let changed = plan.written.changed(stands);
        let (live, later): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|path| self.is_live(&written(path)));
        let moves = later.iter().any(|path| FOLDERS.contains(&written(path).as_str()));
        let refused = refusals(of_sections(&plan.channels, &sections(&live))).await;
        let is_refused = |path: &Vec<String>| {
            refused.iter().any(|one| path.first().is_some_and(|section| section == one.name))
        };
        let (held, mut live): (Vec<_>, Vec<_>) = live.into_iter().partition(is_refused);
        if *locked(&self.agreed) != plan.agreed {
            live.push(vec![AGREED.to_owned()]);
        }
        let mut loaded = plan.written.clone();
        held.iter().for_each(|path| loaded.hold(path, stands));
        let mut effective = loaded.clone();
        later.iter().for_each(|path| effective.hold(path, stands));
        let needs_restart: Vec<String> = later.iter().map(|path| written(path)).collect();
        let mut told = ReloadReport { needs_restart, ..ReloadReport::default() };
        let tried = plan.written.clone();
        if !live.is_empty() {
            let plan = match moves {
                // What is made of the config names the folders that are in use.
                true => self.planned(Some(self.app.plan.folders.clone())).await?,
                false => plan,
            };
            if let Err(why) = self.put_in_force(plan, &live, &refused, &mut told).await {
                self.in_force.refused(Some(tried), vec![why.clone()]);
                return Err(NotDone::Refused(why));
            }
        }
        let left: Vec<ChannelChange> = refused.into_iter().map(|it| self.left(it)).collect();
        self.in_force.loaded(loaded, &told.needs_restart);
        if !left.is_empty() {
            self.in_force.refused(Some(tried), left.iter().map(why_left).collect());
        }
        told.channels.extend(left);
        *stands = effective;
        Ok(told)
    }

    /// Has what changed used from now on; a channel whose platform refuses the new section goes on as before.
    async fn put_in_force(
        &self,
        plan: AppConfig,
        live: &[Vec<String>],
        refused: &[Refusal],
        told: &mut ReloadReport,
    ) -> Result<(), String> {
        told.notes = plan.notes.clone();
        if let Err(error) = self.app.flow.adopt(plan.made(&self.app.standing)).await {
            return Err(format!("nothing was changed: the store does not answer: {error}"));
        }
        mcp::tell_by(&plan.mcp, &self.app.flow);
        locked(&self.agreed).clone_from(&plan.agreed);
        self.app.shaper.put(plan.shaper);
        self.app.model.put(plan.model.card().name);
        self.app.webhooks.put(&plan.settings.webhooks);
        let is_refused = |channel: &Channel| refused.iter().any(|one| one.name == channel.name);
        let before = self.app.flow.platforms().into_iter().filter(is_refused);
        let taken = plan.channels.into_iter().filter(|channel| !is_refused(channel));
        told.channels = self.app.flow.rewire(taken.chain(before).collect(), &sections(live)).await;
        self.app.flow.prove(&mut told.channels, PROOF).await;
        if let Err(error) = self.app.flow.keep_schedules().await {
            told.notes.push(format!(
                "the schedules of the config are as before until the next start: the store does not answer: {error}"
            ));
        }
        told.changed = live.iter().map(|path| written(path)).collect();
        Ok(())
    }

    /// Tells what became of a channel whose platform refuses what the config says of it.
    fn left(&self, refusal: Refusal) -> ChannelChange {
        let Refusal { name, account, why } = refusal;
        let before = self.app.flow.platforms().into_iter().find(|channel| channel.name == name);
        let why = self.app.plan.redactor.clean(&why);
        ChannelChange::refused(name, before.map(|channel| channel.account).as_ref(), &account, why)
    }

    /// Reads and checks everything, as `selkie config check` does.
    async fn planned(&self, folders: Option<Folders>) -> Result<AppConfig, NotDone> {
        let Some(read) = self.read.clone() else {
            let why =
                "there is no config to read again: only `selkie run` has one, a demo has none";
            return Err(NotDone::refused(why));
        };
        let kept = self.app.plan.kept();
        let read = tokio::task::spawn_blocking(move || read(kept, folders.as_ref())).await;
        let plan = match read {
            Ok(read) => read.map_err(|problems| {
                let why = problems.0.iter().map(ToString::to_string).collect();
                self.in_force.refused(None, why);
                NotDone::Mistyped(problems.to_string())
            })?,
            Err(_) => return Err(NotDone::refused("a defect ended the reading")),
        };
        match plan.needs_something_to_do() {
            Some(says) => {
                self.in_force.refused(Some(plan.written), vec![says.clone()]);
                Err(NotDone::Mistyped(says))
            }
            None => Ok(plan),
        }
    }

    fn tell_what_changed(&self, reloaded: &ReloadReport) {
        let ReloadReport { changed, channels, needs_restart, notes } = reloaded;
        notes.iter().for_each(|note| tracing::warn!("{note}"));
        let mut says = Vec::new();
        for ChannelChange { name, account, refused, .. } in channels {
            if let Some(why) = refused {
                tracing::error!(
                    channel = name,
                    account,
                    why,
                    "the platform rejects what was reloaded"
                );
                says.push(format!("{name} is refused: {why}"));
            }
        }
        let channels: Vec<&str> = channels.iter().map(|it| it.name.as_str()).collect();
        tracing::info!(?changed, ?channels, ?needs_restart, "the config was reloaded");
        if !needs_restart.is_empty() {
            says.push(format!("needs a restart: {}", needs_restart.join(", ")));
        }
        self.manager.note((!says.is_empty()).then(|| says.join("; ")));
    }

    fn is_live(&self, key: &str) -> bool {
        let is_of = |section: &&str| {
            key.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        LIVE.iter().any(is_of) || self.app.plan.sections.iter().any(is_of)
    }

    /// Tells the log and the service manager.
    fn tell(&self, reloaded: &Result<ReloadReport, NotDone>) {
        match reloaded {
            Ok(reloaded) if reloaded.is_nothing() => {
                tracing::info!("the config was reloaded: nothing changed");
                self.manager.note(None);
            }
            Ok(reloaded) => self.tell_what_changed(reloaded),
            Err(NotDone::Mistyped(faults)) => {
                for fault in faults.lines() {
                    tracing::error!(
                        fault,
                        "the config was not reloaded: the previous one stays in force"
                    );
                }
                let many = counted(faults.lines().count() as u64, ["fault", "faults"]);
                let first = faults.lines().next().unwrap_or_default();
                self.manager
                    .note(Some(format!("the config has {many}, the previous one stays: {first}")));
            }
            Err(NotDone::Refused(why)) => {
                tracing::error!(
                    why,
                    "the config was not reloaded: the previous one stays in force"
                );
                self.manager.note(Some(format!("the config was not reloaded: {why}")));
            }
        }
    }
}

/// Says why what the config says of a channel is not in force.
fn why_left(change: &ChannelChange) -> String {
    let why = change.refused.as_deref().unwrap_or("no reason is known");
    match change.became {
        ChannelOutcome::LeftOut => format!("{} was not added: {why}", change.name),
        _ => format!("{} keeps its previous settings: {why}", change.name),
    }
}

/// The sections that these keys are of.
fn sections(keys: &[Vec<String>]) -> BTreeSet<String> {
    keys.iter().filter_map(|path| path.first()).cloned().collect()
}

fn of_sections<'a>(channels: &'a [Channel], sections: &BTreeSet<String>) -> Vec<&'a Channel> {
    channels.iter().filter(|channel| sections.contains(channel.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_in_order_and_a_key_of_the_config() {
        assert!(LIVE.is_sorted());
        let schema = selkie_config::whole_schema(&[]);
        for key in LIVE.iter().chain(&FOLDERS) {
            let pointer = format!("/properties/{}", key.replace('.', "/properties/"));
            let known = schema.pointer(&pointer).is_some()
                || key.split_once('.').is_some_and(|(section, _)| {
                    schema.pointer(&format!("/properties/{section}")).is_some()
                });
            assert!(known, "{key} is no key");
        }
    }
}
