//! The look at a running daemon: asked through its socket how it stands.

use serde_json::Value;
use tokio::time::timeout;

use super::finding::Finding;
use super::look::LIMIT;
use crate::daemon::build::{AppConfig, VERSION};
use crate::daemon::client::Running;

const WHAT: &str = "daemon";

/// Whether a daemon runs on the state folder.
pub enum Status {
    /// None answers at its socket.
    Down,
    /// It answers this (`/v1/status`).
    Up(Value),
    /// It takes the question and does not answer it.
    Mute(String),
}

impl Status {
    /// Whether there is one.
    pub fn is_up(&self) -> bool {
        !matches!(self, Self::Down)
    }
}

/// Asks.
pub async fn status(plan: &AppConfig) -> Status {
    let asked = async {
        match Running::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => Ok(Some(daemon.read::<Value>(&["v1", "status"]).await?)),
            None => anyhow::Ok(None),
        }
    };
    match timeout(LIMIT, asked).await {
        Ok(Ok(Some(status))) => Status::Up(status),
        Ok(Ok(None)) => Status::Down,
        Ok(Err(error)) => Status::Mute(format!("{error:#}")),
        Err(_) => Status::Mute(format!("nothing came within {} s", LIMIT.as_secs())),
    }
}

/// Says what it comes to.
pub fn findings(status: &Status) -> Vec<Finding> {
    let status = match status {
        Status::Down => {
            return vec![Finding::fine(WHAT, "selkie is not running with this state folder")];
        }
        Status::Mute(why) => {
            let says = format!("selkie runs and does not answer: {why}");
            return vec![Finding::error(WHAT, says, "read its log, and restart it")];
        }
        Status::Up(status) => status,
    };
    let version = status["version"].as_str().unwrap_or("of an unknown version");
    let mut findings = vec![match version == VERSION {
        true => Finding::fine(WHAT, format!("selkie {version} is running and answers")),
        false => Finding::warning(
            WHAT,
            format!("selkie {version} is running, and this is {VERSION}"),
            "restart it: it runs the version that it was started with",
        ),
    }];
    if let Some(file) = status["restored"]["from"].as_str() {
        let says =
            format!("it was restored from {file}: it receives, starts and sends nothing yet");
        let advice =
            "once the selkie that it was copied from is stopped for good, run selkie resume";
        findings.push(Finding::error(WHAT, says, advice));
    }
    if let Some(problem) = status["problem"].as_str() {
        let advice = "read its log: it continues by itself once the store works again";
        findings.push(Finding::error(WHAT, format!("it cannot use its store: {problem}"), advice));
    }
    for channel in status["channels"].as_array().into_iter().flatten() {
        let text = |key: &str| channel[key].as_str().unwrap_or_default().to_owned();
        if let Some(why) = text("state").strip_prefix("refused: ") {
            let advice = "correct it and restart selkie: it tries again every few minutes";
            findings.push(
                Finding::error(WHAT, format!("it does not listen: {why}"), advice).of(text("name")),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::daemon::doctor::finding::Level;

    fn levels(status: Value) -> Vec<Level> {
        findings(&Status::Up(status)).into_iter().map(|finding| finding.level).collect()
    }

    #[test]
    fn what_a_daemon_says_of_itself_is_told() {
        let listens = json!([{ "name": "a", "state": "listening" }]);
        assert_eq!(
            levels(json!({ "version": VERSION, "problem": null, "channels": listens })),
            [Level::Fine]
        );
        let refused = json!([{ "name": "a", "state": "refused: the token" }]);
        let status = json!({ "version": "0.0.1", "problem": "disk full", "channels": refused });
        assert_eq!(levels(status), [Level::Warning, Level::Error, Level::Error]);
        assert_eq!(levels(json!({})), [Level::Warning]);
        assert_eq!(findings(&Status::Mute("no".to_owned()))[0].level, Level::Error);
    }
}
