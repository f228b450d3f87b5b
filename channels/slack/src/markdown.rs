//! What Slack makes of Markdown: which links it opens, and what of them is written out.

use selkie_channel_core::links;
use selkie_channel_core::styled::{self, Dialect, Link, LinkKind, StyledText, Tables};

/// The longest address, in bytes, that words link to: every piece of a long link repeats it.
const MAX_LINK: usize = 2048;

const SLACK: Dialect = Dialect {
    behind_quote: 2,
    tables: Tables::Aligned,
    opens: |link| follows(&link.url),
    stand_in: |_| None,
    explains,
};

/// Renders Markdown, with the styles that Slack has.
pub fn render(markdown: &str) -> StyledText {
    styled::read(markdown, &SLACK)
}

/// Slack opens what is a web or mail address.
fn follows(url: &str) -> bool {
    let known = ["http://", "https://", "mailto:"].iter().any(|s| url.starts_with(s));
    known && url.len() <= MAX_LINK && !url.contains(char::is_whitespace)
}

fn explains(link: &Link, words: &str) -> bool {
    match link.live {
        true => !link.in_table && links::poses(words, &link.url),
        false => link.kind != LinkKind::Bare && link.url.len() > MAX_LINK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mrkdwn;

    fn mrkdwn(markdown: &str) -> String {
        let styled = render(markdown);
        mrkdwn::mrkdwn(&styled, 0..styled.text().len())
    }

    #[test]
    fn markdown_becomes_slacks_own() {
        let source = "# Tea & <cake>\n\n**bold**, *italic*, ~~gone~~ and `a < b`.\n\n- one\n- two\n  1. deep\n\n> said\n> twice\n\nsee [the *list*](https://x.org/?a=1&b=2) and <https://y.org>\n\n```rust\nlet a = &b;\n```\n\n| a | b |\n|---|--:|\n| 1 | 22 |\n\n![cat](https://z.org/c.png)";
        insta::assert_snapshot!(mrkdwn(source), @r"
        *Tea &amp; &lt;cake&gt;*

        *bold*, _italic_, ~gone~ and `a &lt; b`.

        • one
        • two
          1. deep

        > said
        > twice

        see <https://x.org/?a=1&amp;b=2|the> _<https://x.org/?a=1&amp;b=2|list>_ and <https://y.org>

        ```
        let a = &amp;b;
        ```

        ```
        a |  b
        --+---
        1 | 22
        ```

        <https://z.org/c.png|cat>
        ");
    }

    #[test]
    fn a_style_inside_a_word_is_seamed() {
        assert_eq!(mrkdwn("un**believ**able"), "un\u{200b}*believ*\u{200b}able");
        assert_eq!(mrkdwn("**a**_b_"), "*a*_b_".replace("*_", "*\u{200b}_").replace("**", "*"));
        assert_eq!(mrkdwn("(**a**)"), "(*a*)");
    }

    #[test]
    fn what_stands_for_itself_is_no_style() {
        let shown = mrkdwn(r"\*literal\* and \_this\_, snake_case_name, 2 \* 3, a\*b");
        let wanted =
            "*\u{200b}literal\u{200b}* and _\u{200b}this\u{200b}_, snake_case_name, 2 * 3, a*b";
        assert_eq!(shown, wanted);
        assert_eq!(mrkdwn("`*a*`"), "`*a*`", "code is code");
    }

    #[test]
    fn an_address_that_is_too_long_stands_behind_its_words() {
        let address = format!("https://x.example/{}", "a".repeat(3_000));
        let styled = render(&format!("[words]({address}) and <{address}>"));
        assert_eq!(styled.text(), format!("words ({address}) and {address}"));
        assert_eq!(mrkdwn::mrkdwn(&styled, 0..styled.text().len()), styled.text());
    }

    #[test]
    fn a_link_that_names_another_place_shows_where_it_leads() {
        let said =
            mrkdwn("[https://bank.example](https://evil.example) [bank](https://evil.example)");
        let shown = "<https://evil.example|https://bank.example> (https://evil.example) <https://evil.example|bank>";
        assert_eq!(said, shown);
    }

    #[test]
    fn only_web_addresses_are_links() {
        assert_eq!(mrkdwn("[x](javascript:alert)"), "x");
        assert_eq!(mrkdwn("[x](https://a|b>c)"), "<https://a%7Cb%3Ec|x>");
    }
}
