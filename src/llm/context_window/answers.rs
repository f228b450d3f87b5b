//! Reads a window out of what servers say: foreign words, of which only a number that can be one counts.

use std::ops::RangeInclusive;

use serde_json::Value;

/// What can be a window, in tokens.
const WINDOWS: RangeInclusive<u64> = 512..=100_000_000;

/// The words before the limit that a refusal names.
const LIMITS: [&str; 5] = [
    "maximum context length",
    "available context size",
    "context length of",
    "context window of",
    "n_ctx",
];
/// Characters between these words and their number, at most.
const APART: usize = 8;

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The window.
    Tokens(u64),
    /// The model is not loaded: it has none yet.
    NotLoaded,
    /// Nothing.
    Nothing,
}

/// Reads a list of models: vLLM's `max_model_len`, OpenRouter's `context_length`.
pub(super) fn of_list(body: &Value, model: &str) -> Answer {
    let Some(entry) = named(&body["data"], model) else { return Answer::Nothing };
    answer(tokens(&entry["max_model_len"]).or_else(|| tokens(&entry["context_length"])))
}

/// Reads llama.cpp's `/props`: what one conversation has.
pub(super) fn of_props(body: &Value) -> Answer {
    answer(tokens(&body["default_generation_settings"]["n_ctx"]))
}

/// Reads LM Studio's `/api/v0/models`. What a model could have at most is not what it is loaded with.
pub(super) fn of_lmstudio(body: &Value, model: &str) -> Answer {
    match named(&body["data"], model) {
        Some(entry) if entry["state"] == "not-loaded" => Answer::NotLoaded,
        Some(entry) => answer(tokens(&entry["loaded_context_length"])),
        None => Answer::Nothing,
    }
}

/// Reads Ollama's `/api/ps`.
pub(super) fn of_running(body: &Value, model: &str) -> Answer {
    if !body["models"].is_array() {
        return Answer::Nothing;
    }
    let latest = format!("{model}:latest");
    let entry = named(&body["models"], model).or_else(|| named(&body["models"], &latest));
    entry
        .and_then(|entry| tokens(&entry["context_length"]))
        .map_or(Answer::NotLoaded, Answer::Tokens)
}

/// Reads the `num_ctx` of a model's own file out of Ollama's `/api/show`.
pub(super) fn of_modelfile(body: &Value) -> Option<u64> {
    let lines = body["parameters"].as_str()?.lines();
    let value = lines.filter_map(|line| line.trim().strip_prefix("num_ctx ")).next_back()?;
    value.trim().parse().ok().filter(|tokens| WINDOWS.contains(tokens))
}

/// Reads the limit that the words of a refusal name.
pub(super) fn of_refusal(words: &str) -> Option<u64> {
    let words = words.to_ascii_lowercase();
    let number = |limit: &&str| {
        let behind = words.split_once(limit)?.1;
        let at = behind.find(|c: char| c.is_ascii_digit()).filter(|at| *at <= APART)?;
        let digits = behind[at..].split(|c: char| !c.is_ascii_digit() && c != ',').next()?;
        digits.replace(',', "").parse().ok().filter(|tokens| WINDOWS.contains(tokens))
    };
    LIMITS.iter().find_map(number)
}

fn named<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    let is_named = |entry: &&Value| ["id", "name", "model"].iter().any(|key| entry[*key] == model);
    list.as_array()?.iter().find(is_named)
}

fn answer(tokens: Option<u64>) -> Answer {
    tokens.map_or(Answer::Nothing, Answer::Tokens)
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| WINDOWS.contains(tokens))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_server_tells_it_in_its_own_way() {
        let vllm = json!({ "object": "list", "data": [
            { "id": "other", "max_model_len": 1_024 }, { "id": "m", "max_model_len": 8_192 }] });
        assert_eq!(of_list(&vllm, "m"), Answer::Tokens(8_192));
        let openrouter = json!({ "data": [{ "id": "a/m", "context_length": 131_072 }] });
        assert_eq!(of_list(&openrouter, "a/m"), Answer::Tokens(131_072));
        assert_eq!(of_list(&openrouter, "a/n"), Answer::Nothing);
        let llamacpp =
            json!({ "default_generation_settings": { "n_ctx": 16_384 }, "total_slots": 2 });
        assert_eq!(of_props(&llamacpp), Answer::Tokens(16_384));
        let lmstudio = json!({ "data": [
            { "id": "m", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4_096 },
            { "id": "n", "state": "not-loaded", "max_context_length": 131_072 },
            { "id": "o", "state": "loaded", "max_context_length": 131_072 }] });
        assert_eq!(of_lmstudio(&lmstudio, "m"), Answer::Tokens(4_096));
        assert_eq!(of_lmstudio(&lmstudio, "n"), Answer::NotLoaded);
        assert_eq!(of_lmstudio(&lmstudio, "o"), Answer::Nothing, "what it could have is not it");
        let ollama = json!({ "models": [{ "name": "m:latest", "model": "m:latest", "context_length": 32_768 }] });
        assert_eq!(of_running(&ollama, "m"), Answer::Tokens(32_768));
        assert_eq!(of_running(&ollama, "m:8b"), Answer::NotLoaded);
        let shown = |parameters: &str| of_modelfile(&json!({ "parameters": parameters }));
        assert_eq!(shown("stop    \"<|end|>\"\nnum_ctx                        8192"), Some(8_192));
        assert_eq!(shown("num_ctx_max 8192"), None);
    }

    #[test]
    fn what_can_be_no_window_is_none() {
        let odd = [
            json!(0),
            json!(-4_096),
            json!(511),
            json!(100_000_001),
            json!(u64::MAX),
            json!("8192"),
            json!(1e300),
            json!(8_192.5),
            json!(null),
            json!([8_192]),
            json!({ "n": 8_192 }),
        ];
        for odd in odd {
            assert_eq!(
                of_list(&json!({ "data": [{ "id": "m", "max_model_len": odd }] }), "m"),
                Answer::Nothing
            );
            assert_eq!(
                of_props(&json!({ "default_generation_settings": { "n_ctx": odd } })),
                Answer::Nothing
            );
            let loaded =
                json!({ "data": [{ "id": "m", "state": "loaded", "loaded_context_length": odd }] });
            assert_eq!(of_lmstudio(&loaded, "m"), Answer::Nothing);
            let running = json!({ "models": [{ "name": "m", "context_length": odd }] });
            assert_eq!(of_running(&running, "m"), Answer::NotLoaded);
        }
        for body in [json!(null), json!([]), json!("m"), json!({ "data": "m", "models": {} })] {
            assert_eq!(of_list(&body, "m"), Answer::Nothing);
            assert_eq!(of_running(&body, "m"), Answer::Nothing);
            assert_eq!(of_modelfile(&body), None);
        }
        for parameters in ["num_ctx 0", "num_ctx -1", "num_ctx 99999999999999999999", "num_ctx"] {
            assert_eq!(of_modelfile(&json!({ "parameters": parameters })), None, "{parameters}");
        }
    }

    #[test]
    fn a_refusal_names_its_limit_and_other_numbers_are_none() {
        for (words, limit) in [
            (
                "This model's maximum context length is 8192 tokens. However, you requested 9000",
                Some(8_192),
            ),
            ("exceeds the model's maximum context length (4096 tokens)", Some(4_096)),
            (
                "request (8500 tokens) exceeds the available context size (4,096 tokens)",
                Some(4_096),
            ),
            ("the request exceeds the available context size [400, n_ctx 2048]", Some(2_048)),
            ("maximum context length exceeded, you sent 9000 tokens", None),
            ("Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000", None),
            ("maximum context length is 7 tokens", None),
            ("maximum context length is ééé8192", None),
            ("prompt is too long", None),
        ] {
            assert_eq!(of_refusal(words), limit, "{words}");
        }
    }
}
