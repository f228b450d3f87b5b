//! YAML text to a tree of values and the lines where they stand; the parser's own words when it cannot be read.

use serde_json::{Map, Value};
use serde_saphyr::{DuplicateKeyPolicy, Error, Location, Spanned, UserMessageFormatter};

use crate::lines::Lines;
use crate::node::{Key, Node};
use crate::problem::{Place, Problem};
use crate::source;
use selkie_domain::document;

/// How deep it may nest.
const DEPTH: usize = 32;

/// What a file says.
#[derive(Debug)]
pub struct Document {
    /// A map of sections and keys.
    pub value: Value,
    /// Where they stand.
    pub lines: Lines,
    /// What stands once more: what was said first is kept.
    pub repeated: Vec<DuplicateKey>,
}

/// A key that stands twice.
#[derive(Debug)]
pub struct DuplicateKey {
    /// Its path.
    pub path: Vec<String>,
    /// The same in words.
    pub problem: Problem,
}

/// Reads one YAML document. Nothing at all is an empty map.
///
/// # Errors
/// Broken YAML, a number that is too large, or a document that is no map.
pub fn parse(name: &str, text: &str) -> Result<Document, Problem> {
    let document = whole(name, text)?;
    match document.value {
        Value::Null => Ok(Document { value: Map::new().into(), ..document }),
        Value::Object(_) => Ok(document),
        _ => {
            let takes = "the file takes keys with values (`worker: …`); see config.example.yaml";
            Err(Problem { place: Place::of(name), key: String::new(), message: takes.to_owned() })
        }
    }
}

/// Reads one YAML document that is a list. Nothing at all is an empty one.
///
/// # Errors
/// Broken YAML, a number that is too large, or a document that is no list.
pub fn list(name: &str, text: &str) -> Result<Document, Problem> {
    let document = whole(name, text)?;
    match document.value {
        Value::Null => Ok(Document { value: Vec::<Value>::new().into(), ..document }),
        Value::Array(_) => Ok(document),
        _ => {
            let takes = "the file takes a list of tasks (- content: …)";
            Err(Problem { place: Place::of(name), key: String::new(), message: takes.to_owned() })
        }
    }
}

fn whole(name: &str, text: &str) -> Result<Document, Problem> {
    let root = read(text).map_err(|error| broken(name, text, &error))?;
    let mut walk = Walk::new(name, text);
    let value = walk.value(root)?;
    Ok(Document { value, lines: walk.lines, repeated: walk.repeated })
}

/// Reads a value as it may stand behind a key.
pub fn value(text: &str) -> Option<Value> {
    let mut walk = Walk::new("", text);
    let value = walk.value(read(text).ok()?).ok()?;
    walk.repeated.is_empty().then_some(value)
}

/// Keys that stand twice come through: what becomes of them is said with their path.
fn read(text: &str) -> Result<Spanned<Node>, Error> {
    let mut options = document::yaml_options(DEPTH);
    options.duplicate_keys = DuplicateKeyPolicy::PassThrough;
    serde_saphyr::from_str_with_options(text, options)
}

/// Takes a tree apart into values and their lines.
struct Walk<'a> {
    name: &'a str,
    text: &'a str,
    path: Vec<String>,
    lines: Lines,
    repeated: Vec<DuplicateKey>,
}

impl<'a> Walk<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, path: Vec::new(), lines: Lines::default(), repeated: Vec::new() }
    }

    fn value(&mut self, node: Spanned<Node>) -> Result<Value, Problem> {
        match node.value {
            Node::Leaf(value) if value.is_f64() => match too_large(self.text, node.defined) {
                None => Ok(value),
                Some(number) => {
                    let message = format!("{number} is a number that is too large to be read");
                    Err(self.problem(node.defined, String::new(), message))
                }
            },
            Node::Leaf(value) => Ok(value),
            Node::List(items) => {
                let mut all = Vec::new();
                for (index, item) in items.into_iter().enumerate() {
                    all.extend(self.below(index.to_string(), item.referenced, item)?);
                }
                Ok(Value::Array(all))
            }
            Node::Map(entries) => {
                let mut all = Map::new();
                for (Spanned { value: Key(key), referenced, .. }, item) in entries {
                    let value = self.below(key.clone(), referenced, item)?;
                    all.extend(value.map(|value| (key, value)));
                }
                Ok(Value::Object(all))
            }
        }
    }

    /// Takes what stands at a key or an index; nothing where something stands already.
    fn below(
        &mut self,
        key: String,
        at: Location,
        item: Spanned<Node>,
    ) -> Result<Option<Value>, Problem> {
        self.path.push(key);
        let value = match self.lines.note(&self.path, line(at).unwrap_or_default()) {
            true => Some(self.value(item)?),
            false => {
                let message = "is already there: keep one of the two".to_owned();
                let problem = self.problem(at, source::key(&self.path), message);
                self.repeated.push(DuplicateKey { path: self.path.clone(), problem });
                None
            }
        };
        self.path.pop();
        Ok(value)
    }

    fn problem(&self, at: Location, key: String, message: String) -> Problem {
        Problem { place: Place { name: self.name.to_owned(), line: line(at) }, key, message }
    }
}

fn broken(name: &str, text: &str, error: &Error) -> Problem {
    let at = error.location().and_then(line);
    let (line, message) = match error.without_snippet() {
        Error::MultipleDocuments { .. } => {
            let message = "begins a second document: keep one, and take the `---` between them out";
            (at.and_then(|at| mark_before(text, at)).or(at), message.to_owned())
        }
        error => match at.and_then(|at| [at, at + 1].into_iter().find(|at| tabbed(text, *at))) {
            Some(at) => (Some(at), "is indented with a tab: YAML takes spaces alone".to_owned()),
            None => match at.and_then(|at| starred(text, at)) {
                Some(star) => (at, star),
                None => (at, in_words(error)),
            },
        },
    };
    Problem { place: Place { name: name.to_owned(), line }, key: String::new(), message }
}

/// The parser's words; where they tell of what follows a mistake, also of the mistake.
fn in_words(error: &Error) -> String {
    let said = error.render_with_formatter(&UserMessageFormatter);
    let hint = match &said {
        said if said.contains("quoted scalar") => ": a quote before it is not closed",
        said if ["did not find expected key", "mapping values are not allowed"]
            .iter()
            .any(|words| said.contains(words)) =>
        {
            ": its indentation, or that of a line before it, fits no section"
        }
        said if said.contains("placement of ':'") => ": a bracket before it is not closed",
        _ => "",
    };
    format!("the YAML cannot be read: {said}{hint}")
}

/// What to do about a star without quotes, which means something else to YAML, on a line counted from 1.
fn starred(text: &str, line: usize) -> Option<String> {
    let line = text.lines().nth(line.saturating_sub(1))?;
    let value = line.split_once(": ").map_or(line, |(_, value)| value).trim();
    let value = value.strip_prefix("- ").unwrap_or(value);
    let mut items = value.trim_matches(['[', ']']).split(',').map(str::trim);
    let bare = items.any(|item| item == "*" || item.starts_with("* "));
    bare.then(|| "a `*` without quotes is a sign of YAML's own: write [\"*\"]".to_owned())
}

/// A line, counted from 1; `None` where the parser knows none.
fn line(at: Location) -> Option<usize> {
    usize::try_from(at.line()).ok().filter(|line| *line > 0)
}

/// The nearest line up to this one that ends a document.
fn mark_before(text: &str, line: usize) -> Option<usize> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    lines.iter().rposition(|line| line.starts_with("---")).map(|at| at + 1)
}

/// Whether a line, counted from 1, begins with white space that holds a tab.
fn tabbed(text: &str, line: usize) -> bool {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    line[..line.len() - line.trim_start().len()].contains('\t')
}

/// The whole number that stands there and was read as one with a fraction, because no other type takes it.
fn too_large(text: &str, at: Location) -> Option<&str> {
    let from = usize::try_from(at.span().byte_offset()?).ok()?;
    let length = usize::try_from(at.span().byte_len()?).ok()?;
    let written = text.get(from..from.checked_add(length)?)?.trim();
    written.trim_start_matches(['+', '-']).bytes().all(|b| b.is_ascii_digit()).then_some(written)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Document {
        parse("f", text).unwrap()
    }

    fn line(text: &str, path: &str) -> Option<usize> {
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        read(text).lines.of_path(&path)
    }

    #[test]
    fn every_key_and_item_has_its_line() {
        let text = "# a: 1\na: |\n  b: 2\n\n  c: 3\nd: \"x\n  e: 4\"\nf: {g: 5,\n  h: 6}\ni: word\nk: # l: 8\n  l: 9\n";
        for (path, at) in [("a", 2), ("d", 6), ("f/g", 8), ("f/h", 9), ("i", 10), ("k/l", 12)] {
            assert_eq!(line(text, path), Some(at), "{path}");
        }
        assert_eq!(line(text, "d/e"), Some(6), "the nearest that there is");
        assert_eq!(line(text, "zzz"), None);
        let lists = "a:\n- x\n- y: 1\n  z: 2\nb:\n  - - p\n    - q\n\"tg:-100\": {allow: []}\n";
        for (path, at) in [("a/0", 2), ("a/1/z", 4), ("b/0/1", 7), ("tg:-100/allow", 8)] {
            assert_eq!(line(lists, path), Some(at), "{path}");
        }
    }

    #[test]
    fn what_is_merged_stands_where_it_is_merged() {
        let text = "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  b: 3\n";
        assert_eq!(read(text).value, json!({"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}));
        assert_eq!((line(text, "d/b"), line(text, "d/c")), (Some(4), Some(3)));
    }

    #[test]
    fn words_and_numbers_are_what_they_were() {
        let text = "[yes, no, on, True, ~, 0x1F, 0o17, 017, 1_000, .inf, 1e3, +5, 12:30, 2026-01-01, !x y, !!str 1]";
        let read = json!([
            "yes",
            "no",
            "on",
            true,
            null,
            31,
            15,
            "017",
            "1_000",
            ".inf",
            1000.0,
            5,
            "12:30",
            "2026-01-01",
            "y",
            "1"
        ]);
        assert_eq!(value(text), Some(read));
        assert_eq!(value("tg:1"), Some(json!("tg:1")));
        assert_eq!(value("["), None);
    }

    #[test]
    fn what_multiplies_repeats_or_nests_without_end_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..20 {
            let many = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb.push_str(&format!("a{n}: &a{n} [{many}]\n"));
        }
        assert!(parse("f", &bomb).is_err());
        assert!(parse("f", "a: &a [*a]").is_err());
        for nested in ["[", "{", "- ", "? ", "a: {"] {
            assert!(parse("f", &nested.repeat(100_000)).is_err(), "{nested}");
        }
    }

    /// A tree whose scalars are unique marks, so that a line can be recognized.
    fn tree() -> impl Strategy<Value = Value> {
        let leaf = Just(json!("MARK"));
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                vec(inner.clone(), 1..4).prop_map(Value::Array),
                vec(("[a-z]{1,4}|tg:-[0-9]{2}|[a-z] #[a-z]", inner), 1..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    /// Writes a tree in block style, a key or an item a line, and where each leaf stands.
    fn write(
        value: &Value,
        path: &[String],
        text: &mut String,
        leaves: &mut Vec<(Vec<String>, usize)>,
    ) {
        let indent = "  ".repeat(path.len());
        let mut child = |head: String, key: String, inner: &Value| {
            let path = [path, &[key]].concat();
            text.push_str(&format!("{indent}{head}"));
            let Value::String(leaf) = inner else {
                text.push('\n');
                return write(inner, &path, text, leaves);
            };
            text.push_str(&format!(" {leaf}\n"));
            leaves.push((path, text.lines().count()));
        };
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, item)| child("-".to_owned(), index.to_string(), item)),
            Value::Object(map) => map
                .iter()
                .for_each(|(key, item)| child(format!("{}:", json!(key)), key.clone(), item)),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn every_leaf_is_found(tree in vec(("[a-z]{1,4}", tree()), 1..5)) {
            let value = Value::Object(tree.into_iter().collect());
            let (mut text, mut leaves) = (String::new(), Vec::new());
            write(&value, &[], &mut text, &mut leaves);
            let document = read(&text);
            prop_assert_eq!(&document.value, &value);
            for (path, at) in leaves {
                prop_assert_eq!(document.lines.exact(&path), Some(at), "{:?} in\n{}", path, text);
            }
        }

        #[test]
        fn no_text_breaks_it(text in "[-a-z:#'\"\\[\\]{}|>&*<!\t\n ]{0,80}") {
            drop(parse("f", &text));
        }
    }
}
