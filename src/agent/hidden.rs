//! Keeps our secrets out of what a model wrote, before it is stored, said or carried out.

use selkie_channel_core::Redactor;
use serde_json::Value;

use selkie_domain::own_form::OwnForm;
use selkie_domain::transcript::Call;
use selkie_llm::{Reply, StopReason};

/// More characters than anybody reads: the messages of one answer. A server that does not keep to `max_output_tokens` sends any
/// length.
const MAX_TEXT: usize = 100_000;

/// Hides our secrets in what a model wrote: it may have read them where nobody thought of it. What is too long ends.
pub fn reply(redactor: &Redactor, mut reply: Reply) -> Reply {
    if let Some(end) = reply.text.char_indices().nth(MAX_TEXT).map(|(end, _)| end) {
        reply.text.truncate(end);
        reply.stopped = Some(StopReason::Length);
    }
    reply.text = redactor.clean(&reply.text);
    reply.own = reply.own.filter(|own| !holds_secret(redactor, own));
    reply.calls.iter_mut().for_each(|call| hide_in_call(redactor, call));
    reply
}

/// Whether a secret of ours stands in what goes back as it came: then nothing of it does.
fn holds_secret(redactor: &Redactor, own: &OwnForm) -> bool {
    let Ok(written) = serde_json::from_str::<Value>(&own.json) else { return true };
    let mut clean = written.clone();
    hide(redactor, &mut clean);
    let found = clean != written;
    if found {
        tracing::warn!("a secret stands in what a model's provider wants back: it is left out");
    }
    found
}

/// A call is stored without our secrets, and is not made then: it would do something else than was meant.
fn hide_in_call(redactor: &Redactor, call: &mut Call) {
    call.name = redactor.clean(&call.name);
    let written = call.arguments.clone();
    hide(redactor, &mut call.arguments);
    if call.arguments != written
        && let Value::Object(fields) = &mut call.arguments
    {
        fields.insert(Call::ALTERED.to_owned(), Value::Bool(true));
    }
}

fn hide(redactor: &Redactor, value: &mut Value) {
    match value {
        Value::String(text) => *text = redactor.clean(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(redactor, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide(redactor, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use selkie_domain::usage::Usage;

    #[test]
    fn a_call_without_its_secret_is_marked() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let mut call = Call {
            id: "c1.0".to_owned(),
            name: "bash".to_owned(),
            arguments: json!({"cmd": "rm hunter2hunter2"}),
        };
        hide_in_call(&redactor, &mut call);
        assert!(call.is_altered());
        call.arguments = json!({"cmd": "rm x"});
        hide_in_call(&redactor, &mut call);
        assert!(!call.is_altered());
    }

    /// What is stored is read again without the marks: by later tasks, in an export, by whoever is shown the plain text.
    #[test]
    fn a_secret_that_marks_take_apart_is_not_stored() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        for written in
            ["it is hunter2**hunter2**.", "it is **hun**ter2hunter2.", "it is hunter2`hunter2`."]
        {
            let reply = super::reply(&redactor, replied(written));
            assert!(reply.text.contains("[redacted]"), "{}", reply.text);
            assert!(!reply.text.contains("ter2"), "{}", reply.text);
        }
        let other = super::reply(&redactor, replied("it is **bold**."));
        assert_eq!(other.text, "it is **bold**.");
    }

    #[test]
    fn an_answer_ends_behind_so_many_characters_whatever_its_script() {
        let reply = |text: String| super::reply(&Redactor::default(), replied(&text));
        let japanese = reply("あ".repeat(MAX_TEXT));
        assert_eq!((japanese.text.chars().count(), japanese.stopped), (MAX_TEXT, None));
        let longer = reply("あ".repeat(MAX_TEXT + 1));
        assert_eq!(
            (longer.text.chars().count(), longer.stopped),
            (MAX_TEXT, Some(StopReason::Length))
        );
        assert!(!crate::messages::answer_stopped(StopReason::Length).contains("max_output_tokens"));
    }

    fn replied(text: &str) -> Reply {
        let (calls, pictures) = (Vec::new(), Vec::new());
        let (usage, by) = (Usage::default(), String::new());
        Reply { text: text.to_owned(), calls, pictures, usage, own: None, stopped: None, by }
    }

    #[test]
    fn what_goes_back_as_it_came_holds_no_secret() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let replied = |json: &str| {
            let own = Some(OwnForm { origin: "o".into(), json: json.into() });
            super::reply(&redactor, Reply { own, ..replied("") }).own
        };
        assert!(replied(r#"{"message":{"reasoning":"it is fine"}}"#).is_some());
        assert_eq!(replied(r#"{"message":{"reasoning":"it is hunter2\u0068unter2"}}"#), None);
    }

    #[test]
    fn secrets_are_hidden_at_any_depth() {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let mut value = json!({"a": ["x hunter2hunter2", {"b": "hunter2hunter2"}], "n": 1});
        hide(&redactor, &mut value);
        assert_eq!(value, json!({"a": ["x [redacted]", {"b": "[redacted]"}], "n": 1}));
    }
}
