//! Letters: who writes to whom and when, the text, and what is attached.

use mail_parser::{Address, Message, MessageParser, MimeHeaders as _};

use crate::document::Document;
use crate::error::DocumentError;
use crate::html;
use crate::kind::Kind;

/// Attachments that are named.
const ATTACHMENTS: usize = 50;
/// Texts of one letter.
const BODIES: usize = 50;
/// People in one line.
const PEOPLE: usize = 50;

/// Reads a letter.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, DocumentError> {
    let message = MessageParser::default().parse(bytes);
    let message = message
        .ok_or_else(|| DocumentError::Damaged(Kind::Mail, "it has no headers".to_owned()))?;
    let mut document = Document::new(Kind::Mail);
    document.titled(message.subject().unwrap_or_default());
    let mut text = head(&message);
    for body in 0..message.text_body_count().min(BODIES) {
        let is_html = message
            .text_part(u32::try_from(body).unwrap_or(u32::MAX))
            .is_some_and(|part| part.is_text_html());
        let words = match is_html {
            true => message.body_html(body).map(|page| html::read(&page).text),
            false => message.body_text(body).map(|words| words.into_owned()),
        };
        text.push('\n');
        text.push_str(words.unwrap_or_default().trim());
        text.push('\n');
    }
    for part in message.attachments().take(ATTACHMENTS) {
        let name = part.attachment_name().unwrap_or("without a name");
        let kind = part.content_type().map(|kind| match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}, ", kind.ctype()),
            None => format!("{}, ", kind.ctype()),
        });
        text.push_str(&format!(
            "\nAttached: {name} ({}{} bytes)",
            kind.unwrap_or_default(),
            part.len()
        ));
    }
    if message.attachment_count() > 0 {
        document.warn("What is attached to it was not read.");
    }
    document.push_parts("", &text);
    Ok(document)
}

fn head(message: &Message<'_>) -> String {
    let mut head = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            head.push_str(&format!("{name}: {value}\n"));
        }
    };
    line("From", people(message.from()));
    line("To", people(message.to()));
    line("Cc", people(message.cc()));
    line("Date", message.date().map(|date| date.to_rfc3339()).unwrap_or_default());
    line("Subject", message.subject().unwrap_or_default().to_owned());
    head
}

fn people(address: Option<&Address<'_>>) -> String {
    let all = address.into_iter().flat_map(|address| address.iter()).take(PEOPLE);
    let all = all.map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    });
    all.collect::<Vec<_>>().join(", ")
}
