//! Splicing keeps every byte of what is not touched.

use proptest::prelude::*;

use super::*;

fn cell(kind: &str, number: usize, source: &str) -> Value {
    let mut cell = json!({"cell_type": kind, "id": format!("c{number}"), "metadata": {"x": [1.0, "]},{"]},
        "source": lines_of(source)});
    if kind == "code" {
        cell["execution_count"] = json!(number);
        cell["outputs"] = json!([{"output_type": "stream", "name": "stdout", "text": ["out\n"]}]);
    }
    cell
}

fn file(cells: &[Value], indent: Option<&str>) -> String {
    let value =
        json!({"cells": cells, "metadata": {"é\"": "}"}, "nbformat": 4, "nbformat_minor": 5});
    let Some(indent) = indent else { return value.to_string() };
    let format = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, format)).unwrap();
    String::from_utf8(bytes).unwrap() + "\n"
}

fn cells() -> impl Strategy<Value = Vec<Value>> {
    let one = (prop::sample::select(vec!["code", "markdown"]), "[a\"\\\\{}\\[\\],\né]{0,8}");
    prop::collection::vec(one, 0..4).prop_map(|all| {
        all.iter().enumerate().map(|(n, (kind, source))| cell(kind, n, source)).collect()
    })
}

fn indents() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![None, Some(" "), Some("  "), Some("\t")])
}

fn sources(bytes: &[u8]) -> Vec<String> {
    Notebook::read(bytes).unwrap().cells.iter().map(|c| text_of(c.get("source"))).collect()
}

proptest! {
    /// What is spliced is what writing the whole notebook anew would give, byte for byte.
    #[test]
    fn a_splice_is_the_file_written_anew(
        all in cells(), indent in indents(), at in 0_usize..4, new in "[ab\"\n]{1,9}", code: bool
    ) {
        let before = file(&all, indent);
        let book = Notebook::read(before.as_bytes()).unwrap();
        let kind = if code { "code" } else { "markdown" };
        let mut fresh = Map::new();
        set_kind(&mut fresh, kind);
        fresh.insert("id".into(), json!("new"));
        fresh.insert("metadata".into(), json!({}));
        fresh.insert("source".into(), lines_of(&new));
        let at_insert = at.min(all.len());
        let mut wanted = all.clone();
        wanted.insert(at_insert, Value::Object(fresh));
        let got = book.inserted(at_insert, &new, kind, "new");
        prop_assert_eq!(String::from_utf8(got).unwrap(), file(&wanted, indent));

        if at < all.len() {
            let mut wanted = all.clone();
            wanted[at]["source"] = lines_of(&new);
            let got = book.replaced(at, &new, None);
            prop_assert_eq!(String::from_utf8(got).unwrap(), file(&wanted, indent));
            set_kind(wanted[at].as_object_mut().unwrap(), kind);
            let got = book.replaced(at, &new, Some(kind));
            prop_assert_eq!(String::from_utf8(got).unwrap(), file(&wanted, indent));
            let mut wanted = all.clone();
            wanted.remove(at);
            let got = book.deleted(at);
            prop_assert_eq!(String::from_utf8(got).unwrap(), file(&wanted, indent));
        }
    }

    /// However oddly a file is written: the touched cell changes, all bytes around it stay.
    #[test]
    fn bytes_outside_the_cell_stay(gap in "[ \n\t]{0,4}", at in 0_usize..3) {
        let cell = |n: usize| format!("{{\"source\":{gap}\"s{n}\"{gap},\"cell_type\" : \"markdown\", \"n\":1e3}}");
        let text = format!("{gap}{{ \"nbformat\":4,{gap}\"cells\":[{gap}{}{gap},{}, {}{gap}]{gap}}}", cell(0), cell(1), cell(2));
        let got = Notebook::read(text.as_bytes()).unwrap().replaced(at, "new", None);
        let wanted = text.replace(&format!("\"s{at}\""), "\"new\"");
        prop_assert_eq!(String::from_utf8(got).unwrap(), wanted);
        let got = Notebook::read(text.as_bytes()).unwrap().deleted(at);
        let left: Vec<String> = (0..3).filter(|n| *n != at).map(|n| format!("s{n}")).collect();
        prop_assert_eq!(sources(&got), left);
        let got = Notebook::read(text.as_bytes()).unwrap().inserted(at, "x", "code", "id");
        prop_assert_eq!(&sources(&got)[at], "x");
    }
}

#[test]
fn a_reader_sees_cells_and_outputs() {
    let mut all = [cell("markdown", 0, "# Title"), cell("code", 1, "1 + 1\n2")];
    all[1]["outputs"] = json!([
        {"output_type": "stream", "text": "hi"},
        {"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "aaaa"}},
        {"output_type": "error", "ename": "TypeError", "evalue": "no", "traceback": []},
    ]);
    insta::assert_snapshot!(shown(file(&all, Some(" ")).as_bytes()).unwrap(), @r##"
[cell 0] markdown id=c0
# Title
[cell 1] code id=c1
1 + 1
2
[output of cell 1] stream
hi
[output of cell 1] execute_result
2
[image/png, 4 bytes, not shown]
[output of cell 1] error
TypeError: no
"##);
    assert_eq!(
        shown(b"{}").unwrap_err().to_string(),
        "nbformat none: only notebooks of format 4 are supported"
    );
    assert!(shown(b"[").unwrap_err().to_string().starts_with("not a notebook: "));
}
