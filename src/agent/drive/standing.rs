//! What stands before a call.

use crate::domain::approval::Request;
use crate::domain::transcript::Answer;
use crate::tools::scope::Approved;

/// What stands before a call.
pub(super) enum Approval {
    /// Nothing.
    Free,
    /// Somebody has approved it, and that is used up now: it starts.
    Given(Approved),
    /// It is not made.
    Refused(Answer),
    /// Somebody has to be asked.
    Seek(Box<Request>),
}
