//! A server that asks a person in the middle of a call: the answer goes back to it, whatever dies in between, and where
//! nobody is there it is told so.

use std::fs;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, RgbImage};
use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, MessageView, PRIVATE};
use serde_json::{Value, json};

use crate::mcp::agree;
use crate::support::rows::{number, texts};
use crate::support::terminal::AtTerminal;
use crate::support::world::World;

/// A server of the newer version of the protocol. What it is called with stands in a file beside it.
const SERVER: &str = r#"
cd "$(dirname "$0")"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
    case "$line" in
        *'"method":"server/discover"'*)
            say '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shop","version":"2"}}}' ;;
        *'"method":"tools/list"'*) say '{"resultType":"complete","tools":'"$(cat tools.json)"'}' ;;
        *'"method":"tools/call"'*)
            printf '%s\n' "$line" >> calls
            case "$line" in
                *'"name":"photo"'*) say "$(cat photo.json)" ;;
                *'"inputResponses"'*)
                    [ -f hang ] && exec cat > /dev/null
                    action=$(printf '%s' "$line" | sed -n 's/.*"action":"\([a-z]*\)".*/\1/p')
                    say '{"resultType":"complete","content":[{"type":"text","text":"order: '$action'"}]}' ;;
                *) say "$(cat asks.json)" ;;
            esac ;;
        *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    esac
done
"#;

/// What goes back to the server as it is.
const STATE: &str = "st\u{e9} \"q\" \\ \u{1}\u{0}\u{1f375} {\"a\" : 1}";
const ORDER: &str = r#"call shop__order {"item": "cups"}"#;
const PHOTO: &str = r#"call shop__photo {"item": "cups"}"#;

fn tool(name: &str, more: &Value) -> Value {
    let mut tool = json!({
        "name": name,
        "description": "Does it.",
        "inputSchema": { "type": "object", "properties": { "item": { "type": "string" } } },
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        tool[key] = value.clone();
    }
    tool
}

fn drawn() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

/// Puts the server into a world, and agrees to what it offers.
fn with_shop(mut world: World) -> World {
    let folder = world.home.folder().to_owned();
    let put = |file: &str, text: String| fs::write(folder.join(file), text).expect("a file");
    put("shop.sh", SERVER.to_owned());
    let counted = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    let tools = [tool("order", &json!({})), tool("photo", &json!({ "outputSchema": counted }))];
    put("tools.json", json!(tools).to_string());
    let schema = json!({
        "type": "object", "required": ["size", "count"],
        "properties": {
            "size": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Middle"] },
            "count": { "type": "integer", "minimum": 1, "maximum": 5 },
        },
    });
    let params =
        json!({ "mode": "form", "message": "What shall it be?", "requestedSchema": schema });
    let asks = json!({
        "resultType": "input_required", "requestState": STATE,
        "inputRequests": { "form": { "method": "elicitation/create", "params": params } },
    });
    put("asks.json", asks.to_string());
    let photo = json!({
        "resultType": "complete",
        "content": [
            { "type": "image", "mimeType": "image/png", "data": STANDARD.encode(drawn()) },
            { "type": "audio", "mimeType": "audio/wav", "data": "UklGRg==" },
        ],
        "structuredContent": { "count": "many" },
    });
    put("photo.json", photo.to_string());
    let shop = json!({
        "command": "sh",
        "args": [folder.join("shop.sh").to_string_lossy()],
        "class": "read",
        "sandbox": "off",
    });
    world.home.set("mcp", json!({ "servers": { "shop": shop } }));
    agree(&world, "shop");
    world
}

fn written(world: &World) -> String {
    fs::read_to_string(world.home.folder().join("calls")).unwrap_or_default()
}

/// What the server was called with.
fn calls(world: &World) -> Vec<Value> {
    written(world).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

async fn shown(world: &World, part: &str) -> MessageView {
    let fits = |m: &MessageView| m.from.is_bot && !m.edited && m.text.contains(part);
    world.within(part, world.telegram().wait_for(PRIVATE, fits)).await
}

fn tap(world: &World, message: i64, label: &str) {
    world.telegram().tap(ADA, ADA, message, label).expect("a button with this label");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_in_field_by_field_and_goes_back_with_the_state() {
    let world = with_shop(World::offline().await);
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, ORDER);
    let first = shown(&world, "Which size?").await;
    assert!(first.text.contains("The MCP server shop asks; these are its words"), "{}", first.text);
    assert!(first.text.contains("What shall it be?"), "{}", first.text);
    tap(&world, first.id, "Middle");
    shown(&world, "Write count: a whole number").await;
    world.telegram().say(PRIVATE, ADA, "9");
    shown(&world, "That does not fit: invalid count: 9").await;
    world.telegram().say(PRIVATE, ADA, "3");
    shown(&world, "order: accept").await;

    let calls = calls(&world);
    let [asked, answered] = &calls[..] else { panic!("{calls:?}") };
    assert_ne!(asked["id"], answered["id"]);
    assert_eq!(asked["params"]["arguments"], answered["params"]["arguments"]);
    assert_eq!(answered["params"]["requestState"], STATE);
    let content = json!({ "size": "m", "count": 3 });
    let given = json!({ "form": { "action": "accept", "content": content } });
    assert_eq!(answered["params"]["inputResponses"], given);
    assert_eq!(number(&world.home, "SELECT max(attempts) FROM task"), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_declines_is_asked_no_more() {
    let world = with_shop(World::offline().await);
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, ORDER);
    let first = shown(&world, "Which size?").await;
    tap(&world, first.id, "Do not answer");
    let said = shown(&world, "order: decline").await;
    assert!(said.text.contains("who declined to answer"), "{}", said.text);
    assert_eq!(calls(&world).len(), 2);
    assert_eq!(texts(&world.home, "SELECT state FROM question"), ["answered"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_an_approved_call_outlives_the_process_and_needs_no_second_approval() {
    let world = with_shop(World::offline().await);
    let daemon = world.daemon();
    // What the server says is others' words: the next call asks first.
    world.ask(PHOTO).await;
    world.telegram().say(PRIVATE, ADA, ORDER);
    let request = shown(&world, "a tool of the MCP server shop").await;
    tap(&world, request.id, "Approve");
    let first = shown(&world, "Which size?").await;
    daemon.kill();
    tap(&world, first.id, "Small");
    let _second = world.daemon();
    shown(&world, "Write count: a whole number").await;
    world.telegram().say(PRIVATE, ADA, "1");
    shown(&world, "order: accept").await;
    let orders = calls(&world).iter().filter(|call| call["params"]["name"] == "order").count();
    assert_eq!(orders, 2, "asked once, answered once");
    assert_eq!(texts(&world.home, "SELECT state FROM approval"), ["consumed"]);
    // Another call of the same tool asks again.
    world.telegram().say(PRIVATE, ADA, r#"call shop__order {"item": "pots"}"#);
    let sql = "SELECT count(*) FROM approval WHERE state = 'open'";
    let asks = |m: &MessageView| m.from.is_bot && m.id > first.id && m.text.contains("pots");
    world.within("a request", world.telegram().wait_for(PRIVATE, asks)).await;
    assert_eq!(number(&world.home, sql), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_may_have_arrived_is_not_given_twice() {
    let world = with_shop(World::offline().await);
    fs::write(world.home.folder().join("hang"), "").expect("a file");
    let daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, ORDER);
    let first = shown(&world, "Which size?").await;
    tap(&world, first.id, "Small");
    shown(&world, "Write count: a whole number").await;
    world.telegram().say(PRIVATE, ADA, "1");
    let answered = async {
        while written(&world).lines().count() < 2 || !written(&world).ends_with('\n') {
            tokio::task::yield_now().await;
        }
    };
    world.within("the answer", answered).await;
    daemon.kill();
    fs::remove_file(world.home.folder().join("hang")).expect("removed");
    let _second = world.daemon();
    shown(&world, "outcome unknown").await;
    assert_eq!(calls(&world).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_is_there_the_server_is_told_so() {
    let world = with_shop(World::offline().await);
    let _daemon = world.daemon();
    world.ask("hello").await;
    let add = ["schedules", "add", "--in", "1s", "--prompt", ORDER];
    let (code, _, errors) = world.home.run(&add);
    assert_eq!(code, 0, "{errors}");
    let said = shown(&world, "order: cancel").await;
    assert!(said.text.contains("nobody answered"), "{}", said.text);
    assert_eq!(number(&world.home, "SELECT count(*) FROM question"), Some(0));

    let by_hand = ["mcp", "call", "shop", "order", r#"{"item":"cups"}"#];
    let (code, out, errors) = world.home.run(&by_hand);
    assert_eq!((code, out.as_str()), (0, "order: cancel\n"), "{errors}");
    assert!(errors.contains("nobody answered"), "{errors}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_terminal_the_command_asks() {
    let world = with_shop(World::offline().await);
    let command = world.home.command(&["mcp", "call", "shop", "order", r#"{"item":"cups"}"#]);
    let mut terminal = AtTerminal::start(command);
    terminal.shows("1. Small").await;
    terminal.types("small\r");
    terminal.shows("a whole number").await;
    terminal.types("2\r");
    let (status, shown) = terminal.ended().await;
    assert!(status.success() && shown.contains("order: accept"), "{shown}");
    let calls = calls(&world);
    let content = json!({ "size": "s", "count": 2 });
    assert_eq!(calls[1]["params"]["inputResponses"]["form"]["content"], content);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_reaches_the_model_and_what_does_not_is_named() {
    let mut world = World::with(json!({})).await;
    let profile = json!({
        "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": "m",
        "api_key": "sk-playground-key-1234567890", "sees_images": true,
    });
    world.home.set("llm", json!({ "profiles": { "main": profile } }));
    let world = with_shop(world);
    let _daemon = world.daemon();
    let call = Turn::call("shop__photo", json!({ "item": "cups" }));
    world.playground.model().script(vec![call, Turn::text("a cup")]);
    world.telegram().say(PRIVATE, ADA, "show me the cups");
    shown(&world, "a cup").await;
    let asked = world.playground.model().requests();
    let body = asked.last().expect("a request").body.to_string();
    assert!(
        body.contains(&format!("data:image/png;base64,{}", STANDARD.encode(drawn()))),
        "{body}"
    );
    assert!(body.contains("[a sound (audio/wav, 4 bytes), which is not played]"), "{body}");
    assert!(
        body.contains("what the server says that it gives: count must be a whole number"),
        "{body}"
    );
}
