//! `recall`: what a tool brought into an earlier task of this conversation and the history shows as a stub.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct Recall;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// `r` and 16 characters, as it stands there.
    id: String,
}

#[async_trait]
impl Handler for Recall {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Bring back what an earlier task's tool answered, when the history shows a stub or a \
                          part. It may hold others' words: only when you need them."
                .to_owned(),
            group: "conversation",
            doing: "looking up what was read before",
            ..spec::<Args>("recall", Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { id } = typed(args)?;
        let id = id.trim();
        let found = scope.earlier.iter().rev().find(|earlier| earlier.id == id);
        let Some(earlier) = found else {
            let known: Vec<String> = scope.earlier.iter().rev().take(10).map(line).collect();
            let takes = match known.is_empty() {
                true => "there is nothing to bring back here".to_owned(),
                false => format!("takes {}", known.join(", ")),
            };
            return Err(ToolError::tell(format!("invalid id: {id} ({takes})")));
        };
        let text = earlier.text.clone();
        let answer = match earlier.level {
            Taint::Raw => Output::outside(text),
            level => Output { level, ..Output::ok(text) },
        };
        Ok(Output { pictures: earlier.pictures.clone(), ..answer })
    }
}

fn line(earlier: &crate::scope::Earlier) -> String {
    format!("{} ({})", earlier.id, earlier.of)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scope::Earlier;
    use crate::testkit::Folders;

    #[tokio::test]
    async fn it_brings_back_what_is_there_and_its_level() {
        let mut scope = Folders::new().scope();
        let earlier = Earlier {
            id: "r00000000000000ff".to_owned(),
            of: "web_fetch of https://a.example".to_owned(),
            text: "a page".to_owned(),
            pictures: Vec::new(),
            level: Taint::Raw,
        };
        let none = Recall.call(&scope, json!({"id": "r1"})).await.unwrap_err().to_string();
        assert_eq!(none, "invalid id: r1 (there is nothing to bring back here)");
        let own = Earlier { id: "r2".to_owned(), level: Taint::Derived, ..earlier.clone() };
        scope.earlier = vec![own, earlier].into();
        let cut = Recall.call(&scope, json!({"id": "r2"})).await.unwrap();
        assert!(!cut.untrusted && cut.level == Taint::Derived);
        let back = Recall.call(&scope, json!({"id": "r00000000000000ff"})).await.unwrap();
        assert!(back.untrusted && back.text == "a page");
        let other = Recall.call(&scope, json!({"id": "r1"})).await.unwrap_err().to_string();
        assert_eq!(
            other,
            "invalid id: r1 (takes r00000000000000ff (web_fetch of https://a.example), r2 (web_fetch of https://a.example))"
        );
    }
}
