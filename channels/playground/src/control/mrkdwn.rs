//! Slack's markup as a person sees it: names for ids, words for links, and what is bold, struck or code as
//! entities in Telegram's form.

use serde_json::{Value, json};

/// Nothing is nested deeper.
const DEPTH: usize = 4;
/// A mark without its twin within so many bytes is a character like any other.
const REACH: usize = 4_000;
const FENCE: &str = "```";
/// Inside a mark it is taken for a blank: what stands beside it stands for itself.
const SEAM: char = '\u{200b}';

/// What a person sees.
pub(crate) struct ShownText {
    pub(crate) text: String,
    /// Offsets and lengths in UTF-16 units.
    pub(crate) entities: Vec<Value>,
    units: usize,
}

/// Reads a text; `name` gives what stands for an id in angle brackets: `@U0ADA`.
pub(crate) fn read(text: &str, name: &dyn Fn(&str) -> Option<String>) -> ShownText {
    let mut shown = ShownText { text: String::new(), entities: Vec::new(), units: 0 };
    shown.walk(text, name, 0);
    shown
}

impl ShownText {
    fn walk(&mut self, text: &str, name: &dyn Fn(&str) -> Option<String>, depth: usize) {
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let taken = self
                .code(rest)
                .or_else(|| self.dressed(rest, before, name, depth))
                .or_else(|| self.angle(rest, name))
                .or_else(|| self.escaped(rest));
            let length = taken.unwrap_or_else(|| {
                self.put(&rest[..first.len_utf8()]);
                first.len_utf8()
            });
            before = rest[..length].chars().next_back().unwrap_or(before);
            rest = &rest[length..];
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.units += text.encode_utf16().count();
    }

    fn dress(&mut self, kind: &str, from: usize) {
        let entity = json!({ "type": kind, "offset": from, "length": self.units - from });
        self.entities.push(entity);
    }

    /// What stands between backticks; gives how many bytes it took.
    fn code(&mut self, rest: &str) -> Option<usize> {
        let (mark, kind) = if rest.starts_with(FENCE) { (FENCE, "pre") } else { ("`", "code") };
        let inner = rest.strip_prefix(mark)?;
        let inner = &inner[..near(inner).find(mark)?];
        let is_literal = inner.contains('\n') || inner.starts_with(SEAM) || inner.ends_with(SEAM);
        if inner.is_empty() || (kind == "code" && is_literal) {
            return None;
        }
        let from = self.units;
        let plain = if kind == "pre" { inner.trim_matches('\n') } else { inner };
        self.put(&unescaped(plain));
        self.dress(kind, from);
        Some(inner.len() + 2 * mark.len())
    }

    /// What stands between two stars, underscores or tildes that begin and end words.
    fn dressed(
        &mut self,
        rest: &str,
        before: char,
        name: &dyn Fn(&str) -> Option<String>,
        depth: usize,
    ) -> Option<usize> {
        let mark = rest.chars().next()?;
        let kind = match mark {
            '*' => "bold",
            '_' => "italic",
            '~' => "strikethrough",
            _ => return None,
        };
        let begins = !before.is_alphanumeric() && !rest[1..].starts_with([' ', '\n', SEAM, mark]);
        if !begins || depth == DEPTH {
            return None;
        }
        let line = near(&rest[1..]).lines().next()?;
        let ends = |at: &usize| {
            let inner = &line[..*at];
            let after = line[at + 1..].chars().next().unwrap_or(' ');
            // A mark in code or in an address is none.
            let in_code = inner.matches('`').count() % 2 == 1 && line[*at..].contains('`');
            let in_angle = inner.rfind('<') > inner.rfind('>');
            !in_code && !in_angle && !inner.ends_with([' ', SEAM]) && !after.is_alphanumeric()
        };
        let end = line.match_indices(mark).map(|(at, _)| at).find(ends)?;
        let from = self.units;
        self.walk(&line[..end], name, depth + 1);
        self.dress(kind, from);
        Some(end + 2)
    }

    /// An id or a link in angle brackets.
    fn angle(&mut self, rest: &str, name: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
        let inside = rest.strip_prefix('<')?;
        let inside = &inside[..near(inside).find('>')?];
        let (target, label) = inside.split_once('|').unwrap_or((inside, inside));
        let from = self.units;
        self.put(&name(target).unwrap_or_else(|| unescaped(label)));
        if target.starts_with("http") || target.starts_with("mailto:") {
            self.dress("text_link", from);
            if let Some(entity) = self.entities.last_mut() {
                entity["url"] = json!(unescaped(target));
            }
        }
        Some(inside.len() + 2)
    }

    fn escaped(&mut self, rest: &str) -> Option<usize> {
        const ESCAPES: [(&str, &str); 3] = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
        let (written, plain) =
            ESCAPES.into_iter().find(|(written, _)| rest.starts_with(written))?;
        self.put(plain);
        Some(written.len())
    }
}

/// The beginning of a text, as far as a mark's twin is looked for.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH)]
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(target: &str) -> Option<String> {
        (target == "@U0ADA").then(|| "@Ada".to_owned())
    }

    fn marks(text: &str) -> Vec<(String, String)> {
        let shown = read(text, &names);
        let units: Vec<u16> = shown.text.encode_utf16().collect();
        let part = |entity: &Value| {
            let number = |key: &str| usize::try_from(entity[key].as_u64().unwrap()).unwrap();
            let from = number("offset");
            String::from_utf16(&units[from..from + number("length")]).unwrap()
        };
        let kind = |entity: &Value| entity["type"].as_str().unwrap().to_owned();
        shown.entities.iter().map(|entity| (kind(entity), part(entity))).collect()
    }

    #[test]
    fn slacks_markup_is_shown_as_people_see_it() {
        let shown = read("ask <@U0ADA>: <https://a.example/?x&amp;y|here> &lt;3 a < b", &names);
        assert_eq!(shown.text, "ask @Ada: here <3 a < b");
        assert_eq!(shown.entities[0]["url"], "https://a.example/?x&y");
        let pair = |kind: &str, text: &str| (kind.to_owned(), text.to_owned());
        assert_eq!(
            marks("🦭 *bold _both_* `a &lt;b&gt;` ~no~ ```\nx *y*\n```"),
            [
                pair("italic", "both"),
                pair("bold", "bold both"),
                pair("code", "a <b>"),
                pair("strikethrough", "no"),
                pair("pre", "x *y*"),
            ]
        );
        assert_eq!(marks("2*3*4 snake_case_name * a * ** ~ `open"), []);
        assert_eq!(marks("*\u{200b}a\u{200b}* _\u{200b}b_ `\u{200b}` un\u{200b}*c"), []);
        assert_eq!(read("2*3*4 `open", &names).text, "2*3*4 `open");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "([*_~`<>|& a\n🦭]|&lt;){0,80}") {
            marks(&text);
        }
    }
}
