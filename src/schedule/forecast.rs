//! What a schedule will come to in a month: how often, about how many calls of a model, about what money. Pure.

use super::budget;
use selkie_domain::count::counted;
use selkie_domain::schedule::{Action, Schedule};
use selkie_domain::usage::{Usage, dollars};
use selkie_llm::{Price, PriceList};
use selkie_store::Usual;

/// Days that a forecast looks ahead.
const DAYS: u64 = 30;

/// What is known of a schedule before it has run.
#[derive(Clone, Copy, Debug)]
pub struct KnownTimes<'a> {
    /// How often it comes due in 30 days.
    pub monthly: u64,
    /// What the newest tasks of its conversation have used.
    pub usual: Usual,
    /// What the models cost.
    pub prices: &'a PriceList,
    /// How many messages of a month's paid ones each time costs there; nothing where speaking is free.
    pub paid: Option<u64>,
}

/// Says what a schedule comes to in a month; empty for what happens once and costs nothing that is counted.
pub fn words(schedule: &Schedule, known: &KnownTimes<'_>) -> String {
    let KnownTimes { monthly, usual, prices, paid } = *known;
    if monthly == 0 {
        return String::new();
    }
    let mut said = Vec::new();
    if monthly > 1 {
        said.push(format!("{monthly} times in the next 30 days"));
    }
    if let Action::Prompt { model, .. } = &schedule.action {
        let name = model.as_deref().unwrap_or(&prices.main);
        let price = prices.profiles.get(name).copied().flatten();
        said.extend(calls(monthly, &usual));
        said.extend(match price {
            None => Some("no price is known for its model".to_owned()),
            // What costs nothing is not worth a word.
            Some(price) if price.is_free() => None,
            Some(price) => Some(match cost(monthly, &usual, price) {
                Some(cost) => format!("about {}", dollars(cost)),
                None => at_most(schedule, monthly),
            }),
        });
    }
    if let Some(each) = paid.filter(|each| *each > 0) {
        let all = monthly.saturating_mul(each);
        said.push(format!("{all} of the messages that the platform counts each month"));
    }
    said.join(", ")
}

fn calls(monthly: u64, usual: &Usual) -> Option<String> {
    let calls = match usual.tasks {
        0 => return Some(format!("at least {}", counted(monthly, CALLS))),
        tasks => u64::from(usual.usage.calls).saturating_mul(monthly).div_ceil(u64::from(tasks)),
    };
    Some(format!("about {}", counted(calls, CALLS)))
}

const CALLS: [&str; 2] = ["model call", "model calls"];

/// What the usual task of the conversation would cost with this model, so many times.
fn cost(monthly: u64, usual: &Usual, price: Price) -> Option<u64> {
    if usual.tasks == 0 {
        return None;
    }
    let Usage { calls, input, cached, output, .. } = usual.usage;
    let together = price.cost(&Usage { calls, input, cached, output, ..Usage::default() });
    Some(together.saturating_mul(monthly) / u64::from(usual.tasks))
}

/// What is known of the cost before anything was paid.
fn at_most(schedule: &Schedule, monthly: u64) -> String {
    let a_day = schedule.terms.budget;
    match a_day.micro_usd {
        0 => format!("cost not known yet, {}", budget::words(&a_day)),
        micro_usd => {
            let most = micro_usd.saturating_mul(monthly.min(DAYS));
            format!("cost not known yet, at most {} by its budget", dollars(most))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selkie_channel_core::PersonId;

    use super::*;
    use selkie_domain::facts::Trust;
    use selkie_domain::schedule::{Budget, Maker, Terms};
    use selkie_domain::taint::Taint;

    fn schedule(action: Action, budget: Budget) -> Schedule {
        Schedule {
            v: Schedule::VERSION,
            title: String::new(),
            when: "0 8 * * *".to_owned(),
            zone: "UTC".to_owned(),
            action,
            maker: Maker {
                person: PersonId::new("tg:1"),
                name: String::new(),
                trust: Trust::Owner,
                taint: Taint::Clean,
                is_cleared: true,
            },
            terms: Terms { budget, ..Terms::default() },
        }
    }

    fn prices() -> PriceList {
        let price = Price { input: 1.0, cached: None, output: 10.0 };
        let profiles = BTreeMap::from([
            ("main".to_owned(), Some(price)),
            ("unknown".to_owned(), None),
            ("free".to_owned(), Some(Price { input: 0.0, cached: None, output: 0.0 })),
        ]);
        PriceList { profiles, main: "main".to_owned() }
    }

    #[test]
    fn a_forecast_goes_by_past_tasks_or_by_the_budget() {
        let prompt = |model: Option<&str>| Action::Prompt {
            prompt: "tell me".to_owned(),
            model: model.map(str::to_owned),
            effort: None,
        };
        let usage = Usage { calls: 4, input: 2_000, output: 200, ..Usage::default() };
        let some = Usual { tasks: 2, usage };
        let prices = prices();
        let known = |monthly, usual| KnownTimes { monthly, usual, prices: &prices, paid: None };
        let said = |action, known| words(&schedule(action, Budget::default()), &known);
        let by_past = said(prompt(None), known(30, some));
        let about = "30 times in the next 30 days, about 60 model calls, about $0.0600";
        assert_eq!(by_past, about);
        let at_most = said(prompt(None), known(8, Usual::default()));
        let budget = "8 times in the next 30 days, at least 8 model calls, cost not known yet, at most $40.00 by its budget";
        assert_eq!(at_most, budget);
        let no_price = said(prompt(Some("unknown")), known(100, some));
        assert!(
            no_price.ends_with("about 200 model calls, no price is known for its model"),
            "{no_price}"
        );
        let free = said(prompt(Some("free")), known(100, Usual::default()));
        assert!(free.ends_with("at least 100 model calls"), "{free}");
        let words = Action::Say { markdown: "hi".to_owned() };
        let paid = KnownTimes { paid: Some(12), ..known(2, some) };
        let pushed =
            "2 times in the next 30 days, 24 of the messages that the platform counts each month";
        assert_eq!(said(words, paid), pushed);
        let lifted = Budget { calls: 7, micro_usd: 0 };
        let unknown = super::words(&schedule(prompt(None), lifted), &known(1, Usual::default()));
        let says = "cost not known yet, at most 7 model calls a day";
        assert!(unknown.ends_with(says), "{unknown}");
    }
}
