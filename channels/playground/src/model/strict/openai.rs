//! OpenAI's chat door from gpt-5.6 on.

use serde_json::Value;

use crate::model::openai_check::Complaint;

/// How hard a model can think, by its name.
///
/// <https://developers.openai.com/api/docs/guides/reasoning>: the values differ from model to model, and the newest
/// cannot stop thinking.
pub(super) fn efforts(model: &str) -> &'static [&'static str] {
    match model {
        model if model.starts_with("gpt-6.2") => &["low", "medium", "high", "xhigh", "max"],
        _ => &["none", "low", "medium", "high", "xhigh", "max"],
    }
}

/// Checks how hard the model is to think; `param` is the name that the door has for it.
pub(super) fn check_effort(model: &str, effort: &Value, param: &str) -> Result<(), Complaint> {
    let known = efforts(model);
    match effort {
        Value::Null => Ok(()),
        Value::String(effort) if known.contains(&effort.as_str()) => Ok(()),
        other => {
            let other = other.as_str().unwrap_or_default();
            let known = known.join("', '");
            let message = format!(
                "Unsupported value: '{param}' does not support '{other}' with this model. Supported values are: \
                 '{known}'."
            );
            Err(Complaint::new(message).at(param).with_code("unsupported_value"))
        }
    }
}

/// Parameters that models with thoughts do not take: <https://developers.openai.com/api/docs/guides/latest-model>.
pub(super) fn check_sampling(body: &Value) -> Result<(), Complaint> {
    let found = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logprobs"]
        .into_iter()
        .find(|name| body.get(name).is_some_and(|value| !value.is_null()));
    let Some(name) = found else { return Ok(()) };
    let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
    Err(Complaint::new(message).at(name).with_code("unsupported_parameter"))
}

/// Checks what this door asks beyond the common rules.
pub(super) fn check(body: &Value) -> Result<(), Complaint> {
    let model = body["model"].as_str().unwrap_or_default();
    // https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
    if body.get("max_tokens").is_some_and(|most| !most.is_null()) {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.";
        return Err(Complaint::new(message).at("max_tokens").with_code("unsupported_parameter"));
    }
    check_sampling(body)?;
    check_effort(model, &body["reasoning_effort"], "reasoning_effort")?;
    // https://github.com/openai/openai-openapi/issues/541, and the guide to reasoning: also where nothing is said of
    // effort, for the model thinks then.
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    if has_tools && body["reasoning_effort"] != "none" {
        let message = format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. Please use \
             /v1/responses or set reasoning_effort to 'none'."
        );
        return Err(Complaint::new(message).at("reasoning_effort"));
    }
    Ok(())
}
