//! What was said before the bot was asked: in a thread the thread, at a channel's root the channel's newest
//! lines. Asked again after a failure for as long as somebody may wait; what is there is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use selkie_channel_core::http::Fault;
use selkie_channel_core::{Earlier, Inbound};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use crate::api::Api;
use crate::hear::{self, Frame};
use crate::ids::{Spot, order, ts};
use crate::refusal;

/// Pages of a thread that are read at most: Slack tells the oldest first, and some apps fifteen a page.
const PAGES: usize = 40;
const PAGE: &str = "200";
/// A page with no more than that, and more behind it, is one of an app to which Slack hands out little: it is
/// distributed, outside of the Marketplace. Such an app gets one page a minute, so the end of a thread comes first.
const LITTLE: usize = 15;
/// So many seconds before the end are asked for first, and next.
const WINDOWS: [i64; 3] = [120, 1_800, 86_400];
/// Lines of a channel that are asked for: as many as Slack gives to any app at once.
const LINES: usize = 15;
/// Somebody waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(8);
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
    before: i64,
    limit: usize,
    frame: Frame<'_>,
) -> Result<Earlier, String> {
    let asker = Asker { api, spot, before, frame, until: Instant::now() + TIMEOUT };
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

/// The times between which a thread is read; without the first it is read from its beginning.
struct Span {
    oldest: Option<i64>,
    latest: i64,
}

impl Asker<'_> {
    /// A thread's first message and the newest of what was said in it. Slack tells the oldest first: where it hands
    /// out little at a time, the end is asked for before what is older.
    async fn thread(&self, root: &str, limit: usize) -> Result<Earlier, String> {
        let mut found = ThreadPart { lines: BTreeMap::new(), limit: limit.max(1), pages: PAGES };
        let begins = order(root).unwrap_or_default();
        let windows = WINDOWS.map(|seconds| self.before - seconds * 1_000_000);
        let windows: Vec<i64> = windows.into_iter().filter(|from| *from > begins).collect();
        let mut latest = self.before;
        if !self.api.gets_little() {
            match self
                .span(root, Span { oldest: None, latest }, windows.is_empty(), &mut found)
                .await
            {
                Ok(true) => return Ok(told(found.lines, None)),
                Ok(false) => {}
                Err(why) => return found.without(why),
            }
        }
        for from in windows.into_iter().map(Some).chain([None]) {
            if let Err(why) = self.span(root, Span { oldest: from, latest }, true, &mut found).await
            {
                return found.without(why);
            }
            let Some(from) = from.filter(|from| !found.is_full(*from)) else { break };
            latest = from + 1;
        }
        Ok(told(found.lines, None))
    }

    /// Reads what was said in a thread between two times. Gives up after the first page when that is a little one,
    /// unless it is to be read to its end; whether the end was reached.
    async fn span(
        &self,
        root: &str,
        span: Span,
        to_the_end: bool,
        found: &mut ThreadPart,
    ) -> Result<bool, String> {
        let oldest = span.oldest.map(ts);
        let latest = ts(span.latest);
        let mut cursor = String::new();
        loop {
            let Some(left) = found.pages.checked_sub(1) else {
                return Err("the thread is too long to be read to its end".to_owned());
            };
            found.pages = left;
            let mut ask = vec![
                ("channel", self.spot.channel.as_str()),
                ("ts", root),
                ("limit", PAGE),
                ("latest", latest.as_str()),
            ];
            ask.extend(oldest.as_deref().map(|oldest| ("oldest", oldest)));
            if !cursor.is_empty() {
                ask.push(("cursor", cursor.as_str()));
            }
            let answer = self.page("conversations.replies", &ask).await;
            let answer = answer.map_err(|fault| refusal::why(&fault))?;
            found.add(self.read(&answer));
            let next = answer.pointer("/response_metadata/next_cursor").and_then(Value::as_str);
            let Some(next) = next.filter(|next| !next.is_empty()) else { return Ok(true) };
            let count = answer.get("messages").and_then(Value::as_array).map_or(0, Vec::len);
            if count <= LITTLE {
                self.api.note_little();
                if !to_the_end {
                    return Ok(false);
                }
            }
            next.clone_into(&mut cursor);
        }
    }

    /// The newest lines at a channel's root. Each belongs to itself: what is kept of it with the thread
    /// that `root` opens takes nobody's row.
    async fn channel(&self, root: Option<&str>, limit: usize) -> Result<Earlier, String> {
        let latest = ts(self.before);
        let limit = limit.min(LINES).to_string();
        let ask = [
            ("channel", self.spot.channel.as_str()),
            ("limit", limit.as_str()),
            ("latest", latest.as_str()),
        ];
        let answer = self.page("conversations.history", &ask).await;
        let answer = answer.map_err(|fault| refusal::why(&fault))?;
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
            let rest = match (&fault, refusal::limit(&fault)) {
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

/// What of a thread was found.
struct ThreadPart {
    lines: BTreeMap<i64, Inbound>,
    limit: usize,
    /// Pages that may still be read.
    pages: usize,
}

impl ThreadPart {
    fn add(&mut self, lines: impl Iterator<Item = (i64, Inbound)>) {
        self.lines.extend(lines);
        while self.lines.len() > self.limit {
            // The first message says what it is all about: it stays, and the oldest behind it go.
            let second = self.lines.keys().nth(1).or(self.lines.keys().next()).copied();
            second.and_then(|second| self.lines.remove(&second));
        }
    }

    /// Whether what was said since then is all that there is room for.
    fn is_full(&self, since: i64) -> bool {
        self.lines.range(since..).count() + 1 >= self.limit
    }

    /// # Errors
    /// Why there is nothing.
    fn without(self, why: String) -> Result<Earlier, String> {
        if self.lines.is_empty() { Err(why) } else { Ok(told(self.lines, Some(why))) }
    }
}

fn told(lines: BTreeMap<i64, Inbound>, missing: Option<String>) -> Earlier {
    Earlier { lines: lines.into_values().collect(), missing }
}
