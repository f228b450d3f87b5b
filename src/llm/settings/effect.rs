//! The `llm:` section as it takes effect, for keys that nobody wrote. No secret is in it.

use serde_json::{Map, Value, json};

use super::{ProfileSettings, Provider, Settings};

impl Settings {
    /// Returns the values of keys that are not written, in the section's own form.
    pub fn in_effect(&self) -> Value {
        let mut out = match self.is_configured() {
            true if self.has_short_form() => self.short_form().in_effect(),
            true => Map::new(),
            false => {
                let stand_in = Provider::Offline;
                Map::from_iter([
                    ("provider".to_owned(), json!(stand_in)),
                    ("model".to_owned(), json!(stand_in.usual_model())),
                ])
            }
        };
        // The short form has no words for these.
        ["stream", "request_timeout"].iter().for_each(|key| _ = out.remove(*key));
        let profiles = self.profiles.iter().map(|(name, p)| (name.clone(), json!(p.in_effect())));
        out.insert("profiles".to_owned(), Value::Object(profiles.collect()));
        out.entry("headers").or_insert(json!({}));
        let main = self.main_route();
        let main = if let [one] = main.as_slice() { json!(one) } else { json!(main) };
        let routes = ["main", "small", "decision", "heartbeat"];
        out.insert(
            "routes".to_owned(),
            routes.map(|r| (r.to_owned(), main.clone())).into_iter().collect(),
        );
        Value::Object(out)
    }
}

impl ProfileSettings {
    fn in_effect(&self) -> Map<String, Value> {
        let mut out = Map::from_iter([
            ("provider".to_owned(), json!(self.provider)),
            ("model".to_owned(), json!(named(self.provider.usual_model()))),
            ("headers".to_owned(), json!({})),
        ]);
        if self.provider == Provider::Offline {
            return out;
        }
        out.insert("endpoint".to_owned(), json!(named(self.provider.home())));
        out.insert("api".to_owned(), json!(self.api));
        out.insert("context".to_owned(), json!(self.provider.usual_context()));
        out.insert("sees_images".to_owned(), json!(self.sees()));
        out.insert("stream".to_owned(), json!(self.stream));
        out.insert("request_timeout".to_owned(), json!(self.request_timeout));
        out
    }
}

/// What there is none of has no name.
fn named(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(yaml: &str) -> String {
        serde_saphyr::from_str::<Settings>(yaml).expect("settings").in_effect().to_string()
    }

    #[test]
    fn every_form_says_what_it_comes_to() {
        insta::assert_snapshot!(shown("{}"), @r#"{"provider":"offline","model":"stand-in","profiles":{},"headers":{},"routes":{"main":"offline","small":"offline","decision":"offline","heartbeat":"offline"}}"#);
        insta::assert_snapshot!(shown("{ provider: anthropic, api_key: hunter22 }"), @r#"{"provider":"anthropic","model":"claude-sonnet-5-5","headers":{},"endpoint":"https://api.anthropic.com/v1","api":"auto","context":200000,"sees_images":true,"profiles":{},"routes":{"main":"default","small":"default","decision":"default","heartbeat":"default"}}"#);
        insta::assert_snapshot!(shown("
            profiles:
              a: { endpoint: 'http://127.0.0.1:1/v1', headers: { x-key: hunter33 } }
              b: { provider: offline }
              c: { provider: ollama, model: 'gemma3:4b' }
            routes: { main: [a, b] }
        "), @r#"{"profiles":{"a":{"provider":"openai","model":"gpt-6.2-sol","headers":{},"endpoint":"https://api.openai.com/v1","api":"auto","context":128000,"sees_images":true,"stream":true,"request_timeout":"2m"},"b":{"provider":"offline","model":"stand-in","headers":{}},"c":{"provider":"ollama","model":null,"headers":{},"endpoint":"http://127.0.0.1:11434/v1","api":"auto","context":128000,"sees_images":true,"stream":true,"request_timeout":"2m"}},"headers":{},"routes":{"main":["a","b"],"small":["a","b"],"decision":["a","b"],"heartbeat":["a","b"]}}"#);
    }
}
