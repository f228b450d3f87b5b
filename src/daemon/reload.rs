//! `selkie reload` and SIGHUP: the config is read again and checked whole. Where anything is wrong, the one of before stays;
//! where all is good, what can change while selkie runs is put in the place of what stood, and the rest is named.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::config::paths::Folders;
use crate::config::problem::Problems;
use crate::config::{Effective, written};
use crate::daemon::answered::Answered;
use crate::daemon::app::{App, Standing};
use crate::daemon::build::{AppConfig, Kept};
use crate::daemon::flow::{ChannelChange, Flow};
use crate::daemon::service_manager::ServiceManager;
use crate::domain::count::counted;
use crate::domain::live::Live;
use crate::shape::Shaper;

/// What can change while selkie runs, besides the channels' own sections: these keys and all beneath them.
const LIVE: [&str; 21] = [
    "agent",
    "approvals",
    "debounce",
    "gate",
    "group_trigger_mode",
    "groups",
    "guard",
    "heartbeat",
    "limits",
    "llm",
    "memory.summary",
    "outbox",
    "owners",
    "pairing",
    "progress",
    "record_untriggered",
    "schedules",
    "store.retention",
    "tools",
    "while_busy",
    "workspace",
];

/// Folders in which everything stands that was opened.
const FOLDERS: [&str; 2] = ["file_state_dir", "file_cache_dir"];

/// Reads the config once more, as at the start; the folders stay these where they are named.
pub type Reread = Arc<dyn Fn(Kept, Option<&Folders>) -> Result<AppConfig, Problems> + Send + Sync>;

/// What a reload came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reloaded {
    /// Keys that are in force with other values than before.
    pub changed: Vec<String>,
    /// Channels that were added, made anew or taken away.
    pub channels: Vec<ChannelChange>,
    /// Keys that have other values than before, and are in force from the next start on.
    pub needs_restart: Vec<String>,
    /// What is right and still may not be what the config's writer wants, and what could not be done.
    pub notes: Vec<String>,
}

/// Reloads.
pub struct Reloader {
    /// None: there is no config that could be read again.
    read: Option<Reread>,
    flow: Arc<Flow>,
    shaper: Live<Shaper>,
    model: Live<str>,
    standing: Standing,
    kept: Kept,
    folders: Folders,
    /// Names of sections that channels read.
    sections: Vec<&'static str>,
    manager: Arc<ServiceManager>,
    /// What is in force. One reload after the other holds it.
    stands: Mutex<Effective>,
}

impl Reloader {
    /// Reloads an app.
    pub fn of(app: &App, read: Option<Reread>, manager: &Arc<ServiceManager>) -> Self {
        let plan = &app.plan;
        Self {
            read,
            flow: Arc::clone(&app.flow),
            shaper: app.shaper.clone(),
            model: app.model.clone(),
            standing: app.standing.clone(),
            kept: plan.kept(),
            folders: plan.folders.clone(),
            sections: plan.sections.clone(),
            manager: Arc::clone(manager),
            stands: Mutex::new(plan.written.clone()),
        }
    }

    /// Reads the config again and puts what it says in force; carried to its end, whoever hangs up.
    pub async fn reload(self: Arc<Self>) -> Answered<Reloaded> {
        let flow = Arc::clone(&self.flow);
        flow.to_the_end(async move {
            let mut stands = self.stands.lock().await;
            if self.flow.is_ending() {
                let why = "selkie is stopping: it reads its config at the next start";
                return Answered::Refused(why.to_owned());
            }
            self.manager.reloading();
            let reloaded = self.carried_out(&mut stands).await;
            self.tell(&reloaded);
            self.manager.ready();
            reloaded
        })
        .await
    }

    async fn carried_out(&self, stands: &mut Effective) -> Answered<Reloaded> {
        let plan = match self.planned(None).await {
            Ok(plan) => plan,
            Err(not) => return not,
        };
        let changed = plan.written.changed(stands);
        let (live, later): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|path| self.is_live(&written(path)));
        let later: Vec<(String, Vec<String>)> =
            later.into_iter().map(|path| (written(&path), path)).collect();
        let mut effective = plan.written.clone();
        later.iter().for_each(|(_, path)| effective.hold(path, stands));
        let needs_restart: Vec<String> = later.into_iter().map(|(key, _)| key).collect();
        let mut told = Reloaded { needs_restart, ..Reloaded::default() };
        if live.is_empty() {
            return Answered::Done(told);
        }
        let moves = told.needs_restart.iter().any(|key| FOLDERS.contains(&key.as_str()));
        let plan = match moves {
            // What is made of the config names the folders that are in use.
            true => match self.planned(Some(self.folders.clone())).await {
                Ok(plan) => plan,
                Err(not) => return not,
            },
            false => plan,
        };
        told.notes = plan.notes.clone();
        if let Err(error) = self.flow.adopt(plan.made(&self.standing)).await {
            let why = format!("nothing was changed: the store does not answer: {error}");
            return Answered::Refused(why);
        }
        self.shaper.put(plan.shaper);
        self.model.put(plan.model.card().name);
        let sections: BTreeSet<String> =
            live.iter().filter_map(|path| path.first()).cloned().collect();
        told.channels = self.flow.rewire(plan.channels, &sections).await;
        if let Err(error) = self.flow.keep_schedules().await {
            told.notes.push(format!(
                "the schedules of the config are as before until the next start: the store does not answer: {error}"
            ));
        }
        told.changed = live.iter().map(|path| written(path)).collect();
        *stands = effective;
        Answered::Done(told)
    }

    /// Reads and checks everything, as `selkie config check` does.
    async fn planned(&self, folders: Option<Folders>) -> Result<AppConfig, Answered<Reloaded>> {
        let Some(read) = self.read.clone() else {
            let why =
                "there is no config to read again: only `selkie run` has one, a demo has none";
            return Err(Answered::Refused(why.to_owned()));
        };
        let kept = self.kept.clone();
        let read = tokio::task::spawn_blocking(move || read(kept, folders.as_ref())).await;
        let plan = match read {
            Ok(read) => read.map_err(|problems| Answered::Mistyped(problems.to_string()))?,
            Err(_) => return Err(Answered::Refused("a defect ended the reading".to_owned())),
        };
        match plan.needs_something_to_do() {
            Some(says) => Err(Answered::Mistyped(says)),
            None => Ok(plan),
        }
    }

    fn is_live(&self, key: &str) -> bool {
        let is_of = |section: &&str| {
            key.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        LIVE.iter().any(is_of) || self.sections.iter().any(is_of)
    }

    /// Tells the log and the service manager.
    fn tell(&self, reloaded: &Answered<Reloaded>) {
        match reloaded {
            Answered::Done(Reloaded { changed, channels, needs_restart, notes }) => {
                notes.iter().for_each(|note| tracing::warn!("{note}"));
                let channels: Vec<&str> = channels.iter().map(|it| it.name.as_str()).collect();
                tracing::info!(?changed, ?channels, ?needs_restart, "the config was reloaded");
                let waits = needs_restart.join(", ");
                self.manager.note((!waits.is_empty()).then(|| format!("needs a restart: {waits}")));
            }
            Answered::Mistyped(faults) => {
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
            Answered::Refused(why) => {
                tracing::error!(
                    why,
                    "the config was not reloaded: the previous one stays in force"
                );
                self.manager.note(Some(format!("the config was not reloaded: {why}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_in_order_and_a_key_of_the_config() {
        assert!(LIVE.is_sorted());
        let schema = crate::config::whole_schema(&[]);
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
