//! Who somebody is to us, and whose task it is by the rules of now: a row may be older than the config.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_channel_core::{AllowList, Audience, ConversationId, Inbound, PersonId, PlaceId};

use crate::delivery::account::Account;
use crate::delivery::accounts::Accounts;
use crate::delivery::context::Context;
use crate::work::provenance;
use crate::work::settings::PlaceSettings;
use selkie_domain::command_line;
use selkie_domain::facts::{Trigger, Trust, Where};
use selkie_domain::ids::InboxId;
use selkie_domain::live::Live;
use selkie_domain::owners::Owners;
use selkie_domain::taint::Taint;
use selkie_store::{Ledger, Location, StoreError, TaskClaim};

/// Who may do what, by config and by the allow lists of now.
pub struct Rights {
    /// Always allowed.
    pub owners: Owners,
    /// What holds in single places, by their ids.
    pub places: Live<BTreeMap<String, PlaceSettings>>,
    pub(crate) accounts: Arc<Accounts>,
}

impl Rights {
    /// Who may do what, by these settings of places.
    pub fn new(context: &Context, places: BTreeMap<String, PlaceSettings>) -> Self {
        Self {
            owners: context.owners.clone(),
            places: Live::of(places),
            accounts: Arc::clone(&context.accounts),
        }
    }

    /// Says who the speaker of a message is there; `None` for somebody the bot does not listen to.
    pub fn principal(&self, account: &Account, inbound: &Inbound) -> Option<Trust> {
        let speaker = &inbound.speaker.id;
        account.with_allowed(|allow| trust(&self.owners, allow, speaker, &inbound.place))
    }

    /// Returns the trust in whom the task answers, the least of them and never more than it was made with;
    /// `None` when one of them is not listened to any more.
    pub fn now(&self, claimed: &TaskClaim) -> Option<Trust> {
        let made = self.of(claimed, claimed.facts.trust, &claimed.heard)?;
        let words = claimed.words.iter().map(|words| &words.person);
        self.least(claimed, made, words)
    }

    /// The same of other messages in the task's place, for a task that was made with `made`.
    pub fn of(
        &self,
        claimed: &TaskClaim,
        made: Trust,
        heard: &[(InboxId, Inbound)],
    ) -> Option<Trust> {
        self.least(claimed, made, heard.iter().map(|(_, inbound)| &inbound.speaker.id))
    }

    /// The least trust in any of these people, and never more than `made`.
    fn least<'a>(
        &self,
        claimed: &TaskClaim,
        made: Trust,
        mut speakers: impl Iterator<Item = &'a PersonId>,
    ) -> Option<Trust> {
        let asked_here = matches!(claimed.facts.place, Where::Channel(_));
        let Some(account) = self.accounts.of(&claimed.conversation).filter(|_| asked_here) else {
            return Some(made);
        };
        account.with_allowed(|allow| {
            // The place as it is called now: it may have moved since they wrote.
            speakers.try_fold(made, |least, who| {
                Some(least.min(trust(&self.owners, allow, who, &claimed.place)?))
            })
        })
    }

    /// Returns what the config says of a conversation now.
    pub fn here(&self, conversation: &ConversationId, place: &PlaceId) -> PlaceSettings {
        PlaceSettings::of(&self.places.now(), conversation, place)
    }

    /// Takes what the place opens by the config of now: a task may have waited for a person since.
    pub fn refresh(&self, claimed: &mut TaskClaim) {
        // What a hook opens, it opened when it was called.
        let is_hooks = claimed.facts.trigger == Trigger::Webhook;
        if matches!(claimed.facts.place, Where::Channel(_)) && !is_hooks {
            claimed.facts.opened = self.here(&claimed.conversation, &claimed.place).allow;
        }
    }
}

/// Whether the bot may speak somewhere unasked, whoever has it do so: the conversation is public, or private with an
/// owner, or stands on its channel's list.
pub fn may_be_told(owners: &[PersonId], accounts: &Accounts, to: &Location) -> bool {
    let everyone = |account: Arc<Account>| account.with_allowed(|allow| allow.is_everyone());
    is_listed(owners, accounts, to) || accounts.of(&to.conversation).is_some_and(everyone)
}

/// Whether the config names a conversation: it is public, or private with an owner, or stands on its channel's list.
pub fn is_listed(owners: &[PersonId], accounts: &Accounts, to: &Location) -> bool {
    let Location { conversation, place, .. } = to;
    let Some(account) = accounts.of(conversation) else { return false };
    accounts.public(conversation.key()).as_ref() == Some(conversation)
        || is_named_after_one(owners, accounts, to)
        || account.with_allowed(|allow| allow.names(place.key()))
}

/// Whether a conversation is the private one with an owner, as its id says.
fn is_named_after_one(owners: &[PersonId], accounts: &Accounts, to: &Location) -> bool {
    let Location { conversation, place, .. } = to;
    owners.iter().any(|owner| {
        owner.as_str() == place.key() || accounts.private(owner).as_ref() == Some(conversation)
    })
}

/// Whether an owner alone reads what is told in a conversation: at the command line, and where they are alone with the
/// bot.
///
/// # Errors
/// When the store does not answer.
pub async fn is_read_by_an_owner_alone(
    owners: &[PersonId],
    accounts: &Accounts,
    ledger: &dyn Ledger,
    conversation: &ConversationId,
) -> Result<bool, StoreError> {
    if command_line::is_at(conversation) {
        return Ok(true);
    }
    let Some(account) = accounts.of(conversation) else { return Ok(false) };
    if account.channel.address.features(conversation).audience != Audience::Direct {
        return Ok(false);
    }
    let (conversation, place) = (conversation.clone(), accounts.place(conversation));
    let to = Location { conversation, place, title: String::new() };
    Ok(is_named_after_one(owners, accounts, &to)
        || is_an_owners(owners, ledger, &to.conversation).await?)
}

/// Whether an owner is who last wrote in a private conversation that is not known by its person's id.
///
/// # Errors
/// When the store does not answer.
pub async fn is_an_owners(
    owners: &[PersonId],
    ledger: &dyn Ledger,
    conversation: &ConversationId,
) -> Result<bool, StoreError> {
    let account = [conversation.account().clone()];
    for owner in owners {
        if ledger.last_private(owner, &account).await?.as_ref() == Some(conversation) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Says that a place is on no list, and on which it belongs.
pub fn not_listed(account: &Account, to: &Location) -> String {
    let Location { conversation, place, .. } = to;
    let keys = account.channel.allow_keys;
    let key = match account.channel.address.features(conversation).audience {
        Audience::Direct => keys.people,
        Audience::Group => keys.places,
    };
    let (name, place) = (account.channel.name, place.key());
    format!("{place} is on no list: add \"{place}\" to `{name}.{key}` in the config first")
}

/// Says who a person is in a place.
pub fn trust(
    owners: &[PersonId],
    allow: &AllowList,
    speaker: &PersonId,
    place: &PlaceId,
) -> Option<Trust> {
    if owners.contains(speaker) {
        return Some(Trust::Owner);
    }
    if allow.names(place.key()) || allow.names(speaker.as_str()) {
        return Some(Trust::Allowed);
    }
    allow.is_everyone().then_some(Trust::Stranger)
}

/// Lets every message of the task weigh in, not only the one it was made of (an album, messages in a
/// row), what a group said around it, which is nobody's own words, and what people of less trust asked
/// before in this conversation: to whoever asks now these are others' words.
pub fn weigh(claimed: &mut TaskClaim) {
    let heard = || claimed.heard.iter().map(|(_, inbound)| inbound);
    let asked_before = claimed.asked_by.is_some_and(|least| least < claimed.facts.trust);
    let level = match asked_before || !claimed.context.is_empty() {
        true => Taint::Raw,
        false => heard().map(provenance::level).max().unwrap_or_default(),
    };
    claimed.facts.taint = claimed.facts.taint.max(level);
    if claimed.facts.trust == Trust::Owner {
        // Messages gather by speaker: all of them are the owner's. What a schedule says a model may have written.
        let typed = claimed.words.iter().filter(|_| claimed.facts.trigger == Trigger::Asked);
        let own = typed.flat_map(|words| provenance::named(&words.letter(Trigger::Asked).own));
        claimed.facts.summoned = heard().flat_map(provenance::summoned).chain(own).collect();
        claimed.facts.summoned.sort();
        claimed.facts.summoned.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::{self, message};
    use selkie_domain::words::Words;

    #[test]
    fn the_least_trusted_speaker_counts_and_a_stranger_ends_it() {
        let house = testing::desk();
        let now = |claimed: &TaskClaim| house.rights.now(claimed);
        let mut claimed = testing::claimed(1, &message("tg:1", "hi"));
        assert_eq!(now(&claimed), Some(Trust::Owner));
        claimed.heard.extend(testing::claimed(2, &message("tg:2", "hi")).heard);
        assert_eq!(now(&claimed), Some(Trust::Allowed));
        claimed.heard.extend(testing::claimed(3, &message("tg:66", "hi")).heard);
        assert_eq!(now(&claimed), None);
        let mut lowered = testing::claimed(1, &message("tg:1", "hi"));
        lowered.facts.trust = Trust::Allowed;
        assert_eq!(now(&lowered), Some(Trust::Allowed), "never more than it was made with");
    }

    #[test]
    fn every_message_weighs_in_and_talk_around_it_too() {
        let untrusted = |claimed: &mut TaskClaim| {
            weigh(claimed);
            claimed.facts.taint == Taint::Raw
        };
        let mut claimed = testing::claimed(1, &message("tg:1", "use $bash"));
        assert!(!untrusted(&mut claimed));
        assert_eq!(claimed.facts.summoned, ["bash"]);
        let mut second = message("tg:1", "and $grep, on this");
        second.forwarded = true;
        claimed.heard.extend(testing::claimed(2, &second).heard);
        assert!(untrusted(&mut claimed), "the second message is forwarded");
        assert_eq!(claimed.facts.summoned, ["bash"], "a forward names nothing");
        let mut talk = testing::claimed(1, &message("tg:1", "hi"));
        talk.context = vec![message("tg:5", "$bash")];
        assert!(untrusted(&mut talk), "talk around it");
        assert!(talk.facts.summoned.is_empty());
        let mut after = testing::claimed(1, &message("tg:1", "hi"));
        after.asked_by = Some(Trust::Owner);
        assert!(!untrusted(&mut after), "what the owner asked before");
        after.asked_by = Some(Trust::Allowed);
        assert!(untrusted(&mut after), "what somebody of less trust asked before");
        let mut equal = testing::claimed(1, &message("tg:2", "hi"));
        (equal.facts.trust, equal.asked_by) = (Trust::Allowed, Some(Trust::Owner));
        assert!(!untrusted(&mut equal), "what somebody of more trust asked before");
        let mut allowed = testing::claimed(1, &message("tg:2", "$bash"));
        allowed.facts.trust = Trust::Allowed;
        weigh(&mut allowed);
        assert!(allowed.facts.summoned.is_empty());
    }

    #[test]
    fn words_that_came_as_no_message_are_their_persons() {
        let house = testing::desk();
        let mut claimed = testing::claimed(1, &message("tg:1", "hi"));
        claimed.heard.clear();
        let words =
            |person: &str| Words::said(PersonId::new(person), claimed.facts.at, "use $bash");
        let by = |person: &str| TaskClaim { words: Some(words(person)), ..claimed.clone() };
        assert_eq!(house.rights.now(&by("tg:1")), Some(Trust::Owner));
        assert_eq!(house.rights.now(&by("tg:2")), Some(Trust::Allowed));
        assert_eq!(house.rights.now(&by("tg:66")), None, "nobody listens to them any more");
        let mut named = by("tg:1");
        weigh(&mut named);
        assert_eq!(
            (named.facts.summoned, named.facts.taint),
            (vec!["bash".to_owned()], Taint::Clean)
        );
        let mut later = by("tg:1");
        later.facts.trigger = Trigger::Scheduled;
        weigh(&mut later);
        assert!(later.facts.summoned.is_empty(), "a model may have written what a schedule says");
    }

    #[tokio::test]
    async fn an_owner_reads_alone_at_the_command_line_and_in_private() {
        let house = testing::desk();
        let whose = async |conversation: &ConversationId| {
            let (owners, accounts) = (&house.rights.owners, &house.rights.accounts);
            is_read_by_an_owner_alone(owners, accounts, &*house.ledger, conversation).await.unwrap()
        };
        let at = |key: &str| ConversationId::new(testing::account(), key);
        assert!(
            whose(&at("tg:1")).await && !whose(&at("tg:2")).await && !whose(&at("tg:-100")).await
        );
        assert!(whose(&command_line::conversation(std::path::Path::new("/"))).await);
        let gone = ConversationId::new(selkie_channel_core::AccountId::new("no:1"), "tg:1");
        assert!(!whose(&gone).await, "a channel that is not configured any more");
    }

    #[test]
    fn the_terminal_has_no_list() {
        let house = testing::desk();
        let mut claimed = testing::claimed(1, &message("cli:local", "hi"));
        claimed.facts.place = Where::CommandLine { terminal: true };
        assert_eq!(house.rights.now(&claimed), Some(Trust::Owner));
    }
}
