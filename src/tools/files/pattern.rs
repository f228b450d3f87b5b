//! Matches paths with `*`, `?`, `[a-z]` and `**`, in the way shells do.

/// A pattern over the names of a path.
pub(super) struct Pattern(Vec<Step<Vec<Step<Letter>>>>);

/// One step of a pattern.
enum Step<P> {
    /// Any number of anything: `*` among letters, `**` among names.
    Any,
    One(P),
}

enum Letter {
    Any,
    Just(char),
    Of { not: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    /// Whether a text holds anything special.
    pub(super) fn is_in(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Reads a pattern. Every text is one.
    pub(super) fn new(text: &str) -> Self {
        let names = text.split('/').filter(|name| !name.is_empty());
        Self(names.map(|n| if n == "**" { Step::Any } else { Step::One(letters(n)) }).collect())
    }

    /// Whether a relative path matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        walk(&self.0, &names, &|pattern, name| {
            let text: Vec<char> = name.chars().collect();
            walk(pattern, &text, &|letter, c| letter.is(*c))
        })
    }

    /// How many folders deep a match may lie; `None` for any depth.
    pub(super) fn depth(&self) -> Option<usize> {
        (!self.0.iter().any(|step| matches!(step, Step::Any))).then_some(self.0.len())
    }
}

impl Letter {
    fn is(&self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Just(wanted) => *wanted == c,
            Self::Of { not, ranges } => ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) != *not,
        }
    }
}

/// Goes back to the last star only: at most pattern × text steps, whatever the pattern.
fn walk<P, T>(pattern: &[Step<P>], text: &[T], fits: &dyn Fn(&P, &T) -> bool) -> bool {
    let mut p = 0;
    let mut t = 0;
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(Step::Any) => {
                star = Some((p, t));
                p += 1;
            }
            Some(Step::One(one)) if fits(one, &text[t]) => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|step| matches!(step, Step::Any))
}

/// Says why a pattern is a slip of the pen, although it matches something.
pub fn fault(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("is empty");
    }
    let open = |name: &str| {
        let mut rest: Vec<char> = name.chars().rev().collect();
        while let Some(c) = rest.pop() {
            if c == '[' && set(&mut rest).is_none() {
                return true;
            }
        }
        false
    };
    text.split('/').any(open).then_some("has a [ without its ]")
}

fn letters(name: &str) -> Vec<Step<Letter>> {
    let mut rest: Vec<char> = name.chars().rev().collect();
    let mut steps = Vec::new();
    while let Some(c) = rest.pop() {
        steps.push(match c {
            '*' => Step::Any,
            '?' => Step::One(Letter::Any),
            '[' => Step::One(set(&mut rest).unwrap_or(Letter::Just('['))),
            c => Step::One(Letter::Just(c)),
        });
    }
    steps
}

/// Reads `a-z_]` or `!a-z]` off the end of `rest`; without a `]` the bracket is a letter.
fn set(rest: &mut Vec<char>) -> Option<Letter> {
    let inside = rest.iter().rev().skip(1).position(|c| *c == ']')? + 1;
    let mut chars: Vec<char> = rest.split_off(rest.len() - inside - 1).into_iter().rev().collect();
    chars.pop();
    let not = matches!(chars.first(), Some('!' | '^'));
    let chars = &chars[usize::from(not)..];
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let to = if chars.get(at + 1) == Some(&'-') { chars.get(at + 2) } else { None };
        ranges.push((chars[at], *to.unwrap_or(&chars[at])));
        at += if to.is_some() { 3 } else { 1 };
    }
    Some(Letter::Of { not, ranges })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_matches_like_a_shell() {
        for (pattern, path, is) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "src/main.rs", false),
            ("src/*.rs", "src/main.rs", true),
            ("**/*.rs", "a/b/main.rs", true),
            ("**/*.rs", "main.rs", true),
            ("a/**", "a/b/c", true),
            ("a/**/z", "a/z", true),
            ("?.txt", "a.txt", true),
            ("?.txt", "ab.txt", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[abc", "[abc", true),
            ("[]]", "]", true),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("漢*", "漢字", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(path), is, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn a_star_matches_every_name_and_a_plain_name_itself(name in "[a-z0-9._-]{1,20}", cut in 0_usize..20) {
            prop_assert!(Pattern::new("*").matches(&name));
            prop_assert!(Pattern::new(&name).matches(&name));
            let cut = cut.min(name.len());
            let head = format!("{}*", &name[..cut]);
            prop_assert!(Pattern::new(&head).matches(&name));
        }

        #[test]
        fn any_text_is_a_pattern(pattern in "\\PC{0,20}", path in "\\PC{0,20}") {
            let _ = Pattern::new(&pattern).matches(&path);
            prop_assert!(Pattern::new("**").matches(&path));
        }
    }
}
