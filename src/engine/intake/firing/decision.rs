//! Whether one time of a schedule is carried out: decided from its row and from facts, without I/O.

use selkie_channel_core::UnpromptedCost;

use crate::intake::messages::schedules as messages;
use crate::work::messages::public_place;
use selkie_domain::facts::{Trust, Where};
use selkie_domain::schedule::Action;
use selkie_domain::usage::Usage;
use selkie_schedule::budget;
use selkie_store::ScheduleRow;

/// What is known of the world when a time has come. What has to be read first is read when it is asked for.
pub(super) struct FiringFacts {
    /// Somebody wants it now.
    pub(super) by_hand: bool,
    /// The account that it speaks by; `None` when its channel is off.
    pub(super) account: Option<AccountFacts>,
    /// It names a model that is not there: what is said of that.
    pub(super) unknown_model: Option<String>,
    /// The account that it posts by is served.
    pub(super) has_login: bool,
    /// Its conversation is an owner's.
    pub(super) is_an_owners: Option<bool>,
    /// What it comes to to speak there unprompted.
    pub(super) cost: Option<UnpromptedCost>,
    /// What it has used today.
    pub(super) used: Option<Usage>,
    /// What the heartbeat looks at, or why it does not.
    pub(super) look: Option<Result<String, String>>,
}

/// The account that a schedule speaks by.
pub(super) struct AccountFacts {
    /// Everything there is public: the tool that posts there.
    pub(super) posts_by: Option<&'static str>,
    /// How far its maker is trusted now, at most as far as then; `None` when nobody listens to them any more.
    pub(super) trust: Option<Trust>,
    /// It was made elsewhere and its conversation is on no list: what is said of that.
    pub(super) not_listed: Option<String>,
    /// Where it speaks.
    pub(super) place: Where,
}

/// A fact that has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFact {
    IsAnOwners,
    Cost,
    Used,
    Look,
}

/// What becomes of one time of a schedule.
#[derive(Debug, PartialEq)]
pub(super) enum FiringDecision {
    /// A task begins.
    Task(TaskStart),
    /// Its post goes out.
    Post,
    /// It is passed over, and why.
    Skip(String),
    /// It is passed over because its platform lets nothing be said, and the owner hears of it.
    SkipUnsayable(String),
    /// It is passed over, and so are those that follow, until somebody lets it go on.
    Pause(String),
    /// It is passed over, and so are those that follow on this day.
    WaitForTomorrow(String),
}

/// What a schedule's task begins with.
#[derive(Debug, PartialEq)]
pub(super) struct TaskStart {
    pub(super) trust: Trust,
    pub(super) place: Where,
    /// What the heartbeat looks at, in place of the schedule's own words.
    pub(super) look: Option<String>,
}

/// Decides what becomes of one time of a schedule.
///
/// # Errors
/// When a fact has to be read before: it is called again with it.
pub(super) fn decide(
    row: &ScheduleRow,
    facts: &FiringFacts,
) -> Result<FiringDecision, MissingFact> {
    use FiringDecision::{Pause, Skip, SkipUnsayable, WaitForTomorrow};
    let action = &row.schedule.action;
    if let Some(why) = &row.closed {
        return Ok(Pause(messages::closed(why)));
    }
    let Some(account) = &facts.account else {
        return Ok(Skip(messages::channel_off(row.conversation.account().as_str())));
    };
    if let Some(tool) = account.posts_by
        && !matches!(action, Action::Post { .. })
    {
        return Ok(Pause(public_place(&row.conversation, tool)));
    }
    let Some(trust) = account.trust else {
        return Ok(Pause(messages::NOT_ALLOWED.to_owned()));
    };
    if let Some(why) = &account.not_listed
        && !facts.is_an_owners.ok_or(MissingFact::IsAnOwners)?
    {
        return Ok(Pause(why.clone()));
    }
    if !facts.by_hand && speaks_elsewhere(row) && row.schedule.maker.needs_consent() {
        return Ok(Pause(messages::needs_consent(row.place.key())));
    }
    if let UnpromptedCost::Never(why) | UnpromptedCost::Spent(why) =
        facts.cost.as_ref().ok_or(MissingFact::Cost)?
    {
        return Ok(SkipUnsayable(why.clone()));
    }
    if let Some(why) = &facts.unknown_model {
        return Ok(Pause(why.clone()));
    }
    if action.asks_a_model() {
        let used = facts.used.as_ref().ok_or(MissingFact::Used)?;
        if let Some(why) = budget::used_up(&row.schedule.terms.budget, used) {
            return Ok(WaitForTomorrow(why));
        }
    }
    let start = TaskStart { trust, place: account.place.clone(), look: None };
    decide_action(action, start, facts)
}

/// Decides by what there is to do, when nothing else is in its way.
fn decide_action(
    action: &Action,
    start: TaskStart,
    facts: &FiringFacts,
) -> Result<FiringDecision, MissingFact> {
    use FiringDecision::{Pause, Post, Skip, Task};
    Ok(match action {
        Action::Post { .. } if start.trust == Trust::Stranger => {
            Pause(messages::STRANGERS_POST_NOTHING.to_owned())
        }
        // Whoever asked waits for it: it is held and they are told, instead of passed over.
        Action::Post { to, .. } if !facts.has_login => {
            Pause(messages::login_gone(to.account().as_str()))
        }
        Action::Post { .. } => Post,
        Action::Heartbeat => match facts.look.as_ref().ok_or(MissingFact::Look)? {
            Ok(text) => Task(TaskStart { look: Some(text.clone()), ..start }),
            Err(why) => Skip(why.clone()),
        },
        _ => Task(start),
    })
}

/// Whether fixed words may be said in another conversation than they were written in.
fn speaks_elsewhere(row: &ScheduleRow) -> bool {
    matches!(row.schedule.action, Action::Say { .. } | Action::Remind { .. })
        && !row.was_made_there()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use selkie_channel_core::{AccountId, ConversationId, PersonId, PlaceId};
    use selkie_domain::ids::ScheduleId;
    use selkie_domain::schedule::{Budget, Maker, Schedule, ScheduleState, Terms};
    use selkie_domain::taint::Taint;
    use selkie_store::Version;

    use super::*;

    fn row(action: Action) -> ScheduleRow {
        let account = AccountId::new("tg:8");
        let at = DateTime::UNIX_EPOCH;
        ScheduleRow {
            version: Version { id: ScheduleId(3), number: 1 },
            key: "a".to_owned(),
            conversation: ConversationId::new(account.clone(), "tg:1"),
            place: PlaceId::new(account, "tg:1"),
            title: String::new(),
            closed: None,
            schedule: Schedule {
                v: Schedule::VERSION,
                title: String::new(),
                when: "every 1h".to_owned(),
                zone: "UTC".to_owned(),
                action,
                maker: Maker::owner(PersonId::new("tg:1")),
                terms: Terms::default(),
            },
            state: ScheduleState::Active,
            why: String::new(),
            next_at: None,
            fired: 0,
            created_at: at,
            counts_from: at,
            last: None,
        }
    }

    fn prompt() -> ScheduleRow {
        row(Action::Prompt { prompt: "news".to_owned(), model: None, effort: None })
    }

    fn place() -> Where {
        Where::CommandLine { terminal: true }
    }

    /// Nothing is in the way, and all is read.
    fn facts() -> FiringFacts {
        FiringFacts {
            by_hand: false,
            account: Some(AccountFacts {
                posts_by: None,
                trust: Some(Trust::Owner),
                not_listed: None,
                place: place(),
            }),
            unknown_model: None,
            has_login: true,
            is_an_owners: Some(false),
            cost: Some(UnpromptedCost::Free),
            used: Some(Usage::default()),
            look: Some(Ok("the list".to_owned())),
        }
    }

    fn task(look: Option<&str>) -> Result<FiringDecision, MissingFact> {
        let look = look.map(str::to_owned);
        Ok(FiringDecision::Task(TaskStart { trust: Trust::Owner, place: place(), look }))
    }

    fn pauses(row: &ScheduleRow, facts: &FiringFacts, why: &str) {
        assert_eq!(decide(row, facts), Ok(FiringDecision::Pause(why.to_owned())));
    }

    #[test]
    fn what_nothing_is_in_the_way_of_begins() {
        assert_eq!(decide(&prompt(), &facts()), task(None));
        assert_eq!(decide(&row(Action::Heartbeat), &facts()), task(Some("the list")));
    }

    #[test]
    fn what_cannot_go_on_by_itself_pauses() {
        let account = |change: fn(&mut AccountFacts)| {
            let mut facts = facts();
            facts.account.as_mut().map(change).unwrap();
            facts
        };
        let closed = ScheduleRow { closed: Some("they left".to_owned()), ..prompt() };
        pauses(&closed, &facts(), &messages::closed("they left"));
        pauses(&prompt(), &account(|it| it.trust = None), messages::NOT_ALLOWED);
        pauses(&prompt(), &account(|it| it.not_listed = Some("no list".to_owned())), "no list");
        let unknown = FiringFacts { unknown_model: Some("which?".to_owned()), ..facts() };
        pauses(&prompt(), &unknown, "which?");
        let public = account(|it| it.posts_by = Some("post"));
        pauses(&prompt(), &public, &public_place(&prompt().conversation, "post"));
    }

    #[test]
    fn an_owners_conversation_needs_no_list() {
        let mut facts = FiringFacts { is_an_owners: Some(true), ..facts() };
        facts.account.as_mut().unwrap().not_listed = Some("no list".to_owned());
        assert_eq!(decide(&prompt(), &facts), task(None));
    }

    #[test]
    fn a_channel_that_is_off_or_says_nothing_passes_one_time_over() {
        let off = FiringFacts { account: None, ..facts() };
        let why = messages::channel_off("tg:8");
        assert_eq!(decide(&prompt(), &off), Ok(FiringDecision::Skip(why)));
        let spent = UnpromptedCost::Spent("used up".to_owned());
        let spent = FiringFacts { cost: Some(spent), ..facts() };
        let why = "used up".to_owned();
        assert_eq!(decide(&prompt(), &spent), Ok(FiringDecision::SkipUnsayable(why)));
        let busy = FiringFacts { look: Some(Err("busy".to_owned())), ..facts() };
        let skips = Ok(FiringDecision::Skip("busy".to_owned()));
        assert_eq!(decide(&row(Action::Heartbeat), &busy), skips);
    }

    #[test]
    fn a_budget_that_is_used_up_waits_for_tomorrow() {
        let mut row = prompt();
        row.schedule.terms.budget = Budget { calls: 2, micro_usd: 0 };
        let used = Usage { calls: 2, ..Usage::default() };
        let decided = decide(&row, &FiringFacts { used: Some(used), ..facts() });
        assert!(matches!(decided, Ok(FiringDecision::WaitForTomorrow(_))), "{decided:?}");
    }

    #[test]
    fn words_out_of_others_words_are_said_elsewhere_by_hand_alone() {
        let mut row = row(Action::Say { markdown: "hello".to_owned() });
        row.key = "cli:3".to_owned();
        row.schedule.maker.taint = Taint::Raw;
        row.schedule.maker.is_cleared = false;
        assert!(!row.was_made_there());
        pauses(&row, &facts(), &messages::needs_consent("tg:1"));
        assert_eq!(decide(&row, &FiringFacts { by_hand: true, ..facts() }), task(None));
    }

    #[test]
    fn what_is_read_is_asked_for_where_it_matters() {
        let none = || FiringFacts { cost: None, used: None, look: None, ..facts() };
        let closed = ScheduleRow { closed: Some(String::new()), ..prompt() };
        assert!(decide(&closed, &none()).is_ok());
        assert_eq!(decide(&prompt(), &none()), Err(MissingFact::Cost));
        let cost = || Some(UnpromptedCost::Free);
        let priced = FiringFacts { cost: cost(), ..none() };
        assert_eq!(decide(&prompt(), &priced), Err(MissingFact::Used));
        assert_eq!(decide(&row(Action::Say { markdown: "hello".to_owned() }), &priced), task(None));
        let counted = FiringFacts { cost: cost(), used: Some(Usage::default()), ..none() };
        assert_eq!(decide(&row(Action::Heartbeat), &counted), Err(MissingFact::Look));
    }
}
