//! What people read about the work on their messages: why it ended without an answer, which files are missing.

pub mod agents;
pub mod sessions;
pub mod voice;

use selkie_channel_core::ConversationId;

use selkie_domain::ids::ScheduleId;

/// Why nothing but a post goes to a public place: what goes there is approved as it stands.
pub fn public_place(conversation: &ConversationId, tool: &str) -> String {
    let to = conversation.key();
    format!(
        "{to} is public: nothing but posts goes there, each as it was approved; {tool} schedules one"
    )
}

/// What of the todo list was over when it was first seen.
pub fn overdue(items: &[&str]) -> String {
    const MAX: usize = 5;
    let shown: Vec<String> = items.iter().take(MAX).map(|item| format!("“{item}”")).collect();
    let more = items.len().saturating_sub(MAX);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let shown = shown.join(", ");
    format!("Already overdue in TODO.md when I first saw it, so I send no reminder: {shown}{more}.")
}

/// A question could not be asked.
pub const NOBODY_TO_ASK: &str = "I need to ask something first, and I cannot ask it here.";

/// Why a file is not fetched any more today.
pub const DOWNLOADS_REACHED: &str = "the limit for files in a day is reached";

/// For the owner: others get no answers.
pub fn model_away(why: &str) -> String {
    format!("The model does not answer, so people get no answers from me: {why}")
}

/// For the owner, who was told that it is away.
pub const MODEL_BACK: &str = "The model answers again.";

/// The end of a stopped task that nobody answered yet.
pub fn task_stopped() -> String {
    selkie_agent::messages::STOPPED.to_owned()
}

/// What was written of an answer before `/stop`.
pub fn cut_short(text: &str) -> String {
    format!("{text}…\n\n_(stopped)_")
}

/// The end of a task that was worked on without a word.
pub const DONE: &str = "Done.";

/// A picture of the model, where no pictures are sent.
pub fn picture_kept(place: &str) -> String {
    format!("I cannot send pictures here: the one that I drew is kept as {place}")
}

/// A picture of the model that is not sent.
pub fn picture_not_sent(why: &str) -> String {
    format!("I drew a picture that I cannot send: {why}.")
}

/// The end of a task of whose answer nothing can be shown.
pub const EMPTY_ANSWER: &str =
    "I have no answer: the model returned nothing. Please ask again, or put it differently.";

/// The end of a task that took the process down again and again.
pub fn poison(attempts: u32) -> String {
    format!(
        "I had to give this up: I was interrupted {} times while working on it. Please put it differently.",
        attempts.saturating_sub(1)
    )
}

/// The end of a task that met a defect of the daemon.
pub fn defect() -> String {
    "Something went wrong inside me while I worked on this; my log has the details. Please ask again."
        .to_owned()
}

/// The end of a task that failed without words of its own.
pub fn failed(why: &str) -> String {
    format!("I could not finish this: {why}.")
}

/// Tells the owner that the heartbeat fails again and again.
pub fn heartbeat_fails(id: ScheduleId, why: &str) -> String {
    format!(
        "The heartbeat has failed three times in a row: {why}. I keep trying, and will not mention it again until it \
         has worked; `selkie schedules history {id}` shows each time."
    )
}

/// A schedule, as people know it.
pub fn schedule(id: ScheduleId, name: &str) -> String {
    format!("schedule {id} ({name})")
}

/// A hook, as people know it.
pub fn webhook(name: &str) -> String {
    format!("webhook {name}")
}

/// The end of a schedule's task that failed, or a webhook's: nobody has just asked for it, so it says what it is about.
pub fn schedule_failed(schedule: &str, text: &str) -> String {
    // Some ends name it themselves.
    if text.contains(schedule) {
        return text.to_owned();
    }
    let mut name = schedule.chars();
    let first = name.next().map(|c| c.to_ascii_uppercase());
    let name: String = first.into_iter().chain(name).collect();
    format!("{name} failed: {text}")
}

/// The end of a task whose schedule has used up its budget of the day.
pub fn budget_used_up(id: ScheduleId, name: &str, why: &str) -> String {
    format!("I stopped here: this is {}, and {why}.", schedule(id, name))
}

/// What the owner reads when a name answers as somebody else.
pub fn name_taken_over(handle: &str, old: &str, new: &str) -> String {
    format!(
        "{handle} now answers as {new}, and I have known it as {old}. I keep {new} as a contact of their own: nothing of {old} \
         is theirs. If it is the same person, run `selkie contacts merge {new} {old}`."
    )
}

/// The line of a file that could not be fetched.
pub fn file_not_fetched(name: &str, why: &str) -> String {
    format!("{name} (could not be fetched: {why})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sentences() {
        let all = [
            task_stopped(),
            EMPTY_ANSWER.to_owned(),
            poison(4),
            defect(),
            failed("the model is away"),
        ];
        insta::assert_snapshot!(all.join("\n--\n"), @r#"
        I was stopped before I had an answer.
        --
        I have no answer: the model returned nothing. Please ask again, or put it differently.
        --
        I had to give this up: I was interrupted 3 times while working on it. Please put it differently.
        --
        Something went wrong inside me while I worked on this; my log has the details. Please ask again.
        --
        I could not finish this: the model is away.
        "#);
    }
}
