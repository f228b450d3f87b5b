//! The `telegram` section of the configuration: its keys, their limits, every problem at once.

use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::settings::{self, Findings, MIB, PaceName, Token, Url, size, span};
use selkie_channel_core::{AllowKeys, AllowList, Pace, Problem, Setup, SetupField};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const MAX_UPLOAD: u64 = 50 * MIB;
const MAX_POLL: u64 = 50;

/// Which key lets somebody in.
pub const ALLOW_KEYS: AllowKeys = AllowKeys::one("allowed_chat_ids");

/// What is asked for to set the channel up.
pub const SETUP: Setup = Setup {
    title: "Telegram",
    before: &[
        "Write /newbot to @BotFather (https://t.me/BotFather). At the end it gives you a token such as",
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1.",
    ],
    fields: &[SetupField::asked("bot_token", "Bot token")],
    after: &[],
};

/// The `telegram` section.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The bot's token from @BotFather, `<number>:<letters>`. A secret; `bot_token_file` is better.
    #[schemars(with = "Option<String>")]
    bot_token: Option<SecretString>,
    /// Where the Bot API is; ends before `/bot`. Another server or a proxy can stand in.
    base_url: String,
    /// Ids of the groups (negative) and people (positive) the bot listens to; `"*"` is everyone,
    /// empty is nobody but the owners.
    allowed_chat_ids: Vec<ChatEntry>,
    /// How long one poll waits for news: `1s` to `50s`.
    poll_timeout: PollTimeout,
    /// `platform` keeps to Telegram's limits; `lifted` sends as fast as it can, for benchmarks.
    pace: PaceName,
    /// The largest file that is fetched, in bytes. Telegram itself hands out at most 20 MiB.
    max_download_bytes: u64,
    /// The largest file that is sent, in bytes. Telegram itself takes at most 50 MiB.
    max_upload_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bot_token: None,
            base_url: teloxide::net::TELEGRAM_API_URL.to_owned(),
            allowed_chat_ids: Vec::new(),
            poll_timeout: PollTimeout::Text("50s".to_owned()),
            pace: PaceName::Platform,
            max_download_bytes: 20 * MIB,
            max_upload_bytes: 20 * MIB,
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum ChatEntry {
    Number(i64),
    Text(String),
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum PollTimeout {
    Seconds(u64),
    Text(String),
}

/// A value as it stands in the file.
fn shown(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The section, checked.
#[derive(Clone, Debug)]
pub struct CheckedSettings {
    /// The bot's token.
    pub token: Token,
    /// Ends before `/bot`.
    pub base: Url,
    /// Whom the bot listens to.
    pub allow: AllowList,
    /// How long one poll waits.
    pub poll: Duration,
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
/// Every problem at once, each naming key, value (never the token) and what is taken.
pub fn read(section: Value) -> Result<Option<CheckedSettings>, Vec<Problem>> {
    settings::read(section, &["bot_token"], taken, check)
}

fn taken(key: &str) -> Option<&'static str> {
    Some(match key {
        "bot_token" => "the token from @BotFather, <number>:<letters>, as text",
        "base_url" => "a URL such as https://api.telegram.org",
        "allowed_chat_ids" => "a list of chat ids (-1001234567890, 4711) or [\"*\"]",
        "poll_timeout" => "1s to 50s",
        "pace" => PaceName::TAKEN,
        "max_download_bytes" | "max_upload_bytes" => "a number of bytes",
        _ => return None,
    })
}

fn check(settings: Settings, findings: &mut Findings) -> Option<CheckedSettings> {
    let token = findings.take("bot_token", token(settings.bot_token.as_ref()));
    let base = findings.take("base_url", base_url(&settings.base_url));
    let allow = findings.take(ALLOW_KEYS.places, allow(&settings.allowed_chat_ids));
    let poll = findings.take("poll_timeout", poll_timeout(&settings.poll_timeout));
    let download = size(settings.max_download_bytes, u64::MAX);
    let max_download = findings.take("max_download_bytes", download);
    let upload = size(settings.max_upload_bytes, MAX_UPLOAD);
    let max_upload = findings.take("max_upload_bytes", upload);
    Some(CheckedSettings {
        token: token?,
        base: base?,
        allow: allow?,
        poll: poll?,
        pace: settings.pace.pace(PACE),
        max_download: max_download?,
        max_upload: max_upload?,
    })
}

fn token(value: Option<&SecretString>) -> Result<Token, String> {
    let missing = "is missing: ask @BotFather for a token and put it into bot_token_file, \
                   bot_token or SELKIE__TELEGRAM__BOT_TOKEN";
    // Somebody who wrote one knows no better way: nobody else is to read of them.
    let names_variable = value.is_some_and(|value| value.expose_secret().contains('$'));
    let variables = if names_variable { "; variables are not expanded here" } else { "" };
    let misshapen = || {
        format!(
            "does not look like a token: expected <number>:<letters>, exactly as @BotFather wrote it, without spaces or \
             quotes{variables}"
        )
    };
    let token = Token::read(value, || missing.to_owned(), misshapen)?;
    let text = token.expose_secret();
    let is_number = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    let shaped = text.split_once(':').is_some_and(|(id, rest)| is_number(id) && !rest.is_empty());
    let plain = !text.contains(['/', '?', '#', '%', '\\']);
    if shaped && plain { Ok(token) } else { Err(misshapen()) }
}

fn base_url(text: &str) -> Result<Url, String> {
    let url = Url::read(text, "https://api.telegram.org")?;
    if url.path().ends_with("/bot") {
        return Err(format!("{text:?} is not taken; the URL ends before /bot"));
    }
    if url.path().split('/').any(|segment| segment.starts_with("bot") && segment.contains(':')) {
        return Err("holds a token; the URL ends before /bot<token>".to_owned());
    }
    Ok(url)
}

fn allow(entries: &[ChatEntry]) -> Result<AllowList, String> {
    let key = |entry: &ChatEntry| {
        let id = match entry {
            ChatEntry::Text(text) if text.trim() == "*" => return Some("*".to_owned()),
            ChatEntry::Text(text) => text.trim().trim_start_matches("tg:").parse::<i64>().ok(),
            ChatEntry::Number(id) => Some(*id),
        };
        id.filter(|id| *id != 0).map(|id| format!("tg:{id}"))
    };
    let takes = "numbers such as -1001234567890 (group) or 4711 (person), or \"*\" for everyone; \
                 /id in the chat tells its id";
    let keys = settings::entries(entries, key, shown, ["is not an id", "are not ids", takes])?;
    Ok(AllowList::of(keys))
}

fn poll_timeout(value: &PollTimeout) -> Result<Duration, String> {
    let range = Duration::from_secs(1)..=Duration::from_secs(MAX_POLL);
    match value {
        PollTimeout::Seconds(seconds) => span(&seconds.to_string(), range),
        PollTimeout::Text(text) => span(text, range),
    }
}

/// Telegram's limits: about 1 message/s per chat, 20/min per group, 30/s per bot.
const PACE: Pace = Pace {
    per_direct: Duration::from_secs(1),
    per_group_minute: NonZeroU32::new(20),
    per_account_second: NonZeroU32::new(30),
};

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
    fn everything_wrong_is_told_at_once_and_the_token_never() {
        let text = says(json!({
            "bot_token": "hunter2-without-colon",
            "base_url": "ftp://x",
            "alowed": [1],
            "allowed_chat_ids": ["@name", "*", "tg:abc"],
            "poll_timeout": "70s",
            "pace": "fast",
            "max_upload_bytes": 99_999_999,
            "max_download_bytes": "much",
        }));
        assert!(!text.contains("hunter2"), "{text}");
        insta::assert_snapshot!(text, @r#"
        alowed: unknown field `alowed`, expected one of `bot_token`, `base_url`, `allowed_chat_ids`, `poll_timeout`, `pace`, `max_download_bytes`, `max_upload_bytes`
        pace: "fast" is not accepted; it takes platform or lifted
        max_download_bytes: "much" is not accepted; it takes a number of bytes
        bot_token: does not look like a token: expected <number>:<letters>, exactly as @BotFather wrote it, without spaces or quotes
        base_url: "ftp://x" is not accepted; it takes a URL such as https://api.telegram.org
        allowed_chat_ids: "@name", "tg:abc" are not ids; takes numbers such as -1001234567890 (group) or 4711 (person), or "*" for everyone; /id in the chat tells its id
        poll_timeout: "70s" is not accepted; it takes 1s to 50s
        max_upload_bytes: 99999999 is not accepted; it takes 1 to 52428800 bytes
        "#);
    }

    #[test]
    fn a_missing_token_says_where_to_get_one() {
        assert!(says(json!({ "pace": "lifted" })).contains("@BotFather"));
        let variable = says(json!({ "bot_token": "${TOKEN}" }));
        assert!(variable.ends_with("or quotes; variables are not expanded here"), "{variable}");
        assert!(
            says(json!({ "bot_token": 7 })).starts_with("bot_token: the value is not accepted")
        );
    }

    #[test]
    fn a_good_section_is_taken() {
        let checked = read(json!({
            "bot_token": "4711:made_up", "base_url": "http://127.0.0.1:1/tg/",
            "allowed_chat_ids": [-100, "tg:7", "8"], "poll_timeout": 5,
        }));
        let checked = checked.unwrap().unwrap();
        assert_eq!(checked.base.as_str(), "http://127.0.0.1:1/tg");
        assert!(checked.allow.names("tg:-100") && checked.allow.names("tg:7"));
        assert!(checked.allow.names("tg:8") && !checked.allow.is_everyone());
        assert_eq!(checked.poll, Duration::from_secs(5));
        assert!(!format!("{checked:?}").contains("made_up"));
    }

    #[test]
    fn the_schema_names_every_key_and_default() {
        let schema = schemars::schema_for!(Settings);
        let keys = schema.get("properties").and_then(Value::as_object).unwrap();
        let lines = keys.iter().map(|(key, value)| format!("{key}: {}", value["default"]));
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
        bot_token: null
        base_url: "https://api.telegram.org"
        allowed_chat_ids: []
        poll_timeout: "50s"
        pace: "platform"
        max_download_bytes: 20971520
        max_upload_bytes: 20971520
        "#);
    }

    #[test]
    fn empty_is_nobody_and_a_star_is_everyone() {
        let allow = |ids| read(json!({ "bot_token": "1:a", "allowed_chat_ids": ids }));
        assert!(allow(json!([])).unwrap().unwrap().allow.is_empty());
        let both = allow(json!(["*", 7])).unwrap().unwrap().allow;
        assert!(both.is_everyone() && both.names("tg:7") && !both.names("tg:8"));
    }
}
