//! What the agent says of agents: to the task that has them work, and to them.

use selkie_domain::task::TaskState;
use selkie_store::ChildEnd;

/// Bytes of an agent's answer that its task reads.
const MAX_ANSWER: usize = 50 * 1024;

/// What an agent is told beside its task.
pub fn agent_brief(name: &str, schema: Option<&str>) -> String {
    let form = schema.map(|schema| {
        format!(
            " Your last message is one JSON value and nothing else, of this JSON Schema: {schema}"
        )
    });
    format!(
        "you are the agent {name}. Do the task below by yourself: nobody answers questions, and nobody reads what you \
         write but the one who reads your last message. Put everything that was wanted into it.{}",
        form.unwrap_or_default()
    )
}

/// An agent was begun that nobody waits for, or told something.
pub fn agent_begun(name: &str, joins: bool) -> String {
    match joins {
        true => format!("{name} reads it at its next step."),
        false => format!("The agent {name} works. You are told when it has ended."),
    }
}

/// Agents' ends in a row have begun tasks that begin agents.
pub const TOLD_TOO_OFTEN: &str = "too many tasks in a row were begun by an agent's end: no further agent may work without being waited for. \
     Leave out wait, or end and let the person decide";

/// Two calls of an answer name one agent.
pub fn agent_named_twice(name: &str) -> String {
    format!("an agent {name} is begun by another call of the same answer: take another name")
}

/// What a call is answered by the end of an agent.
pub fn agent_ended(name: &str, end: Option<&ChildEnd>, names: bool) -> String {
    let head = if names { format!("{name}: ") } else { String::new() };
    let Some(end) = end else { return format!("{head}the agent {name} was stopped") };
    let text = shown(&end.text);
    match (end.state, text.is_empty()) {
        (TaskState::Done, false) => format!("{head}{text}"),
        (TaskState::Done, true) => format!("{head}(the agent {name} has ended without a word)"),
        _ => {
            let how = how_it_ended(end.state, end.why.as_deref());
            let last =
                if text.is_empty() { String::new() } else { format!("\nIts last words:\n{text}") };
            format!("the agent {name} {how}{last}")
        }
    }
}

/// What the parent of an agent is told of its end, where it has not waited for it.
pub fn agent_report(name: &str, state: TaskState, why: Option<&str>, text: &str) -> String {
    let how = how_it_ended(state, why);
    match shown(text).as_str() {
        "" => format!("The agent {name} {how}, without a word."),
        text => format!("The agent {name} {how}. Its last message:\n\n{text}"),
    }
}

fn how_it_ended(state: TaskState, why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    match state {
        TaskState::Done => "has done its task".to_owned(),
        TaskState::Failed => format!("has failed{why}"),
        TaskState::Stopped => format!("was stopped{why}"),
        TaskState::Waiting | TaskState::Running | TaskState::Parked => {
            "was not done in time, and was stopped".to_owned()
        }
    }
}

/// An answer, not longer than is read of it.
fn shown(text: &str) -> String {
    let text = text.trim();
    if text.len() <= MAX_ANSWER {
        return text.to_owned();
    }
    let at = text.floor_char_boundary(MAX_ANSWER);
    format!(
        "{}\n[Cut: {at} of {} bytes are shown. Ask it for a smaller part.]",
        &text[..at],
        text.len()
    )
}

/// An answer does not have its form, for the second time.
pub fn answer_unfit(fault: &str) -> String {
    format!("its answer does not fit output_schema, corrected once: {fault}")
}

/// An answer does not have its form: what is to be done about it.
pub fn correct_answer(fault: &str) -> String {
    format!(
        "your last message does not fit the JSON Schema: {fault}. Write it again, as one JSON value and nothing else."
    )
}
