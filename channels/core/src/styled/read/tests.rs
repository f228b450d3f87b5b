//! Markdown as styled text.

use super::super::writer::MAX_STYLES;
use super::*;

const DIALECT: Dialect = Dialect {
    behind_quote: 2,
    tables: Tables::Aligned,
    opens: |link| !link.nested,
    stand_in: |link| Some(link.url.to_string()),
    explains: |link, words| !link.live && words != &*link.url,
};

fn stretches(markdown: &str) -> String {
    let styled = read(markdown, &DIALECT);
    let all = styled.stretches(0..styled.text().len());
    all.map(|(text, tags)| format!("{text:?} {tags:?}\n")).collect()
}

#[test]
fn every_stretch_knows_its_path() {
    let source = "# A *b*\n\n> > q `c`\n>\n> r\n\n```rs\ny\n```\n[l ![](i)](u)";
    insta::assert_snapshot!(stretches(source), @r#"
    "A " [Bold]
    "b" [Bold, Italic]
    "\n\n" [Gap]
    "q " [Quote, Quote]
    "c" [Quote, Quote, Code]
    "\n\n" [Gap]
    "r" [Quote]
    "\n\n" [Gap]
    "y" [Pre(Some("rs"))]
    "\n\n" [Gap]
    "l i" [Link("u")]
    "#);
}

#[test]
fn no_word_behind_a_fence_is_lost() {
    let shown = |markdown: &str| read(markdown, &DIALECT).text().to_owned();
    assert_eq!(
        shown("Use ```\ncode\n``` and then restart. END"),
        "Use ```\ncode\n\nand then restart. END"
    );
    assert_eq!(shown("Run:\n\n```rm -rf build && make"), "Run:\n\nrm -rf build && make");
    assert_eq!(shown("```sh\nls\n```"), "ls");
    assert_eq!(shown("```rust title=\"a.rs\" {3}\nx\n```"), "x");
    assert_eq!(shown("```python main.py\nx\n```"), "python main.py\nx");
    assert_eq!(shown("a\n\n```END"), "a\n\nEND");
    assert_eq!(shown("```\n```"), "");
}

/// The text with what is bold in «», what is code in ‹›, and the lines of a table or a block of code in ⟦⟧.
fn marked(markdown: &str) -> String {
    let styled = read(markdown, &DIALECT);
    let all = styled.stretches(0..styled.text().len());
    let marks = all.map(|(text, tags)| match tags.last() {
        Some(Tag::Bold) => format!("«{text}»"),
        Some(Tag::Code) => format!("‹{text}›"),
        Some(Tag::Pre(_)) => format!("⟦{text}⟧"),
        Some(Tag::Italic) => format!("_{text}_"),
        Some(Tag::Strike) => format!("~{text}~"),
        _ => text.to_owned(),
    });
    marks.collect()
}

#[test]
fn emphasis_is_seen_beside_letters_and_punctuation() {
    for (markdown, shown) in [
        ("**「重要」**です", "«「重要」»です"),
        ("これは**「重要」**です。", "これは«「重要」»です。"),
        ("**注意：**必ず読む", "«注意：»必ず読む"),
        ("**“重点”**内容，**《书》**好", "«“重点”»内容，«《书》»好"),
        ("**중요(필수)**입니다", "«중요(필수)»입니다"),
        ("値は**`x`**です", "値は‹x›です"),
        ("価格は**$5**です", "価格は«$5»です"),
        ("**重要⭐**です", "«重要⭐»です"),
        ("*「傍点」*です", "_「傍点」_です"),
        ("~~「旧」~~です", "~「旧」~です"),
        ("**Status:**OK and **More:**yes", "«Status:»OK and «More:»yes"),
        ("**Step 1.**Go (**now**)", "«Step 1.»Go («now»)"),
        ("**\"Tea\"**is **\"it\"**", "«\"Tea\"»is «\"it\"»"),
        ("- **Key:**value\n- **A**", "• «Key:»value\n• «A»"),
        ("**bold**, \"**x**\" (**y**)", "«bold», \"«x»\" («y»)"),
        ("2*(3+4)*5", "2*(3+4)*5"),
        ("x**(a)**y", "x**(a)**y"),
        (r"\**no:\**no", "**no:**no"),
        ("`**a:**b` <b a=\":**c\">", "‹**a:**b› <b a=\":**c\">"),
        ("```\n**a:**b __c__.d\n```", "⟦**a:**b __c__.d⟧"),
    ] {
        assert_eq!(marked(markdown), shown, "{markdown}");
    }
    let link = read("[a](https://x.example/__b__.c?**d:**e)", &DIALECT);
    let url = "https://x.example/__b__.c?**d:**e";
    assert!(link.stretches(0..1).all(|(_, tags)| tags == [Tag::Link(url.into())]), "{link:?}");
}

#[test]
fn names_keep_their_underscores() {
    for same in [
        "__init__.py",
        "see __init__.py and pkg/__main__.py.",
        "x.__class__ and __dict__() or src/__tests__/a",
        "_layout_.tsx",
        "snake_case_name",
    ] {
        assert_eq!(marked(same), same);
    }
    assert_eq!(marked("__init__.py is __bold__, _so_."), "__init__.py is «bold», _so_.");
}

#[test]
fn formulas_stay_as_they_were_written() {
    for (markdown, shown) in [
        (r"so \(a_1 * b_2 * c\), and", r"so ‹\(a_1 * b_2 * c\)›, and"),
        (r"\(x\) and \(n - 1\)", r"‹\(x\)› and ‹\(n - 1\)›"),
        ("\\[\nE = mc^2 \\\\\nx \\, y\n\\]\nend", "‹\\[\nE = mc^2 \\\\\nx \\, y\n\\]›\nend"),
        (r"$$\int_0^{\infty} e^{-x^2}\,dx$$ is", r"‹$$\int_0^{\infty} e^{-x^2}\,dx$$› is"),
        ("> $$\n> a_1 < b_1\n> $$\n\nc", "‹$$\na_1 < b_1\n$$›\n\nc"),
        (r"**so \(a=b\)** *x*", r"«so »‹\(a=b\)› _x_"),
        (r"\(a*b\) *so* c", r"‹\(a*b\)› _so_ c"),
        (r"- \(f(x) = \{1\}\)", r"• ‹\(f(x) = \{1\}\)›"),
        (r"| a |\n|---|\n| \(x_1\) |".replace("\\n", "\n").as_str(), "⟦a\n-------\n\\(x_1\\)⟧"),
        (r"\[optional\] \(see below\) \[x\] done", "[optional] (see below) [x] done"),
        (r"\\(x\\) costs $$ and \$$5", r"\(x\) costs $$ and $$5"),
        (r"\(open \(a=b\)", r"(open ‹\(a=b\)›"),
        (r"`\(x\)` \(open", r"‹\(x\)› (open"),
        ("    \\(x_1\\)", r"⟦\(x_1\)⟧"),
        (r"\(a = `\)` b", r"‹\(a = `\)›` b"),
    ] {
        assert_eq!(marked(markdown), shown, "{markdown}");
    }
}

#[test]
fn text_behind_a_block_in_a_list_begins_a_line() {
    assert_eq!(marked("- # A\n  b\n- ```\n  c\n  ```\n  d\n\ne"), "• «A»\nb\n• ⟦c⟧\nd\n\ne");
    let mail = read("<a@x.example>", &DIALECT);
    let url = Tag::Link("mailto:a@x.example".into());
    assert!(mail.stretches(0..1).all(|(_, tags)| *tags == [url.clone()]), "{mail:?}");
}

#[test]
fn a_fence_holds_shorter_ones() {
    assert_eq!(
        marked("````markdown\n# A\n```rust\nx\n```\n````\nend"),
        "⟦# A\n```rust\nx\n```⟧\n\nend"
    );
    assert_eq!(marked("~~~\n```\nx\n```\n~~~"), "⟦```\nx\n```⟧");
}

#[test]
fn cells_hold_line_breaks_and_pipes() {
    let table = "| a | b |\n|---|---|\n| one<br>two<br/>x | `p \\| q` \\| r |";
    assert_eq!(marked(table), "⟦a         | b\n----------+----------\none two x | p | q | r⟧");
    assert_eq!(marked("| a | b |\n|---|---|\n| `p|q` |"), "⟦a  | b\n---+---\n`p | q`⟧");
    assert_eq!(marked("a<br>\nb<BR />c<brx>\n\n<br>\n\nd"), "a\nb\nc<brx>\n\nd");
}

#[test]
fn a_wide_table_is_a_cell_a_line() {
    let long = "a sentence that no phone shows on one line";
    let table =
        format!("| Name | Price | |\n|---|--:|---|\n| Tea | 3 | {long} |\n| Jam | | {long} |");
    assert_eq!(marked(&table), format!("«Name:» Tea\n«Price:» 3\n{long}\n\n«Name:» Jam\n{long}"));
    assert_eq!(
        marked(&format!("> - x\n>\n>   {}\n\ny", table.replace('\n', "\n>   "))),
        format!("• x\n\n«Name:» Tea\n«Price:» 3\n{long}\n\n«Name:» Jam\n{long}\n\ny")
    );
    let alone = format!("| Name |\n|---|\n| {long} {long} |");
    assert!(marked(&alone).starts_with("⟦Name\n---"), "one column needs no names");
}

#[test]
fn escaped_text_is_no_markup() {
    for text in ["[a = b] (c = d) $$x$$ **e:**f __g__.h", "1) x\n- y", r"\(a=b\) \[c=d\]"] {
        let mut escaped = String::new();
        text.chars().for_each(|c| crate::styled::push_literal(&mut escaped, c));
        assert_eq!(marked(&escaped), text);
    }
}

#[test]
fn foreign_text_costs_no_more_than_its_length() {
    let head = format!("| {} | b |\n|---|---|\n", "h".repeat(30_000));
    let table = head + &format!("| {} | x |\n", "y".repeat(20)).repeat(2_000);
    assert!(read(&table, &DIALECT).text().len() < 200_000);
    for many in [r"\(x", r"\[x=", "$$x=", "**a:**b", "__a__.b", r"\(a=b\)", "\u{fdd0}**a:**b"] {
        let text = many.repeat(20_000);
        let shown = read(&text, &DIALECT);
        assert!(shown.text().len() <= text.len(), "{many}");
    }
}

#[test]
fn nothing_is_as_deep_as_it_was_written() {
    for deep in ["> ", "*a ", "**a *b ", "[a](", "![a](b"] {
        let styled = read(&deep.repeat(2_000), &DIALECT);
        let deepest = styled.stretches(0..styled.text().len()).map(|(_, tags)| tags.len());
        assert!(deepest.max().unwrap_or_default() <= MAX_STYLES, "{deep:?}");
    }
}
