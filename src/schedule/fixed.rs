//! The `schedules:` of the config: what each says, and what is wrong with it. Pure.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds;
use super::expression::Expression;
use super::foreign_words::shown;
use super::hours::ActiveHours;
use super::plan::Plan;
use super::turn::limits;
use super::zone::Zone;
use selkie_domain::effort::Effort;
use selkie_domain::schedule::{Action, Budget, Misfire, Terms, micro_usd};
use selkie_domain::span::Span;

/// What the keys of schedules from the config begin with in the store.
pub const KEYS: &str = "config:";

/// One schedule of the config. It is the first owner's; it changes and goes with the file, and what became of it so far
/// is kept while its words are the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixedSchedule {
    /// Names it for ever: letters, digits, `-` and `_`.
    pub id: String,
    /// What people call it; its id without one.
    pub title: Option<String>,
    /// When: a crontab line of five fields, or @daily and its like.
    pub cron: Option<String>,
    /// When: again and again after so long.
    pub every: Option<String>,
    /// When: once, on a day at a time: 2026-12-24 18:00.
    pub at: Option<String>,
    /// The IANA zone of its times. Default: `timezone`.
    pub timezone: Option<String>,
    /// What the model is to do each time.
    pub prompt: Option<String>,
    /// Fixed words to say each time.
    pub say: Option<String>,
    /// Fixed words that are said late rather than never.
    pub remind: Option<String>,
    /// The conversation it speaks in. Default: the first owner's private chat.
    pub to: Option<String>,
    /// The profile of `llm.profiles` that answers a prompt. Default: the main route.
    pub model: Option<String>,
    /// How hard it thinks: none, minimal, low, medium, high, xhigh or max. Default: as in its conversation.
    pub effort: Option<Effort>,
    /// Not after this moment.
    pub until: Option<String>,
    /// At most so often.
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// Only between these times of day: 08:00-22:00.
    pub active: Option<String>,
    /// Later by up to so long each time.
    pub jitter: Option<Span>,
    /// What becomes of missed times: skip, once, all. Default: once.
    pub misfire: Option<String>,
    /// How late a time may be made up for. Default: 2h.
    pub lateness: Option<Span>,
    /// How many earlier tasks the model reads. Default: 4.
    #[schemars(range(max = 16))]
    pub history: Option<u32>,
    /// Calls of the model in a day; 0: no limit. Default: 500.
    pub budget_calls: Option<u32>,
    /// What the model may cost in a day, in US dollars; 0: no limit. Default: 5.
    pub budget_usd: Option<f64>,
}

/// What such a schedule comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPlan {
    /// Names it in the store.
    pub key: String,
    /// What people call it.
    pub title: String,
    /// When.
    pub when: Expression,
    /// The zone of that.
    pub zone: Zone,
    /// What is done.
    pub action: Action,
    /// Where, as it was written.
    pub to: Option<String>,
    /// Within which bounds.
    pub terms: Terms,
}

/// What is wrong with one key; empty for the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The key.
    pub key: &'static str,
    /// What is wrong, and what is taken.
    pub message: String,
}

impl FixedSchedule {
    /// Reads it, with the zone of times that name none; intervals are counted from `anchor`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(&self, usual: Zone, anchor: DateTime<Utc>) -> Result<FixedPlan, Vec<Wrong>> {
        let mut wrong = Vec::new();
        wrong.extend(self.wrong_id());
        let zone = keep(&mut wrong, self.zone(usual)).unwrap_or(usual);
        let when = keep(&mut wrong, self.when(zone, anchor));
        let action = keep(&mut wrong, self.action());
        let terms = self.terms(&mut wrong);
        if let Some(when) = &when
            && let Err(why) = bounds::check(&terms, &Plan::of(when.clone(), zone), anchor)
        {
            wrong.push(of("", why));
        }
        match (when, action) {
            (Some(when), Some(action)) if wrong.is_empty() => {
                let to = self.to.clone();
                let key = format!("{KEYS}{}>{}", self.id, to.as_deref().unwrap_or_default());
                let title = self.title.clone().unwrap_or_else(|| self.id.clone());
                Ok(FixedPlan { key, title, when, zone, action, to, terms })
            }
            _ => Err(wrong),
        }
    }

    fn wrong_id(&self) -> Option<Wrong> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_id = (1..=64).contains(&self.id.len()) && self.id.chars().all(fits);
        let message = match self.id.is_empty() {
            true => "is missing: it takes a unique name, such as morning-list".to_owned(),
            false => format!(
                "takes 1 to 64 letters, digits, - and _ (morning-list), not {:?}",
                shown(&self.id)
            ),
        };
        (!is_id).then_some(Wrong { key: "id", message })
    }

    fn zone(&self, usual: Zone) -> Result<Zone, Wrong> {
        let Some(name) = &self.timezone else { return Ok(usual) };
        Zone::named(name).map_err(|error| of("timezone", error))
    }

    fn when(&self, zone: Zone, anchor: DateTime<Utc>) -> Result<Expression, Wrong> {
        let (key, written) = match (&self.cron, &self.every, &self.at) {
            (Some(cron), None, None) => ("cron", cron.clone()),
            (None, Some(every), None) => ("every", format!("every {every}")),
            (None, None, Some(at)) => ("at", at.clone()),
            _ => return Err(of("", "takes one of cron, every and at, which says when")),
        };
        if key == "at" {
            let at = super::expression::point(&written, zone).map(Expression::Once);
            let takes = "takes a day and a time (2026-12-24 18:00), not";
            return at.ok_or_else(|| of("at", format!("{takes} {:?}", shown(&written))));
        }
        let expression =
            Expression::written(&written, zone, anchor).map_err(|error| of(key, error))?;
        match (key, &expression) {
            ("cron", Expression::Cron(_)) | ("every", Expression::Every(_)) => Ok(expression),
            _ => Err(of(
                key,
                format!("takes a crontab line (0 8 * * 1-5), not {:?}", shown(&written)),
            )),
        }
    }

    fn action(&self) -> Result<Action, Wrong> {
        let (key, action) = match (&self.prompt, &self.say, &self.remind) {
            (Some(prompt), None, None) => (
                "prompt",
                Action::Prompt {
                    prompt: prompt.clone(),
                    model: self.model.clone(),
                    effort: self.effort,
                },
            ),
            (None, Some(say), None) => ("say", Action::Say { markdown: say.clone() }),
            (None, None, Some(remind)) => ("remind", Action::Remind { markdown: remind.clone() }),
            _ => {
                return Err(of("", "takes one of prompt, say and remind, which says what is done"));
            }
        };
        match action.objection() {
            Some(why) => Err(of(key, why)),
            None if key != "prompt" && self.model.is_some() => {
                Err(of("model", "answers a prompt: fixed words ask no model"))
            }
            None if key != "prompt" && self.effort.is_some() => {
                Err(of("effort", "belongs to a prompt: fixed words ask no model"))
            }
            None => Ok(action),
        }
    }

    fn terms(&self, wrong: &mut Vec<Wrong>) -> Terms {
        let usual = Terms::default();
        let until = self.until.as_deref().map(|text| {
            let read = DateTime::parse_from_rfc3339(text).map(|at| at.to_utc());
            let takes = "takes a moment (2026-12-24T18:00:00+01:00), not";
            read.map_err(|_| of("until", format!("{takes} {:?}", shown(text))))
        });
        let active = self.active.as_deref().map(|text| {
            let hours = text.parse::<ActiveHours>();
            hours.map(|hours| hours.to_string()).map_err(|error| of("active", error))
        });
        let misfire = self
            .misfire
            .as_deref()
            .map(|text| text.parse::<Misfire>().map_err(|error| of("misfire", error)));
        let money = self.budget_usd.map(|usd| {
            micro_usd(usd)
                .ok_or_else(|| of("budget_usd", format!("takes dollars (0.5, 5), not {usd}")))
        });
        let budget = Budget {
            calls: self.budget_calls.unwrap_or(usual.budget.calls),
            micro_usd: given(wrong, money).unwrap_or(usual.budget.micro_usd),
        };
        Terms {
            starts: None,
            until: given(wrong, until),
            times: self.times,
            active: given(wrong, active),
            jitter: self.jitter.unwrap_or(usual.jitter),
            misfire: given(wrong, misfire).unwrap_or_default(),
            lateness: self.lateness.unwrap_or(usual.lateness),
            history: self.history.unwrap_or(usual.history),
            budget,
        }
    }
}

impl FixedPlan {
    /// Returns its first time after a moment; none for one that is over.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let limits = limits(&self.terms).ok()?;
        Plan { expression: self.when.clone(), zone: self.zone, limits }.next_after(after)
    }

    /// Whether a stored expression says the same: an interval keeps the anchor it has.
    pub fn is_when(&self, stored: &str) -> bool {
        match (&self.when, stored.parse::<Expression>()) {
            (Expression::Every(every), Ok(Expression::Every(stored))) => {
                every.span() == stored.span()
            }
            (when, Ok(stored)) => *when == stored,
            _ => false,
        }
    }
}

fn of(key: &'static str, message: impl std::fmt::Display) -> Wrong {
    Wrong { key, message: message.to_string() }
}

fn keep<T>(wrong: &mut Vec<Wrong>, read: Result<T, Wrong>) -> Option<T> {
    read.map_err(|found| wrong.push(found)).ok()
}

fn given<T>(wrong: &mut Vec<Wrong>, read: Option<Result<T, Wrong>>) -> Option<T> {
    read.and_then(|read| keep(wrong, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: serde_json::Value) -> Result<FixedPlan, Vec<Wrong>> {
        let schedule: FixedSchedule = serde_json::from_value(yaml).unwrap();
        schedule.read(Zone::UTC, DateTime::UNIX_EPOCH)
    }

    #[test]
    fn one_that_is_right_is_read_with_its_own_zone_and_the_usual_terms() {
        let fixed = read(serde_json::json!({
            "id": "list", "cron": "0 8 * * 1-5", "timezone": "europe/berlin", "prompt": "my list",
            "model": "cheap", "to": "tg:1", "history": 0, "budget_usd": 0.25, "lateness": "1h",
        }));
        let fixed = fixed.unwrap();
        assert_eq!((fixed.key.as_str(), fixed.title.as_str()), ("config:list>tg:1", "list"));
        assert_eq!((fixed.zone.name(), fixed.terms.history), ("Europe/Berlin", 0));
        assert_eq!(fixed.terms.budget, Budget { micro_usd: 250_000, ..Budget::default() });
        assert!(fixed.is_when("0 8 * * 1-5") && !fixed.is_when("0 9 * * 1-5"));
        let every = read(serde_json::json!({ "id": "a", "every": "10m", "say": "x" })).unwrap();
        let later =
            Expression::written("every 10m", Zone::UTC, "2026-01-01T00:00:00Z".parse().unwrap());
        assert!(every.is_when(&later.unwrap().to_string()), "whenever it was first read");
    }

    #[test]
    fn everything_wrong_is_told_by_its_key() {
        let told = |yaml| {
            let wrong = read(yaml).unwrap_err();
            wrong.iter().map(|w| format!("{}: {}", w.key, w.message)).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(told(serde_json::json!({
            "id": "my list", "cron": "0 0 31 2 *", "timezone": "Europe/Berln", "say": " ",
            "active": "8-22", "misfire": "never", "until": "soon", "budget_usd": -1.0,
        })), @r#"
        id: takes 1 to 64 letters, digits, - and _ (morning-list), not "my list"
        timezone: "Europe/Berln" is not a time zone (takes a name like Europe/Berlin, Asia/Tokyo or UTC). Did you mean Europe/Berlin, America/North_Dakota/Beulah or Asia/Beirut?
        cron: "0 0 31 2 *" never happens: no such day is in the calendar
        say: a message needs words: they are empty
        budget_usd: takes dollars (0.5, 5), not -1
        until: takes a moment (2026-12-24T18:00:00+01:00), not "soon"
        active: "8-22" are no active hours (takes 08:00-22:00, or 22:00-06:00 past midnight; leave them out for all day)
        misfire: "never" is not a policy for missed times (takes skip, once, all)
        "#);
        insta::assert_snapshot!(told(serde_json::json!({ "cron": "@daily", "every": "1h" })), @r#"
        id: is missing: it takes a unique name, such as morning-list
        : takes one of cron, every and at, which says when
        : takes one of prompt, say and remind, which says what is done
        "#);
        insta::assert_snapshot!(
            told(serde_json::json!({ "id": "a", "at": "18:30", "say": "x", "model": "m" })), @r#"
        at: takes a day and a time (2026-12-24 18:00), not "18:30"
        model: answers a prompt: fixed words ask no model
        "#
        );
        insta::assert_snapshot!(told(serde_json::json!({ "id": "a", "cron": "in 5m", "say": "x" })), @r#"
        cron: takes a crontab line (0 8 * * 1-5), not "in 5m"
        "#);
    }
}
