//! Where the targets of links end in a text of Markdown: read once for all of them, however many begin and none ends.

use std::collections::HashMap;

/// The longest target that is passed over, bytes.
const MAX_LENGTH: usize = 4096;

/// Where the target of a link ends that may begin behind a `]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// After so many bytes; none when nothing begins there.
    Ends(usize),
    /// It may end yet.
    GoesOn,
}

/// The targets of a text.
pub(crate) struct Targets {
    length: usize,
    /// By where they begin: where they end, and nothing for those that are open at the text's end.
    ends: HashMap<usize, Option<usize>>,
}

impl Targets {
    /// Reads a text.
    pub(crate) fn of(markdown: &str) -> Self {
        let bytes = markdown.as_bytes();
        let mut ends = HashMap::new();
        for (opens, closes) in [(b'(', b')'), (b'[', b']')] {
            let mut open = Vec::new();
            for (at, byte) in bytes.iter().enumerate() {
                if *byte == opens {
                    open.push(at);
                } else if *byte == closes {
                    let begun = open.pop().filter(|begun| is_behind_a_link(bytes, *begun));
                    ends.extend(begun.map(|begun| (begun, Some(at))));
                } else if bytes[at..].starts_with(b"\n\n") {
                    // A link goes over no blank line.
                    open.clear();
                }
            }
            open.retain(|begun| is_behind_a_link(bytes, *begun));
            ends.extend(open.into_iter().map(|begun| (begun, None)));
        }
        Self { length: bytes.len(), ends }
    }

    /// Returns the one that begins at a place behind a `]`.
    pub(crate) fn at(&self, begin: usize) -> Target {
        match self.ends.get(&begin) {
            Some(Some(end)) if end - begin < MAX_LENGTH => Target::Ends(end + 1 - begin),
            Some(None) if self.length - begin < MAX_LENGTH => Target::GoesOn,
            _ => Target::Ends(0),
        }
    }
}

fn is_behind_a_link(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b']'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, looked for from each place.
    fn looked_for(rest: &str) -> Target {
        let (opens, closes) = match rest.as_bytes().first() {
            Some(b'(') => (b'(', b')'),
            Some(b'[') => (b'[', b']'),
            _ => return Target::Ends(0),
        };
        let bytes = &rest.as_bytes()[..rest.len().min(MAX_LENGTH)];
        let mut depth = 0;
        for (at, byte) in bytes.iter().enumerate() {
            depth += i32::from(*byte == opens) - i32::from(*byte == closes);
            if depth == 0 {
                return Target::Ends(at + 1);
            }
            if bytes[at..].starts_with(b"\n\n") {
                return Target::Ends(0);
            }
        }
        if rest.len() < MAX_LENGTH { Target::GoesOn } else { Target::Ends(0) }
    }

    fn is_the_same(text: &str) {
        let targets = Targets::of(text);
        for (at, _) in text.match_indices(']') {
            assert_eq!(targets.at(at + 1), looked_for(&text[at + 1..]), "{text:?} at {at}");
        }
    }

    #[test]
    fn long_ones_are_passed_by() {
        for length in [4093, 4094, 4095, 4096, 5000] {
            is_the_same(&format!("[a]({})b", "x".repeat(length)));
            is_the_same(&format!("[a]({}", "x".repeat(length)));
            is_the_same(&format!("[a][{}\n\n]", "x".repeat(length)));
        }
    }

    proptest! {
        #[test]
        fn they_end_where_one_by_one_they_would(text in "(\\]\\(|\\]\\[|[a()\\[\\]é]|\n|\n\n){0,40}") {
            is_the_same(&text);
        }
    }
}
