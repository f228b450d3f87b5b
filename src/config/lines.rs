//! Finds the line of a key in YAML text, for problems: exact in block style, the parent's line in flow style.
//!
//! No parser: the text has been parsed before. It follows indentation, and skips what can hold a colon
//! and is no key: comments, quotes, block scalars, flow collections.

use std::collections::BTreeMap;

/// The lines of a YAML text's keys and list items.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    found: BTreeMap<Vec<String>, usize>,
    doubled: Option<(Vec<String>, usize)>,
}

impl Lines {
    /// Reads the text. Indices of list items count as keys: `["owners", "0"]`.
    pub fn of(text: &str) -> Self {
        let mut finder = Finder::default();
        for (index, line) in text.lines().enumerate() {
            finder.line(index + 1, line);
        }
        Self { found: finder.found, doubled: finder.doubled }
    }

    /// Returns the first key that stands twice, with the line where it stands again.
    pub fn doubled(&self) -> Option<(&[String], usize)> {
        self.doubled.as_ref().map(|(path, line)| (path.as_slice(), *line))
    }

    /// Returns the line of the path itself.
    pub fn exact(&self, path: &[String]) -> Option<usize> {
        self.found.get(path).copied()
    }

    /// Returns the line of the path, or of the nearest parent that has one.
    pub fn of_path(&self, path: &[String]) -> Option<usize> {
        (1..=path.len()).rev().find_map(|end| self.found.get(&path[..end])).copied()
    }
}

/// A level of the block structure.
struct Level {
    indent: usize,
    /// Its keys are list items.
    list: bool,
    key: String,
    items: usize,
}

#[derive(Default)]
struct Finder {
    found: BTreeMap<Vec<String>, usize>,
    doubled: Option<(Vec<String>, usize)>,
    levels: Vec<Level>,
    skip: Skip,
}

/// What the following lines are, when they are no keys.
#[derive(Default)]
enum Skip {
    #[default]
    Nothing,
    /// Lines indented deeper than this: a block scalar, or a plain scalar that goes on.
    Deeper(usize),
    /// Until quotes and brackets are closed.
    Open(Open),
}

impl Finder {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim_start_matches([' ', '\u{feff}']);
        let indent = line.len() - text.len();
        match &mut self.skip {
            Skip::Open(open) => {
                open.read(line);
                if open.is_closed() {
                    self.skip = Skip::Nothing;
                }
                return;
            }
            Skip::Deeper(than) if text.is_empty() || indent > *than => return,
            _ => self.skip = Skip::Nothing,
        }
        let marker = text.starts_with("---") || text.starts_with("...") || text.starts_with('%');
        if text.trim_end().is_empty() || text.starts_with('#') || (indent == 0 && marker) {
            return;
        }
        self.structure(number, indent, text);
    }

    /// Reads `- `, `- key: …`, `key: …` at `indent`, as often as they nest on one line.
    fn structure(&mut self, number: usize, mut indent: usize, mut text: &str) {
        while let Some(rest) = item(text) {
            self.enter(indent, true, None, number);
            let inner = rest.trim_start_matches(' ');
            let width = text.len() - inner.len();
            if inner.is_empty() {
                return;
            }
            if key(inner).is_none() && item(inner).is_none() {
                return self.value(indent, inner);
            }
            indent += width;
            text = inner;
        }
        match key(text) {
            Some((key, rest)) => {
                self.enter(indent, false, Some(key), number);
                self.value(indent, rest);
            }
            None => self.value(indent, text),
        }
    }

    /// Notes a key or item at `indent` and makes it the path of what follows.
    fn enter(&mut self, indent: usize, list: bool, key: Option<String>, number: usize) {
        // A list may stand at its key's own indent: `owners:\n- a`.
        while self
            .levels
            .last()
            .is_some_and(|l| l.indent > indent || (l.indent == indent && l.list && !list))
        {
            self.levels.pop();
        }
        let same = self.levels.last().is_some_and(|l| l.indent == indent && l.list == list);
        if !same {
            self.levels.push(Level { indent, list, key: String::new(), items: 0 });
        }
        if let Some(level) = self.levels.last_mut() {
            level.key = key.unwrap_or_else(|| level.items.to_string());
            level.items += 1;
        }
        let path: Vec<String> = self.levels.iter().map(|l| l.key.clone()).collect();
        if self.found.contains_key(&path) && self.doubled.is_none() {
            self.doubled = Some((path.clone(), number));
        }
        self.found.entry(path).or_insert(number);
    }

    /// Looks at what stands behind a key: does it go on over the next lines?
    fn value(&mut self, indent: usize, text: &str) {
        let text = after_properties(text.trim());
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        if text.starts_with(['|', '>']) {
            self.skip = Skip::Deeper(indent);
            return;
        }
        if text.starts_with(['"', '\'', '[', '{']) {
            let mut open = Open::default();
            open.read(text);
            if !open.is_closed() {
                self.skip = Skip::Open(open);
                return;
            }
        }
        self.skip = Skip::Deeper(indent);
    }
}

/// Returns what stands behind a list item's dash.
fn item(text: &str) -> Option<&str> {
    match text.strip_prefix('-')? {
        "" => Some(""),
        rest if rest.starts_with(' ') => Some(rest),
        _ => None,
    }
}

/// Reads `key: rest`, quoted or plain.
fn key(text: &str) -> Option<(String, &str)> {
    let first = text.chars().next()?;
    let (key, rest) = match first {
        '"' | '\'' => {
            let end = closing(text, first)?;
            (serde_yaml::from_str::<String>(&text[..=end]).ok()?, &text[end + 1..])
        }
        '[' | '{' | '|' | '>' => return None,
        _ => {
            let colon = text.match_indices(':').map(|(at, _)| at).find(|at| {
                let next = text[at + 1..].chars().next();
                next.is_none_or(|c| c == ' ' || c == '\t')
            })?;
            if text[..colon].contains(" #") {
                return None;
            }
            (text[..colon].trim_end().to_owned(), &text[colon..])
        }
    };
    let rest = rest.trim_start().strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some((key, rest))
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut open = Open::default();
    for (at, c) in text.char_indices() {
        open.char(c);
        if at > 0 && c == quote && open.is_closed() && !text[at + 1..].starts_with(quote) {
            return Some(at);
        }
    }
    None
}

/// Skips a tag and an anchor: `!!str &a value`.
fn after_properties(mut text: &str) -> &str {
    while text.starts_with(['!', '&']) {
        text = text.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

/// Which quotes and brackets are open.
#[derive(Default)]
struct Open {
    quote: Option<char>,
    escaped: bool,
    depth: usize,
    /// The character before, to know where a comment may begin.
    last: Option<char>,
}

impl Open {
    fn read(&mut self, line: &str) {
        self.last = None;
        for c in line.chars() {
            if c == '#' && self.quote.is_none() && self.last.is_none_or(char::is_whitespace) {
                return;
            }
            self.char(c);
            self.last = Some(c);
        }
        self.escaped = false;
    }

    fn char(&mut self, c: char) {
        match (self.quote, c) {
            (Some('"'), '\\') if !self.escaped => {
                self.escaped = true;
                return;
            }
            (Some(quote), c) if c == quote && !self.escaped => self.quote = None,
            (Some(_), _) => {}
            // Inside a flow collection an apostrophe may belong to a plain word.
            (None, '"' | '\'') if !self.last.is_some_and(char::is_alphanumeric) => {
                self.quote = Some(c);
            }
            (None, '[' | '{') => self.depth += 1,
            (None, ']' | '}') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.escaped = false;
    }

    fn is_closed(&self) -> bool {
        self.quote.is_none() && self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn line(text: &str, path: &str) -> Option<usize> {
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        Lines::of(text).of_path(&path)
    }

    #[test]
    fn keys_that_are_none_are_skipped() {
        let text = "# a: 1\na: |\n  b: 2\n\n  c: 3\nd: \"x\n  e: 4\"\nf: {g: 5,\n  h: 6}\ni: word\n  j: 7\nk: # l: 8\n  l: 9\n";
        assert_eq!(line(text, "a"), Some(2));
        assert_eq!(line(text, "d"), Some(6));
        assert_eq!(line(text, "d/e"), Some(6));
        assert_eq!(line(text, "f/h"), Some(8));
        assert_eq!(line(text, "i"), Some(10));
        assert_eq!(line(text, "k/l"), Some(13));
        assert_eq!(line(text, "zzz"), None);
    }

    #[test]
    fn lists_stand_at_their_key_or_deeper() {
        let text = "a:\n- x\n- y: 1\n  z: 2\nb:\n  - - p\n    - q\n\"tg:-100\": {allow: []}\n";
        assert_eq!(line(text, "a/0"), Some(2));
        assert_eq!(line(text, "a/1/z"), Some(4));
        assert_eq!(line(text, "b/0/1"), Some(7));
        assert_eq!(line(text, "tg:-100/allow"), Some(8));
    }

    /// A tree whose scalars are unique marks, so that a line can be recognized.
    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!("MARK")),
            Just(json!("MARK: it's # odd")),
            Just(json!("MARK\nkey: no\n\n- item\n")),
            Just(json!([])),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                vec(inner.clone(), 1..4).prop_map(Value::Array),
                vec(("[a-z]{1,4}|tg:-[0-9]{2}|[a-z] #[a-z]", inner), 1..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn mark(
        value: &mut Value,
        next: &mut usize,
        path: &mut Vec<String>,
        out: &mut Vec<(Vec<String>, String)>,
    ) {
        match value {
            Value::String(text) => {
                *next += 1;
                let name = format!("M{next}M");
                *text = text.replace("MARK", &name);
                out.push((path.clone(), name));
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(index.to_string());
                    mark(item, next, path, out);
                    path.pop();
                }
            }
            Value::Object(map) => {
                for (key, item) in map.iter_mut() {
                    path.push(key.clone());
                    mark(item, next, path, out);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_leaf_of_block_style_is_found(tree in vec(("[a-z]{1,4}", tree()), 1..5)) {
            let mut value = Value::Object(tree.into_iter().collect());
            let mut leaves = Vec::new();
            mark(&mut value, &mut 0, &mut Vec::new(), &mut leaves);
            let text = serde_yaml::to_string(&value).unwrap();
            let lines = Lines::of(&text);
            for (path, name) in leaves {
                let number = lines.of_path(&path);
                prop_assert!(number.is_some(), "{path:?} in\n{text}");
                // A block scalar's mark stands one line below its key.
                let window = text.lines().skip(number.unwrap() - 1).take(2).collect::<Vec<_>>().join("\n");
                prop_assert!(window.contains(&name), "{path:?} at {number:?} in\n{text}");
            }
        }

        #[test]
        fn no_text_breaks_it(text in "[-a-z:#'\"\\[\\]{}|> \n]{0,80}") {
            let _ = Lines::of(&text).of_path(&["a".to_owned()]);
        }
    }
}
