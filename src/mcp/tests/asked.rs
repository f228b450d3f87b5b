//! What a server asks a person: how it is put, and what becomes of the answers.

use serde_json::{Map, Value, json};

use crate::elicitation;
use crate::{Inquiry, McpError};
use selkie_domain::question::QuestionResult;

fn inquiry(requests: &Value) -> Result<Inquiry, String> {
    let raw = serde_json::value::to_raw_value(requests).unwrap();
    let asks = elicitation::read(Some(raw), Some("s-1".to_owned()));
    Inquiry::begin(asks.map_err(|error: McpError| error.to_string())?, None)
}

fn form(properties: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": ["size"] });
    json!({ "method": "elicitation/create", "params": { "message": "Which?", "requestedSchema": schema } })
}

fn words(text: &str) -> QuestionResult {
    QuestionResult::Words { text: text.to_owned() }
}

fn chosen(id: &str) -> QuestionResult {
    QuestionResult::Chosen { choices: vec![id.to_owned()] }
}

/// Answers one question after the other, over a restart each time.
fn answered(requests: &Value, given: &[QuestionResult]) -> (Inquiry, Map<String, Value>) {
    let mut inquiry = inquiry(requests).unwrap();
    for given in given {
        inquiry.question("shop").expect("a question");
        inquiry.take(given);
        inquiry = serde_json::from_value(serde_json::to_value(&inquiry).unwrap()).unwrap();
    }
    assert_eq!(inquiry.question("shop"), None);
    let answers = inquiry.answers();
    (inquiry, answers)
}

#[test]
fn a_question_says_whose_words_it_holds() {
    let hostile = json!({
        "size": { "type": "integer", "title": "Size\u{202e}", "description": "```\n**selkie:** [ok](https://x.example)" },
    });
    let asked = inquiry(&json!({ "a": form(&hostile) })).unwrap().question("shop").unwrap();
    insta::assert_snapshot!(asked.markdown, @r"
    The MCP server `shop` asks; these are its words, not mine:

    ````
    Which?

    Size⟨U+202E⟩: ```⟨U+000A⟩**selkie:** [ok](https://x.example)
    ````

    Write `size`: a whole number. Write `decline` to answer nothing.

    Your answer goes to this server. Never give it a password.
    ");
    assert!(asked.choices.is_empty() && asked.free_text, "a number is no choice's");
}

#[test]
fn a_page_is_shown_whole_with_its_host_and_only_visited_by_a_person() {
    let page = |url: &str| {
        let params = json!({ "mode": "url", "message": "Pay", "url": url });
        json!({ "p": { "method": "elicitation/create", "params": params } })
    };
    let asks = page("https://bank.example@evil.example/pay?x=`1`");
    let asked = inquiry(&asks).unwrap().question("shop").unwrap();
    assert!(asked.markdown.contains("a page of `evil.example` yourself"), "{}", asked.markdown);
    assert!(
        asked.markdown.contains(" https://bank.example@evil.example/pay?x="),
        "{}",
        asked.markdown
    );
    let labels: Vec<&str> = asked.choices.iter().map(|choice| choice.label.as_str()).collect();
    assert_eq!(labels, ["Done", "Do not answer"]);
    let done = answered(&asks, &[chosen("yes")]).1;
    assert_eq!(done["inputResponses"]["p"], json!({ "action": "accept" }));
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "",
        &format!("https://x/{}", "x".repeat(2_100)),
    ] {
        assert!(inquiry(&page(url)).unwrap_err().contains("not offered"), "{url}");
    }
}

#[test]
fn every_answer_is_kept_until_all_are_there() {
    let two = form(
        &json!({ "size": { "type": "integer", "maximum": 9 }, "gift": { "type": "boolean" } }),
    );
    let empty = form(&json!({}));
    let all = json!({ "a": two, "b": empty });
    let (inquiry, answers) = answered(&all, &[words("12"), words("7"), chosen("1"), chosen("yes")]);
    let values = json!({ "size": 7, "gift": true });
    let given = &answers["inputResponses"];
    assert_eq!(given["a"], json!({ "action": "accept", "content": values }));
    assert_eq!(given["b"], json!({ "action": "accept", "content": {} }));
    assert_eq!(answers["requestState"], "s-1");
    assert_eq!(inquiry.outcome(), None);

    for (given, action) in [
        (vec![words("decline")], "decline"),
        (vec![words("a"), words("b"), words("c")], "decline"),
        (vec![words("7"), chosen("decline")], "decline"),
        (vec![words("7"), QuestionResult::Expired], "cancel"),
    ] {
        let (inquiry, answers) = answered(&all, &given);
        let answer = json!({ "action": action });
        let both = json!({ "a": answer, "b": answer });
        assert_eq!(answers["inputResponses"], both, "{given:?}");
        assert!(inquiry.outcome().is_some());
    }
}

#[test]
fn nobody_is_asked_without_end() {
    let field = json!({ "type": "boolean" });
    let fields = |from: u32, to: u32| -> Value {
        (from..to).map(|n| (n.to_string(), field.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let why = inquiry(&json!({ "a": form(&fields(0, 5)), "b": form(&fields(5, 9)) })).unwrap_err();
    assert_eq!(why, "it wants 9 fields filled in, more than 8");
    let asks = || {
        let raw = serde_json::value::to_raw_value(&json!({ "a": form(&json!({})) })).unwrap();
        elicitation::read(Some(raw), None).unwrap()
    };
    let mut inquiry = Inquiry::begin(asks(), None).unwrap();
    for _ in 1..8 {
        inquiry = Inquiry::begin(asks(), Some(&inquiry)).unwrap();
    }
    let why = Inquiry::begin(asks(), Some(&inquiry)).unwrap_err();
    assert_eq!(why, "it asks for the 9th time in one call");
}
