//! The chat completions API, as OpenAI and every compatible server speak it.

mod own;
mod reply;
mod request;

use crate::Request;
use crate::adapter::Dialect;
use crate::habits::Habits;
use crate::profile::Profile;
use crate::refusal::Refused;

/// Chat completions.
pub(super) struct Chat;

impl Dialect for Chat {
    type Body<'a> = request::Body<'a>;
    type Gathered = reply::Gathered;
    const PATH: &'static str = "/chat/completions";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Self::Body<'a>> {
        request::body(profile, request, habits)
    }

    fn leads_elsewhere(refused: &Refused) -> bool {
        refused.leads_to("/responses", "responses api")
    }
}
