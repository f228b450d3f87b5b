//! What stands before a call.

use selkie_domain::approval::Request;
use selkie_domain::transcript::Answer;
use selkie_tools::scope::ApprovedBasis;

/// What stands before a call.
pub(super) enum Approval {
    /// Nothing.
    Free,
    /// Somebody has approved it, and that is used up now: it starts.
    Given(ApprovedBasis),
    /// It is not made.
    Refused(Answer),
    /// Somebody has to be asked.
    Seek(Box<Request>),
}
