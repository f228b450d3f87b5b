//! Which models see pictures, by their names, where config does not say. A server that refuses pictures all the same is
//! asked without them.

/// Parts of the names of models that see.
const SEE: [&str; 32] = [
    "claude",
    "gpt-4o",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-5",
    "gpt-6",
    "gemini",
    "gemma-3",
    "gemma3",
    "gemma-4",
    "gemma4",
    "llava",
    "llama-4",
    "llama4",
    "pixtral",
    "mistral-small",
    "mistral-medium",
    "mistral-large-3",
    "ministral-3",
    "minicpm-v",
    "moondream",
    "internvl",
    "multimodal",
    "vision",
    "-vl",
    "2vl",
    "2.5vl",
    "3vl",
    "glm-4v",
    "glm-4.5v",
    "glm-4.6v",
    "grok-4",
];
/// Parts of names that sound like one of those, and do not see.
const BLIND: [&str; 6] =
    ["gemma3:270m", "gemma3:1b", "gemma-3-270m", "gemma-3-1b", "gpt-oss", "embed"];

/// Whether a model of this name is known to see.
pub(super) fn sees(model: &str) -> bool {
    let model = model.to_lowercase();
    let has = |part: &&str| model.contains(*part);
    SEE.iter().any(has) && !BLIND.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_names_tell() {
        for model in [
            "gpt-6-luna",
            "anthropic/claude-haiku-5-5",
            "models/gemini-3.8-flash",
            "llama3.2-vision:11b",
            "Qwen/Qwen3-VL-8B-Instruct",
            "qwen2.5vl:7b",
            "gemma3:4b",
            "google/gemma-3-27b-it",
            "meta-llama/Llama-4-Scout",
        ] {
            assert!(sees(model), "{model}");
        }
        for model in
            ["llama3.2:3b", "qwen3:8b", "gemma3:1b", "openai/gpt-oss-120b", "deepseek-chat", "m"]
        {
            assert!(!sees(model), "{model}");
        }
    }
}
