//! What answers to the fields of a form come to.

use serde_json::{Value, json};

use crate::form::{DECLINED, fields};
use selkie_domain::question::QuestionResult;

fn said(schema: &Value, text: &str) -> String {
    let form = json!({ "properties": { "it": schema }, "required": [] });
    let all = fields(&form).unwrap();
    let given = QuestionResult::Words { text: text.to_owned() };
    all[0].read(&given).map_or_else(|why| why, |answer| format!("{answer:?}"))
}

fn chose(schema: &Value, ids: &[&str]) -> String {
    let form = json!({ "properties": { "it": schema } });
    let all = fields(&form).unwrap();
    let choices = ids.iter().map(|id| (*id).to_owned()).collect();
    let read = all[0].read(&QuestionResult::Chosen { choices });
    read.map_or_else(|why| why, |answer| format!("{answer:?}"))
}

#[test]
fn an_answer_is_what_the_schema_takes_or_is_asked_for_again() {
    let whole = json!({ "type": "integer", "minimum": 1, "maximum": 5, "default": 2 });
    let text = json!({ "type": "string", "minLength": 2, "maxLength": 4 });
    let sizes = json!({ "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Middle"] });
    let colours = json!({
        "type": "array", "maxItems": 1,
        "items": { "anyOf": [{ "const": "r", "title": "Red" }, { "const": "g" }] },
    });
    let all = [
        said(&whole, " 3 "),
        said(&whole, "9"),
        said(&whole, "three"),
        said(&whole, "Skip"),
        said(&json!({ "type": "number" }), "2.5"),
        said(&json!({ "type": "number" }), "NaN"),
        said(&text, "1"),
        said(&text, "12345"),
        said(&text, "123"),
        said(&text, "decline"),
        said(&text, "skip"),
        said(&text, &"x".repeat(2_001)),
        chose(&json!({ "type": "boolean" }), &["2"]),
        chose(&sizes, &["2"]),
        chose(&sizes, &["7"]),
        chose(&sizes, &[DECLINED]),
        chose(&colours, &["1"]),
        chose(&colours, &["1", "2"]),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
    Value(Number(3))
    invalid it: 9
    it is no whole number
    Value(Number(2))
    Value(Number(2.5))
    it is no number such as 2.5
    it takes at least 2, not 1
    it takes at most 4, not 5
    Value(String("123"))
    Declined
    LeftOut
    it has more than 2000 characters
    Value(Bool(false))
    Value(String("m"))
    choose one
    Declined
    Value(Array [String("r")])
    it takes at most 1, not 2
    "#);
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_reason() {
    let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    for (schema, why) in [
        (json!({ "type": "object" }), "it is no text"),
        (json!(7), "it is no text"),
        (json!({ "type": "array", "items": { "type": "string" } }), "a list of whatever"),
        (json!({ "type": "string", "enum": many }), "more than 10 choices"),
        (json!({ "type": "string", "enum": [1] }), "or no texts"),
    ] {
        let said = fields(&json!({ "properties": { "it": schema } })).err().unwrap();
        assert!(said.contains(why), "{said}");
    }
    assert!(fields(&json!("no form")).unwrap().is_empty());
}
