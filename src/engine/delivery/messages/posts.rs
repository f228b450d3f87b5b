//! What people read about posts.

use selkie_channel_core::{Body, Outbound, shorten_line};

use selkie_domain::ids::{OutboundId, ScheduleId};
use selkie_store::DeliveryState;

/// Characters of a post that are repeated to people.
const SHOWN: usize = 80;

/// Which post is told of.
#[derive(Clone, Copy)]
pub struct About<'a> {
    pub(crate) outbound: OutboundId,
    pub(crate) schedule: Option<ScheduleId>,
    pub(crate) said: &'a Outbound,
    /// It was refused for what it says: the same words will be again.
    pub of_words: bool,
    /// It was meant for another account than the one whose login is configured.
    pub of_account: bool,
}

/// Tells what became of a post.
pub fn told(
    about: About<'_>,
    standing: &DeliveryState,
    url: Option<&str>,
    pause: Option<&str>,
) -> String {
    let About { outbound, schedule, said, of_words, of_account } = about;
    let of = schedule.map(|id| format!(" (schedule {id})")).unwrap_or_default();
    let beginning = beginning(said);
    let again = format!("`selkie tweets retry p{}`", outbound.0);
    let text = match standing {
        DeliveryState::Delivered { .. } => {
            let thread = match posts(said) {
                0 | 1 => String::new(),
                posts => format!(" as a thread of {posts}"),
            };
            format!("Posted{of}{thread}: {}", url.unwrap_or("its address is not known"))
        }
        DeliveryState::Refused { reason } => {
            let then = match (of_words, schedule) {
                // How it goes on stands below.
                (true, Some(_)) if pause.is_some() => String::new(),
                (true, Some(id)) => format!(
                    "\n\nThe next time it may be taken. `selkie tweets edit {id} --text …` gives it other words."
                ),
                (true, None) => format!(
                    "\n\nPost it with other words, or the same ones in a day: {again} tries them again then."
                ),
                (false, _) if of_account => {
                    format!(
                        "\n\nWith that account's login, {again} posts it; for this account, ask for it again."
                    )
                }
                (false, _) => format!("\n\n{again} tries it again."),
            };
            format!("Not posted{of}: {reason}.\n\n> {beginning}{then}")
        }
        DeliveryState::Partly { reason } => format!(
            "Only the beginning of the thread was posted{of}: {reason}.\n\n> {beginning}\n\n{again} posts the rest."
        ),
        DeliveryState::Unclear | DeliveryState::Open => format!(
            "I cannot tell whether this was posted{of}: the connection broke, and the timeline does not say. I do \
             not repeat it.\n\n> {beginning}\n\n{again} looks at the timeline again and posts it only when it is \
             not there."
        ),
        DeliveryState::Cancelled => format!("Withdrawn before it was posted{of}.\n\n> {beginning}"),
        DeliveryState::Expired => format!(
            "Not posted{of}: it could not be posted in time.\n\n> {beginning}\n\n{again} posts it all the same."
        ),
    };
    match (pause, schedule) {
        (Some(why), Some(id)) if of_account => format!(
            "{text}\n\nI paused schedule {id}: {why}. With that account's login, `selkie schedules resume {id}` resumes it."
        ),
        (Some(why), Some(id)) => format!(
            "{text}\n\nI paused schedule {id}: {why}. Change its words with `selkie tweets edit {id} --text …`; \
             `selkie schedules resume {id}` resumes it."
        ),
        _ => text,
    }
}

/// Why a post waits.
pub fn why_waits(said: &Outbound) -> String {
    let account = said.conversation.account();
    format!("it waits for the account {account}, which is not configured or switched off")
}

/// Tells that a post waits for its account.
pub fn waits(outbound: OutboundId, said: &Outbound) -> String {
    format!(
        "Not posted yet: {}.\n\n> {}\n\n`selkie tweets cancel p{}` withdraws it.",
        why_waits(said),
        beginning(said),
        outbound.0
    )
}

/// Returns how many posts it is.
pub fn posts(said: &Outbound) -> usize {
    match &said.body {
        Body::Post(post) => post.texts.len(),
        _ => 1,
    }
}

/// Returns the words of a post, text by text.
pub fn texts(said: &Outbound) -> Vec<String> {
    match &said.body {
        Body::Post(post) => post.texts.clone(),
        Body::Text { markdown } => vec![markdown.clone()],
        _ => Vec::new(),
    }
}

/// Returns the names of a post's pictures.
pub fn pictures(said: &Outbound) -> Vec<String> {
    match &said.body {
        Body::Post(post) => post.pictures.iter().map(|picture| picture.name.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Whether a post has pictures.
pub fn has_pictures(said: &Outbound) -> bool {
    matches!(&said.body, Body::Post(post) if !post.pictures.is_empty())
}

fn beginning(said: &Outbound) -> String {
    shorten_line(&texts(said).join(" "), SHOWN)
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{AccountId, ConversationId, MessageRef, Post};

    use super::*;

    #[test]
    fn what_became_of_a_post_is_told_with_what_to_do() {
        let post = Post { texts: vec!["Good\nmorning!".to_owned()], ..Post::default() };
        let to = ConversationId::new(AccountId::new("a"), "songs");
        let said = Outbound::new(to, Body::Post(post));
        let about = About {
            outbound: OutboundId(7),
            schedule: Some(ScheduleId(3)),
            said: &said,
            of_words: false,
            of_account: false,
        };
        let delivered = DeliveryState::Delivered { message: Some(MessageRef::new("17")) };
        let refused = DeliveryState::Refused { reason: "seen before".to_owned() };
        let lines = [
            told(about, &delivered, Some("bird://17"), None),
            told(about, &refused, None, None),
            told(About { of_words: true, ..about }, &refused, None, None),
            told(About { of_words: true, schedule: None, ..about }, &refused, None, None),
            told(
                About { of_words: true, ..about },
                &refused,
                None,
                Some("3 of its posts in a row were refused for their words"),
            ),
            told(
                About { of_account: true, ..about },
                &refused,
                None,
                Some("its posts were approved for another account"),
            ),
            told(About { schedule: None, ..about }, &DeliveryState::Unclear, None, None),
            told(about, &DeliveryState::Expired, None, None),
        ];
        insta::assert_snapshot!(lines.join("\n---\n"), @"
        Posted (schedule 3): bird://17
        ---
        Not posted (schedule 3): seen before.

        > Good morning!

        `selkie tweets retry p7` tries it again.
        ---
        Not posted (schedule 3): seen before.

        > Good morning!

        The next time it may be taken. `selkie tweets edit 3 --text …` gives it other words.
        ---
        Not posted: seen before.

        > Good morning!

        Post it with other words, or the same ones in a day: `selkie tweets retry p7` tries them again then.
        ---
        Not posted (schedule 3): seen before.

        > Good morning!

        I paused schedule 3: 3 of its posts in a row were refused for their words. Change its words with `selkie tweets edit 3 --text …`; `selkie schedules resume 3` resumes it.
        ---
        Not posted (schedule 3): seen before.

        > Good morning!

        With that account's login, `selkie tweets retry p7` posts it; for this account, ask for it again.

        I paused schedule 3: its posts were approved for another account. With that account's login, `selkie schedules resume 3` resumes it.
        ---
        I cannot tell whether this was posted: the connection broke, and the timeline does not say. I do not repeat it.

        > Good morning!

        `selkie tweets retry p7` looks at the timeline again and posts it only when it is not there.
        ---
        Not posted (schedule 3): it could not be posted in time.

        > Good morning!

        `selkie tweets retry p7` posts it all the same.
        ");
    }
}
