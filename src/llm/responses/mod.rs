//! OpenAI's Responses API, without anything kept at its server.

mod reply;
mod request;

use crate::Request;
use crate::adapter::Dialect;
use crate::habits::Habits;
use crate::profile::Profile;
use crate::refusal::Refused;

/// Responses.
pub(super) struct Responses;

impl Dialect for Responses {
    type Body<'a> = request::Body<'a>;
    type Gathered = reply::Gathered;
    const PATH: &'static str = "/responses";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Self::Body<'a>> {
        request::body(profile, request, habits)
    }

    fn leads_elsewhere(refused: &Refused) -> bool {
        refused.is_nowhere() || refused.leads_to("chat/completions", "chat completions")
    }
}
