//! What is said becomes calls.

use selkie_channel_core::hash::fnv;
use selkie_channel_core::styled::{StyledText, mention};
use selkie_channel_core::{
    Body, GrowingText, MessageRef, Outbound, Part, PersonId, Question, file,
};
use serde_json::{Value, json};

use crate::blocks;
use crate::call::{Call, EVENT_TYPE, MARK_ROOM, MAX_TEXT, Reader};
use crate::cut::{self, Piece};
use crate::hear::{AnswerAt, TapHandle};
use crate::ids::{self, Spot, user_of};
use crate::markdown;
use crate::table_blocks::table_blocks;

/// Stands at the end of a text that had to fit into one message.
const CUT: &str = " …";

/// Turns what is said into calls, in order. Empty when there is nothing to show: a sign that the bot is at
/// work stands in threads alone.
pub fn render(outbound: &Outbound) -> Vec<Part> {
    let Some(spot) = Spot::parse(outbound.conversation.key(), None) else {
        tracing::error!(conversation = %outbound.conversation, "not a conversation of Slack");
        return Vec::new();
    };
    let maker = Maker { outbound, spot };
    match &outbound.body {
        Body::Text { markdown } => maker.text(markdown),
        Body::File { path, name, caption } | Body::Voice { path, name, caption } => {
            maker.file(path, name, caption.as_deref())
        }
        Body::Photo { path, caption } => maker.file(path, path, caption.as_deref()),
        Body::Reaction { message, emoji, .. } => maker.reaction(message, emoji),
        Body::Question(question) => maker.question(question),
        Body::Status { markdown } => maker.status(markdown),
        Body::Revision { message, markdown, question } => {
            maker.revision(message, markdown, question.as_ref())
        }
        Body::Withdrawal { message } => maker.withdrawal(message),
        Body::TapAnswer { handle, text } => maker.whisper(handle, text),
        Body::Typing => maker.thinking(),
        Body::Held(_) | Body::Post(_) | Body::QuestionWithFile { .. } => Vec::new(),
    }
}

struct Maker<'a> {
    outbound: &'a Outbound,
    spot: Spot,
}

impl Maker<'_> {
    fn text(&self, markdown: &str) -> Vec<Part> {
        let styled = mention(styled(markdown), &self.outbound.mentions);
        let pieces = cut::pieces(&styled, MAX_TEXT - MARK_ROOM);
        let blocks = table_blocks(&styled).filter(|_| pieces.len() == 1);
        let mut parts = self.messages(pieces);
        if let (Some(blocks), Some(only)) = (blocks, parts.first_mut()) {
            *only = only.enriched(|call: Call| call.with_blocks(blocks));
        }
        if let (Some(over), Some(first)) = (&self.outbound.over, parts.first_mut()) {
            *first = first.changed(|call| into_update(call, over)).repeatable();
        }
        if let (Some(growing), Some(first)) = (&self.outbound.growing, parts.first_mut()) {
            *first = self.growing(first, growing);
        }
        parts
    }

    /// Slack streams into threads, to somebody of the same workspace; its plain form is none that grows.
    fn growing(&self, part: &Part, growing: &GrowingText) -> Part {
        // A beginning is never posted anew, and the same one is the same call.
        let part = part.changed(|call| {
            if let Call::Update { anew, .. } = call {
                *anew = None;
            }
        });
        let reader = growing.reader.as_ref().and_then(|person| self.reader(person));
        let Some(reader) = reader.filter(|_| self.spot.thread.is_some()) else { return part };
        let grown = part.changed(|call| into_growth(call, &growing.so_far, &reader));
        Part { fallback: part.fallback.clone(), ..grown }
    }

    fn reader(&self, person: &PersonId) -> Option<Reader> {
        let team = &self.spot.team;
        let user = user_of(person.as_str())?;
        let reader = Reader { team: team.clone(), user: user.to_owned() };
        (ids::person(team, user) == *person).then_some(reader)
    }

    fn messages(&self, pieces: Vec<Piece>) -> Vec<Part> {
        let parts = pieces.into_iter().enumerate().map(|(i, piece)| {
            let plain = post(self.keyed(self.message(&piece.plain, false), i, &piece));
            match self.answer_at(i) {
                Some(AnswerAt { url, alone: true, user }) => {
                    let mut params = self.message(&piece.mrkdwn, true);
                    let whisper = user.map(|user| {
                        params["user"] = json!(user);
                        Call::Whisper { params }
                    });
                    let call = Call::Respond { url, text: piece.mrkdwn };
                    self.part(&call, whisper.as_ref(), &piece.shown)
                }
                window => {
                    let params = self.keyed(self.message(&piece.mrkdwn, true), i, &piece);
                    let rich = Call::Post { params, aside: window.map(|window| window.url) };
                    self.part(&rich, Some(&plain), &piece.shown)
                }
            }
        });
        parts.collect()
    }

    /// The right to answer that came with a slash command, while it lasts.
    fn answer_at(&self, call: usize) -> Option<AnswerAt> {
        let window = self.outbound.reply_window.as_deref()?;
        (call < window.calls as usize).then(|| AnswerAt::read(&window.token)).flatten()
    }

    /// A long question's beginning goes out as messages; its end carries the buttons.
    fn question(&self, question: &Question) -> Vec<Part> {
        if question.choices.is_empty() {
            return self.text(&question.in_words());
        }
        let mut pieces = cut::pieces(&styled(&question.markdown), blocks::MAX_SECTION - MARK_ROOM);
        let last = pieces.pop().unwrap_or_else(|| Piece::plain("?"));
        let number = pieces.len();
        let mut parts = self.messages(pieces);
        let words = in_words(&last, question);
        let mut params = self.keyed(self.message(&words, true), number, &last);
        params["blocks"] = blocks::question(&last.mrkdwn, question);
        let plain = post(self.keyed(self.message(&words, false), number, &last));
        parts.push(self.part(&post(params), Some(&plain), &words));
        parts
    }

    fn status(&self, markdown: &str) -> Vec<Part> {
        let Some(piece) = one(markdown, MAX_TEXT - MARK_ROOM) else { return Vec::new() };
        let rich = post(self.keyed(self.message(&piece.mrkdwn, true), 0, &piece));
        let plain = post(self.keyed(self.message(&piece.plain, false), 0, &piece));
        vec![self.part(&rich, Some(&plain), &piece.shown)]
    }

    /// Blocks are always named: without them Slack may keep the old buttons.
    fn revision(
        &self,
        message: &MessageRef,
        markdown: &str,
        question: Option<&Question>,
    ) -> Vec<Part> {
        let question = question.filter(|question| !question.choices.is_empty());
        let most = if question.is_some() { blocks::MAX_SECTION } else { MAX_TEXT };
        let Some(piece) = one(markdown, most) else { return Vec::new() };
        let update = |text: &str, blocks: Value| Call::Update {
            params: json!({
                "channel": self.spot.channel, "ts": message.as_str(), "text": text, "blocks": blocks,
            }),
            anew: None,
        };
        let (rich, words) = match question {
            Some(question) => {
                let words = in_words(&piece, question);
                (update(&words, blocks::question(&piece.mrkdwn, question)), words)
            }
            None => (update(&piece.mrkdwn, json!([])), piece.plain.clone()),
        };
        let part = self.part(&rich, Some(&update(&words, json!([]))), &piece.shown);
        vec![part.repeatable()]
    }

    fn withdrawal(&self, message: &MessageRef) -> Vec<Part> {
        let channel = self.spot.channel.clone();
        let call = Call::Delete { channel, ts: message.as_str().to_owned() };
        vec![self.part(&call, None, "[takes a message away]").repeatable()]
    }

    /// Slack's buttons wait for nothing: without words there is nothing to do.
    fn whisper(&self, handle: &str, text: &str) -> Vec<Part> {
        let Some(handle) = TapHandle::read(handle) else { return Vec::new() };
        let Some(piece) = one(text, MAX_TEXT) else { return Vec::new() };
        let mut params = self.message(&piece.mrkdwn, true);
        params["channel"] = json!(handle.channel);
        params["user"] = json!(handle.user);
        match handle.thread {
            Some(thread) => params["thread_ts"] = json!(thread),
            None => _ = params.as_object_mut().and_then(|params| params.remove("thread_ts")),
        }
        let direct = handle.channel.starts_with('D');
        let aloud = direct.then(|| post(without_user(params.clone())));
        vec![self.part(&Call::Whisper { params }, aloud.as_ref(), &piece.shown)]
    }

    fn message(&self, text: &str, mrkdwn: bool) -> Value {
        let mut params = json!({
            "channel": self.spot.channel,
            "text": text,
            "mrkdwn": mrkdwn,
            "unfurl_links": false,
            "unfurl_media": false,
        });
        if let Some(thread) = &self.spot.thread {
            params["thread_ts"] = json!(thread);
        }
        params
    }

    /// Adds what a message is found by when nobody knows whether it arrived.
    fn keyed(&self, mut params: Value, number: usize, piece: &Piece) -> Value {
        params["metadata"] = json!({
            "event_type": EVENT_TYPE, "event_payload": { "key": self.key(number, &piece.shown) },
        });
        params
    }

    /// The same part has the same key in every life of the daemon: it is made of what is said, where, and
    /// to which message it answers.
    fn key(&self, number: usize, text: &str) -> String {
        let quote = self.outbound.quote.as_ref().map_or("", MessageRef::as_str);
        let Outbound { conversation, nonce, .. } = self.outbound;
        let whole = format!("{}\n{quote}\n{nonce}\n{number}\n{text}", conversation.full());
        let quote = if quote.is_empty() { "-" } else { quote };
        format!("{quote}:{number}:{:016x}", fnv(whole.as_bytes()))
    }

    fn file(&self, path: &str, name: &str, caption: Option<&str>) -> Vec<Part> {
        let caption = caption.map_or_else(StyledText::default, markdown::render);
        let mut pieces = cut::pieces(&caption, MAX_TEXT - MARK_ROOM).into_iter();
        let first = pieces.next();
        let name = file::name(name);
        let call = Call::Upload {
            channel: self.spot.channel.clone(),
            thread: self.spot.thread.clone(),
            path: path.to_owned(),
            name: name.clone(),
            comment: first.as_ref().map(|piece| piece.mrkdwn.clone()),
        };
        let words = first.map(|piece| piece.shown).unwrap_or_default();
        let mut parts = vec![self.part(&call, None, &format!("[file {name}] {words}"))];
        parts.extend(self.messages(pieces.collect()));
        parts
    }

    fn reaction(&self, message: &MessageRef, emoji: &str) -> Vec<Part> {
        let call = Call::React {
            channel: self.spot.channel.clone(),
            ts: message.as_str().to_owned(),
            name: emoji.to_owned(),
        };
        let words = format!("[reaction {emoji}]");
        vec![self.part(&call, None, &words).repeatable()]
    }

    fn thinking(&self) -> Vec<Part> {
        let Some(thread) = self.spot.thread.clone() else { return Vec::new() };
        let call = Call::Thinking { channel: self.spot.channel.clone(), thread };
        vec![self.part(&call, None, "[is working]").repeatable()]
    }

    fn part(&self, call: &Call, fallback: Option<&Call>, words: &str) -> Part {
        Part::new(self.outbound.conversation.clone(), call, words).or(fallback)
    }
}

fn post(params: Value) -> Call {
    Call::Post { params, aside: None }
}

/// Makes an update of a message of a call that posts one.
fn into_update(call: &mut Call, over: &MessageRef) {
    let Call::Post { params, .. } = call else { return };
    let mut anew = params.take();
    let text = anew.as_object_mut().and_then(|fields| fields.remove("text"));
    let params = json!({
        "channel": anew["channel"], "ts": over.as_str(), "text": text,
        "blocks": anew.get("blocks").cloned().unwrap_or_else(|| json!([])),
    });
    *call = Call::Update { params, anew: Some(anew) };
}

/// Makes a message that grows of a call that posts or changes one.
fn into_growth(call: &mut Call, text: &str, reader: &Reader) {
    if !matches!(call, Call::Post { .. } | Call::Update { .. }) {
        return;
    }
    *call =
        Call::Grow { text: text.to_owned(), reader: reader.clone(), way: Box::new(call.clone()) };
}

fn without_user(mut params: Value) -> Value {
    params.as_object_mut().and_then(|params| params.remove("user"));
    params
}

/// Markdown that is all markup (an empty code block, a link's definition) is shown as it stands.
fn styled(markdown: &str) -> StyledText {
    let mut styled = markdown::render(markdown);
    if styled.text().trim().is_empty() {
        styled = StyledText::default();
        styled.push(markdown, &[]);
    }
    styled
}

/// What fits into one message; the rest is cut off, and seen to be. `None` for what shows nothing.
fn one(markdown: &str, most: usize) -> Option<Piece> {
    let mut pieces = cut::pieces(&styled(markdown), most - CUT.len()).into_iter();
    let mut piece = pieces.next()?;
    if pieces.next().is_some() {
        for text in [&mut piece.mrkdwn, &mut piece.plain, &mut piece.shown] {
            text.push_str(CUT);
        }
    }
    Some(piece)
}

/// The question and its numbered choices without any style: for notifications, for clients without
/// blocks, and for when the blocks are refused.
fn in_words(piece: &Piece, question: &Question) -> String {
    let words = Question { markdown: String::new(), ..question.clone() }.in_words();
    let mut plain = StyledText::default();
    plain.push(&piece.shown, &[]);
    plain.push(&words, &[]);
    let most = MAX_TEXT - MARK_ROOM;
    cut::pieces(&plain, most).into_iter().next().map(|piece| piece.plain).unwrap_or_default()
}

#[cfg(test)]
mod tests;
