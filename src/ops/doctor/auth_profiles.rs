//! The look at credentials: whether each loads, as its first use would load it.

use super::finding::Finding;
use super::look::{Look, LookResult};
use selkie_app::build::AppConfig;

const WHAT: &str = "auth profile";
const ADVICE: &str = "correct it in secrets.auth_profiles; a program of credential_command must print the credential and end";

/// Loads each.
pub fn looks(plan: &AppConfig) -> impl Iterator<Item = Look> {
    plan.auth.all().iter().cloned().map(|profile| {
        Look::new(WHAT, profile.id.clone(), async move {
            let finding = match profile.header().await {
                Ok(_) => {
                    Finding::fine(WHAT, format!("the credential loads, for {}", profile.reaches()))
                }
                Err(why) => Finding::error(WHAT, why.to_string(), ADVICE),
            };
            LookResult::from(vec![finding.of(profile.id.clone())])
        })
    })
}
