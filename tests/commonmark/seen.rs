//! Text in which each character has its marks, written in one form that two readers can be compared by.

use std::rc::Rc;

/// The marks of a character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
    pub code: bool,
    pub pre: bool,
    /// How many quotes it stands in.
    pub quotes: usize,
    pub link: Option<Rc<str>>,
}

/// Text with marks.
#[derive(Default)]
pub struct SeenText(Vec<(char, Marks)>);

impl SeenText {
    pub fn push(&mut self, text: &str, marks: &Marks) {
        self.0.extend(text.chars().map(|c| (c, marks.clone())));
    }

    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub fn without(mut self, unseen: char) -> Self {
        self.0.retain(|(c, _)| *c != unseen);
        self
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The text from a character on.
    pub fn since(&self, start: usize) -> String {
        self.0[start..].iter().map(|(c, _)| *c).collect()
    }

    pub fn ends_with_break(&self) -> bool {
        self.0.last().is_none_or(|(c, _)| *c == '\n')
    }

    /// Changes the marks of each character.
    pub fn map(&mut self, change: impl Fn(&Marks) -> Marks) {
        self.0.iter_mut().for_each(|(_, marks)| *marks = change(marks));
    }

    /// The rows of tables as mere lines: without the rule under the head, and without marks.
    pub fn without_table(mut self) -> Self {
        self.map(|marks| Marks { quotes: marks.quotes, ..Marks::default() });
        let lines = self.0.split(|(c, _)| *c == '\n');
        let is_rule = |line: &&[(char, Marks)]| {
            !line.is_empty() && line.iter().all(|(c, _)| matches!(c, '-' | '+'))
        };
        let lines: Vec<_> = lines.filter(|line| !is_rule(line)).map(<[_]>::to_vec).collect();
        Self(lines.join(&('\n', Marks::default())))
    }

    /// Writes text and marks. White space is one blank, or one line break where it holds one; inside a block of code it
    /// stays. Percent signs are read: HTML escapes more of an address than was written.
    pub fn written(&self) -> String {
        let mut out = String::new();
        let mut last = Marks::default();
        for (text, marks) in decoded(&spaced(&self.0)) {
            if marks != last {
                let of = [
                    (marks.bold, "b"),
                    (marks.italic, "i"),
                    (marks.strike, "s"),
                    (marks.code, "c"),
                    (marks.pre, "p"),
                ];
                out.push('{');
                out.extend(of.iter().filter(|(on, _)| *on).map(|(_, name)| *name));
                out.push_str(&"q".repeat(marks.quotes));
                if let Some(url) = &marks.link {
                    out.push_str(&format!(" {}", percent(url.as_bytes())));
                }
                out.push('}');
                last = marks;
            }
            out.push_str(&text);
        }
        out
    }
}

fn spaced(all: &[(char, Marks)]) -> Vec<(char, Marks)> {
    let mut out: Vec<(char, Marks)> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let run = all[at..].iter().take_while(|(c, _)| c.is_whitespace()).count();
        if run == 0 {
            out.push(all[at].clone());
            at += 1;
            continue;
        }
        let run = &all[at..at + run];
        at += run.len();
        let marks = Marks { pre: true, ..Marks::default() };
        if run.iter().all(|(_, marks)| marks.pre) && !out.is_empty() && at < all.len() {
            out.extend(run.iter().map(|(c, _)| (*c, marks.clone())));
        } else if !out.is_empty() && at < all.len() {
            let has_break = run.iter().any(|(c, _)| *c == '\n');
            out.push((if has_break { '\n' } else { ' ' }, Marks::default()));
        }
    }
    out
}

/// Stretches of the same marks, percent signs read.
fn decoded(all: &[(char, Marks)]) -> Vec<(String, Marks)> {
    let mut out: Vec<(String, Marks)> = Vec::new();
    for (c, marks) in all {
        match out.last_mut() {
            Some((text, last)) if last == marks => text.push(*c),
            _ => out.push((c.to_string(), marks.clone())),
        }
    }
    out.iter_mut().for_each(|(text, _)| *text = percent(text.as_bytes()));
    out
}

pub fn percent(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.filter(|_| bytes[at] == b'%').and_then(|h| u8::from_str_radix(h, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
