//! XML as a walk over its elements: bounded in depth, no entity is expanded but the five that XML has itself.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::bounds::DEPTH;

/// Attributes of an element that are looked at.
const ATTRIBUTES: usize = 256;

/// What stands in XML. Names are without their prefix.
pub(crate) enum Node<'a> {
    /// An element begins.
    Open(&'a Element<'a>),
    /// One of this name ends.
    Close(&'a str),
    /// Text in the innermost element.
    Text(&'a str),
}

/// An element's beginning.
pub(crate) struct Element<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    start: &'a BytesStart<'a>,
}

impl Element<'_> {
    /// Returns an attribute by its name without a prefix.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.values(name).into_iter().next()
    }

    /// Returns all attributes of a name, whatever their prefixes.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let mut all = self.start.attributes();
        let all = all.with_checks(false).flatten().take(ATTRIBUTES);
        let named = all.filter(|one| one.key.local_name().as_ref() == name);
        let text = |value: &str| match quick_xml::escape::unescape(value) {
            Ok(text) => text.into_owned(),
            Err(_) => value.to_owned(),
        };
        named.map(|one| text(&one.value)).collect()
    }
}

/// Walks over XML as far as it goes; `each` says whether to go on. Returns why it did not come to the end, when the XML
/// is to blame.
pub(crate) fn walk(text: &str, mut each: impl FnMut(Node<'_>) -> bool) -> Result<(), String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut depth = 0_usize;
    loop {
        let goes_on = match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                depth += 1;
                if depth > DEPTH {
                    return Err("its XML is nested too deep".to_owned());
                }
                each(Node::Open(&Element { name: start.local_name().as_ref(), start: &start }))
            }
            Event::Empty(start) => {
                let name = start.local_name();
                each(Node::Open(&Element { name: name.as_ref(), start: &start }))
                    && each(Node::Close(name.as_ref()))
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                each(Node::Close(end.local_name().as_ref()))
            }
            Event::Text(text) => each(Node::Text(&text.into_inner())),
            Event::CData(data) => each(Node::Text(&data.into_inner())),
            Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                Ok(Some(c)) => each(Node::Text(c.encode_utf8(&mut [0; 4]))),
                _ => each(Node::Text(predefined(&entity.into_inner()))),
            },
            Event::Eof if depth > 0 => return Err("it breaks off".to_owned()),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
}

/// What an entity stands for; one that a file defines itself for nothing.
fn predefined(name: &str) -> &'static str {
    match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

/// Returns the text of the first element of a name.
pub(crate) fn text_of(xml: &str, name: &str) -> String {
    let mut text = String::new();
    let mut is_in = false;
    // What is read before it breaks off counts.
    let _ = walk(xml, |node| match node {
        Node::Open(element) if element.name == name => {
            is_in = true;
            true
        }
        Node::Close(end) if end == name => false,
        Node::Text(more) if is_in && text.len() < 4_096 => {
            text.push_str(more);
            true
        }
        _ => true,
    });
    text
}
