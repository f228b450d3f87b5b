//! A session told line by line, and lines that nobody would write.

use super::*;
use crate::permission::Kind;
use crate::{LineReader, Verdict};

fn session() -> Session {
    let words = |text: &str| text.to_owned();
    Session::new(Prompt { cwd: words("/w"), text: words("hello"), client: words("0.1") })
}

fn take(session: &mut Session, line: &Value) -> Result<Event, AcpError> {
    session.take(line.to_string().as_bytes())
}

fn answer(session: &mut Session, id: u64, result: &Value) -> Result<Event, AcpError> {
    take(session, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn update(session: &mut Session, update: &Value) -> Result<Event, AcpError> {
    let params = json!({ "sessionId": "s1", "update": update });
    take(session, &json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }))
}

/// One that works on its prompt.
fn prompted() -> Session {
    let mut session = session();
    answer(&mut session, 0, &json!({ "protocolVersion": 1 })).unwrap();
    answer(&mut session, 1, &json!({ "sessionId": "s1" })).unwrap();
    session
}

#[test]
fn a_prompt_is_asked_in_three_requests() {
    let mut session = session();
    assert_eq!(session.cancel(), None, "nothing has begun");
    let mut lines = vec![session.hello()];
    for (id, result) in [(0, json!({ "protocolVersion": 1 })), (1, json!({ "sessionId": "s1" }))] {
        match answer(&mut session, id, &result).unwrap() {
            Event::Send(line) => lines.push(line),
            other => panic!("{other:?}"),
        }
    }
    lines.extend(session.cancel());
    assert_eq!(
        lines.concat(),
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"selkie","version":"0.1"}}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}
"#
    );
    let ended = answer(&mut session, 2, &json!({ "stopReason": "end_turn" }));
    assert_eq!(ended, Ok(Event::Ended("end_turn".to_owned())));
    assert_eq!(session.cancel(), None);
}

#[test]
fn what_it_tells_is_progress_and_what_it_says_the_answer() {
    let mut session = prompted();
    let chunk = |text: &str| json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    let doing = |line: &str| Ok(Event::Doing(line.to_owned()));
    assert_eq!(update(&mut session, &chunk("Hel")), doing("Hel"));
    let image = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "image", "data": "…" } });
    assert_eq!(update(&mut session, &image), Ok(Event::Nothing));
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Read a.txt", "kind": "read" });
    assert_eq!(update(&mut session, &call), doing("Read a.txt"));
    let done =
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed" });
    assert_eq!(update(&mut session, &done), Ok(Event::Nothing));
    let plan = json!({ "sessionUpdate": "plan", "entries": [{ "content": "look", "status": "in_progress" }] });
    assert_eq!(update(&mut session, &plan), doing("look"));
    let thought = json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": "hm" } });
    assert_eq!(update(&mut session, &thought), Ok(Event::Nothing));
    update(&mut session, &chunk("lo\n")).unwrap();
    assert_eq!(session.said(), "Hello\n");
}

/// Both sides count from 0: an id of ours in a request of theirs is theirs.
#[test]
fn numbers_of_both_sides_may_be_the_same() {
    let mut session = prompted();
    let call = json!({ "toolCallId": "t1", "title": "rm x", "kind": "delete" });
    let params = json!({ "sessionId": "s1", "toolCall": call, "options": [{ "optionId": "n", "kind": "reject_once" }] });
    let asks = json!({ "jsonrpc": "2.0", "id": 2, "method": "session/request_permission", "params": params });
    match take(&mut session, &asks).unwrap() {
        Event::Asks(asked) => {
            assert_eq!(asked.kind, Kind::Delete);
            assert_eq!(
                asked.answer(Verdict::Reject),
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"n\"}}}\n"
            );
        }
        other => panic!("{other:?}"),
    }
    let read = json!({ "jsonrpc": "2.0", "id": 0, "method": "fs/read_text_file", "params": { "path": "/etc/passwd" } });
    let refused = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"fs/read_text_file is not offered"}}"#;
    assert_eq!(take(&mut session, &read), Ok(Event::Send(format!("{refused}\n"))));
    assert_eq!(answer(&mut session, 7, &json!({ "stopReason": "end_turn" })), Ok(Event::Nothing));
    assert!(matches!(
        answer(&mut session, 2, &json!({ "stopReason": "refusal" })),
        Ok(Event::Ended(_))
    ));
}

#[test]
fn what_cannot_go_on_says_why() {
    let refused = |code: i64| json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": code, "message": "no\nkey" } });
    assert_eq!(take(&mut session(), &refused(-32000)), Err(AcpError::SignedOut));
    let told = take(&mut session(), &refused(-1)).unwrap_err().to_string();
    assert_eq!(told, "answers initialize with an error: no key (-1)");
    assert_eq!(
        answer(&mut session(), 0, &json!({ "protocolVersion": 2 })),
        Err(AcpError::Version("2".to_owned()))
    );
    assert_eq!(answer(&mut session(), 0, &json!(null)), Err(AcpError::Incomplete("initialize")));
    assert!(matches!(session().take(b"npm notice: new version"), Err(AcpError::Garbage(_))));
    assert!(matches!(session().take(b"[]"), Err(AcpError::Garbage(_))));
    let deep = format!("{{\"id\":0,\"result\":{}", "[".repeat(100_000));
    assert!(matches!(session().take(deep.as_bytes()), Err(AcpError::Garbage(_))));
    for nothing in [
        "  ",
        r#"{"method":"session/update","params":[1]}"#,
        r#"{"method":"session/update","params":"x"}"#,
    ] {
        assert_eq!(session().take(nothing.as_bytes()), Ok(Event::Nothing));
    }
}

#[test]
fn calls_without_end_are_not_all_remembered() {
    let mut session = prompted();
    for n in 0..MAX_CALLS * 2 {
        let call =
            json!({ "sessionUpdate": "tool_call", "toolCallId": format!("t{n}"), "title": "x" });
        update(&mut session, &call).unwrap();
    }
    assert_eq!(session.calls.len(), MAX_CALLS);
}

#[test]
fn fuzzed() {
    selkie_fuzz::bytes("acp", |bytes| {
        let (mut reader, mut session) = (LineReader::default(), session());
        for piece in bytes.chunks(7) {
            reader.push(piece);
            while let Ok(Some(line)) = reader.line() {
                match session.take(&line) {
                    Ok(Event::Asks(asked)) => drop(asked.answer(Verdict::Allow)),
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        }
        session.said();
    });
}
