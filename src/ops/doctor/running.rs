//! The look at a running daemon: asked through its socket how it stands.

use serde_json::Value;
use tokio::time::timeout;

use super::finding::Finding;
use super::look::LIMIT;
use crate::service::{Kind, Machine, ServiceTarget};
use selkie_app::build::{AppConfig, VERSION};
use selkie_app::client::RunningDaemon;
use selkie_app::config_drift;
use selkie_app::status::{self as daemon, ChannelStatus, Reception};
use selkie_config::source::Environment;
use selkie_schedule::zone::Zone;
use selkie_store::RestoreOrigin;

const WHAT: &str = "daemon";

/// Whether a daemon runs on the state folder.
pub enum Status {
    /// None answers at its socket.
    Down,
    /// It answers this.
    Up(Box<daemon::Status>),
    /// It answers as another version does: this is its version, where it tells.
    Foreign(Option<String>),
    /// It takes the question and does not answer it.
    Mute(String),
}

impl Status {
    /// Whether there is one.
    pub fn is_up(&self) -> bool {
        !matches!(self, Self::Down)
    }

    /// Returns the zone that it reads times in.
    pub fn zone(&self) -> Option<Zone> {
        match self {
            Self::Up(status) => status.zone,
            _ => None,
        }
    }
}

/// Asks.
pub async fn status(plan: &AppConfig) -> Status {
    let asked = async {
        match RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => Ok(Some(daemon.status::<Value>().await?)),
            None => anyhow::Ok(None),
        }
    };
    match timeout(LIMIT, asked).await {
        Ok(Ok(Some(told))) => read(told),
        Ok(Ok(None)) => Status::Down,
        Ok(Err(error)) => Status::Mute(format!("{error:#}")),
        Err(_) => Status::Mute(format!("there was no answer within {} s", LIMIT.as_secs())),
    }
}

fn read(told: Value) -> Status {
    let version = told["version"].as_str().map(str::to_owned);
    serde_json::from_value(told).map_or(Status::Foreign(version), |told| Status::Up(Box::new(told)))
}

/// Says how selkie is restarted on this machine: by systemd only where a unit of this name is installed.
pub fn restart(env: &Environment, name: &str) -> String {
    let asked = ServiceTarget { kind: Kind::System, name: name.to_owned(), root: None };
    match Machine::installed(&asked, env) {
        Some(machine) => {
            format!("restart it ({} restart {})", machine.systemctl(), machine.asked.name)
        }
        None => "stop it and start it again".to_owned(),
    }
}

/// Says what it comes to, with times as this zone's clocks show them; `restart` says how that is done here.
pub fn findings(status: &Status, zone: Zone, restart: &str) -> Vec<Finding> {
    match status {
        Status::Down => vec![Finding::fine(WHAT, "selkie is not running with this state folder")],
        Status::Mute(why) => {
            let message = format!("selkie runs and does not answer: {why}");
            vec![Finding::error(WHAT, message, "read its log, and restart it")]
        }
        Status::Foreign(version) => {
            vec![running(version.as_deref().unwrap_or("of an unknown version"))]
        }
        Status::Up(status) => {
            let parts = [troubles(status), channels(status), not_in_force(status, zone, restart)];
            std::iter::once(running(&status.version)).chain(parts.into_iter().flatten()).collect()
        }
    }
}

fn running(version: &str) -> Finding {
    match version == VERSION {
        true => Finding::fine(WHAT, format!("selkie {version} is running and answers")),
        false => Finding::warning(
            WHAT,
            format!("selkie {version} is running, and this is {VERSION}"),
            "restart it: it runs the version that it was started with",
        ),
    }
}

fn troubles(status: &daemon::Status) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(restored) = status.restored() {
        findings.push(held(WHAT, restored));
    }
    if let Some(problem) = &status.store.trouble {
        let advice = "read its log: it continues by itself once the store works again";
        findings.push(Finding::error(WHAT, format!("it cannot use its store: {problem}"), advice));
    }
    if !status.still.is_empty() {
        let message = format!("it stalled: {}", status.still.join(", "));
        findings.push(Finding::error(WHAT, message, "read its log, and restart it"));
    }
    findings
}

/// What is said of a restored selkie that nobody has put back to work.
pub(super) fn held(what: &'static str, restored: &RestoreOrigin) -> Finding {
    let advice = "once the selkie that it was copied from is stopped for good, run selkie resume";
    let from = &restored.from;
    let message = format!("it was restored from {from}: it receives, starts and sends nothing yet");
    Finding::error(what, message, advice)
}

fn channels(status: &daemon::Status) -> Vec<Finding> {
    let refused = status.channels.iter().filter(|it| it.state == Reception::Refused);
    let message = |it: &ChannelStatus| {
        let why = it.why.as_deref().unwrap_or("no reason is known");
        let advice = "correct it, then selkie reload; it tries again every few minutes";
        Finding::error(WHAT, format!("it does not listen: {why}"), advice).of(it.name.as_str())
    };
    refused.map(message).collect()
}

/// What of the config waits for a restart or a reload.
fn not_in_force(status: &daemon::Status, zone: Zone, restart: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(due) = config_drift::restart_due(&status.config.restart_due, zone) {
        let advice = format!("{restart} to apply these changes");
        findings.push(Finding::warning(WHAT, format!("restart due: {due}"), advice));
    }
    if let Some(it) = &status.config.not_loaded {
        let message = config_drift::not_loaded(it, zone);
        // Which they are stands above, with the file that they stand in.
        let advice = match (it.faults, it.changed_at) {
            (1.., Some(_)) => "correct them, then run selkie reload",
            _ => config_drift::advice(it),
        };
        findings.push(Finding::warning(WHAT, message, advice));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::doctor::finding::Level;

    /// How a daemon tells that it stands, with some of it otherwise.
    fn told(otherwise: Value) -> Value {
        let mut told = json!({
            "version": VERSION, "pid": 7, "since": "2026-11-23T00:00:00Z", "channels": [],
            "counts": selkie_store::read::Counts::default(), "approvals": 0,
            "today": selkie_store::read::TaskUsage::default(),
            "store": { "engine": "sqlite", "bytes": 1, "trouble": null }, "store_syncs": 0, "next": [],
            "limits": [], "memory": null, "still": [], "restored": null, "backup": null,
        });
        for (key, value) in otherwise.as_object().into_iter().flatten() {
            told[key] = value.clone();
        }
        told
    }

    fn found(otherwise: Value) -> Vec<Finding> {
        findings(&read(told(otherwise)), Zone::UTC, "restart it")
    }

    #[test]
    fn what_a_daemon_says_of_itself_is_told() {
        let channel = |state: &str| json!([{ "name": "a", "account": "a:1", "state": state, "why": "the token", "heard_at": null }]);
        let levels = |of: Value| found(of).into_iter().map(|one| one.level).collect::<Vec<_>>();
        assert_eq!(levels(json!({ "channels": channel("listening") })), [Level::Fine]);
        let wrong = json!({
            "version": "0.0.1", "channels": channel("refused"), "still": ["writer"],
            "store": { "engine": "sqlite", "bytes": 1, "trouble": "disk full" },
        });
        assert_eq!(levels(wrong), [Level::Warning, Level::Error, Level::Error, Level::Error]);
        let other = findings(&read(json!({ "version": "0.0.1" })), Zone::UTC, "");
        assert!(other[0].message.starts_with("selkie 0.0.1 is running, and"), "{other:?}");
        assert_eq!(findings(&Status::Mute("no".to_owned()), Zone::UTC, "")[0].level, Level::Error);
    }

    #[test]
    fn systemd_restarts_what_it_has_a_unit_of() {
        const NAME: &str = "selkie-of-a-test";
        let home = tempfile::tempdir().unwrap();
        let units = home.path().join(".config/systemd/user");
        let env = Environment::from([("HOME".to_owned(), home.path().display().to_string())]);
        assert_eq!(restart(&env, NAME), "stop it and start it again");
        std::fs::create_dir_all(&units).unwrap();
        std::fs::write(units.join(format!("{NAME}.service")), "[Unit]").unwrap();
        assert_eq!(restart(&env, NAME), format!("restart it (systemctl --user restart {NAME})"));
    }

    #[test]
    fn what_is_not_in_force_says_what_to_do() {
        let due = json!([{ "key": "worker.count", "since": "2026-11-23T09:00:00Z" }]);
        let not_loaded = json!({ "file": "c.yaml", "changed_at": null, "keys": [], "faults": 2 });
        let found = found(json!({ "config": { "restart_due": due, "not_loaded": not_loaded } }));
        assert_eq!(found[1].message, "restart due: worker.count changed at 2026-11-23 09:00 UTC");
        assert_eq!(found[2].advice, "put it back");
    }
}
