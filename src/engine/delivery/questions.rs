//! Questions as people see them: with buttons, with what is chosen so far, and with what came of them.

use std::sync::Arc;

use selkie_channel_core::{Audience, Body, Choice, ConversationId, MessageRef, Question};

use crate::delivery::outbox::Outbox;
use crate::delivery::waiters;
use selkie_domain::question::{Ask, QuestionResult};
use selkie_store::{Draft, QuestionRow};

/// The button that ends a choice of several.
pub const DONE: &str = "done";
/// A question is repeated in its outcome as far as surely fits into one message.
pub(super) const MAX_BYTES: usize = 1500;
/// As much of an answer in own words is shown in its outcome.
const ANSWER_BYTES: usize = 300;

/// Returns the question as it is asked: where its message cannot be changed, several are chosen in words.
/// In a group it says how own words reach it.
pub fn asked(outbox: &Outbox, conversation: &ConversationId, key: &str, ask: &Ask) -> Question {
    let mut question = shown(key, ask, &[]);
    // People talk among themselves here: own words count when they are meant for the bot.
    if ask.free_text && is_group(outbox, conversation) {
        // Beside choices the hint is shown, alone it stands in the input field.
        let place = match ask.choices.is_empty() {
            true => &mut question.markdown,
            false => &mut question.placeholder,
        };
        let gap = if ask.choices.is_empty() { "\n\n" } else { " " };
        *place = format!("{}{gap}To answer in your own words, mention me.", place.trim_end());
    }
    match !ask.many || can_change(outbox, conversation) {
        true => question,
        false => in_numbers(question, ask),
    }
}

fn in_numbers(question: Question, ask: &Ask) -> Question {
    let plain = Question { choices: ask.choices.clone(), ..question };
    let markdown = format!(
        "{}\n\nAnswer with the numbers of your choice, like `1, 2`.",
        plain.in_words().trim_end()
    );
    Question { markdown, choices: Vec::new(), ..plain }
}

/// Returns the question with its buttons; those that are picked of several are marked.
pub fn shown(key: &str, ask: &Ask, picked: &[String]) -> Question {
    let choices = match ask.many {
        false => ask.choices.clone(),
        true => boxes(ask, picked),
    };
    Question {
        key: key.to_owned(),
        markdown: ask.markdown.clone(),
        choices,
        free_text: ask.free_text,
        // A hint for own words, which are taken only then.
        placeholder: if ask.free_text { ask.placeholder.clone() } else { String::new() },
    }
}

/// Renders the question as it looks with these picked.
pub fn with_picked(outbox: &Outbox, row: &QuestionRow, picked: &[String]) -> Option<Draft> {
    let question = shown(&row.key, &row.ask, picked);
    let (message, markdown) = (row.message.clone()?, question.markdown.clone());
    let body = Body::Revision { message, markdown, question: Some(question) };
    outbox.draft_of(&row.conversation, body)
}

/// Renders what came of a question in place of its buttons; `by` names who answered, where several speak.
pub fn with_outcome(
    outbox: &Outbox,
    row: &QuestionRow,
    outcome: &str,
    by: Option<&str>,
) -> Option<Draft> {
    let message = row.message.clone()?;
    let asked = cut(row.ask.markdown.trim_end(), MAX_BYTES);
    let by = by.map(|name| format!(" ({name})")).unwrap_or_default();
    let markdown = format!("{asked}\n\n{outcome}{by}");
    outbox.draft_of(&row.conversation, Body::Revision { message, markdown, question: None })
}

/// Shows once what came of a question that no tap has answered. Its message may still be on its way: then
/// it is changed when it has arrived.
pub async fn close(outbox: &Arc<Outbox>, question: QuestionRow, outcome: &str, by: Option<&str>) {
    if question.message.is_some() {
        return replace_buttons(outbox, &question, outcome, by).await;
    }
    let (shown, outcome, by) = (Arc::clone(outbox), outcome.to_owned(), by.map(str::to_owned));
    outbox.runtime.tracker.spawn(async move {
        let stop = shown.runtime.stop.work.clone();
        tokio::select! {
            question = arrived(&shown, question) => {
                replace_buttons(&shown, &question, &outcome, by.as_deref()).await;
            }
            // The buttons stay; a tap is told what came of them.
            () = stop.cancelled() => {}
        }
    });
}

async fn replace_buttons(
    outbox: &Arc<Outbox>,
    question: &QuestionRow,
    outcome: &str,
    by: Option<&str>,
) {
    if let Some(draft) = with_outcome(outbox, question, outcome, by) {
        outbox.say_once(&format!("question:{}", question.key), draft).await;
    }
}

/// Waits until it is settled whether a question's message is there.
async fn arrived(outbox: &Arc<Outbox>, question: QuestionRow) -> QuestionRow {
    let read = async || {
        let account = question.conversation.account();
        outbox.storage.insist(|ledger| ledger.question(account, &question.key)).await.flatten()
    };
    // Watched first: it may arrive in between.
    let mut standing = outbox.waiters.watch(question.outbound);
    match read().await {
        Some(now) if now.message.is_some() => return now,
        _ => {}
    }
    waiters::settled(&mut standing).await;
    read().await.unwrap_or(question)
}

/// Says in a line what came of a question.
pub fn outcome(ask: &Ask, given: Option<&QuestionResult>) -> String {
    match given {
        Some(given @ (QuestionResult::Chosen { .. } | QuestionResult::Words { .. })) => {
            format!("✔ {}", cut(&ask.says(given), ANSWER_BYTES))
        }
        Some(given @ QuestionResult::Expired) => format!("⌛ {}", ask.says(given)),
        Some(QuestionResult::NotAsked { .. }) | None => "✖ Withdrawn".to_owned(),
    }
}

fn boxes(ask: &Ask, picked: &[String]) -> Vec<Choice> {
    let mark = |id: &String| if picked.contains(id) { "☑" } else { "☐" };
    let boxed = ask
        .choices
        .iter()
        .map(|c| Choice { label: format!("{} {}", mark(&c.id), c.label), ..c.clone() });
    let done = Choice { id: DONE.to_owned(), label: "Done".to_owned(), description: String::new() };
    boxed.chain([done]).collect()
}

/// Whether messages of a conversation can be changed: by what its channel makes of such a change.
pub(super) fn can_change(outbox: &Outbox, conversation: &ConversationId) -> bool {
    let probe =
        Body::Revision { message: MessageRef::new("1"), markdown: "?".to_owned(), question: None };
    outbox.draft_of(conversation, probe).is_some()
}

fn is_group(outbox: &Outbox, conversation: &ConversationId) -> bool {
    outbox.accounts.of(conversation).is_some_and(|account| {
        account.channel.address.features(conversation).audience == Audience::Group
    })
}

pub(super) fn cut(text: &str, most: usize) -> String {
    match text.len() <= most {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(most)]),
    }
}
