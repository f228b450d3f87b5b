//! Which open question a person's words answer, if any.

use selkie_channel_core::{AddressReason, Audience, Inbound};

use super::questions;
use crate::error::Result;
use crate::question::QuestionRow;
use crate::tx::Tx;

/// Returns the open question that a person's words answer: one whose message they reply to, else the only one that has such a choice, else the only one that takes free text.
/// In a group, where people talk among themselves, free text has to be meant for the bot.
pub fn answered_by(tx: &mut dyn Tx, conversation: i64, inbound: &Inbound) -> Result<Option<i64>> {
    let mut asked = Vec::new();
    for raw in questions::open(tx, Some(conversation))? {
        let row = raw.row;
        let question = raw.read()?;
        if question.person.id == inbound.speaker.id && fits(&question, inbound) {
            asked.push((row, question));
        }
    }
    if asked.is_empty() {
        return Ok(None);
    }
    let named: Vec<i64> = asked
        .iter()
        .filter(|(_, question)| question.ask.names_choice(&inbound.text))
        .map(|(row, _)| *row)
        .collect();
    let all: Vec<i64> = asked.iter().map(|(row, _)| *row).collect();
    Ok(match (named.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Some(*one),
        _ => None,
    })
}

/// Whether words can be the answer of a question, if they are its person's.
fn fits(question: &QuestionRow, inbound: &Inbound) -> bool {
    let quoted = inbound.quote.as_ref();
    let quoted = quoted.map(|quote| question.message.as_ref() == Some(&quote.message));
    let is_meant = inbound.audience == Audience::Direct
        || inbound.addressed != AddressReason::No
        || quoted == Some(true);
    // A number that is struck out or quoted chooses nothing.
    let chooses = question.ask.names_choice(&inbound.text);
    match quoted {
        Some(false) => false,
        _ if chooses && !inbound.aside.is_nothing() => false,
        _ if is_meant => question.ask.read(&inbound.text).is_some(),
        _ => chooses,
    }
}
