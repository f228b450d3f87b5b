//! `use_tool`: calls a tool that is not listed. A call of it becomes the call that it means before anything looks at it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};
use selkie_domain::transcript::Call;

pub(super) const NAME: &str = "use_tool";

/// Returns the call that a call of `use_tool` means; every other call as it is.
pub(crate) fn meant(call: Call) -> Call {
    if call.name != NAME {
        return call;
    }
    let Value::Object(mut args) = call.arguments else { return call };
    match args.remove("name") {
        Some(Value::String(name)) if name != NAME => {
            let arguments = args.remove("arguments").filter(|inner| !inner.is_null());
            let arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
            Call { id: call.id, name, arguments }
        }
        name => {
            // Its own check tells what is missing.
            args.extend(name.map(|name| ("name".to_owned(), name)));
            Call { arguments: Value::Object(args), ..call }
        }
    }
}

pub(super) struct UseTool;

#[derive(Deserialize, JsonSchema)]
struct Used {
    /// As tool_search names it.
    #[expect(
        dead_code,
        reason = "a call of it becomes the call that it means before anything looks at it"
    )]
    name: String,
    #[expect(dead_code, reason = "as above")]
    arguments: Option<Map<String, Value>>,
}

#[async_trait]
impl Handler for UseTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Call a tool that tool_search has found.".to_owned(),
            group: "search",
            ..spec::<Used>(NAME, Class::Read, Recovery::CallAgain)
        }
    }

    async fn call(&self, _: &Scope, _: Value) -> Result<Output, ToolError> {
        Err(ToolError::tell(format!("{NAME} takes the name of a tool that tool_search has found")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_by_use_tool_is_the_call_that_it_means() {
        let call = |name: &str, arguments: Value| {
            let call = Call { id: "c1.0".to_owned(), name: name.to_owned(), arguments };
            let Call { name, arguments, .. } = meant(call);
            format!("{name} {arguments}")
        };
        let real = call(NAME, json!({ "name": "clock__now", "arguments": { "zone": "UTC" } }));
        assert_eq!(real, r#"clock__now {"zone":"UTC"}"#);
        assert_eq!(call(NAME, json!({ "name": "clock__now" })), "clock__now {}");
        assert_eq!(call(NAME, json!({ "name": "use_tool" })), r#"use_tool {"name":"use_tool"}"#);
        assert_eq!(call(NAME, json!({})), "use_tool {}");
        assert_eq!(call("bash", json!({ "name": "x" })), r#"bash {"name":"x"}"#);
    }
}
