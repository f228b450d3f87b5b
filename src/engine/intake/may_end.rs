//! Who may end what runs in a conversation.

use selkie_channel_core::{Audience, PersonId};

use crate::delivery::context::Context;
use crate::intake::given::GivenCommand;
use selkie_domain::facts::Trust;
use selkie_store::StoreError;

/// In a group: the owner, and who asked for what runs.
pub async fn may_end(
    context: &Context,
    given: &GivenCommand<'_>,
    trust: Trust,
) -> Result<bool, StoreError> {
    if given.audience == Audience::Direct || trust == Trust::Owner {
        return Ok(true);
    }
    let requester = requester(context, given).await?;
    Ok(requester.is_some_and(|person| person == *given.person))
}

async fn requester(
    context: &Context,
    given: &GivenCommand<'_>,
) -> Result<Option<PersonId>, StoreError> {
    let ledger = &context.storage.ledger;
    let Some((task, _)) = ledger.status(given.conversation).await?.running else {
        let open = ledger.open_questions(Some(given.conversation)).await?;
        if let Some(question) = open.into_iter().next() {
            return Ok(Some(question.person.id));
        }
        let sought = ledger.approvals(None).await?.into_iter();
        let here = sought.filter(|approval| approval.conversation == *given.conversation);
        return Ok(here.filter_map(|approval| approval.requester).next().map(|person| person.id));
    };
    Ok(ledger.task(task).await?.and_then(|detail| detail.facts.speaker))
}
