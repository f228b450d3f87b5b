//! Speaks on Slack: makes one call and tells by what is proven what came of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::http::Fault;
use selkie_channel_core::{
    CredentialCheck, Delivery, ExaminationReport, Examine, Lookup, MessageRef, Now, Outbound, Part,
    Receipt, Sender,
};
use serde_json::{Value, json};

use crate::anew;
use crate::api::Api;
use crate::call::{self, Call, Reader, read};
use crate::examine::{check_credential, examine};
use crate::form::{Form, is_thread_gone};
use crate::homes::Homes;
use crate::lookup;
use crate::refusal::{self, Kind, kind, words};
use crate::render;
use crate::signs::Signs;
use crate::stream::{Message, StreamEnd, Streams, grows};
use crate::upload::{self, UnclearFiles};
use crate::verdict::{about, changed, posted, unproven, verdict};
use crate::whoami::Whoami;

mod reaction;

/// First wait after a failure that proves nothing was sent; the delivery worker lengthens it.
const SOON: Duration = Duration::from_secs(1);

/// Speaks for one bot.
pub struct SlackSender {
    api: Api,
    whoami: Arc<Whoami>,
    max_upload: u64,
    unclear: UnclearFiles,
    signs: Signs,
    homes: Homes,
    streams: Streams,
}

impl SlackSender {
    /// Speaks through `api`; refuses files over `max_upload` bytes.
    pub fn new(api: Api, whoami: Arc<Whoami>, max_upload: u64, now: Now) -> Self {
        Self {
            api,
            whoami,
            max_upload,
            unclear: UnclearFiles::default(),
            signs: Signs::default(),
            homes: Homes::default(),
            streams: Streams::new(now),
        }
    }

    /// A call to a person becomes one to their direct message, the plain form with it. A failure to open that proves
    /// that nothing was sent.
    async fn at_home(&self, part: &Part) -> Result<ParsedPart, Delivery> {
        let plain = part.fallback.as_ref().and_then(read);
        let Some(call) = read(&part.call) else { return Err(Delivery::unreadable()) };
        let Some(channel) = call.channel() else { return Ok(ParsedPart { call, plain }) };
        match self.homes.channel(&self.api, channel).await {
            Ok(home) if home == channel => Ok(ParsedPart { call, plain }),
            Ok(home) => {
                let plain = plain.map(|plain| plain.moved_to(&home));
                Ok(ParsedPart { call: call.moved_to(&home), plain })
            }
            Err(fault) => Err(unproven(fault, true)),
        }
    }

    /// Makes a call that may have a plainer form, for when Slack does not take the first. Every form carries
    /// the key by which it is found again, as long as Slack takes that.
    async fn say(&self, method: &str, params: &Value, plain: Option<&Value>) -> Delivery {
        let mut form = Form::new(params, plain);
        let mut is_stopped = false;
        loop {
            let refusal = match self.api.call(method, &form.params).await {
                Ok(answer) => {
                    let channel =
                        |of: &Value| of["channel"].as_str().unwrap_or_default().to_owned();
                    self.homes.learn(&channel(params), &channel(&answer));
                    return match method {
                        "chat.postMessage" => posted(method, &answer, form.note),
                        // A state; and who is shown something alone has no message of it.
                        _ => changed(params, form.note),
                    };
                }
                Err(Fault::Refused(refusal)) => refusal,
                Err(fault) => return unproven(fault, method == "chat.update"),
            };
            if grows(&refusal) && !is_stopped {
                is_stopped = true;
                match self.streams.stop(&self.api, &Message::of(params), None, None).await {
                    Ok(_) => continue,
                    Err(delivery) => return delivery,
                }
            }
            if !form.plainer(&refusal) {
                return about(method, &refusal);
            }
        }
    }

    /// Posts a message; it takes the thread's sign of life away.
    async fn post(&self, params: &Value, plain: Option<&Value>, aside: Option<&str>) -> Delivery {
        let delivery = self.say("chat.postMessage", params, plain).await;
        self.answered(&delivery, params);
        self.or_aside(delivery, aside, params).await
    }

    fn answered(&self, delivery: &Delivery, params: &Value) {
        if matches!(delivery, Delivery::Sent(_)) {
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            self.signs.answered(text("channel").unwrap_or_default(), text("thread_ts"));
        }
    }

    /// Changes a message; one that grows grows no more. `whole`: that is all it is to say.
    async fn update(&self, params: &Value, plain: Option<&Value>, whole: bool) -> Delivery {
        let message = Message::of(params);
        let text = params["text"].as_str().filter(|_| whole);
        match self.streams.end(&self.api, &message, text).await {
            StreamEnd::Free => self.say("chat.update", params, plain).await,
            StreamEnd::Whole => changed(params, None),
            StreamEnd::Later(delivery) => delivery,
        }
    }

    /// What is said over a message becomes one of its own when that cannot be changed; when it could not be for long, it
    /// is taken away first, as far as that is possible.
    async fn or_anew(&self, part: &Part, params: &Value, verdict: Delivery) -> Delivery {
        let Some(instead) = anew::instead(part, &verdict) else { return verdict };
        if matches!(verdict, Delivery::Retry { .. }) {
            let Message { channel, ts } = Message::of(params);
            self.delete(&channel, &ts).await;
        }
        instead
    }

    /// Shows as much of a message that grows as is written, by Slack's stream or the usual way.
    async fn grow(&self, growth: Growth<'_>, plain: Option<&Value>) -> Delivery {
        let Growth { text, reader, way } = growth;
        match way {
            Call::Post { params, aside } => {
                match self.streams.start(&self.api, params, text, reader).await {
                    Some(delivery) => {
                        self.answered(&delivery, params);
                        delivery
                    }
                    None => self.post(params, plain, aside.as_deref()).await,
                }
            }
            Call::Update { params, .. } => {
                match self.streams.append(&self.api, &Message::of(params), text).await {
                    Some(delivery) => delivery,
                    None => self.update(params, plain, false).await,
                }
            }
            _ => Delivery::unreadable(),
        }
    }

    /// A slash command works in channels that are closed to the bot: there the person alone is answered.
    async fn or_aside(&self, delivery: Delivery, aside: Option<&str>, params: &Value) -> Delivery {
        let is_closed = matches!(delivery, Delivery::Refused { closed: true, .. });
        let Some(url) = aside.filter(|_| is_closed) else { return delivery };
        let text = params.get("text").and_then(Value::as_str).unwrap_or_default();
        match self.respond(url, text, None).await {
            Delivery::Refused { .. } => delivery,
            other => other,
        }
    }

    /// Where nothing can be whispered, in direct messages, nobody else reads along either.
    async fn whisper(&self, params: &Value, aloud: Option<&Value>) -> Delivery {
        let delivery = self.say("chat.postEphemeral", params, None).await;
        match (&delivery, aloud) {
            (Delivery::Refused { .. }, Some(params)) => {
                self.say("chat.postMessage", params, None).await
            }
            _ => delivery,
        }
    }

    /// A message that is gone already is taken away. One that grows is stopped first, one of an earlier life when Slack
    /// refuses.
    async fn delete(&self, channel: &str, ts: &str) -> Delivery {
        let params = json!({ "channel": channel, "ts": ts });
        let message = Message::of(&params);
        if let StreamEnd::Later(delivery) = self.streams.end(&self.api, &message, None).await {
            return delivery;
        }
        let mut is_stopped = false;
        loop {
            match self.api.call("chat.delete", &params).await {
                Ok(_) => return Delivery::Sent(Receipt::default()),
                Err(Fault::Refused(refusal)) if refusal.code == "message_not_found" => {
                    return Delivery::noted(words(&refusal));
                }
                Err(Fault::Refused(refusal)) if grows(&refusal) && !is_stopped => {
                    is_stopped = true;
                    if let Err(delivery) = self.streams.stop(&self.api, &message, None, None).await
                    {
                        return delivery;
                    }
                }
                Err(fault) => return unproven(fault, true),
            }
        }
    }

    /// A slash command's address takes a few answers for half an hour; after that, and where it is not
    /// taken, the person is shown the answer alone by other ways. It never becomes public.
    async fn respond(&self, url: &str, text: &str, instead: Option<Call>) -> Delivery {
        let body = json!({ "response_type": "ephemeral", "replace_original": false, "text": text });
        let refused = match self.api.respond(url, &body).await {
            Ok(()) => {
                let note = Some("shown to the person alone".to_owned());
                return Delivery::Sent(Receipt { message: None, note, ..Receipt::default() });
            }
            Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Limited => {
                return verdict(&refusal);
            }
            Err(Fault::Refused(refusal)) => refusal,
            Err(fault) => return unproven(fault, false),
        };
        match instead {
            Some(Call::Whisper { params }) => {
                let aloud = call::to_the_person(&params);
                self.whisper(&params, aloud.as_ref()).await
            }
            _ => verdict(&refused),
        }
    }

    async fn upload(&self, call: &Call) -> Delivery {
        let Call::Upload { channel, thread, path, name, comment } = call else {
            return Delivery::refused("not a file".to_owned());
        };
        let bytes = match upload::read(path, name, self.max_upload).await {
            Ok(bytes) => bytes,
            Err(reason) => return Delivery::refused(reason),
        };
        // Until the last step nobody sees anything: every failure before it proves that.
        let file = match upload::hand_over(&self.api, name, bytes).await {
            Ok(file) => file,
            Err(Fault::Refused(refusal)) => return verdict(&refusal),
            Err(Fault::NotSent(why) | Fault::Unclear(why)) => {
                return Delivery::Retry { after: SOON, why, account: false };
            }
        };
        let mut params = json!({
            "files": [{ "id": file, "title": name }],
            "channel_id": channel,
        });
        if let Some(thread) = thread {
            params["thread_ts"] = json!(thread);
        }
        if let Some(comment) = comment {
            params["initial_comment"] = json!(comment);
        }
        let mut done = self.api.call("files.completeUploadExternal", &params).await;
        if matches!(&done, Err(Fault::Refused(refusal)) if is_thread_gone(refusal)) {
            params.as_object_mut().and_then(|params| params.remove("thread_ts"));
            done = self.api.call("files.completeUploadExternal", &params).await;
        }
        match done {
            Ok(answer) => {
                let file = answer.pointer("/files/0").cloned().unwrap_or_default();
                let message = lookup::share(&file, channel).map(MessageRef::new);
                Delivery::Sent(Receipt { message, note: None, ..Receipt::default() })
            }
            Err(Fault::Refused(refusal)) => verdict(&refusal),
            Err(Fault::Unclear(why)) => {
                self.unclear.remember(call, file);
                Delivery::Unclear { why }
            }
            Err(fault) => unproven(fault, false),
        }
    }

    /// Shows that something is being done, where the app may; where it may not it is not asked again for
    /// long. It is gone with the answer, and after two minutes.
    async fn thinks(&self, channel: &str, thread: &str) -> Delivery {
        if self.signs.may_show(channel, thread) {
            let params = json!({ "channel_id": channel, "thread_ts": thread, "status": "is working on it …" });
            if let Err(fault) = self.api.call("assistant.threads.setStatus", &params).await {
                tracing::debug!(why = refusal::why(&fault), "no sign of life is shown");
                self.signs.refused(&fault);
            }
        }
        Delivery::Sent(Receipt::default())
    }
}

#[async_trait]
impl Sender for SlackSender {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        render::render(outbound)
    }

    async fn examine(&self, what: Examine<'_>) -> ExaminationReport {
        examine(&self.api, what).await
    }

    async fn check_credential(&self) -> CredentialCheck {
        check_credential(&self.api).await
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        let ParsedPart { call, plain } = match self.at_home(part).await {
            Ok(parsed) => parsed,
            Err(delivery) => return delivery,
        };
        let plain_params = match &plain {
            Some(Call::Post { params, .. } | Call::Update { params, .. }) => Some(params),
            _ => None,
        };
        match call {
            Call::Post { params, aside } => {
                self.post(&params, plain_params, aside.as_deref()).await
            }
            Call::Update { params, .. } => {
                let verdict = self.update(&params, plain_params, true).await;
                self.or_anew(part, &params, verdict).await
            }
            Call::Grow { text, reader, way } => {
                self.grow(Growth { text: &text, reader: &reader, way: &way }, plain_params).await
            }
            Call::Whisper { params } => self.whisper(&params, plain_params).await,
            Call::Delete { channel, ts } => self.delete(&channel, &ts).await,
            Call::Respond { url, text } => self.respond(&url, &text, plain).await,
            Call::React { channel, ts, name } => self.react(&channel, &ts, &name).await,
            Call::Upload { .. } => self.upload(&call).await,
            Call::Thinking { channel, thread } => self.thinks(&channel, &thread).await,
        }
    }

    async fn lookup(&self, part: &Part) -> Lookup {
        let ParsedPart { call, plain } = match self.at_home(part).await {
            Ok(parsed) => parsed,
            Err(Delivery::Retry { after, why, .. }) => {
                return Lookup::Later { after, at_most: None, why };
            }
            Err(_) => return Lookup::Unknown,
        };
        match call {
            Call::Post { .. } => {
                let me = self.whoami.known();
                lookup::message(&self.api, &call, plain.as_ref(), &me).await
            }
            // Begun by a stream, or posted where none was taken.
            Call::Grow { text, way, .. } => {
                let me = self.whoami.known();
                if let Some(known) = self.streams.look(&self.api, &way, &me).await {
                    return known;
                }
                let known = lookup::message(&self.api, &way, plain.as_ref(), &me).await;
                self.streams.look_again(&self.api, &way, &text, &me, known).await
            }
            Call::Upload { .. } => match (&call, self.unclear.file(&call)) {
                (Call::Upload { channel, .. }, Some(file)) => {
                    lookup::file(&self.api, &file, channel).await
                }
                _ => Lookup::Unknown,
            },
            _ => Lookup::Unknown,
        }
    }

    fn sends_pictures(&self) -> bool {
        true
    }

    fn marked(&self, part: &Part) -> Part {
        call::marked(part)
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    /// A change that may not be made goes another way: its limit is found where it is tried.
    fn held(&self, part: &Part) -> Option<Duration> {
        if self.api.is_unlimited() {
            return None;
        }
        match serde_json::from_value(part.call.clone()) {
            Ok(Call::Post { params, .. }) => self.api.rest("chat.postMessage", &params),
            _ => None,
        }
    }
}

/// A message that grows, as it is to be shown now.
struct Growth<'a> {
    text: &'a str,
    reader: &'a Reader,
    way: &'a Call,
}

/// A part as it is carried out.
struct ParsedPart {
    call: Call,
    plain: Option<Call>,
}

#[cfg(test)]
mod tests;
