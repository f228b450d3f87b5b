//! Whose task it is by the rules of now: a row may be older than the config.

use crate::domain::facts::{Trust, Where};
use crate::flow::desk::Desk;
use crate::store::Claimed;

/// Returns the trust in whom the task answers, the least of them and never more than it was made with;
/// `None` when one of them is not listened to any more.
pub(super) fn now(desk: &Desk, claimed: &Claimed) -> Option<Trust> {
    let made = claimed.facts.trust;
    let asked_here = matches!(claimed.facts.place, Where::Channel(_));
    let Some(account) = desk.account(&claimed.conversation).filter(|_| asked_here) else {
        return Some(made);
    };
    desk.policy(account, |policy| {
        let mut speakers = claimed.heard.iter().map(|(_, inbound)| &inbound.speaker.id);
        // The place as it is called now: it may have moved since they wrote.
        speakers.try_fold(made, |least, who| Some(least.min(policy.of(who, &claimed.place)?)))
    })
}

/// Takes what the place opens by the config of now: a task may have waited for a person since.
pub(super) fn refresh(desk: &Desk, claimed: &mut Claimed) {
    if matches!(claimed.facts.place, Where::Channel(_)) {
        let group = desk.settings.groups.get(claimed.place.key());
        claimed.facts.opened = group.map(|g| g.allow.clone()).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{self, message};

    #[test]
    fn the_least_trusted_speaker_counts_and_a_stranger_ends_it() {
        let house = testing::desk();
        let now = |claimed: &Claimed| now(&house.desk, claimed);
        let mut claimed = testing::claimed(1, &message("tg:1", "hi"));
        assert_eq!(now(&claimed), Some(Trust::Owner));
        claimed.heard.extend(testing::claimed(2, &message("tg:2", "hi")).heard);
        assert_eq!(now(&claimed), Some(Trust::Allowed));
        claimed.heard.extend(testing::claimed(3, &message("tg:66", "hi")).heard);
        assert_eq!(now(&claimed), None);
        let mut lowered = testing::claimed(1, &message("tg:1", "hi"));
        lowered.facts.trust = Trust::Allowed;
        assert_eq!(now(&lowered), Some(Trust::Allowed), "never more than it was made with");
    }

    #[test]
    fn the_terminal_has_no_list() {
        let house = testing::desk();
        let mut claimed = testing::claimed(1, &message("cli:local", "hi"));
        claimed.facts.place = Where::CommandLine { terminal: true };
        assert_eq!(now(&house.desk, &claimed), Some(Trust::Owner));
    }
}
