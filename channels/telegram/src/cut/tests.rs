//! What rendering and cutting promise, checked by a counter that knows nothing of either.

use proptest::prelude::*;
use selkie_channel_core::split::utf16_len;

use super::*;
use crate::markdown::render;

/// Reads Telegram HTML strictly: known tags, well nested, known entities. Returns the visible text.
fn strip(html: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(c) = rest.chars().next() {
        match c {
            '<' => {
                let end = rest.find('>').ok_or("no >")?;
                let inside = &rest[1..end];
                match inside.strip_prefix('/') {
                    Some(name) if open.last().is_some_and(|o| o == name) => drop(open.pop()),
                    Some(name) => return Err(format!("</{name}> closes {open:?}")),
                    None => {
                        let name = inside.split(' ').next().unwrap();
                        let known = ["b", "i", "s", "code", "pre", "a", "blockquote"];
                        if !known.contains(&name) || open.iter().any(|o| o == name) {
                            return Err(format!("<{inside}> in {open:?}"));
                        }
                        open.push(name.to_owned());
                    }
                }
                rest = &rest[end + 1..];
            }
            '&' => {
                let end = rest.find(';').ok_or("no ;")?;
                out.push(match &rest[..=end] {
                    "&amp;" => '&',
                    "&lt;" => '<',
                    "&gt;" => '>',
                    "&quot;" => '"',
                    other => return Err(format!("entity {other}")),
                });
                rest = &rest[end + 1..];
            }
            '>' => return Err("a bare >".to_owned()),
            c => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    if open.is_empty() { Ok(out) } else { Err(format!("left open: {open:?}")) }
}

fn html(markdown: &str) -> String {
    let pieces = pieces(&render(markdown), 4096, 4096);
    pieces.iter().map(|p| p.html.as_str()).collect::<Vec<_>>().join("\n=====\n")
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn markdown_becomes_what_telegram_shows() {
    let page = "# Plan *today*\nHello **bold *both*** and ~~gone~~ `a < b`.\nSecond & line \
        <b>raw</b>\n\n> quoted **text**\n> more\n\n> another\n\n- one\n  - deep\n- [x] done\n- two\n\n\
        3. three\n4. four\n\n```rust\nfn main() {\n    x < 1;\n}\n```\n\n---\n\
        [site](https://e.org/?a=1&b=2) [`code`](https://e.org) [file](./a.md) ![cat](https://e.org/c.png) <https://e.org>";
    insta::assert_snapshot!(html(page), @r#"
    <b>Plan <i>today</i></b>

    Hello <b>bold <i>both</i></b> and <s>gone</s> <code>a &lt; b</code>.
    Second &amp; line &lt;b&gt;raw&lt;/b&gt;

    <blockquote>quoted <b>text</b>
    more</blockquote>

    <blockquote>another</blockquote>

    • one
      • deep
    • ☑ done
    • two

    3. three
    4. four

    <pre><code class="language-rust">fn main() {
        x &lt; 1;
    }</code></pre>

    ———

    <a href="https://e.org/?a=1&amp;b=2">site</a> <a href="https://e.org">code</a> file (./a.md) <a href="https://e.org/c.png">cat</a> <a href="https://e.org">https://e.org</a>
    "#);
}

#[test]
fn a_link_that_names_another_place_shows_where_it_leads() {
    let said = html("[https://bank.example](https://evil.example) [Ada](tg://user?id=4711)");
    let shown = "<a href=\"https://evil.example\">https://bank.example</a> (https://evil.example) Ada (tg://user?id=4711)";
    assert_eq!(said, shown);
}

#[test]
fn a_table_is_aligned_by_what_is_seen() {
    let table = "| Name | 数量 |\n|:--|--:|\n| Äpfel | 3 |\n| 🍎 **x** | 12 |";
    insta::assert_snapshot!(html(table), @r"
    <pre>Name  | 数量
    ------+-----
    Äpfel |    3
    🍎 x  |   12</pre>
    ");
}

#[test]
fn loose_lists_and_blocks_inside_items_stay_together() {
    let list = "1. first\n\n   more of first\n\n2. second\n\n   ```\n   code\n   ```\n\nafter";
    insta::assert_snapshot!(html(list), @r"
    1. first
    more of first
    2. second
    <pre>code</pre>

    after
    ");
}

#[test]
fn text_that_shows_nothing_makes_no_message() {
    for nothing in ["", "  \n\n ", "\u{200b}\u{2060}", "\u{3164}", "&nbsp;", "** **\u{feff}"] {
        let shown = pieces(&render(nothing), 4096, 4096);
        assert!(shown.is_empty() || shown[0].plain.contains('*'), "{nothing:?}: {shown:?}");
    }
    assert!(!shows("\u{202e}\u{fe0f}\u{0}"));
}

#[test]
fn code_fences_are_closed_and_opened_again() {
    let line = "let indented = \"x\";\n    more();\n";
    let code = format!("before\n\n```rust\n{}```\nafter", line.repeat(300));
    let pieces = pieces(&render(&code), 4096, 4096);
    assert_eq!(pieces.len(), 3);
    for piece in &pieces {
        assert_eq!(piece.html.matches("<pre><code class=\"language-rust\">").count(), 1);
        assert_eq!(piece.html.matches("</code></pre>").count(), 1);
    }
    assert_eq!(solid(&strip(&pieces[1].html).unwrap()), solid(&pieces[1].plain));
}

#[test]
fn a_hundred_thousand_characters_are_twenty_five_messages() {
    let text = "Many words make a long answer, and it goes on. ".repeat(2128);
    let pieces = pieces(&render(&text), 4072, 4072);
    assert_eq!(pieces.len(), 25);
    let all: String = pieces.iter().map(|p| p.plain.as_str()).collect();
    assert_eq!(solid(&all), solid(&text));
}

#[test]
fn hostile_nesting_stays_small() {
    for deep in ["- ", "> ", "*a ", "**a *b ", "[a](", "1. > "] {
        let text = render(&deep.repeat(20_000)).text().len();
        assert!(text < 40 * 20_000, "{deep:?} became {text} bytes");
    }
}

#[test]
fn a_cut_spares_emoji_and_entities() {
    let family = "👨‍👩‍👧";
    let pieces = pieces(&render(&format!("{}{family}", "&".repeat(6))), 10, 10);
    assert_eq!(pieces[0].html, "&amp;".repeat(6));
    assert_eq!(pieces[1].html, family);
}

proptest! {
    #[test]
    fn any_markdown_gives_sound_html_within_the_limit(
        markdown in r#"([a-z<>&"]{1,8}|[*_`~\[\]()!#>|-]{1,3}|\n|\n\n| |```rust\n|\PC|😀|https://e\.org/){0,80}"#,
        limit in 2usize..80,
    ) {
        let styled = render(&markdown);
        let pieces = pieces(&styled, limit, limit);
        let mut seen = String::new();
        for piece in &pieces {
            let visible = strip(&piece.html).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&visible, &piece.plain);
            prop_assert!(utf16_len(&visible) <= limit);
            prop_assert!(shows(&visible));
            seen.push_str(&visible);
        }
        let dropped = |s: &str| s.chars().filter(|c| shows(&c.to_string())).collect::<String>();
        prop_assert_eq!(dropped(&seen), dropped(styled.text()));
    }

    #[test]
    fn plain_words_arrive_as_they_are(words in "[a-z]{1,12}( [a-z]{1,12}){0,60}", limit in 2usize..50) {
        let pieces = pieces(&render(&words), limit, limit);
        let all: String = pieces.iter().map(|p| p.plain.as_str()).collect();
        prop_assert_eq!(solid(&all), solid(&words));
    }
}
