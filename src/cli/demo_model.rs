//! Which model a demo asks: what `--model` says.

use serde_json::{Value, json};

use super::outcome::Failure;
use selkie_app::demo::World;
use selkie_config::problem::one_of;

/// Begins a model of the playground's own.
const STRICT: &str = "strict/";

/// Reads `--model strict/<family>`.
pub fn family(model: Option<&str>, world: &dyn World) -> Result<Option<String>, Failure> {
    let family = model.and_then(|model| model.strip_prefix(STRICT));
    let Some(family) = family else { return Ok(None) };
    let families = world.families();
    if families.iter().any(|known| known == family) {
        return Ok(Some(family.to_owned()));
    }
    let families = one_of(&families);
    Err(Failure::Usage(format!("--model strict/FAMILY takes {families}, not {family:?}")))
}

/// Reads `--model`: `offline`, or `<provider>/<model>`.
pub fn config(model: &str) -> Result<Value, Failure> {
    if model == "offline" {
        return Ok(json!({ "llm": { "provider": "offline" } }));
    }
    match model.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
            Ok(json!({ "llm": { "provider": provider, "model": model } }))
        }
        _ => Err(Failure::Usage(format!(
            "--model takes offline, <provider>/<model> (openai/gpt-6.2-sol, anthropic/claude-sonnet-5-5) or strict/<family>, not {model:?}"
        ))),
    }
}
