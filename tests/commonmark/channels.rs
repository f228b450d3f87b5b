//! The channels, and what their platforms show of what they get.

use std::rc::Rc;
use std::sync::Arc;

use chrono::DateTime;
use selkie_channel_core::{
    Body, BuildContext, Channel, ChannelKit, ConversationId, Outbound, Redactor, tls,
};
use selkie_playground::markup;
use serde_json::{Value, json};

use crate::cases::Case;
use crate::seen::{Marks, SeenText};

/// A channel and its platform.
pub struct Platform {
    pub name: &'static str,
    channel: Channel,
    /// A conversation of it.
    key: &'static str,
    /// Where a call's text stands.
    texts: fn(&Value) -> Vec<String>,
    read: fn(&str) -> SeenText,
    /// The marks that the platform has.
    pub keeps: fn(&Marks) -> Marks,
    /// Whether it opens an address; inside another link, too.
    pub opens: fn(&str, bool) -> bool,
    /// What stands for a link or a picture without words.
    pub stand_in: fn(&str, bool) -> Option<String>,
    /// Whether an address that is not opened stands behind these words; inside another link, too.
    pub explains: fn(&str, &str, bool) -> bool,
}

impl Platform {
    /// What people see of a case.
    pub fn show(&self, case: &Case) -> String {
        let conversation = ConversationId::new(self.channel.account.clone(), self.key);
        let outbound = Outbound::new(conversation, Body::Text { markdown: case.markdown.clone() });
        let mut seen = SeenText::default();
        for part in self.channel.sender.render(&outbound) {
            // What a rich message looks like elsewhere is its plain form.
            let is_rich = part.call.pointer("/params/rich_message").is_some();
            let plain = part.fallback.as_ref().filter(|_| is_rich);
            for text in (self.texts)(plain.unwrap_or(&part.call)) {
                seen.push("\n", &Marks::default());
                seen.append((self.read)(&text));
            }
        }
        if case.is_table() { seen.without_table().written() } else { seen.written() }
    }
}

/// Returns all channels.
pub fn all() -> Vec<Platform> {
    vec![telegram(), slack(), line(), x()]
}

fn telegram() -> Platform {
    let section = json!({ "bot_token": selkie_playground::telegram::TOKEN });
    Platform {
        name: "telegram",
        channel: build(&selkie_telegram::kit(), section),
        key: "tg:4711",
        texts: |call| vec![string(&call["params"]["text"])],
        read: |html| of_entities(&markup::telegram(html).expect("Telegram's HTML")),
        keeps: |marks| match marks {
            // Nothing nests in code; code inside a link stays a link.
            Marks { pre: true, .. } => {
                Marks { quotes: marks.quotes.min(1), pre: true, ..Marks::default() }
            }
            Marks { link: None, code: true, .. } => {
                Marks { quotes: marks.quotes.min(1), code: true, ..Marks::default() }
            }
            _ => Marks { quotes: marks.quotes.min(1), code: false, ..marks.clone() },
        },
        opens: |url, is_nested| opens(url, &["http", "https", "mailto", "tel"]) && !is_nested,
        stand_in: |url, is_image| Some(if is_image { "image" } else { url }.to_owned()),
        explains: |url, words, is_nested| !is_nested && words != url,
    }
}

fn slack() -> Platform {
    let section = json!({
        "bot_token": selkie_playground::slack::BOT_TOKEN,
        "app_token": selkie_playground::slack::APP_TOKEN,
    });
    Platform {
        name: "slack",
        channel: build(&selkie_slack::kit(), section),
        key: "slack:T0PLAY:C0TEA",
        texts: |call| vec![string(&call["params"]["text"])],
        read: of_mrkdwn,
        keeps: |marks| match marks {
            Marks { pre: true, .. } => Marks { pre: true, ..Marks::default() },
            Marks { code: true, .. } => {
                let quotes = marks.quotes.min(1);
                Marks { quotes, code: true, link: marks.link.clone(), ..Marks::default() }
            }
            _ => Marks { quotes: marks.quotes.min(1), ..marks.clone() },
        },
        opens: |url, _| opens(url, &["http", "https", "mailto"]),
        stand_in: |_, _| None,
        explains: |_, _, _| false,
    }
}

fn line() -> Platform {
    let section = json!({
        "channel_access_token": selkie_playground::line_platform::ACCESS_TOKEN,
        "channel_secret": selkie_playground::line_platform::SECRET,
        "webhook_listen": "127.0.0.1:0",
    });
    let channel = build(&selkie_line::kit(), section);
    plain("line", channel, "line:Uaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", |call| {
        call["bubbles"].as_array().into_iter().flatten().map(string).collect()
    })
}

fn x() -> Platform {
    let section = json!({
        "consumer_key": "k", "consumer_secret": "s", "access_token": "1-t", "access_token_secret": "s",
    });
    plain("x", build(&selkie_x::kit(), section), "x:1", |call| vec![string(&call["text"])])
}

/// A platform without styles.
fn plain(
    name: &'static str,
    channel: Channel,
    key: &'static str,
    texts: fn(&Value) -> Vec<String>,
) -> Platform {
    Platform {
        name,
        channel,
        key,
        texts,
        read: |text| {
            lines(text, |line, marks| {
                let mut seen = SeenText::default();
                seen.push(line, marks);
                seen
            })
        },
        keeps: |marks| Marks { quotes: marks.quotes, ..Marks::default() },
        opens: |_, _| false,
        stand_in: |url, _| Some(url.to_owned()),
        explains: |url, words, _| {
            words != url && words != url.strip_prefix("mailto:").unwrap_or(url) && !url.is_empty()
        },
    }
}

fn build(kit: &ChannelKit, section: Value) -> Channel {
    let context = BuildContext {
        tls: tls::client_config(rustls::RootCertStore::empty).expect("a TLS configuration"),
        redactor: Redactor::default(),
        user_agent: "selkie/test".to_owned(),
        cache_dir: "/nonexistent".into(),
        state_dir: "/nonexistent".into(),
        now: Arc::new(|| DateTime::UNIX_EPOCH),
    };
    (kit.build)(section, context).expect("a good section").expect("a channel")
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn opens(url: &str, schemes: &[&str]) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    let is_open =
        scheme.is_some_and(|scheme| schemes.iter().any(|s| scheme.eq_ignore_ascii_case(s)));
    is_open && !url.contains(char::is_whitespace)
}

fn of_entities(shown: &markup::SeenText) -> SeenText {
    let mut seen = SeenText::default();
    let mut at = 0;
    for c in shown.text.chars() {
        let mut marks = Marks::default();
        for entity in &shown.entities {
            let number = |key: &str| entity[key].as_u64().unwrap_or_default();
            if at < number("offset") || at >= number("offset") + number("length") {
                continue;
            }
            match entity["type"].as_str().unwrap_or_default() {
                "bold" => marks.bold = true,
                "italic" => marks.italic = true,
                "strikethrough" => marks.strike = true,
                "code" => marks.code = true,
                "pre" => marks.pre = true,
                "blockquote" => marks.quotes += 1,
                _ => marks.link = entity["url"].as_str().map(Rc::from),
            }
        }
        seen.push(c.encode_utf8(&mut [0; 4]), &marks);
        at += c.len_utf16() as u64;
    }
    seen
}

/// Slack's own markup: blocks of code, and between them lines that may be quoted.
fn of_mrkdwn(text: &str) -> SeenText {
    let mut seen = SeenText::default();
    for (n, part) in text.split("```").enumerate() {
        if n % 2 == 1 {
            seen.append(of_entities(&markup::slack(&format!("```{part}```"))));
            continue;
        }
        seen.append(lines(part, |line, marks| {
            let mut seen = of_entities(&markup::slack(line));
            seen.map(|own| Marks { quotes: marks.quotes, ..own.clone() });
            seen
        }));
    }
    seen.without('\u{200b}')
}

/// Reads text line by line, with the quotes that each begins with.
fn lines(text: &str, read: impl Fn(&str, &Marks) -> SeenText) -> SeenText {
    let mut seen = SeenText::default();
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            seen.push("\n", &Marks::default());
        }
        let mut rest = line;
        let mut marks = Marks::default();
        while let Some(quoted) = rest.strip_prefix("> ") {
            rest = quoted;
            marks.quotes += 1;
        }
        seen.append(read(rest, &marks));
    }
    seen
}
