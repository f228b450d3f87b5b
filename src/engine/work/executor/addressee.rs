//! Whom an answer quotes, and who is asked.

use selkie_channel_core::{Audience, MessageRef};

use selkie_domain::facts::Where;
use selkie_domain::question::Person;
use selkie_store::TaskClaim;

/// Where several speak, an answer says whom it answers; one that nobody asked for only when the wish to
/// speak was strong.
pub(super) fn quote(claimed: &TaskClaim) -> Option<MessageRef> {
    let facts = &claimed.facts;
    let several =
        facts.audience() == Audience::Group || matches!(facts.place, Where::CommandLine { .. });
    let quotes = several && facts.passed.as_ref().is_none_or(|passed| passed.quotes);
    quotes.then(|| facts.message.clone()).flatten()
}

/// Who is asked: whose message the task answers.
pub(super) fn person(claimed: &TaskClaim) -> Option<Person> {
    let id = claimed.facts.speaker.clone()?;
    let speakers = claimed.heard.iter().map(|(_, inbound)| &inbound.speaker);
    let speakers = speakers.map(|speaker| (&speaker.id, &speaker.name));
    let mut known = speakers.chain(claimed.words.iter().map(|words| (&words.person, &words.name)));
    let name = known.find(|(known, _)| **known == id).map(|(_, name)| name.clone());
    Some(Person { id, name: name.unwrap_or_default() })
}
