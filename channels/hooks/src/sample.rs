//! A call as a hook's service would make it, to try the hook.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::form::Form;
use crate::settings::Endpoint;

/// A signed call.
pub struct Sample {
    /// Its headers.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// Makes a call of a hook, with a payload or the one that is made up; `id` names it, and no other one.
pub fn sample(hook: &Endpoint, payload: Option<Vec<u8>>, id: &str, now: DateTime<Utc>) -> Sample {
    let event = hook.events.first().map_or("test", String::as_str);
    let kind = event.split_once('.').filter(|_| hook.form == Form::Github);
    let made_up = match hook.form {
        Form::Github => match kind {
            Some((_, action)) => json!({ "test": true, "action": action }),
            None => json!({ "test": true }),
        },
        Form::Stripe => json!({ "id": format!("evt_test_{id}"), "type": event, "test": true }),
        Form::Slack => json!({
            "type": "event_callback", "event_id": format!("Ev{id}"), "event": { "type": event, "test": true },
        }),
        Form::Plain => json!({ "type": event, "test": id }),
    };
    let body = payload.unwrap_or_else(|| made_up.to_string().into_bytes());
    let mut headers = hook.form.sign(&hook.secret, &body, now);
    headers.push(("content-type", "application/json".to_owned()));
    if hook.form == Form::Github {
        let kind = kind.map_or(event, |(kind, _)| kind);
        headers.push(("x-github-event", kind.to_owned()));
        headers.push(("x-github-delivery", id.to_owned()));
    }
    Sample { headers, body }
}
