//! JSON texts without what is empty in them: thinned out as they are copied, without a tree of values between.

/// What may be left out of a stored text when it is empty: reading puts it back.
const DEFAULTS: [&[u8]; 6] = [b"attachments", b"files", b"forwarded", b"is_bot", b"ours", b"title"];
/// What happens most goes without saying.
const USUAL: (&[u8], &[u8]) = (b"what", br#"{"kind":"message"}"#);

/// Copies a compact JSON text without what is empty in its objects: every `null`, of the fields that have a default
/// the empty ones, and that it is a message. Lists are left as they are.
pub fn thinned(text: &str) -> String {
    let mut copy = Copy { from: text.as_bytes(), at: 0, to: Vec::with_capacity(text.len()) };
    copy.value();
    // Whole members of a text are left out: what stays is one.
    String::from_utf8(copy.to).unwrap_or_else(|_| text.to_owned())
}

struct Copy<'t> {
    from: &'t [u8],
    at: usize,
    to: Vec<u8>,
}

impl Copy<'_> {
    fn value(&mut self) {
        match self.from.get(self.at) {
            Some(b'{') => self.object(),
            _ => self.keep(self.end()),
        }
    }

    fn object(&mut self) {
        self.keep(self.at + 1);
        let mut is_first = true;
        while self.from.get(self.at).is_some_and(|byte| *byte != b'}') {
            let before = self.to.len();
            if self.from[self.at] == b',' {
                self.at += 1;
            }
            if !is_first {
                self.to.push(b',');
            }
            let key = self.at + 1;
            let from = self.at;
            self.at = self.end();
            let key = self.from.get(key..self.at - 1).unwrap_or_default();
            self.to.extend_from_slice(&self.from[from..self.at]);
            // The colon.
            self.keep(self.at + 1);
            let value = self.to.len();
            self.value();
            match goes_without_saying(key, &self.to[value..]) {
                true => self.to.truncate(before),
                false => is_first = false,
            }
        }
        self.keep(self.at + 1);
    }

    /// Where the value that begins here ends.
    fn end(&self) -> usize {
        let mut depth = 0_usize;
        let mut at = self.at;
        let mut in_text = false;
        while let Some(byte) = self.from.get(at) {
            match byte {
                b'\\' if in_text => at += 1,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => return at,
                b'}' | b']' => depth -= 1,
                b',' | b':' if depth == 0 => return at,
                _ => {}
            }
            at += 1;
        }
        self.from.len()
    }

    fn keep(&mut self, end: usize) {
        let end = end.min(self.from.len());
        self.to.extend_from_slice(&self.from[self.at..end]);
        self.at = end;
    }
}

fn goes_without_saying(key: &[u8], value: &[u8]) -> bool {
    match value {
        b"null" => true,
        b"false" | b"\"\"" | b"[]" => DEFAULTS.contains(&key),
        _ => (key, value) == USUAL,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::thinned;

    #[test]
    fn what_is_empty_is_left_out() {
        let all = r#"{"v":1,"what":{"kind":"message"},"title":"","text":"","a":null,"speaker":{"id":"tg:1","username":null,"is_bot":false},"quote":{"ours":false,"x":null},"list":[{"a":null,"title":""}],"attachments":[],"b":{"c":null},"said":"\"null\", \\"}"#;
        let thin = r#"{"v":1,"text":"","speaker":{"id":"tg:1"},"quote":{},"list":[{"a":null,"title":""}],"b":{},"said":"\"null\", \\"}"#;
        assert_eq!(thinned(all), thin);
        assert_eq!(thinned(r#"{"what":{"kind":"message","x":null}}"#), "{}");
        assert_eq!(thinned(r#"{"what":{"kind":"edit"}}"#), r#"{"what":{"kind":"edit"}}"#);
        assert_eq!(
            (thinned("[]"), thinned("\"a\""), thinned("null")),
            ("[]".into(), "\"a\"".into(), "null".into())
        );
    }

    /// As it is meant, over a tree.
    fn thin_out(value: &mut Value) {
        if let Value::Object(map) = value {
            map.retain(|key, value| {
                thin_out(value);
                let empty = match value {
                    Value::Null => return false,
                    Value::Bool(is) => !*is,
                    Value::String(text) => text.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    _ => false,
                };
                let has_default = ["attachments", "files", "forwarded", "is_bot", "ours", "title"]
                    .contains(&key.as_str());
                let is_usual = key == "what" && *value == serde_json::json!({ "kind": "message" });
                !(is_usual || empty && has_default)
            });
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            Just(Value::from("")),
            Just(serde_json::json!({ "kind": "message" })),
        ];
        let key = prop_oneof![
            Just("what".to_owned()),
            Just("title".to_owned()),
            Just("files".to_owned()),
            any::<String>()
        ];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_is_thinned_as_its_tree_would_be(mut value in any_json()) {
            let text = thinned(&value.to_string());
            thin_out(&mut value);
            prop_assert_eq!(text, value.to_string());
        }
    }
}
