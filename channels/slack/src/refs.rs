//! Whom a text names by id, `<@U2>`, `<#C1>`, `<!subteam^S1>`, and the text with their names.

use std::collections::HashSet;

use crate::ids::is_id;

/// Adds the ids that a text names, `most` of them.
pub fn of(text: &str, most: usize, ids: &mut HashSet<String>) {
    ids.extend(parts(text).filter_map(|(_, found)| found).take(most).map(|(_, id)| id.to_owned()));
}

/// Returns the text with names in place of ids, the ids themselves where nobody knows a name; `None` when
/// it names nobody.
pub fn named(text: &str, known: impl Fn(&str) -> Option<String>) -> Option<String> {
    parts(text).any(|(_, found)| found.is_some()).then(|| {
        let mut out = String::with_capacity(text.len());
        for (before, found) in parts(text) {
            out.push_str(before);
            if let Some((sign, id)) = found {
                out.push(sign);
                out.push_str(known(id).as_deref().unwrap_or(id));
            }
        }
        out
    })
}

/// A stretch of text, and the sign and id of who is named behind it.
type Part<'a> = (&'a str, Option<(char, &'a str)>);

/// Splits a text at whom it names.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut from = 0;
        while let Some(open) = text[from..].find('<').map(|at| at + from) {
            let inner = &text[open + 1..];
            let close = inner.find(['>', '<']).filter(|at| inner.as_bytes()[*at] == b'>');
            if let Some(close) = close
                && let Some(found) = reference(&inner[..close])
            {
                rest = Some(&inner[close + 1..]);
                return Some((&text[..open], Some(found)));
            }
            from = open + 1;
        }
        rest = None;
        Some((text, None))
    })
}

fn reference(inner: &str) -> Option<(char, &str)> {
    let known = |id: &'_ str, letters: &[u8]| is_id(id, letters) && id.len() <= 24;
    if let Some(id) = inner.strip_prefix('@') {
        return known(id, b"UWB").then_some(('@', id));
    }
    if let Some(id) = inner.strip_prefix('#') {
        return known(id, b"CGD").then_some(('#', id));
    }
    let id = inner.strip_prefix("!subteam^")?;
    known(id, b"S").then_some(('@', id))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(id: &str) -> Option<String> {
        let names = [("U2", "Bob <b>"), ("C1", "random"), ("S1", "tea-team")];
        names.iter().find(|(known, _)| *known == id).map(|(_, name)| (*name).to_owned())
    }

    #[test]
    fn ids_become_names() {
        let text = "a < b <@U2> in <#C1>, <!subteam^S1> and <@U9>; <b> <@u2>";
        let wanted = "a < b @Bob <b> in #random, @tea-team and @U9; <b> <@u2>";
        assert_eq!(named(text, known).as_deref(), Some(wanted));
        assert_eq!(named("nobody <here>", known), None);
        let mut ids = HashSet::new();
        of(text, 3, &mut ids);
        assert_eq!(ids.len(), 3);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "(\\PC|<|>|@|<@U2>|#){0,40}") {
            let whole: String = parts(&text).map(|(before, _)| before).collect();
            prop_assert!(whole.len() <= text.len());
            named(&text, known);
        }
    }
}
