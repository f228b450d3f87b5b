//! What the owner's config allows, asks for and denies, by class and by tool, for each setting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use selkie_domain::span::Span;

/// Rows that count: one bit each.
pub const MAX_ROWS: usize = 64;

/// The section `approvals:`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How long a request stays open when a person asked for what it is about.
    pub timeout: Span,
    /// The same for tasks that nobody asked for just now, where no schedule says how late they may be.
    pub unattended_timeout: Span,
    /// What needs no approval, what needs it, and what is not there, by setting.
    pub policy: Vec<Row>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Span::seconds(5 * 60),
            unattended_timeout: Span::seconds(12 * 60 * 60),
            policy: Vec::new(),
        }
    }
}

/// A row of `approvals.policy`: in which setting, and what there. What is absent is any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Row {
    /// Where: `cli`, `private`, `group`, a channel (`telegram`) or one of its kinds (`telegram:group`).
    pub place: Option<String>,
    /// The least trust in play: `owner`, `allowed`, `stranger`.
    pub trust: Option<String>,
    /// Why the task exists: `asked`, `scheduled`, `heartbeat`, `relayed`, `webhook`.
    pub trigger: Option<String>,
    /// Tools and classes that need no approval, unless other people's words are in play.
    pub allow: Vec<String>,
    /// Tools and classes that somebody has to allow, each time.
    pub ask: Vec<String>,
    /// Tools and classes that are not there. This wins over everything else.
    pub deny: Vec<String>,
}

/// A setting, in the words that rows use.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// `cli`, or channel and kind: `telegram:group`.
    pub place: &'a str,
    /// Other people read along.
    pub is_group: bool,
    /// The least trust in play.
    pub trust: &'a str,
    /// Why the task exists.
    pub trigger: &'a str,
}

/// What the policy says of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nobody has to allow it.
    Allow,
    /// Somebody has to.
    Ask,
    /// It is not there.
    Deny,
}

/// The whole policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy(Vec<Row>);

impl Policy {
    /// Takes the rows of the config; those beyond [`MAX_ROWS`] are left out (config refuses them).
    pub fn new(mut rows: Vec<Row>) -> Self {
        rows.truncate(MAX_ROWS);
        Self(rows)
    }

    /// Returns which rows hold in a setting, one bit each.
    pub fn at_work(&self, setting: &Setting<'_>) -> u64 {
        let bits = self.0.iter().enumerate();
        bits.fold(0, |mask, (at, row)| mask | u64::from(row.holds(setting)) << at)
    }

    /// Returns what these rows say of a tool: `deny` wins, then the tool's own name over its class, then
    /// `ask` over `allow`.
    pub fn of(&self, mask: u64, tool: &str, class: &str) -> Option<Rule> {
        let rows = || {
            self.0.iter().enumerate().filter(|(at, _)| mask & (1 << at) != 0).map(|(_, row)| row)
        };
        let named = |list: fn(&Row) -> &Vec<String>, word: &str| {
            rows().any(|row| list(row).iter().any(|n| n == word))
        };
        if named(|row| &row.deny, tool) || named(|row| &row.deny, class) {
            return Some(Rule::Deny);
        }
        [tool, class].into_iter().find_map(|word| {
            let asks = named(|row| &row.ask, word).then_some(Rule::Ask);
            asks.or_else(|| named(|row| &row.allow, word).then_some(Rule::Allow))
        })
    }

    /// Returns every tool and class that it names, once for each time.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|row| row.allow.iter().chain(&row.ask).chain(&row.deny))
            .map(String::as_str)
    }
}

impl Row {
    fn holds(&self, setting: &Setting<'_>) -> bool {
        let place = self.place.as_deref().is_none_or(|place| is_place(place, setting));
        let is = |wanted: &Option<String>, word: &str| wanted.as_deref().is_none_or(|w| w == word);
        place && is(&self.trust, setting.trust) && is(&self.trigger, setting.trigger)
    }
}

/// Whether a word for places speaks of a setting: `group`, `telegram`, `telegram:group`.
pub fn is_place(place: &str, setting: &Setting<'_>) -> bool {
    match place {
        "group" => setting.is_group,
        "private" => !setting.is_group && setting.place != "cli",
        _ => {
            let channel = setting.place.split(':').next().unwrap_or_default();
            place == setting.place || place == channel
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: &str, trust: &str) -> Row {
        let some = |word: &str| (!word.is_empty()).then(|| word.to_owned());
        Row { place: some(place), trust: some(trust), ..Row::default() }
    }

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn rows_hold_where_they_say() {
        let policy = Policy::new(vec![
            row("", ""),
            row("group", ""),
            row("private", "owner"),
            row("telegram", ""),
            row("telegram:group", "allowed"),
            row("cli", ""),
        ]);
        let mask = |place, is_group, trust| {
            policy.at_work(&Setting { place, is_group, trust, trigger: "asked" })
        };
        assert_eq!(mask("telegram:group", true, "allowed"), 0b01_1011);
        assert_eq!(mask("telegram:private", false, "owner"), 0b00_1101);
        assert_eq!(mask("cli", false, "owner"), 0b10_0001);
    }

    #[test]
    fn deny_wins_and_a_name_beats_its_class() {
        let policy = Policy::new(vec![
            Row { allow: list(&["exec", "process"]), ..Row::default() },
            Row { ask: list(&["exec", "write_file"]), ..Row::default() },
            Row {
                deny: list(&["public", "bash"]),
                allow: list(&["twitter_post"]),
                ..Row::default()
            },
        ]);
        let of = |tool, class| policy.of(0b111, tool, class);
        assert_eq!(of("bash", "exec"), Some(Rule::Deny));
        assert_eq!(of("twitter_post", "public"), Some(Rule::Deny));
        assert_eq!(of("process", "exec"), Some(Rule::Allow));
        assert_eq!(of("powershell", "exec"), Some(Rule::Ask));
        assert_eq!(of("edit_file", "write"), None);
        assert_eq!(
            policy.of(0b001, "bash", "exec"),
            Some(Rule::Allow),
            "rows that do not hold say nothing"
        );
    }
}
