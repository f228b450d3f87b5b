//! What the agent itself says to people and to the model. Nothing else in this folder words a sentence.

mod agents;

use crate::budget::SpentLimit;
use selkie_domain::approval::{ApprovalState, Approvers};
use selkie_domain::gate::GatePass;
use selkie_llm::{ModelError, Reason, StopReason};
use selkie_store::{ApprovalRow, QuestionRow};

pub use agents::{
    TOLD_TOO_OFTEN, agent_begun, agent_brief, agent_ended, agent_named_twice, agent_report,
    answer_unfit, correct_answer,
};

/// How much of a message is named.
const SHOWN: usize = 80;

/// The task reached one of its limits. `frank`: which key of the config sets it.
pub fn limit_reached(spent: &SpentLimit, frank: bool) -> String {
    let key = |key: &str| if frank { format!(" (`agent.{key}`)") } else { String::new() };
    match spent {
        SpentLimit::Steps(n) => format!(
            "I stopped here: this took {n} steps, the most one task may take{}.",
            key("max_steps")
        ),
        SpentLimit::Tokens(n) => format!(
            "I stopped here: this used {n} tokens, more than one task may use{}.",
            key("max_tokens")
        ),
        SpentLimit::Cost(usd) => format!(
            "I stopped here: this cost ${usd:.2}, more than one task may cost{}.",
            key("max_cost_usd")
        ),
        SpentLimit::Time(span) => format!(
            "I stopped here: {span} had passed, the longest one task may take{}.",
            key("timeout")
        ),
    }
}

/// The model has drawn; for itself, since it does not see what it drew.
pub fn drew(names: &[String]) -> String {
    let folder = selkie_tools::PICTURES;
    let files: Vec<String> =
        names.iter().map(|name| format!("[picture: file_cache_dir/{folder}/{name}]")).collect();
    format!("your next answer came with {}: sent here behind your last words", files.join(" "))
}

/// A picture of the model is lost.
pub const PICTURE_NOT_KEPT: &str =
    "I drew a picture and could not store it: please ask again later.";

/// The model repeated a call after it was told not to.
pub fn went_in_circles(tool: &str) -> String {
    format!(
        "I stopped here: I was going in circles, calling `{tool}` again and again with the same result. Please put \
         it differently, or tell me what I am missing."
    )
}

/// No model answered.
pub fn no_answer(error: &ModelError) -> String {
    match error {
        ModelError::Transient { reason: Reason::TooMuch, .. } => {
            "The model asked for too many things at once, and I did none of them. Please ask for less at a time."
                .to_owned()
        }
        ModelError::Transient { why, .. } => format!(
            "I could not get an answer from the model ({why}). I will not try this again by myself: please send it again in a \
             while."
        ),
        ModelError::Rejected { why } => format!(
            "The model's provider refuses this request ({why}), and would refuse it again. If it refuses \
             everything, check the model's settings in the config; otherwise, please put it differently."
        ),
        ModelError::TooLong { why } => {
            format!("This is too long for the model ({why}). Please send less at a time.")
        }
        ModelError::Unusable { why, .. } => {
            format!("The model cannot be used at the moment: {why}")
        }
        ModelError::Withheld { .. } => {
            "The model gave no answer to this: its provider's content filter, or the model itself, refused. Please \
             put it differently, or start over with /reset."
                .to_owned()
        }
        ModelError::NoRoom { most, .. } => format!(
            "The model spent all {most} tokens of its answer on thinking and said nothing. Please ask for less at \
             a time, or raise `agent.max_output_tokens`."
        ),
    }
}

/// The end of a task that was stopped while it had more to answer than who stopped it may know.
pub const STOPPED: &str = "I was stopped before I had an answer.";

/// The model ended without a word after something that failed.
pub const LAST_STEP_FAILED: &str = "(My last step did not work, and I ended without saying more.)";

/// No model answered, for people who are not told a provider's words: they can hold names of hosts, of
/// organisations, of keys.
pub fn no_answer_plainly(error: &ModelError) -> String {
    let line = match error {
        // Its words are the same for everybody.
        ModelError::Transient { reason: Reason::TooMuch, .. } => return no_answer(error),
        ModelError::Transient { .. } => {
            "The model is not available right now. I will not try this again by myself: please send it again later."
        }
        ModelError::Unusable { .. } => {
            "The model is not available right now. Please try again later."
        }
        ModelError::Rejected { .. } => {
            "The model does not accept this message. Please put it differently."
        }
        ModelError::TooLong { .. } => "This is too long for the model. Please send less at a time.",
        // Its words are the same for everybody.
        ModelError::Withheld { .. } => return no_answer(error),
        ModelError::NoRoom { .. } => {
            "The model spent all of its answer on thinking and said nothing. Please ask for less at a time."
        }
    };
    line.to_owned()
}

/// A task that failed or was stopped had taken in more messages: they are named.
pub fn covers(texts: &[&str]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let shown = texts.iter().map(|text| {
        let end = selkie_channel_core::split::fitting(text, SHOWN);
        format!("“{}{}”", &text[..end], if end < text.len() { "…" } else { "" })
    });
    format!(
        "\n\nThis also covers what you wrote in the meantime: {}.",
        shown.collect::<Vec<_>>().join(", ")
    )
}

/// The conversation so far was refused twice and is not used any more.
pub const SET_ASIDE: &str = "(The model's provider refused our earlier conversation twice in the same words. I have set it aside and am \
     going on without it.)";

/// The model's answer ended before its end.
pub fn answer_stopped(stopped: StopReason) -> &'static str {
    match stopped {
        StopReason::Room => {
            "\n\n(The answer ends here because it is too long; `agent.max_output_tokens` says how long it may be.)"
        }
        StopReason::Length => {
            "\n\n(The answer ends here because it has more than 100,000 characters; ask me for the rest.)"
        }
        StopReason::Filter => {
            "\n\n(The answer ends here because the model provider's content filter stopped it.)"
        }
        StopReason::Refusal => "\n\n(The model declined to answer this.)",
    }
}

/// For the model: the third identical call was not made.
pub fn not_repeated(tool: &str, times: u32) -> String {
    format!(
        "Not called: {tool} was called {times} times with these arguments and gave the same answer each time. \
         Use what you have."
    )
}

/// For the model: a call behind one that was repeated.
pub const NOT_BEGUN: &str = "Not called: a call before it was a repetition.";

/// For the model: this step may call no tools because of a repetition.
pub const ANSWER_WITHOUT_TOOLS: &str = "You are repeating yourself. Call no tool now: answer with what you have, or say what is missing.";

/// For the model: this is the last step.
pub const LAST_STEP: &str = "This is the last step of this task. Call no tool now: answer with what you have, and say what is left undone.";

/// For the model: a call was interrupted by a restart.
pub fn outcome_unknown(tool: &str) -> String {
    format!(
        "interrupted, outcome unknown: the program was restarted while {tool} ran. It may or may not have \
         taken effect; check before you repeat it."
    )
}

/// For the model: nobody has approved a call, and why.
pub fn not_approved(approval: &ApprovalRow) -> String {
    let tool = &approval.request.tool;
    let why = approval.why.as_deref().unwrap_or_default();
    match approval.state {
        ApprovalState::Denied if approval.request.of == Approvers::Terminal => {
            format!("{tool} was not called: You said no. It is refused for the rest of this task")
        }
        // Not who: this conversation need not have met them.
        ApprovalState::Denied => format!(
            "{tool} was not called: an owner has denied it. It is refused for the rest of this task"
        ),
        ApprovalState::Expired => {
            format!("{tool} was not called: nobody approved it in time")
        }
        ApprovalState::Lapsed | ApprovalState::Approved => lapsed(tool),
        ApprovalState::NotAsked => format!("{tool} was not called: {why}"),
        ApprovalState::Withdrawn | ApprovalState::Open => {
            format!("{tool} was not called: the request for approval was withdrawn ({why})")
        }
        ApprovalState::Consumed => outcome_unknown(tool),
    }
}

/// For the model: a call was approved and not begun in time.
pub fn lapsed(tool: &str) -> String {
    format!("{tool} was not called: it was approved, but not begun in time")
}

/// For the model: what was approved is not what would be done now.
pub fn changed_since(tool: &str) -> String {
    format!(
        "{tool} was not called: it was approved, but a file, the folder, the login or the call itself is not as \
         it was when somebody looked at it. Look again, and call it again if it is still right"
    )
}

/// For who approved a call: it is not what would be done now.
pub const CHANGED_AS_TOLD: &str =
    "a file, the folder, the login or the call itself is not as it was when you were asked";

/// For who approved a call: its tool was refused in between.
pub const REFUSED_TO_TASK: &str = "the tool was refused to this task";

/// For the model: somebody has refused the tool before.
pub fn refused_before(tool: &str) -> String {
    format!("{tool} was not called: it is refused for the rest of this task")
}

/// For the model: a call that needs approval came with others.
pub fn ask_alone(tool: &str) -> String {
    format!("{tool} was not called: it needs approval by now. Call it again, alone")
}

/// For the model: what a call would do cannot be shown to anybody.
pub fn not_shown(tool: &str, why: &str) -> String {
    format!("{tool} was not called: it needs approval, and it cannot be shown to anybody ({why})")
}

/// For the model: a call was interrupted by a restart that it may have caused.
pub fn not_read_again(tool: &str) -> String {
    format!(
        "interrupted: the program ended while {tool} ran, and {tool} may be why. It changed nothing and was \
         not started again; go on without it, or ask for less."
    )
}

/// For the model: a call of an ended task was never answered.
pub const NEVER_ANSWERED: &str = "not answered: the task was ended before";

/// For the model: nobody spoke to it, and it may speak all the same.
pub fn unasked(passed: &GatePass) -> String {
    let short = match passed.is_lightweight {
        true => " A reaction, if there is a tool for it, or one short line is enough.",
        false => "",
    };
    format!(
        "nobody mentioned you or replied to you here; you may speak all the same. Say something only people \
         there can use, and say it once.{short}"
    )
}

/// For the model: a question of another task is open here.
pub fn still_open(question: &QuestionRow) -> String {
    let person = &question.person;
    let whom = if person.name.trim().is_empty() { person.id.as_str() } else { &person.name };
    format!(
        "your question to {whom} is still open here, and the message above is not an answer to it: {}",
        question.ask.markdown
    )
}

/// For the model: what it said before did not arrive.
pub fn not_delivered(shown: &str) -> String {
    format!("not delivered: {shown}")
}
