//! The credential that a request carries: bound at each address anew, once that was judged.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::ToolError;
use crate::auth::{AuthError, AuthProfile, BoundHeader};
use crate::scope::Scope;

/// The parameter that names a credential.
pub(super) const PARAMETER: &str = "auth_profile";

/// A credential with what it is for.
pub(super) struct Pass {
    profile: Arc<AuthProfile>,
    header: BoundHeader,
}

impl Pass {
    /// Loads the credential of a profile.
    ///
    /// # Errors
    /// It cannot be loaded.
    pub(super) async fn load(profile: &Arc<AuthProfile>) -> Result<Self, AuthError> {
        Ok(Self { profile: Arc::clone(profile), header: profile.header().await? })
    }

    /// Adds it to a request, in place of a header of its name.
    ///
    /// # Errors
    /// It is not for this request.
    pub(super) fn bind(
        &self,
        method: &Method,
        url: &Url,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        self.profile.judge(method, url)?;
        headers.insert(self.header.name.clone(), self.header.value.clone());
        Ok(())
    }

    /// Whether a redirect is followed.
    pub(super) fn follows(&self, from: &Url, method: &Method, to: &Url) -> bool {
        self.profile.follows(from, method, to)
    }
}

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
    let found = profiles.iter().find(|profile| profile.id == id);
    let profile =
        found.ok_or_else(|| ToolError::tell(format!("auth_profile {id} is not available here")))?;
    let url =
        Url::parse(url).map_err(|why| ToolError::tell(format!("invalid url: {url} ({why})")))?;
    profile.judge(method, &url).map_err(|why| ToolError::tell(why.to_string()))?;
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
