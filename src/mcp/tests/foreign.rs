//! What servers list and answer, from strange to hostile.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::desk::Desk;
use crate::listing::{Listing, ServerList};
use crate::outcome::read;
use crate::{CallOutcome, CallResult};

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "does it", "inputSchema": { "type": "object" } })
}

fn listed(tools: Vec<Value>) -> ServerList {
    let mut listing = Listing::new(ServerList::default(), true);
    assert_eq!(listing.page(&raw(&json!({ "tools": tools }))).unwrap(), None);
    listing.done()
}

fn result(value: &Value) -> CallResult {
    match read(&raw(value), true).unwrap() {
        CallOutcome::Done(result) => result,
        CallOutcome::Asks(asks) => panic!("{asks:?}"),
    }
}

fn text(value: &Value) -> String {
    result(value).text
}

#[test]
fn ten_thousand_tools_are_listed_in_time_and_a_thousand_kept() {
    let mut listing = Listing::new(ServerList::default(), true);
    let page = |from: usize| {
        let tools: Vec<_> = (from..from + 1_000).map(|n| tool(&format!("tool-{n}"))).collect();
        raw(&json!({ "tools": tools, "nextCursor": format!("{from}") }))
    };
    let pages: Vec<_> = (0..11).map(|n| page(n * 1_000)).collect();
    let began = std::time::Instant::now();
    let mut read = 0;
    for page in &pages {
        read += 1;
        if listing.page(page).unwrap().is_none() {
            break;
        }
    }
    println!("10,000 tools in {:?}", began.elapsed());
    let list = listing.done();
    assert_eq!((read, list.offer.tools.len(), list.unlisted_count), (10, 1_000, 9_000));
    assert_eq!(list.unlisted.len(), 100);
    assert_eq!(list.unlisted[0].why, "no more than 1000 tools of a server are taken");
    let one = raw(&json!({ "tools": vec![json!({}); 100_000] }));
    let mut listing = Listing::new(ServerList::default(), true);
    listing.page(&one).unwrap();
    assert_eq!(listing.done().unlisted_count, 100_000);
}

#[test]
fn pages_that_go_round_or_on_for_ever_are_refused() {
    let mut listing = Listing::new(ServerList::default(), true);
    let page = |cursor: &str| raw(&json!({ "tools": [], "nextCursor": cursor }));
    assert_eq!(listing.page(&page("")).unwrap().as_deref(), Some(""), "an empty one is one");
    listing.page(&page("b")).unwrap();
    let said = listing.page(&page("")).unwrap_err().to_string();
    assert_eq!(said, "the MCP server lists the same page of tools again");
    let mut listing = Listing::new(ServerList::default(), true);
    let pages = (0..1_000).find_map(|n| listing.page(&page(&n.to_string())).err().map(|_| n));
    assert_eq!(pages, Some(99));
    for wrong in
        [json!({}), json!({ "tools": 1 }), json!([]), json!({ "tools": [], "nextCursor": 1 })]
    {
        let mut listing = Listing::new(ServerList::default(), true);
        assert!(listing.page(&raw(&wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_tool_that_cannot_be_taken_takes_no_other_with_it() {
    let named = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema });
    let header = |of: Value| json!({ "type": "object", "properties": { "p": of } });
    let list = listed(vec![
        tool("good"),
        tool("good"),
        tool(""),
        tool("a\nb"),
        tool(&"n".repeat(129)),
        json!("no tool"),
        json!({ "description": "no name" }),
        named("list", json!([1])),
        named("header", header(json!({ "type": "number", "x-mcp-header": "A" }))),
        named("spaced", header(json!({ "type": "string", "x-mcp-header": "A B" }))),
        json!({ "name": "long", "description": "d".repeat(33 * 1024), "inputSchema": {} }),
        json!({ "name": "large", "inputSchema": { "description": "d".repeat(129 * 1024) } }),
        json!({ "name": "no schema" }),
        tool("last"),
    ]);
    let names: Vec<_> = list.offer.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "last", "no schema"]);
    assert_eq!(list.unlisted_count, 11);
    let said: Vec<_> = list.unlisted.iter().map(|it| format!("{}: {}", it.name, it.why)).collect();
    assert_eq!(said[0], "good: its name is another tool's, too");
    assert_eq!(said[2], "a⟨U+000A⟩b: its name is none, or has more than 128 characters");
    assert_eq!(said[7], "header: x-mcp-header of p is for text, a whole number or a yes or no");
    let deep = (0..120).fold(json!({}), |of, _| json!({ "not": of }));
    assert_eq!(listed(vec![named("deep", deep)]).offer.tools.len(), 1);
}

#[test]
fn an_answer_is_text_of_all_its_parts() {
    let parts = json!({ "content": [
        { "type": "text", "text": "one\r\ntwo\u{1b}[31m" },
        { "type": "resource_link", "uri": "file:///a", "name": "A" },
        { "type": "resource", "resource": { "uri": "file:///b", "text": "inside" } },
        { "type": "resource", "resource": { "uri": "file:///c", "blob": "AAAA", "mimeType": "x/y" } },
        { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
        { "type": "image", "data": "iVBORw0=", "mimeType": "image/png" },
        { "type": "image", "data": "AAAA", "mimeType": "image/svg+xml" },
        { "type": "hologram" }, 7,
    ], "structuredContent": { "n": 1 } });
    let answer = result(&parts);
    assert_eq!(
        answer.text,
        "one\ntwo⟨U+001B⟩[31m\n[a link to A: file:///a]\n[file:///b]\ninside\n[file:///c: a file (x/y, 3 bytes), which is not shown]\n\
         [a sound (audio/wav, 3 bytes), which is not played]\n[a picture (image/svg+xml, 3 bytes), which cannot be shown]\n\
         [a part of the kind hologram (19 bytes), which is not shown]\n[a part that cannot be read]"
    );
    assert_eq!(answer.pictures[0].bytes, b"\x89PNG\r");
    assert_eq!(text(&json!({ "structuredContent": { "n": 1 } })), r#"{"n":1}"#);
    assert_eq!(text(&json!({ "content": [], "isError": true })), "(the tool has answered nothing)");
    assert!(result(&json!({ "isError": true })).is_error);
    assert!(read(&raw(&json!({ "content": 1 })), true).is_err());
}

#[test]
fn an_answer_is_never_longer_than_it_may_be() {
    let part = |text: String| json!({ "type": "text", "text": text });
    for content in [
        json!([part("ä".repeat(100_000))]),
        json!([part("\u{7}".repeat(100_000))]),
        json!(vec![part("x".repeat(100)); 5_000]),
        json!(vec![json!({}); 1_000_000]),
    ] {
        let text = text(&json!({ "content": content }));
        assert!(text.len() <= 50 * 1024, "{}", text.len());
        assert!(text.contains("left out"), "{}", &text[text.len() - 200..]);
    }
    let picture = json!({ "type": "image", "data": "iVBORw0=", "mimeType": "image/png" });
    assert_eq!(result(&json!({ "content": vec![picture; 50] })).pictures.len(), 8);
}

#[tokio::test]
async fn our_part_of_a_call_is_short() {
    const CALLS: u32 = 200;
    let desk = Desk::script("legacy; while :; do next; text $id ok; done").open();
    desk.call().await.unwrap();
    let began = Instant::now();
    for _ in 0..CALLS {
        desk.call().await.unwrap();
    }
    let each = began.elapsed() / CALLS;
    println!("a call of a program takes {each:?}, its shell included");
    assert!(each < Duration::from_millis(50));
}
