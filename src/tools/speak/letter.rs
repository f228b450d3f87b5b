//! What is said to somebody elsewhere, by any tool that does: whom it means, how it is shown, sent once, and told.

use sha2::{Digest as _, Sha256};

use crate::ToolError;
use crate::basis::{NameMeaning, Reach, Target};
use crate::ports::{Addressee, AddresseeQuery, RelayOutcome, RelayRequest, SayOutcome, Sender};
use crate::scope::Scope;
use selkie_domain::taint::Taint;

/// Characters that are said at once.
pub(super) const MAX: usize = 8_000;

/// Finds who is meant, for a task.
pub(super) async fn find(scope: &Scope, wanted: &AddresseeQuery) -> Result<Addressee, ToolError> {
    let visitor = scope.visitor();
    let by = Sender {
        conversation: visitor.conversation,
        person: visitor.person,
        trust: visitor.trust,
        sees_all: visitor.sees_all,
    };
    scope.addressees.find(&by, wanted).await
}

/// Finds the conversation that a call puts text into, and says which it is to whoever approves the call.
///
/// # Errors
/// In words: nobody is meant, or several are, or they cannot be reached, or it is this conversation.
pub(crate) async fn target(scope: &Scope, wanted: &AddresseeQuery) -> Result<Target, ToolError> {
    let to = find(scope, wanted).await?;
    let is = shown(&to);
    let name = NameMeaning { name: "addressee".to_owned(), is, identity: to.conversation.full() };
    Ok(Target { reach: Reach::Elsewhere, names: vec![name], is_excused: to.is_shared })
}

fn shown(to: &Addressee) -> String {
    let key = to.conversation.key();
    let who = if to.name.is_empty() { key.to_owned() } else { format!("{} ({key})", to.name) };
    match to.costs {
        Some(each) => format!("{who}; counts as {each} of the month's paid messages there"),
        None => who,
    }
}

/// Says it, once for the same words to the same chat within the task.
pub(super) async fn pass(
    scope: &Scope,
    to: &Addressee,
    text: &str,
) -> Result<RelayOutcome, ToolError> {
    let visitor = scope.visitor();
    let words = format!("{}\0{text}", to.conversation.full());
    let digest: String =
        Sha256::digest(words).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let passing = RelayRequest {
        key: format!("to:{digest}"),
        to: to.conversation.clone(),
        text: text.to_owned(),
        by: visitor.name,
        person: visitor.person,
        trust: scope.trust,
        taint: scope.taint,
    };
    scope.reply.pass(passing).await
}

/// Says why words cannot be said, if so.
pub(super) fn fault(name: &str, text: &str) -> Option<String> {
    let count = text.trim().chars().count();
    (count > MAX).then(|| format!("{name} has {count} characters: {MAX} can be sent at once"))
}

/// The level of what is told about somebody: their name others may have written.
pub(super) fn level(to: &Addressee) -> Taint {
    to.level
}

/// What became of it, in a word.
pub(super) fn word(spoken: &SayOutcome) -> &'static str {
    match spoken {
        SayOutcome::Sent(_) => "sent",
        SayOutcome::Queued => "queued: it is stored and will be sent; do not send it again",
        SayOutcome::Unclear => {
            "unclear: it may or may not have arrived, and it is not repeated; do not send it again"
        }
        SayOutcome::Refused(_) => "refused",
    }
}
