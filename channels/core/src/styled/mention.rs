//! Names that mean somebody: marked in the text, but in code and in links.

use std::rc::Rc;

use super::text::{StyledText, Tag};
use crate::Mention;

/// Returns the text with each `@name` of somebody marked. `people`: what stands behind the `@`, and who is meant.
pub fn mention(styled: StyledText, people: &[Mention]) -> StyledText {
    if people.is_empty() {
        return styled;
    }
    let mut by_length: Vec<&Mention> = people.iter().collect();
    by_length.sort_by_key(|mention| std::cmp::Reverse(mention.name.len()));
    let mut out = StyledText::default();
    let all = 0..styled.text().len();
    for (text, tags) in styled.stretches(all) {
        let is_closed = |tag: &Tag| matches!(tag, Tag::Code | Tag::Pre(_) | Tag::Link(_));
        if tags.iter().any(is_closed) {
            out.push(text, tags);
        } else {
            stretch(&mut out, text, tags, &by_length);
        }
    }
    out
}

fn stretch(out: &mut StyledText, text: &str, tags: &[Tag], people: &[&Mention]) {
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back().or_else(|| out_end(out, at));
        // An address of mail names nobody.
        if at < from || before.is_some_and(|c| c.is_alphanumeric() || "._-/@".contains(c)) {
            continue;
        }
        let behind = &text[at + 1..];
        let named = people.iter().find_map(|mention| {
            let end = begins(behind, &mention.name)?;
            Some(NameMatch { end: at + 1 + end, person: mention.person.as_str() })
        });
        let Some(NameMatch { end, person }) = named else { continue };
        out.push(&text[from..at], tags);
        let mut tags = tags.to_vec();
        tags.push(Tag::Mention(Rc::from(person)));
        out.push(&text[at..end], &tags);
        from = end;
    }
    out.push(&text[from..], tags);
}

/// A name in a text.
struct NameMatch<'m> {
    end: usize,
    person: &'m str,
}

/// What stands in front of the first character of a stretch.
fn out_end(out: &StyledText, at: usize) -> Option<char> {
    if at == 0 { out.text().chars().next_back() } else { None }
}

/// Where a name ends that a text begins with; nothing where the word goes on.
fn begins(text: &str, name: &str) -> Option<usize> {
    let mut rest = text.char_indices();
    for wanted in name.chars() {
        let (_, c) = rest.next()?;
        if c != wanted && !c.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let (end, goes_on) = match rest.next() {
        Some((at, c)) => (at, c.is_alphanumeric() || c == '_'),
        None => (text.len(), false),
    };
    (!name.is_empty() && !goes_on).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PersonId;

    fn marked(text: &str, tags: &[Tag]) -> String {
        let of =
            |name: &str, id: &str| Mention { name: name.to_owned(), person: PersonId::new(id) };
        let people = [of("Ada", "1"), of("Ada Lovelace", "1"), of("grace_h", "2"), of("美", "3")];
        let mut styled = StyledText::default();
        styled.push(text, tags);
        let styled = mention(styled, &people);
        let whole = 0..styled.text().len();
        let shown = styled.stretches(whole).map(|(text, tags)| match tags.last() {
            Some(Tag::Mention(id)) => format!("<{text}={id}>"),
            _ => text.to_owned(),
        });
        shown.collect()
    }

    #[test]
    fn names_are_marked_as_whole_words() {
        assert_eq!(marked("@Ada, ask @ada lovelace!", &[]), "<@Ada=1>, ask <@ada lovelace=1>!");
        assert_eq!(
            marked("(@grace_h) @grace_hopper @Adam", &[]),
            "(<@grace_h=2>) @grace_hopper @Adam"
        );
        assert_eq!(marked("x@ada.org a.@ada @@ada @", &[]), "x@ada.org a.@ada @@ada @");
        assert_eq!(marked("@美 @everyone", &[Tag::Bold]), "<@美=3> @everyone");
    }

    #[test]
    fn code_and_links_mention_nobody() {
        for tag in [Tag::Code, Tag::Pre(None), Tag::Link("https://x.org".into())] {
            assert_eq!(marked("@Ada", &[tag]), "@Ada");
        }
    }
}
