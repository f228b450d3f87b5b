//! Questions with buttons, and what becomes of messages that stand already: edits, deletions, taps.

use std::rc::Rc;

use selkie_channel_core::{MessageRef, Part, Question, split};
use serde_json::{Value, json};
use teloxide::types::ParseMode;

use crate::call::Call;
use crate::cut::{self, Piece};
use crate::ids::message_id;
use crate::keyboard;
use crate::maker::{Maker, ROOM, no_preview, styled};
use crate::styled::{Styled, Tag};

/// Telegram's limit of the hint in an input field.
const MAX_HINT: usize = 64;
/// Telegram's limit of what a person who tapped reads.
const MAX_TAP_ANSWER: usize = 200;

impl Maker<'_> {
    /// A question: its buttons stand under its last message.
    pub fn question(&self, question: &Question) -> Vec<Part> {
        let markup = keyboard::inline(question).or_else(|| self.force_reply(question));
        let pieces = cut::pieces(&words(question), ROOM, ROOM);
        let last = pieces.len().saturating_sub(1);
        let parts = pieces.iter().enumerate().map(|(i, piece)| {
            let markup = markup.as_ref().filter(|_| i == last);
            // Whose answer is forced is told by the message that is quoted.
            let quote = i == 0 || markup.is_some_and(|m| m.get("force_reply").is_some());
            let call = |text: &str, mode| {
                let mut call = self.message(text, mode, quote);
                if let Some(markup) = markup {
                    call.params["reply_markup"] = markup.clone();
                }
                call
            };
            let plain = call(&piece.plain, None);
            self.part(call(&piece.html, Some(ParseMode::Html)), Some(plain), &piece.plain)
        });
        parts.collect()
    }

    /// A message about what is being done, without a sound.
    pub fn status(&self, markdown: &str) -> Vec<Part> {
        let Some(piece) = one_piece(&styled(markdown)) else { return Vec::new() };
        let call = |text: &str, mode| {
            let mut call = self.message(text, mode, true);
            call.params["disable_notification"] = json!(true);
            call
        };
        let plain = call(&piece.plain, None);
        vec![self.part(call(&piece.html, Some(ParseMode::Html)), Some(plain), &piece.plain)]
    }

    /// Other words and other buttons for a message of ours; without words its buttons alone.
    pub fn revision(
        &self,
        message: &MessageRef,
        markdown: &str,
        question: Option<&Question>,
    ) -> Vec<Part> {
        let Some(id) = self.ours(message) else { return Vec::new() };
        let markup = question.and_then(keyboard::inline);
        let mut text = styled(markdown);
        question.iter().for_each(|question| explain(&mut text, question));
        let Some(piece) = one_piece(&text) else {
            let params = self.revised(id, markup.as_ref());
            return self.state("editMessageReplyMarkup", params, "[buttons changed]");
        };
        let call = |text: &str, mode: Option<&str>| {
            let mut params = self.revised(id, markup.as_ref());
            params["text"] = json!(text);
            params["link_preview_options"] = json!(no_preview());
            if let Some(mode) = mode {
                params["parse_mode"] = json!(mode);
            }
            Call { method: "editMessageText".to_owned(), params, upload: None }
        };
        let (rich, plain) = (call(&piece.html, Some("HTML")), call(&piece.plain, None));
        let part = self.part(rich, Some(plain), &piece.plain);
        vec![Part { repeatable: true, ..part }]
    }

    /// Takes a message of ours away.
    pub fn withdrawal(&self, message: &MessageRef) -> Vec<Part> {
        let Some(id) = self.ours(message) else { return Vec::new() };
        let params = json!({ "chat_id": self.spot.chat, "message_id": id });
        self.state("deleteMessage", params, "[message withdrawn]")
    }

    /// Ends a button's waiting sign, with words for the person who tapped.
    pub fn tap_answer(&self, handle: &str, text: &str) -> Vec<Part> {
        let mut params = json!({ "callback_query_id": handle });
        let text = text.trim();
        if !text.is_empty() {
            params["text"] = json!(shortened(text, MAX_TAP_ANSWER));
        }
        self.state("answerCallbackQuery", params, &format!("[tap answered] {text}"))
    }

    /// In a group the person who is asked gets an open reply: where the bot is not shown every message,
    /// an answer reaches it no other way. Elsewhere any message is an answer.
    fn force_reply(&self, question: &Question) -> Option<Value> {
        if self.spot.kind() != "group" || !question.free_text || !question.choices.is_empty() {
            return None;
        }
        let mut markup = json!({ "force_reply": true });
        if self.outbound.quote.is_some() {
            markup["selective"] = json!(true);
        }
        let hint = question.placeholder.trim();
        if !hint.is_empty() {
            markup["input_field_placeholder"] = json!(shortened(hint, MAX_HINT));
        }
        Some(markup)
    }

    fn revised(&self, id: i32, markup: Option<&Value>) -> Value {
        let mut params = json!({ "chat_id": self.spot.chat, "message_id": id });
        if let Some(markup) = markup {
            params["reply_markup"] = markup.clone();
        }
        params
    }

    fn ours(&self, message: &MessageRef) -> Option<i32> {
        let id = message_id(message);
        if id.is_none() {
            tracing::warn!(%message, "to be changed, and no message of Telegram");
        }
        id
    }
}

/// Writes what is asked; what no button holds stands in the text.
fn words(question: &Question) -> Styled {
    let numbered = !question.choices.is_empty() && keyboard::inline(question).is_none();
    let mut text = styled(&question.markdown);
    if numbered || !cut::shows(text.text()) {
        return styled(&question.in_words());
    }
    explain(&mut text, question);
    text
}

/// Adds the choices that their buttons do not explain, and the hint for an answer in own words.
fn explain(text: &mut Styled, question: &Question) {
    let (plain, bold, italic) = (Rc::from([]), Rc::from([Tag::Bold]), Rc::from([Tag::Italic]));
    let unexplained = question.choices.iter().filter(|choice| {
        !choice.description.is_empty() || keyboard::label(choice) != choice.label.trim()
    });
    for (n, choice) in unexplained.enumerate() {
        text.push(if n == 0 { "\n\n• " } else { "\n• " }, &plain);
        text.push(choice.label.trim(), &bold);
        if !choice.description.is_empty() {
            text.push(&format!(": {}", choice.description.trim()), &plain);
        }
    }
    let hint = question.placeholder.trim();
    if question.free_text && !question.choices.is_empty() && !hint.is_empty() {
        text.push("\n\n", &plain);
        text.push(hint, &italic);
    }
}

/// Returns what fits one message; a cut shows.
fn one_piece(text: &Styled) -> Option<Piece> {
    let mut pieces = cut::pieces(text, ROOM - 1, ROOM - 1).into_iter();
    let mut first = pieces.next()?;
    if pieces.next().is_some() {
        first.html.push('…');
        first.plain.push('…');
    }
    Some(first)
}

fn shortened(text: &str, most: usize) -> String {
    if split::utf16_len(text) <= most {
        return text.to_owned();
    }
    format!("{}…", text[..split::fitting(text, most - 1)].trim_end())
}

#[cfg(test)]
mod tests;
