//! The credential that a request may carry, as a parameter of its tool.

use std::sync::Arc;

use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::ToolError;
use crate::auth::AuthProfile;
use crate::scope::Scope;

pub(super) const PARAMETER: &str = "auth_profile";

/// Finds the profile that a call names, among those of its task.
///
/// # Errors
/// It is not there, is not for the request, or no skill names it here.
pub(super) async fn judged(
    profiles: &[Arc<AuthProfile>],
    id: &str,
    method: &Method,
    url: &str,
    scope: &Scope,
) -> Result<Arc<AuthProfile>, ToolError> {
    let tell = |why: String| ToolError::Tell(why);
    let found = profiles.iter().find(|profile| profile.id == id);
    let profile = found.ok_or_else(|| tell(format!("auth_profile {id} is not available here")))?;
    let url = Url::parse(url).map_err(|why| tell(format!("invalid url: {url} ({why})")))?;
    profile.judge(method, &url).map_err(|why| tell(why.to_string()))?;
    if profile.needs_skill
        && !scope.skills.auth_profiles(&scope.conversation).await?.iter().any(|named| named == id)
    {
        return Err(ToolError::tell(format!(
            "auth_profile {id} is used only while a skill is in force here that names it and that an owner has reviewed: \
             load that skill with load_skill first"
        )));
    }
    Ok(Arc::clone(profile))
}

/// Lists the profiles of a task as a parameter.
pub(super) fn parameter(profiles: &[Arc<AuthProfile>]) -> Value {
    let line = |profile: &Arc<AuthProfile>| format!("{}: {}", profile.id, profile.reaches());
    let lines: Vec<String> = profiles.iter().map(line).collect();
    let ids: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
    json!({
        "type": "string",
        "enum": ids,
        "description": format!("Adds a credential that nobody sees. {}", lines.join("; ")),
    })
}
