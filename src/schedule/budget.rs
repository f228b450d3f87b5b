//! What a schedule may use in a day: whether it is used up, and in which words.

use selkie_domain::count::counted;
use selkie_domain::schedule::Budget;
use selkie_domain::usage::{Usage, dollars};

/// Says which limit of a budget is reached; nothing while something is left. A limit of 0 holds nobody.
pub fn used_up(budget: &Budget, used: &Usage) -> Option<String> {
    let Budget { calls, micro_usd } = *budget;
    if calls > 0 && used.calls >= calls {
        let calls = counted(calls.into(), ["model call", "model calls"]);
        return Some(format!("its budget of {calls} a day is used up"));
    }
    if micro_usd > 0 && used.micro_usd >= micro_usd {
        return Some(format!("its budget of {} a day is used up", dollars(micro_usd)));
    }
    None
}

/// Says what a budget is, for people.
pub fn words(budget: &Budget) -> String {
    let Budget { calls, micro_usd } = *budget;
    let calls = (calls > 0).then(|| counted(calls.into(), ["model call", "model calls"]));
    let money = (micro_usd > 0).then(|| dollars(micro_usd));
    let limits: Vec<String> = calls.into_iter().chain(money).collect();
    if limits.is_empty() {
        "no budget".to_owned()
    } else {
        format!("at most {} a day", limits.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_that_is_reached_is_named_and_zero_lifts_it() {
        let budget = Budget { calls: 3, micro_usd: 2_000_000 };
        let used = |calls, micro_usd| Usage { calls, micro_usd, ..Usage::default() };
        assert_eq!(used_up(&budget, &used(2, 1_999_999)), None);
        let calls = used_up(&budget, &used(3, 0)).unwrap();
        assert_eq!(calls, "its budget of 3 model calls a day is used up");
        let money = used_up(&budget, &used(2, 2_000_000)).unwrap();
        assert_eq!(money, "its budget of $2.00 a day is used up");
        let lifted = Budget { calls: 0, micro_usd: 0 };
        assert_eq!(used_up(&lifted, &used(9_999, u64::MAX)), None);
        assert_eq!(words(&budget), "at most 3 model calls and $2.00 a day");
        assert_eq!(words(&lifted), "no budget");
    }
}
