//! CommonMark as words that are said aloud: no code blocks, no formulas, no addresses, no marks.

use crate::styled::{self, Dialect, Tables, Tag};

const ALOUD: Dialect = Dialect {
    behind_quote: 1,
    tables: Tables::Rows,
    opens: |_| false,
    stand_in: |_| None,
    explains: |_, _| false,
};

/// Marks that nobody reads out.
const MARKS: [&str; 6] = ["•", "☐", "☑", "———", "|", "◦"];

/// Renders Markdown as at most `most` characters of words, cut between two of them; empty where nothing can be said.
pub fn render(markdown: &str, most: usize) -> String {
    let styled = styled::read(markdown, &ALOUD);
    let mut said = String::with_capacity(styled.text().len());
    for (text, tags) in styled.stretches(0..styled.text().len()) {
        match tags.iter().any(|tag| matches!(tag, Tag::Pre(_) | Tag::Formula)) {
            true => said.push('\n'),
            false => said.push_str(text),
        }
    }
    let mut out = String::new();
    let mut room = most;
    for line in said.lines() {
        let words = line.split_whitespace().filter(|word| is_said(word));
        for (place, word) in words.enumerate() {
            let before = match (out.is_empty(), place) {
                (true, _) => "",
                (false, 0) => "\n",
                (false, _) => " ",
            };
            let length = before.len() + word.chars().count();
            if length > room {
                return out;
            }
            room -= length;
            out.push_str(before);
            out.push_str(word);
        }
    }
    out
}

fn is_said(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_address = bare.contains("://") || bare.starts_with("www.");
    !is_address && !MARKS.contains(&word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_said_has_no_code_no_address_and_no_mark() {
        let said = render(
            "# Tea\n\nA **bold** `word`, see [the page](https://a.example/x) or (https://b.example/y).\n\n\
             - [x] done\n- open\n\n```rust\nlet a = 1;\n```\n\n> quoted\n\n---\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
             ![](https://c.example/z.png) <https://d.example> www.e.example end",
            4_096,
        );
        insta::assert_snapshot!(said, @"
        Tea
        A bold word, see the page or
        done
        open
        quoted
        a b
        1 2
        end
        ");
        assert_eq!(render("```\nlet a = 1;\n```", 99), "");
    }

    proptest! {
        #[test]
        fn it_is_never_longer_than_may_be(text in "(\\PC|\n|[*_`>#|-]|\\[|\\]){0,200}", most in 0_usize..80) {
            prop_assert!(render(&text, most).chars().count() <= most);
        }
    }
}
