//! The `line` section of the configuration: its keys, their limits, every problem at once.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;
use schemars::JsonSchema;
use secrecy::SecretString;
use selkie_channel_core::settings::{self, Findings, MIB, PaceName, Token, Url, size, span};
use selkie_channel_core::{AllowKeys, AllowList, Pace, Problem, Setup, SetupField};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::Spot;

/// Where the Messaging API is.
const HOME: &str = "https://api.line.me";
/// How long an event's free reply may wait: LINE's token lives about a minute, and what is later would come too late.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(45);
/// Which key lets somebody in.
pub const ALLOW_KEYS: AllowKeys = AllowKeys::one("allowed_ids");
const LISTEN: &str = "127.0.0.1:18080";
const SECRETS: [&str; 2] = ["channel_access_token", "channel_secret"];

/// What is asked for to set the channel up.
pub const SETUP: Setup = Setup {
    title: "LINE",
    before: &[
        "Make a Messaging API channel in the LINE Developers console (https://developers.line.biz/console). Basic",
        "settings shows the channel secret; Messaging API issues the channel access token.",
    ],
    fields: &[
        SetupField::asked("channel_access_token", "Channel access token"),
        SetupField::asked("channel_secret", "Channel secret"),
        SetupField { key: "webhook_listen", label: "Where webhooks arrive", default: LISTEN },
    ],
    after: &[
        "Set the public https address that leads there, with /line/webhook behind it, as the webhook URL in the console;",
        "switch Use webhook and Webhook redelivery on, and the account's own auto-reply off.",
    ],
};

/// The `line` section.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The channel's long-lived access token. A secret; `channel_access_token_file` is better.
    #[schemars(with = "Option<String>")]
    channel_access_token: Option<SecretString>,
    /// The channel's secret, by which its webhooks are signed. A secret; `channel_secret_file` is better.
    #[schemars(with = "Option<String>")]
    channel_secret: Option<SecretString>,
    /// Where the Messaging API is; ends before `/v2`. Another server or a proxy can stand in.
    base_url: String,
    /// Where received files are; ends before `/v2`.
    data_base_url: String,
    /// Where the webhook listens. Any address may be taken: requests are signed.
    webhook_listen: String,
    /// The webhook's path.
    webhook_path: String,
    /// Ids of the people (`U…`), groups (`C…`) and rooms (`R…`) the bot listens to; `"*"` is everyone,
    /// empty is nobody but the owners.
    allowed_ids: Vec<String>,
    /// How long an event's free reply waits for the answer, `100ms` to `45s`. Then it brings a button by
    /// which the person fetches the answer, free of charge again.
    reply_deadline: String,
    /// Pushes count against the month's messages. `last_resort`: only what no free reply can carry (the
    /// rest of very long answers, notices, answers whose token is dead); `never`: not even that.
    push: Push,
    /// How many pushes one chat gets in a day (UTC); 0 lifts it. In a group each is charged once per member.
    max_pushes_per_day: u32,
    /// `platform` keeps to LINE's limits; `lifted` sends as fast as it can, for benchmarks.
    pace: PaceName,
    /// The largest file that is fetched, in bytes.
    max_download_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            channel_access_token: None,
            channel_secret: None,
            base_url: HOME.to_owned(),
            data_base_url: "https://api-data.line.me".to_owned(),
            webhook_listen: LISTEN.to_owned(),
            webhook_path: "/line/webhook".to_owned(),
            allowed_ids: Vec::new(),
            reply_deadline: "45s".to_owned(),
            push: Push::LastResort,
            max_pushes_per_day: 20,
            pace: PaceName::Platform,
            max_download_bytes: 20 * MIB,
        }
    }
}

/// Whether messages may be pushed, which counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Push {
    /// Only what no free reply can carry.
    LastResort,
    /// Nothing.
    Never,
}

/// The section, checked.
#[derive(Clone, Debug)]
pub struct CheckedSettings {
    /// The access token.
    pub token: Token,
    /// The channel secret.
    pub secret: Token,
    /// Ends before `/v2`.
    pub base: Url,
    /// Ends before `/v2`.
    pub data: Url,
    /// Where the webhook listens.
    pub listen: SocketAddr,
    /// The webhook's path.
    pub path: String,
    /// Whom the bot listens to.
    pub allow: AllowList,
    /// How long an event's free reply waits for the answer.
    pub reply_deadline: TimeDelta,
    /// Whether messages may be pushed.
    pub push: Push,
    /// Pushes of one chat in a day; 0 lifts it.
    pub max_pushes_per_day: u32,
    /// How fast it may speak.
    pub pace: Pace,
    /// Largest file that is fetched, bytes.
    pub max_download: u64,
}

/// Checks the section. `Ok(None)` when it is absent or empty.
///
/// # Errors
/// Every problem at once, each naming key, value (never a secret) and what is taken.
pub fn read(section: Value) -> Result<Option<CheckedSettings>, Vec<Problem>> {
    settings::read(section, &SECRETS, taken, check)
}

fn taken(key: &str) -> Option<&'static str> {
    Some(match key {
        "channel_access_token" | "channel_secret" => {
            "the value from the LINE Developers console, as text"
        }
        "base_url" | "data_base_url" => "a URL such as https://api.line.me",
        "webhook_listen" => "an address and port such as 127.0.0.1:18080",
        "webhook_path" => "a path such as /line/webhook",
        "allowed_ids" => "a list of ids (\"U4af…\", \"Ca56…\", \"R0b1…\") or [\"*\"]",
        "reply_deadline" => "100ms to 45s",
        "push" => "last_resort or never",
        "max_pushes_per_day" => "a number of pushes; 0 lifts it",
        "pace" => PaceName::TAKEN,
        "max_download_bytes" => "a number of bytes",
        _ => return None,
    })
}

fn check(settings: Settings, findings: &mut Findings) -> Option<CheckedSettings> {
    let [token_key, secret_key] = SECRETS;
    let token = secret(settings.channel_access_token.as_ref(), token_key, "access token");
    let token = findings.take(token_key, token);
    let secret =
        findings.take(secret_key, secret(settings.channel_secret.as_ref(), secret_key, "secret"));
    let base = findings.take("base_url", Url::read(&settings.base_url, HOME));
    let data = findings.take("data_base_url", Url::read(&settings.data_base_url, HOME));
    let listen = findings.take("webhook_listen", listen(&settings.webhook_listen));
    let path = findings.take("webhook_path", path(&settings.webhook_path));
    let allow = findings.take(ALLOW_KEYS.places, allow(&settings.allowed_ids));
    let wait = span(&settings.reply_deadline, SOONEST..=LATEST);
    let wait = findings.take("reply_deadline", wait);
    let most = size(settings.max_download_bytes, u64::MAX);
    let most = findings.take("max_download_bytes", most);
    Some(CheckedSettings {
        token: token?,
        secret: secret?,
        base: base?,
        data: data?,
        listen: listen?,
        path: path?,
        allow: allow?,
        reply_deadline: TimeDelta::from_std(wait?).ok()?,
        push: settings.push,
        max_pushes_per_day: settings.max_pushes_per_day,
        pace: settings.pace.pace(PACE),
        max_download: most?,
    })
}

fn secret(value: Option<&SecretString>, key: &str, what: &str) -> Result<Token, String> {
    let missing = || {
        format!(
            "is missing: copy the channel {what} from the LINE Developers console (Messaging API channel) into {key}, \
             into a file that {key}_file names, or into a systemd credential line.{key}"
        )
    };
    let misshapen =
        || format!("the value is not a channel {what}; write it without spaces or quotes");
    Token::read(value, missing, misshapen)
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    text.trim().parse().map_err(|_| {
        format!("{text:?} is not accepted; it takes an address and port such as 127.0.0.1:18080")
    })
}

fn path(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-_.".contains(&b);
    if text.len() < 2 || !text.starts_with('/') || !text.bytes().all(plain) {
        return Err(format!("{text:?} is not accepted; it takes a path such as /line/webhook"));
    }
    Ok(text.to_owned())
}

fn allow(entries: &[String]) -> Result<AllowList, String> {
    let key = |entry: &String| match entry.trim() {
        "*" => Some("*".to_owned()),
        text => Spot::parse(text).map(|spot| format!("line:{}", spot.id())),
    };
    let takes = "ids such as U4af… (person), Ca56… (group), R0b1… (room), or \"*\" for everyone; \
                 /id in the chat tells its id";
    let shown = |entry: &String| format!("{entry:?}");
    let keys = settings::entries(entries, key, shown, ["is not an id", "are not ids", takes])?;
    Ok(AllowList::of(keys))
}

/// LINE takes 2,000 calls a second of a channel; half of that leaves room for names and quotas.
const PACE: Pace = Pace { per_account_second: NonZeroU32::new(1000), ..Pace::LIFTED };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(section: Value) -> String {
        let problems = read(section).unwrap_err();
        let lines = problems.iter().map(|p| format!("{}: {}", p.key, p.message));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_absent_section_is_no_channel() {
        assert!(read(Value::Null).unwrap().is_none());
        assert!(read(json!({})).unwrap().is_none());
    }

    #[test]
    fn everything_wrong_is_told_at_once_and_the_secrets_never() {
        let text = says(json!({
            "channel_access_token": "hunter2 hunter2",
            "channel_secret": ["hunter2"],
            "base_url": "ftp://x",
            "data_base_url": "https://x/?a=b",
            "webhook_listen": "18080",
            "webhook_path": "line",
            "allowed_ids": ["*", "@name", "U1"],
            "alowed": [1],
            "reply_deadline": "50s",
            "push": "always",
            "pace": "fast",
            "max_download_bytes": 0,
        }));
        assert!(!text.contains("hunter2"), "{text}");
        insta::assert_snapshot!(text, @r#"
        channel_secret: the value is not accepted; it takes the value from the LINE Developers console, as text
        alowed: unknown field `alowed`, expected one of `channel_access_token`, `channel_secret`, `base_url`, `data_base_url`, `webhook_listen`, `webhook_path`, `allowed_ids`, `reply_deadline`, `push`, `max_pushes_per_day`, `pace`, `max_download_bytes`
        push: "always" is not accepted; it takes last_resort or never
        pace: "fast" is not accepted; it takes platform or lifted
        channel_access_token: the value is not a channel access token; write it without spaces or quotes
        base_url: "ftp://x" is not accepted; it takes a URL such as https://api.line.me
        data_base_url: "https://x/?a=b" is not accepted; it takes a URL such as https://api.line.me
        webhook_listen: "18080" is not accepted; it takes an address and port such as 127.0.0.1:18080
        webhook_path: "line" is not accepted; it takes a path such as /line/webhook
        allowed_ids: "@name", "U1" are not ids; takes ids such as U4af… (person), Ca56… (group), R0b1… (room), or "*" for everyone; /id in the chat tells its id
        reply_deadline: "50s" is not accepted; it takes 100ms to 45s
        max_download_bytes: 0 is not accepted; it takes 1 or more bytes
        "#);
    }

    #[test]
    fn missing_secrets_are_both_told() {
        insta::assert_snapshot!(says(json!({ "pace": "lifted" })), @"
        channel_access_token: is missing: copy the channel access token from the LINE Developers console (Messaging API channel) into channel_access_token, into a file that channel_access_token_file names, or into a systemd credential line.channel_access_token
        channel_secret: is missing: copy the channel secret from the LINE Developers console (Messaging API channel) into channel_secret, into a file that channel_secret_file names, or into a systemd credential line.channel_secret
        ");
    }

    const PERSON: &str = "U4af4980629e3f6a7b9e0d2c44af49806";
    const GROUP: &str = "Ca56f94637c3f6a7b9e0d2c44af498060";

    #[test]
    fn a_good_section_is_taken() {
        let checked = read(json!({
            "channel_access_token": "made_up", "channel_secret": "made_up_too",
            "base_url": "http://127.0.0.1:1/line/", "webhook_listen": "0.0.0.0:0",
            "allowed_ids": [PERSON, format!("line:{GROUP}")],
        }));
        let checked = checked.unwrap().unwrap();
        assert_eq!(checked.base.as_str(), "http://127.0.0.1:1/line");
        assert!(
            checked.allow.names(&format!("line:{PERSON}"))
                && checked.allow.names(&format!("line:{GROUP}"))
        );
        assert!(!format!("{checked:?}").contains("made_up"));
    }

    #[test]
    fn empty_is_nobody_and_a_star_is_everyone() {
        let allow = |ids| {
            let section =
                json!({ "channel_access_token": "a", "channel_secret": "b", "allowed_ids": ids });
            read(section).unwrap().unwrap().allow
        };
        assert!(allow(json!([])).is_empty());
        let open = allow(json!(["*", PERSON]));
        assert!(open.is_everyone() && open.names(&format!("line:{PERSON}")));
    }

    #[test]
    fn the_schema_names_every_key_and_default() {
        let schema = schemars::schema_for!(Settings);
        let keys = schema.get("properties").and_then(Value::as_object).unwrap();
        let lines = keys.iter().map(|(key, value)| format!("{key}: {}", value["default"]));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
        channel_access_token: null
        channel_secret: null
        base_url: "https://api.line.me"
        data_base_url: "https://api-data.line.me"
        webhook_listen: "127.0.0.1:18080"
        webhook_path: "/line/webhook"
        allowed_ids: []
        reply_deadline: "45s"
        push: "last_resort"
        max_pushes_per_day: 20
        pace: "platform"
        max_download_bytes: 20971520
        "#);
    }
}
