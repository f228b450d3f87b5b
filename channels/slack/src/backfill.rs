//! What was said before the bot was asked: in a thread the thread, at a channel's root the channel's newest
//! lines. Asked again after a failure for as long as somebody may wait; what is there is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use selkie_channel_core::{Earlier, Inbound};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use crate::api::Api;
use crate::fault::Fault;
use crate::hear::{self, Frame};
use crate::ids::{Spot, order};

/// Pages of a thread that are read at most: Slack tells the oldest first, and some apps fifteen a page.
const PAGES: usize = 40;
const PAGE: &str = "200";
/// Lines of a channel that are asked for: as many as Slack gives to any app at once.
const LINES: usize = 15;
/// Somebody waits for the answer.
const PATIENCE: Duration = Duration::from_secs(8);
/// One call that is not answered leaves time for another.
const ONE_CALL: Duration = Duration::from_secs(3);
/// The first wait after a failure.
const SOON: Duration = Duration::from_millis(250);

/// Reads what was said before `before`, oldest first, `limit` lines at most.
///
/// # Errors
/// In words, when there is nothing at all; a missing scope is named.
pub async fn earlier(
    api: &Api,
    spot: &Spot,
    (before, limit): (i64, usize),
    frame: Frame<'_>,
) -> Result<Earlier, String> {
    let asker = Asker { api, spot, before, frame, until: Instant::now() + PATIENCE };
    match spot.thread.as_deref() {
        // A command that came before any message has no time.
        _ if before <= 0 => Ok(Earlier::default()),
        Some(root) if order(root).is_some_and(|root| root < before) => {
            asker.thread(root, limit).await
        }
        // It opens its thread at the channel's root.
        Some(root) if spot.kind() == "channel" => asker.channel(Some(root), limit).await,
        None if spot.kind() == "channel" => asker.channel(None, limit).await,
        _ => Ok(Earlier::default()),
    }
}

struct Asker<'a> {
    api: &'a Api,
    spot: &'a Spot,
    before: i64,
    frame: Frame<'a>,
    until: Instant,
}

impl Asker<'_> {
    /// A thread's first message and the newest of what was said in it.
    async fn thread(&self, root: &str, limit: usize) -> Result<Earlier, String> {
        let latest = self.latest();
        let mut lines = BTreeMap::new();
        let mut cursor = String::new();
        for page in 0..PAGES {
            let mut ask = vec![
                ("channel", self.spot.channel.as_str()),
                ("ts", root),
                ("limit", PAGE),
                ("latest", latest.as_str()),
            ];
            if !cursor.is_empty() {
                ask.push(("cursor", cursor.as_str()));
            }
            let answer = match self.page("conversations.replies", &ask).await {
                Ok(answer) => answer,
                Err(fault) if page == 0 => return Err(fault.words()),
                Err(fault) => return Ok(told(lines, Some(fault.words()))),
            };
            lines.extend(self.read(&answer));
            while lines.len() > limit.max(1) {
                // The first message says what it is all about: it stays, and the oldest behind it go.
                let second = lines.keys().nth(1).copied();
                second.and_then(|second| lines.remove(&second));
            }
            let next = answer.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
            match next.filter(|next| !next.is_empty()) {
                Some(next) => cursor = next.to_owned(),
                None => return Ok(told(lines, None)),
            }
        }
        Ok(told(lines, Some("the thread is too long to be read to its end".to_owned())))
    }

    /// The newest lines at a channel's root. Each belongs to itself: what is kept of it with the thread
    /// that `root` opens takes nobody's row.
    async fn channel(&self, root: Option<&str>, limit: usize) -> Result<Earlier, String> {
        let (latest, limit) = (self.latest(), limit.min(LINES).to_string());
        let ask = [
            ("channel", self.spot.channel.as_str()),
            ("limit", limit.as_str()),
            ("latest", latest.as_str()),
        ];
        let answer = self.page("conversations.history", &ask).await;
        let answer = answer.map_err(|fault| fault.words())?;
        let mut lines: BTreeMap<i64, Inbound> = self.read(&answer).collect();
        if let Some(root) = root {
            lines.values_mut().for_each(|line| line.key += &format!("@{root}"));
        }
        Ok(told(lines, None))
    }

    fn read(&self, answer: &Value) -> impl Iterator<Item = (i64, Inbound)> {
        let messages = answer.get("messages").and_then(Value::as_array).into_iter().flatten();
        let read = |message| hear::earlier(message, self.spot, self.frame);
        let lines = messages.filter_map(read).filter(|line| line.order < self.before);
        lines.map(|line| (line.order, line)).collect::<Vec<_>>().into_iter()
    }

    fn latest(&self) -> String {
        format!("{}.{:06}", self.before / 1_000_000, self.before % 1_000_000)
    }

    /// Asks for a page, and again where asking again may help.
    async fn page(&self, method: &str, ask: &[(&str, &str)]) -> Result<Value, Fault> {
        let mut wait = SOON;
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let answer = timeout(left.min(ONE_CALL), self.api.ask(method, ask)).await;
            let late = |_| Err(Fault::Unclear(format!("{method}: no answer in time")));
            let fault = match answer.unwrap_or_else(late) {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            let rest = match (&fault, fault.limit()) {
                (_, Some(limit)) => limit.max(wait),
                (Fault::Refused(_), None) => return Err(fault),
                _ => wait,
            };
            if Instant::now() + rest >= self.until {
                return Err(fault);
            }
            sleep(rest).await;
            wait *= 2;
        }
    }
}

fn told(lines: BTreeMap<i64, Inbound>, missing: Option<String>) -> Earlier {
    Earlier { lines: lines.into_values().collect(), missing }
}
