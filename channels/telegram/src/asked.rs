//! Questions with buttons, and what becomes of messages that stand already: edits, deletions, taps.

use selkie_channel_core::styled::{StyledText, Tag};
use selkie_channel_core::{MessageRef, Part, Question, split};
use serde_json::json;
use teloxide::payloads::{
    AnswerCallbackQuery, AnswerCallbackQuerySetters, DeleteMessage, EditMessageReplyMarkup,
    EditMessageText, EditMessageTextSetters, SendMessageSetters,
};
use teloxide::types::{CallbackQueryId, ChatId, ForceReply, MessageId, ParseMode, ReplyMarkup};

use crate::call::Call;
use crate::cut::{self, Piece};
use crate::ids::message_id;
use crate::keyboard;
use crate::maker::{Maker, ROOM, no_preview, sending, styled};

/// Telegram's limit of the hint in an input field.
const MAX_HINT: usize = 64;
/// Telegram's limit of what a person who tapped reads.
const MAX_TAP_ANSWER: usize = 200;

impl Maker<'_> {
    /// A question: its buttons stand under its last message.
    pub fn question(&self, question: &Question) -> Vec<Part> {
        let buttons = keyboard::inline(question).map(ReplyMarkup::InlineKeyboard);
        let markup = buttons.or_else(|| self.force_reply(question));
        let pieces = cut::pieces(&words(question), ROOM, ROOM);
        let last = pieces.len().saturating_sub(1);
        let parts = pieces.iter().enumerate().map(|(i, piece)| {
            let markup = markup.as_ref().filter(|_| i == last);
            // Whose answer is forced is told by the message that is quoted.
            let forced = matches!(markup, Some(ReplyMarkup::ForceReply(_)));
            let call = |text: &str, mode| {
                let mut message = self.message(text, mode, i == 0 || forced);
                message.reply_markup = markup.cloned();
                sending(message)
            };
            let plain = call(&piece.plain, None);
            self.part(call(&piece.html, Some(ParseMode::Html)), Some(plain), &piece.plain)
        });
        parts.collect()
    }

    /// A message about what is being done, without a sound.
    pub fn status(&self, markdown: &str) -> Vec<Part> {
        let Some(piece) = one_piece(&styled(markdown)) else { return Vec::new() };
        let call =
            |text: &str, mode| sending(self.message(text, mode, true).disable_notification(true));
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
            let mut edit = EditMessageReplyMarkup::new(self.chat(), id);
            edit.reply_markup = markup;
            return self.state("editMessageReplyMarkup", json!(edit), "[buttons changed]");
        };
        let call = |text: &str, mode| {
            let mut edit =
                EditMessageText::new(self.chat(), id, text).link_preview_options(no_preview());
            edit.parse_mode = mode;
            edit.reply_markup.clone_from(&markup);
            Call {
                method: "editMessageText".to_owned(),
                params: json!(edit),
                upload: None,
                anew: None,
            }
        };
        let rich = call(&piece.html, Some(ParseMode::Html));
        let plain = call(&piece.plain, None);
        let part = self.part(rich, Some(plain), &piece.plain);
        vec![part.repeatable()]
    }

    /// Takes a message of ours away.
    pub fn withdrawal(&self, message: &MessageRef) -> Vec<Part> {
        let Some(id) = self.ours(message) else { return Vec::new() };
        let call = DeleteMessage::new(self.chat(), id);
        self.state("deleteMessage", json!(call), "[message withdrawn]")
    }

    /// Ends a button's waiting sign, with words for the person who tapped.
    pub fn tap_answer(&self, handle: &str, text: &str) -> Vec<Part> {
        let mut answer = AnswerCallbackQuery::new(CallbackQueryId(handle.to_owned()));
        let text = text.trim();
        if !text.is_empty() {
            answer = answer.text(split::shorten(text, MAX_TAP_ANSWER));
        }
        self.state("answerCallbackQuery", json!(answer), &format!("[tap answered] {text}"))
    }

    /// In a group the person who is asked gets an open reply: where the bot is not shown every message,
    /// an answer reaches it no other way. Elsewhere any message is an answer.
    fn force_reply(&self, question: &Question) -> Option<ReplyMarkup> {
        if self.spot.kind() != "group" || !question.free_text || !question.choices.is_empty() {
            return None;
        }
        let mut forced = ForceReply::new();
        forced.selective = self.outbound.quote.is_some();
        let hint = question.placeholder.trim();
        if !hint.is_empty() {
            forced = forced.input_field_placeholder(split::shorten(hint, MAX_HINT));
        }
        Some(ReplyMarkup::ForceReply(forced))
    }

    fn chat(&self) -> ChatId {
        ChatId(self.spot.chat)
    }

    fn ours(&self, message: &MessageRef) -> Option<MessageId> {
        let id = message_id(message).map(MessageId);
        if id.is_none() {
            tracing::warn!(%message, "to be changed, and no message of Telegram");
        }
        id
    }
}

/// Writes what is asked; what no button holds stands in the text.
fn words(question: &Question) -> StyledText {
    let numbered = !question.choices.is_empty() && keyboard::inline(question).is_none();
    let mut text = styled(&question.markdown);
    if numbered || !cut::shows(text.text()) {
        return styled(&question.in_words());
    }
    explain(&mut text, question);
    text
}

/// Adds the choices that their buttons do not explain, and the hint for an answer in own words.
fn explain(text: &mut StyledText, question: &Question) {
    let unexplained = question.choices.iter().filter(|choice| {
        !choice.description.is_empty() || keyboard::label(choice) != choice.label.trim()
    });
    for (n, choice) in unexplained.enumerate() {
        text.push(if n == 0 { "\n\n• " } else { "\n• " }, &[]);
        text.push(choice.label.trim(), &[Tag::Bold]);
        if !choice.description.is_empty() {
            text.push(&format!(": {}", choice.description.trim()), &[]);
        }
    }
    if let Some(hint) = question.hint().filter(|_| !question.choices.is_empty()) {
        text.push("\n\n", &[]);
        text.push(hint, &[Tag::Italic]);
    }
}

/// Returns what fits one message; a cut shows.
fn one_piece(text: &StyledText) -> Option<Piece> {
    let mut pieces = cut::pieces(text, ROOM - 1, ROOM - 1).into_iter();
    let mut first = pieces.next()?;
    if pieces.next().is_some() {
        first.html.push('…');
        first.plain.push('…');
    }
    Some(first)
}

#[cfg(test)]
mod tests;
