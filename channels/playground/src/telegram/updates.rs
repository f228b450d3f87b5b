//! The queue of updates: numbering, acknowledgement by offset, 24 hours of keeping, allowed kinds.

use std::collections::{HashSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

/// Kinds a bot gets only when it asks for them by name.
const ON_REQUEST: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

struct Update {
    id: i64,
    text: String,
    at: DateTime<Utc>,
}

/// Updates that wait for their acknowledgement.
pub(crate) struct Updates {
    waiting: VecDeque<Update>,
    /// The batch acknowledged last: a fault can deliver it again.
    confirmed: Vec<Update>,
    next: i64,
    allowed: Option<HashSet<String>>,
    /// The number of the newest poll; an older one that still waits is refused.
    pub(crate) poll: u64,
}

impl Default for Updates {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            confirmed: vec![],
            next: 100_000_001,
            allowed: None,
            poll: 0,
        }
    }
}

impl Updates {
    /// Adds an update of this kind, unless the bot does not want the kind.
    pub(crate) fn push(&mut self, kind: &str, body: &Value, now: DateTime<Utc>) {
        let wanted = match &self.allowed {
            Some(kinds) => kinds.contains(kind),
            None => !ON_REQUEST.contains(&kind),
        };
        if !wanted {
            return;
        }
        let id = self.take_id();
        let text = format!("{{\"update_id\":{id},\"{kind}\":{body}}}");
        self.waiting.push_back(Update { id, text, at: now });
    }

    /// Adds an update as it is, with the next number when it brings none.
    pub(crate) fn push_raw(&mut self, mut update: Value, now: DateTime<Utc>) -> i64 {
        let id = match update["update_id"].as_i64() {
            Some(id) => {
                self.next = self.next.max(id + 1);
                id
            }
            None => self.take_id(),
        };
        update["update_id"] = Value::from(id);
        self.waiting.push_back(Update { id, text: update.to_string(), at: now });
        id
    }

    /// Leaves out so many numbers.
    pub(crate) fn skip(&mut self, numbers: i64) {
        self.next = self.next.saturating_add(numbers);
    }

    fn take_id(&mut self) -> i64 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// Sets the kinds the bot wants from now on; an empty list means the default.
    pub(crate) fn allow(&mut self, kinds: Vec<String>) {
        self.allowed = (!kinds.is_empty()).then(|| kinds.into_iter().collect());
    }

    /// Acknowledges everything below `offset`; a negative one keeps only that many from the end.
    pub(crate) fn acknowledge(&mut self, offset: i64) {
        let below = match offset {
            0 => return,
            1.. => offset,
            _ => {
                let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
                let first = self.waiting.len().saturating_sub(keep);
                match self.waiting.get(first) {
                    Some(update) => update.id,
                    None => return,
                }
            }
        };
        if self.waiting.front().is_some_and(|update| update.id < below) {
            self.confirmed.clear();
        }
        while self.waiting.front().is_some_and(|update| update.id < below) {
            self.confirmed.extend(self.waiting.pop_front());
        }
    }

    /// Forgets what is older than 24 hours.
    pub(crate) fn expire(&mut self, now: DateTime<Utc>) {
        while self.waiting.front().is_some_and(|u| now - u.at > TimeDelta::hours(24)) {
            self.waiting.pop_front();
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Puts the batch acknowledged last back in front, as after a lost acknowledgement.
    pub(crate) fn redeliver(&mut self) {
        for update in self.confirmed.drain(..).rev() {
            self.waiting.push_front(update);
        }
    }

    /// The next batch as JSON text, each update `copies` times; `None` when there is none.
    pub(crate) fn batch(&self, limit: usize, copies: usize) -> Option<String> {
        if self.waiting.is_empty() {
            return None;
        }
        let mut out = String::from("[");
        for update in self.waiting.iter().take(limit) {
            for _ in 0..copies {
                if out.len() > 1 {
                    out.push(',');
                }
                out.push_str(&update.text);
            }
        }
        out.push(']');
        Some(out)
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(updates: &Updates) -> Vec<i64> {
        let text = updates.batch(100, 1).unwrap_or_else(|| "[]".to_owned());
        let batch: Vec<Value> = serde_json::from_str(&text).unwrap();
        batch.iter().map(|update| update["update_id"].as_i64().unwrap()).collect()
    }

    fn three() -> Updates {
        let mut updates = Updates::default();
        for number in 0..3 {
            updates.push("message", &json!({ "n": number }), DateTime::UNIX_EPOCH);
        }
        updates
    }

    #[test]
    fn an_offset_acknowledges_what_is_below_it() {
        let mut updates = three();
        let all = ids(&updates);
        updates.acknowledge(all[0]);
        assert_eq!(ids(&updates), all);
        updates.acknowledge(all[1] + 1);
        assert_eq!(ids(&updates), all[2..]);
        updates.redeliver();
        assert_eq!(ids(&updates), all);
    }

    #[test]
    fn a_negative_offset_keeps_the_last_ones() {
        let mut updates = three();
        let all = ids(&updates);
        updates.acknowledge(-1);
        assert_eq!(ids(&updates), all[2..]);
    }

    #[test]
    fn updates_are_kept_for_24_hours() {
        let mut updates = three();
        updates.expire(DateTime::UNIX_EPOCH + TimeDelta::hours(24));
        assert_eq!(updates.len(), 3);
        updates.expire(DateTime::UNIX_EPOCH + TimeDelta::hours(25));
        assert_eq!(updates.len(), 0);
    }

    #[test]
    fn kinds_are_filtered_and_raw_updates_are_not() {
        let mut updates = Updates::default();
        updates.push("message_reaction", &json!({}), DateTime::UNIX_EPOCH);
        assert_eq!(updates.len(), 0);
        updates.allow(vec!["message_reaction".into()]);
        updates.push("message", &json!({}), DateTime::UNIX_EPOCH);
        assert_eq!(updates.len(), 0);
        updates.push_raw(json!({"brand_new": {}, "update_id": 100_000_900}), DateTime::UNIX_EPOCH);
        updates.push("message_reaction", &json!({}), DateTime::UNIX_EPOCH);
        assert_eq!(ids(&updates), [100_000_900, 100_000_901]);
    }
}
