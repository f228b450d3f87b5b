//! What people read when a limit is reached.

use super::reached::{LimitHit, What, Whose};

/// Says once that a limit is reached.
pub(super) fn reached(reached: &LimitHit) -> String {
    let again = "I will answer again after midnight UTC.";
    match (reached.what, reached.whose) {
        (What::Messages | What::Commands, Whose::Person) => {
            "You are writing faster than I can answer. I will not answer more this minute; please write again in a \
             minute."
                .to_owned()
        }
        (What::Messages | What::Commands, _) => {
            "More is written here than I can answer in a minute. I will not answer more this minute; please write \
             again in a minute."
                .to_owned()
        }
        (_, Whose::Person) => {
            format!("You have reached what I can do for one person in a day. {again}")
        }
        (_, Whose::Conversation) => {
            format!("This conversation has reached what I can do for one conversation in a day. {again}")
        }
        (_, Whose::Everybody) => format!("I have reached what I can do in a day. {again}"),
    }
}

/// The same to an owner, who is held to the cost of all together alone.
pub(super) fn owner_reached(reached: &LimitHit) -> String {
    format!(
        "I have reached what I may cost in a day (`{}`), so I ask no model for anybody until midnight UTC. Raise it in the \
         config and run `selkie reload` to go on at once.",
        reached.key()
    )
}

/// Says once that a time of a schedule is passed over.
pub(super) fn hook_passed_over(reached: &LimitHit) -> String {
    format!(
        "I skipped what a webhook brought: a limit for a day is reached ({}). Webhooks with a prompt continue after midnight \
         UTC.",
        reached.key()
    )
}

/// What is said where a schedule speaks.
pub(super) fn passed_over(reached: &LimitHit, schedule: &str) -> String {
    let whose = match reached.whose {
        Whose::Person => "whoever made it has",
        Whose::Conversation => "this conversation has",
        Whose::Everybody => "all people together have",
    };
    format!(
        "I skipped {schedule} once: {whose} reached what I can do in a day ({}). Schedules continue here after \
         midnight UTC.",
        reached.key()
    )
}

/// Ends a task in the middle: a limit was reached while it ran.
pub(super) fn stopped(reached: &LimitHit) -> String {
    format!("I stopped before I was done. {}", self::reached(reached))
}

/// Answers the first tap that is one too many.
pub(super) const TAPS: &str = "That is more taps than I take in a minute: this one did nothing. Please tap again in a minute.";
