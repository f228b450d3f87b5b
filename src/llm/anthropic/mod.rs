//! Anthropic's Messages API.

mod reply;
mod request;

use crate::Request;
use crate::adapter::Dialect;
use crate::habits::Habits;
use crate::profile::Profile;

/// Messages.
pub(super) struct Messages;

impl Dialect for Messages {
    type Body<'a> = request::Body<'a>;
    type Gathered = reply::Gathered;
    const PATH: &'static str = "/messages";

    fn body<'a>(
        profile: &'a Profile,
        request: &'a Request,
        habits: Habits,
    ) -> serde_json::Result<Self::Body<'a>> {
        request::body(profile, request, habits)
    }

    fn beta(habits: Habits) -> Option<&'static str> {
        habits.drops_bound.then_some("thinking-binding-controls-2026-08-01")
    }
}
