//! Fixed words with fields of a payload: `New: {pull_request.title} {pull_request.html_url}`. What a field brings is one
//! line of plain text, whatever it says.

use std::fmt;

use selkie_channel_core::has_no_width;
use serde_json::Value;

/// Fields in one text.
const MAX_FIELDS: usize = 20;
/// The words of a text without its fields, in characters.
const MAX_WORDS: usize = 2_000;
/// What a field brings at most, in characters.
const MAX_FIELD: usize = 500;
/// Stands behind what would name somebody: nobody sees it, and no platform finds a name there.
const DEFUSED: &str = "@\u{200b}";

/// Words with fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    Field(Vec<String>),
}

impl Template {
    /// Reads `words {a.b.0.c} words`; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// What is wrong, and what is taken.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("takes words such as \"Deployed: {version}\", and is empty".to_owned());
        }
        if text.chars().count() > MAX_WORDS {
            return Err(format!("takes at most {MAX_WORDS} characters"));
        }
        let mut pieces = Vec::new();
        let mut words = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            words.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                words.push_str(brace);
                rest = after;
                continue;
            }
            let (path, after) = rest
                .split_once('}')
                .filter(|_| brace == "{")
                .ok_or("has a brace without its other half: write {{ or }} for a brace itself")?;
            pieces.push(Piece::Words(std::mem::take(&mut words)));
            pieces.push(Piece::Field(steps(path)?));
            rest = after;
        }
        words.push_str(rest);
        pieces.push(Piece::Words(words));
        let fields = pieces.iter().filter(|piece| matches!(piece, Piece::Field(_))).count();
        if fields > MAX_FIELDS {
            return Err(format!("takes at most {MAX_FIELDS} fields, and has {fields}"));
        }
        Ok(Self(pieces))
    }

    /// Writes the words with what a payload has in its fields; a field that it does not have is empty.
    pub fn fill(&self, payload: &Value) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) => words.clone(),
            Piece::Field(path) => {
                found(payload, path).map(|value| plain(&shown(value))).unwrap_or_default()
            }
        };
        let text: String = self.0.iter().map(piece).collect();
        // A line that begins with blanks could be code somewhere.
        text.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Words(words) => f.write_str(&words.replace('{', "{{").replace('}', "}}")),
            Piece::Field(path) => write!(f, "{{{}}}", path.join(".")),
        })
    }
}

fn steps(path: &str) -> Result<Vec<String>, String> {
    let steps: Vec<String> = path.trim().split('.').map(str::to_owned).collect();
    let is_step = |step: &String| {
        let fits = |c: char| c.is_alphanumeric() || "_-$@:/".contains(c);
        !step.is_empty() && step.chars().all(fits)
    };
    if !steps.iter().all(is_step) {
        let shown: String = path.chars().take(80).collect();
        return Err(format!(
            "takes fields such as {{pull_request.title}} or {{items.0.name}}, not {{{shown}}}"
        ));
    }
    Ok(steps)
}

fn found<'v>(payload: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(payload, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Makes one line of plain text of what somebody else wrote.
fn plain(text: &str) -> String {
    // What is far behind the cut need not be looked at.
    let near = text.chars().take(4 * MAX_FIELD);
    let seen = near.map(|c| if c.is_whitespace() { ' ' } else { c });
    let seen: String = seen.filter(|c| !c.is_control() && !has_no_width(*c)).collect();
    let words: Vec<&str> = seen.split(' ').filter(|word| !word.is_empty()).collect();
    let mut line = String::new();
    let mut length = 0;
    for word in words {
        let begins = line.is_empty();
        let room = (MAX_FIELD - length).saturating_sub(usize::from(!begins));
        let size = word.chars().count();
        // Half an address leads elsewhere.
        let fits = if size <= room || word.contains("://") { size } else { room.saturating_sub(1) };
        if (1..=room).contains(&fits) {
            let part: String = word.chars().take(fits).collect();
            line.push_str(if begins { "" } else { " " });
            line.push_str(&defused(&part));
            length += usize::from(!begins) + fits;
        }
        if size > room {
            line.push_str(if length < MAX_FIELD { "…" } else { "" });
            break;
        }
    }
    line
}

/// Takes the power to name somebody from a word. In an address, behind its host, an `@` names nobody.
fn defused(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut before: Option<char> = None;
    let begins_an_address = word.starts_with("https://") || word.starts_with("http://");
    let mut is_behind_host = false;
    for c in word.chars() {
        let is_mail = before.is_some_and(char::is_alphanumeric);
        let names_nobody = is_mail || (begins_an_address && is_behind_host);
        match c {
            '@' if !names_nobody => out.push_str(DEFUSED),
            c => out.push(c),
        }
        is_behind_host |= c == '.';
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn filled(text: &str, payload: &Value) -> String {
        Template::read(text).unwrap().fill(payload)
    }

    #[test]
    fn fields_are_found_by_their_paths() {
        let payload = json!({ "a": { "b": [{ "c": "x" }, 7, true, null, [1]] } });
        assert_eq!(filled("{a.b.0.c} {{{a.b.1}}} {a.b.2}", &payload), "x {7} true");
        assert_eq!(
            filled("[{a.b.3}{a.b.9}{a.c}{a.b.x}]", &payload),
            "[]",
            "what is not there is empty"
        );
        assert_eq!(filled("{a.b.4}", &payload), "[1]");
        assert_eq!(filled("  one\n    two  {a.z}\n", &payload), "one\ntwo");
    }

    #[test]
    fn what_a_field_brings_is_one_line_without_tricks() {
        let said = |text: &str| filled("{t}", &json!({ "t": text }));
        assert_eq!(said("a\n\n# b\r\n\tc\u{0}\u{1b}[31m"), "a # b c[31m");
        assert_eq!(said("safe\u{202e}cod\u{2066}e\u{200b}"), "safecode");
        assert_eq!(said("@ada (@bob) a@b.c"), "@\u{200b}ada (@\u{200b}bob) a@b.c");
        assert_eq!(said("https://a.example/@ada?x=@y"), "https://a.example/@ada?x=@y");
        assert_eq!(said("https://@ada"), "https://@\u{200b}ada");
    }

    #[test]
    fn a_long_field_is_cut_and_an_address_never() {
        let said = |text: &str| filled("{t}", &json!({ "t": text }));
        let cut = said(&"x".repeat(501));
        assert_eq!((cut.chars().count(), cut.ends_with("x…")), (500, true));
        assert_eq!(said(&"x".repeat(500)).chars().count(), 500);
        let address = format!("https://a.example/{}", "p".repeat(60));
        let whole = format!("{} {address}", "x".repeat(400));
        assert_eq!(said(&whole), whole);
        let cut = said(&format!("{} {address}", "x".repeat(450)));
        assert_eq!(cut, format!("{}…", "x".repeat(450)));
    }

    #[test]
    fn what_cannot_be_filled_says_what_is_taken() {
        let wrong = |text: &str| Template::read(text).unwrap_err();
        insta::assert_snapshot!([wrong(" "), wrong("a { b"), wrong("a } b"), wrong("{a..b}"), wrong("{}"),
            wrong(&"{a}".repeat(21)), wrong(&"a".repeat(2001))].join("\n"), @r#"
        takes words such as "Deployed: {version}", and is empty
        has a brace without its other half: write {{ or }} for a brace itself
        has a brace without its other half: write {{ or }} for a brace itself
        takes fields such as {pull_request.title} or {items.0.name}, not {a..b}
        takes fields such as {pull_request.title} or {items.0.name}, not {}
        takes at most 20 fields, and has 21
        takes at most 2000 characters
        "#);
    }

    proptest! {
        #[test]
        fn any_words_are_read_or_refused_and_come_back(text in "([a-z]|\\{|\\}|\\.| ){1,40}") {
            if let Ok(template) = Template::read(&text) {
                prop_assert_eq!(Template::read(&template.to_string()).unwrap(), template);
            }
        }

        #[test]
        fn any_field_is_one_short_line(text in any::<String>()) {
            let line = filled("{t}", &json!({ "t": text }));
            let shown = line.replace(DEFUSED, "@");
            prop_assert!(shown.chars().count() <= MAX_FIELD);
            let is_hidden = shown.chars().any(|c| c.is_control() || has_no_width(c));
            prop_assert!(!is_hidden);
        }
    }
}
