//! The `slack` section of the configuration: its keys, their limits, every problem at once.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::settings::{self, Findings, MIB, PaceName, Token, Url, size};
use selkie_channel_core::{AllowKeys, AllowList, Pace, Problem, Setup, SetupField};
use serde::Deserialize;
use serde_json::Value;

use crate::ids::is_id;

const MAX_UPLOAD: u64 = 100 * MIB;
/// Slack's own limit of sockets for one app.
const MAX_SOCKETS: u8 = 10;

/// Which keys let somebody in.
pub const ALLOW_KEYS: AllowKeys =
    AllowKeys { places: "allowed_channel_ids", people: "allowed_user_ids" };

/// What is asked for to set the channel up.
pub const SETUP: Setup = Setup {
    title: "Slack",
    before: &[
        "Make an app at https://api.slack.com/apps (Create New App, From a manifest): selkie slack manifest prints",
        "what to paste. Install it; OAuth & Permissions shows the bot token (xoxb-…). Under Basic Information,",
        "App-Level Tokens, make a token with connections:write (xapp-…).",
    ],
    fields: &[
        SetupField::asked("bot_token", "Bot token (xoxb-…)"),
        SetupField::asked("app_token", "App token (xapp-…)"),
    ],
    after: &[
        "Invite the bot where it should listen (/invite @selkie); /selkie id tells you a channel's id.",
    ],
};

/// The `slack` section.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The bot's token, `xoxb-…` ("OAuth & Permissions"). A secret; `bot_token_file` is better.
    #[schemars(with = "Option<String>")]
    bot_token: Option<SecretString>,
    /// The app's token with `connections:write`, `xapp-…` ("Basic Information"). A secret;
    /// `app_token_file` is better.
    #[schemars(with = "Option<String>")]
    app_token: Option<SecretString>,
    /// Where the Web API is, `/api` included. Another server or a proxy can stand in.
    base_url: String,
    /// More hosts whose files are fetched with the token, besides `base_url`'s own server and, when that is
    /// Slack's, Slack's hosts. For servers that keep files elsewhere.
    file_hosts: Vec<String>,
    /// Workspaces (`T…`) of the app whose channels are heard; empty is the bot's own. People of other
    /// workspaces speak in channels that are shared with them.
    allowed_team_ids: Vec<String>,
    /// Channels the bot listens to: `C…`, `D…`, `G…`, or with their workspace `slack:T…:C…`; `"*"` is
    /// everyone, empty is nobody but the people below and the owners.
    allowed_channel_ids: Vec<String>,
    /// People the bot listens to everywhere: `U…`, or with their workspace `slack:T…:U…`.
    allowed_user_ids: Vec<String>,
    /// Sockets held open at most, 1 to 10. A second one bridges the moments when Slack renews the first.
    max_sockets: u8,
    /// `platform` keeps to Slack's limits; `lifted` sends as fast as it can, for benchmarks.
    pace: PaceName,
    /// The largest file that is fetched, in bytes.
    max_download_bytes: u64,
    /// The largest file that is sent, in bytes.
    max_upload_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bot_token: None,
            app_token: None,
            base_url: "https://slack.com/api".to_owned(),
            file_hosts: Vec::new(),
            allowed_team_ids: Vec::new(),
            allowed_channel_ids: Vec::new(),
            allowed_user_ids: Vec::new(),
            max_sockets: 2,
            pace: PaceName::Platform,
            max_download_bytes: 20 * MIB,
            max_upload_bytes: 20 * MIB,
        }
    }
}

/// The section, checked.
#[derive(Clone, Debug)]
pub struct CheckedSettings {
    /// The bot's token.
    pub bot_token: Token,
    /// The app's token.
    pub app_token: Token,
    /// The Web API, without a slash at its end.
    pub base: Url,
    /// More hosts whose files are fetched with the token.
    pub file_hosts: BTreeSet<String>,
    /// Workspaces that are heard; empty is the bot's own.
    pub teams: BTreeSet<String>,
    /// Whom the bot listens to.
    pub allow: AllowList,
    /// Sockets held open at most.
    pub max_sockets: u8,
    /// How fast it may speak.
    pub pace: Pace,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
    /// Largest file that is sent, bytes.
    pub max_upload: u64,
}

/// Checks the section. `Ok(None)` when it is absent or empty.
///
/// # Errors
/// Every problem at once, each naming key, value (never a token) and what is taken.
pub fn read(section: Value) -> Result<Option<CheckedSettings>, Vec<Problem>> {
    settings::read(section, &["bot_token", "app_token"], taken, check)
}

fn taken(key: &str) -> Option<&'static str> {
    Some(match key {
        "bot_token" => "the bot's token, xoxb-…, as text",
        "app_token" => "the app's token, xapp-…, as text",
        "base_url" => "a URL such as https://slack.com/api",
        "file_hosts" => "a list of host names (files.example.com)",
        "allowed_team_ids" => "a list of workspace ids (T0123456)",
        "allowed_channel_ids" => "a list of channel ids (C0123456) or [\"*\"]",
        "allowed_user_ids" => "a list of user ids (U0123456)",
        "max_sockets" => "1 to 10",
        "pace" => PaceName::TAKEN,
        "max_download_bytes" | "max_upload_bytes" => "a number of bytes",
        _ => return None,
    })
}

fn check(settings: Settings, findings: &mut Findings) -> Option<CheckedSettings> {
    let bot = settings.bot_token.as_ref();
    let app = settings.app_token.as_ref();
    let bot_token = findings.take("bot_token", token("bot_token", bot, "xoxb-"));
    let app_token = findings.take("app_token", token("app_token", app, "xapp-"));
    let base = Url::read(&settings.base_url, "https://slack.com/api");
    let base = findings.take("base_url", base);
    let file_hosts = findings.take("file_hosts", hosts(&settings.file_hosts));
    let teams = findings.take("allowed_team_ids", teams(&settings.allowed_team_ids));
    let channels = keys(&settings.allowed_channel_ids, b"CDG", "C0123456, D0123456 or \"*\"");
    let channels = findings.take(ALLOW_KEYS.places, channels);
    let people = keys(&settings.allowed_user_ids, b"UW", "U0123456");
    let people = findings.take(ALLOW_KEYS.people, people);
    let max_sockets = findings.take("max_sockets", sockets(settings.max_sockets));
    let download = size(settings.max_download_bytes, u64::MAX);
    let max_download = findings.take("max_download_bytes", download);
    let upload = size(settings.max_upload_bytes, MAX_UPLOAD);
    let max_upload = findings.take("max_upload_bytes", upload);
    Some(CheckedSettings {
        bot_token: bot_token?,
        app_token: app_token?,
        base: base?,
        file_hosts: file_hosts?,
        teams: teams?,
        allow: AllowList::of(channels?.into_iter().chain(people?)),
        max_sockets: max_sockets?,
        pace: settings.pace.pace(PACE),
        max_download: max_download?,
        max_upload: max_upload?,
    })
}

/// Reads a token; one that begins like the other of the two was put under the wrong key.
fn token(key: &str, value: Option<&SecretString>, begins: &str) -> Result<Token, String> {
    let missing = || {
        let taken = taken(key).unwrap_or_default();
        format!("is missing: takes {taken}; `selkie slack manifest` prints an app to paste")
    };
    let misshapen =
        || "the value contains spaces or quotes; write the token as Slack shows it".to_owned();
    let token = Token::read(value, missing, misshapen)?;
    if token.expose_secret().starts_with(begins) {
        return Ok(token);
    }
    Err(format!("the value does not begin with {begins}: bot_token takes xoxb-…, app_token xapp-…"))
}

fn hosts(entries: &[String]) -> Result<BTreeSet<String>, String> {
    let read = |entry: &String| url::Host::parse(entry.trim()).map(|host| host.to_string()).ok();
    let message = ["is not a host name", "are no host names", "names such as files.example.com"];
    Ok(settings::entries(entries, read, shown, message)?.into_iter().collect())
}

fn teams(entries: &[String]) -> Result<BTreeSet<String>, String> {
    let read = |entry: &String| {
        let id = entry.trim().trim_start_matches("slack:");
        is_id(id, b"TE").then(|| id.to_owned())
    };
    let message = ["is not a workspace id", "are no workspace ids", "ids such as T0123456"];
    Ok(settings::entries(entries, read, shown, message)?.into_iter().collect())
}

/// Reads ids into keys of the allow list; a `*` stays one.
fn keys(entries: &[String], letters: &[u8], such_as: &str) -> Result<Vec<String>, String> {
    let read = |entry: &String| {
        let text = entry.trim();
        if text == "*" && letters.contains(&b'C') {
            return Some("*".to_owned());
        }
        let text = text.strip_prefix("slack:").unwrap_or(text);
        match text.split_once(':') {
            None if is_id(text, letters) => Some(format!("*:{text}")),
            Some((team, id)) if is_id(team, b"TE") && is_id(id, letters) => {
                Some(format!("slack:{team}:{id}"))
            }
            _ => None,
        }
    };
    let takes = format!("{such_as}; /id tells them");
    settings::entries(entries, read, shown, ["is not an id", "are not ids", &takes])
}

fn shown(entry: &String) -> String {
    format!("{entry:?}")
}

fn sockets(value: u8) -> Result<u8, String> {
    let fits = (1..=MAX_SOCKETS).contains(&value);
    fits.then_some(value)
        .ok_or_else(|| format!("{value} is not accepted; it takes 1 to {MAX_SOCKETS}"))
}

/// Slack's limits: about one message a second per channel, some hundred a minute per workspace.
const PACE: Pace = Pace {
    per_direct: Duration::from_secs(1),
    per_group_minute: NonZeroU32::new(60),
    per_account_second: NonZeroU32::new(5),
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(section: Value) -> Vec<String> {
        let problems = read(section).map(|_| ()).unwrap_err();
        problems.into_iter().map(|p| format!("{}: {}", p.key, p.message)).collect()
    }

    fn sound(more: Value) -> CheckedSettings {
        let mut section = json!({ "bot_token": "xoxb-1", "app_token": "xapp-1" });
        for (key, value) in more.as_object().unwrap() {
            section[key] = value.clone();
        }
        read(section).unwrap().unwrap()
    }

    #[test]
    fn an_absent_section_is_no_channel() {
        assert!(read(Value::Null).unwrap().is_none());
        assert!(read(json!({})).unwrap().is_none());
    }

    #[test]
    fn every_problem_is_told_at_once_and_no_token_is_shown() {
        let message = says(json!({
            "bot_token": "xapp-hunter2", "app_token": 7, "base_url": "slack.com",
            "file_hosts": ["https://files.example.com/"],
            "allowed_team_ids": ["C1", "T2", "C3"], "allowed_channel_ids": ["#general", "*", "talk"],
            "allowed_user_ids": ["*"], "max_sockets": 11, "pace": "fast", "colour": "red",
        }));
        insta::assert_snapshot!(message.join("\n"), @r##"
        app_token: the value is not accepted; it takes the app's token, xapp-…, as text
        pace: "fast" is not accepted; it takes platform or lifted
        colour: unknown field `colour`, expected one of `bot_token`, `app_token`, `base_url`, `file_hosts`, `allowed_team_ids`, `allowed_channel_ids`, `allowed_user_ids`, `max_sockets`, `pace`, `max_download_bytes`, `max_upload_bytes`
        bot_token: the value does not begin with xoxb-: bot_token takes xoxb-…, app_token xapp-…
        base_url: "slack.com" is not accepted; it takes a URL such as https://slack.com/api
        file_hosts: "https://files.example.com/" is not a host name; takes names such as files.example.com
        allowed_team_ids: "C1", "C3" are no workspace ids; takes ids such as T0123456
        allowed_channel_ids: "#general", "talk" are not ids; takes C0123456, D0123456 or "*"; /id tells them
        allowed_user_ids: "*" is not an id; takes U0123456; /id tells them
        max_sockets: 11 is not accepted; it takes 1 to 10
        "##);
    }

    #[test]
    fn ids_are_allowed_with_and_without_their_workspace() {
        let checked = sound(json!({
            "allowed_channel_ids": ["C2", "slack:T1:C3"], "allowed_user_ids": ["U4"],
        }));
        for key in ["slack:T1:C2", "slack:T9:C2", "slack:T1:C3", "slack:T1:U4"] {
            assert!(checked.allow.names(key), "{key}");
        }
        for key in ["slack:T9:C3", "slack:T1:C22", "slack:T1:U5"] {
            assert!(!checked.allow.names(key), "{key}");
        }
        assert!(sound(json!({})).allow.is_empty());
        let open = sound(json!({ "allowed_channel_ids": ["*", "C2"] })).allow;
        assert!(open.is_everyone() && open.names("slack:T1:C2"));
    }

    #[test]
    fn a_base_url_keeps_its_path() {
        let base = sound(json!({ "base_url": "http://127.0.0.1:7/slack/api/" })).base;
        assert_eq!(base.as_str(), "http://127.0.0.1:7/slack/api");
    }
}
