//! CommonMark into plain text, for platforms that show no styles: what carried meaning is written out.

use crate::styled::{self, Dialect, Link, StyledText, Tables, Tag};

const PLAIN: Dialect = Dialect {
    behind_quote: 2,
    tables: Tables::Rows,
    opens: |_| false,
    stand_in: |link| Some(link.url.to_string()),
    explains,
};

/// Renders Markdown as text. Raw HTML stays as it was written, links become `words (address)`, rows of
/// tables lines. Markdown that is all markup is shown as it stands.
pub fn render(markdown: &str) -> String {
    let text = write(&styled::read(markdown, &PLAIN));
    let text = text.trim();
    if text.is_empty() { markdown.trim().to_owned() } else { text.to_owned() }
}

fn explains(link: &Link, words: &str) -> bool {
    let bare = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
    words != &*link.url && words != bare && !link.url.is_empty()
}

/// Writes the text with a mark before each line of a quote.
fn write(styled: &StyledText) -> String {
    let mut out = String::with_capacity(styled.text().len());
    let mut begins = true;
    for (text, tags) in styled.stretches(0..styled.text().len()) {
        if tags.contains(&Tag::Gap) {
            out.truncate(out.trim_end_matches('\n').len());
            out.push_str(text);
            begins = true;
            continue;
        }
        let mark = "> ".repeat(tags.iter().filter(|tag| **tag == Tag::Quote).count());
        if begins {
            out.push_str(&mark);
        }
        begins = false;
        out.push_str(&text.replace('\n', &format!("\n{mark}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markdown_reads_well_without_styles() {
        let text = render(
            "# Tea\n\nA **bold** *word*, `code` and ~~old~~ [a link](https://a.example/x).\n\
             Next line <https://b.example>.\n\n> quoted\n> twice\n\n\
             1. one\n2. two\n   - deep\n\n- [x] done\n- [ ] open\n\n\
             ```rust\nlet a = 1;\nlet b = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\nend",
        );
        insta::assert_snapshot!(text, @"
        Tea

        A bold word, code and old a link (https://a.example/x).
        Next line https://b.example.

        > quoted
        > twice

        1. one
        2. two
          • deep

        • ☑ done
        • ☐ open

        let a = 1;
        let b = 2;

        a | b
        1 | 2

        ———

        end
        ");
    }

    #[test]
    fn what_is_all_markup_is_shown_as_it_stands() {
        assert_eq!(render("```\n```"), "```\n```");
        assert_eq!(render("  "), "");
        assert_eq!(render("![](https://a.example/x.png)"), "https://a.example/x.png");
    }

    #[test]
    fn a_quote_marks_its_lines_and_nothing_else() {
        assert_eq!(render("> ```\n> a\n> b\n> ```\n\nc"), "> a\n> b\n\nc");
        assert_eq!(render("> <https://a.example>"), "> https://a.example");
        assert_eq!(render("> > a\n\n> b"), "> > a\n\n> b");
    }

    proptest! {
        #[test]
        fn something_to_say_is_never_lost(text in "(\\PC|\n|[*_`>#|-]|\\[|\\]){0,200}") {
            let shown = render(&text);
            prop_assert_eq!(shown.is_empty(), text.trim().is_empty());
        }

        #[test]
        fn plain_words_stay(words in "[a-zà-ü]{1,12}( [a-zà-ü]{1,12}){0,20}") {
            prop_assert_eq!(render(&words), words);
        }
    }
}
