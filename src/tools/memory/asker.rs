//! The task of a call, as memory sees it.

use selkie_channel_core::PersonId;

use super::port::Rememberer;
use crate::scope::Scope;

/// Who has written what nobody asked for.
const BY_ITSELF: &str = "selkie";

/// Returns who remembers in a call, and what they see.
pub(super) fn rememberer(scope: &Scope) -> Rememberer {
    let author = scope.wisher().map(|wisher| wisher.person);
    Rememberer {
        conversation: scope.conversation.clone(),
        // The general memory is the owner's, as the state folder is.
        sees_general: scope.roots.state.is_some(),
        own_memory: scope.own_memory.clone(),
        author: author.unwrap_or_else(|_| PersonId::new(BY_ITSELF)),
        trust: scope.trust,
        level: scope.taint,
        now: scope.clock.now(),
    }
}
