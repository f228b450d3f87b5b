//! Whom a task means when it wants to speak to somebody elsewhere: contacts by their ids and names, and the way to them.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use selkie_channel_core::{ConversationId, PersonId, UnpromptedCost};

use super::contacts::{Fields, keys};
use super::directory::Directory;
use super::forms::{Forms, Route};
use super::update::Conversations;
use super::visibility::{Visibility, is_named};
use selkie_domain::clock::SharedClock;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_store::SeenPerson;
use selkie_tools::ToolError;
use selkie_tools::ports::{Addressee, AddresseeQuery, Addressees, Sender};

/// Names that an error lists at most.
const MAX_NAMED: usize = 5;
/// Until when a contact is left alone.
const COOLDOWN: &str = "cooldown_until";

/// What the book has to ask of channels.
#[async_trait]
pub trait Reach: Send + Sync {
    /// Returns the conversation that an id names, where its channel is configured.
    fn conversation(&self, id: &str) -> Option<ConversationId>;

    /// Names the tool by which alone something is made public in a conversation, where it is public.
    fn posts_by(&self, conversation: &ConversationId) -> Option<&'static str>;

    /// Lists the others who have spoken in the groups in which somebody has spoken, by the channel of a conversation.
    ///
    /// # Errors
    /// When the ledger does not answer.
    async fn met_beside(
        &self,
        conversation: &ConversationId,
        person: &PersonId,
    ) -> Result<Vec<SeenPerson>, ToolError>;

    /// Whether the config names a conversation, or somebody has spoken there.
    ///
    /// # Errors
    /// When the ledger does not answer.
    async fn knows(&self, conversation: &ConversationId) -> Result<bool, ToolError>;

    /// What it comes to that the bot speaks there unasked.
    async fn unasked(&self, conversation: &ConversationId) -> UnpromptedCost;
}

/// Contacts behind the port.
pub struct AddressBook {
    /// The files.
    pub directory: Directory,
    /// How ids are written.
    pub forms: Forms,
    /// Knows conversations.
    pub conversations: Arc<dyn Conversations>,
    /// Knows channels.
    pub reached: Arc<dyn Reach>,
    /// The time.
    pub clock: SharedClock,
}

/// Somebody of the contact files.
struct KnownPerson {
    fields: Fields,
    routes: Vec<Route>,
    ids: Vec<String>,
    /// Whoever asks has met them in a group.
    is_shared: bool,
}

impl KnownPerson {
    /// Leaves out in which chats they are that are none of whoever asks.
    fn told(mut self, circle: &Visibility, beside: &Visibility) -> Self {
        if !circle.is_whole {
            let is_met = |chat: &String| {
                *chat == circle.chat || beside.met.iter().any(|met| met.place.key() == chat)
            };
            for route in &mut self.routes {
                route.shared.retain(is_met);
            }
        }
        self
    }

    /// Whether whoever asks shares the conversation that an id names, or a group with whom it reaches alone.
    fn is_shared_in(&self, id: &str) -> bool {
        let mut own = self.routes.iter().flat_map(|route| route.direct.iter().chain(&route.shared));
        self.is_shared && own.any(|own| own == id)
    }

    fn name(&self) -> String {
        self.fields.text(keys::NICKNAME).unwrap_or_else(|| self.fields.id().to_owned())
    }

    fn is_called(&self, name: &str) -> bool {
        is_named(&self.fields.names(), name)
    }
}

/// The contacts that a task may know of, and the level of what stands there.
struct Book {
    all: Vec<KnownPerson>,
    level: Taint,
}

#[async_trait]
impl Addressees for AddressBook {
    async fn find(&self, by: &Sender, wanted: &AddresseeQuery) -> Result<Addressee, ToolError> {
        let Book { all, level } = self.book(by).await?;
        let found = match wanted {
            AddresseeQuery::Contact { id, chat } => self.contact(&all, id, chat.as_deref())?,
            AddresseeQuery::Anybody(to) => self.anybody(&all, by, to)?,
        };
        let FoundAddressee { id, known } = found;
        let conversation = self.reached.conversation(&id).ok_or_else(|| not_configured(&id))?;
        if self.is_here(by, &conversation) {
            return Err(ToolError::tell(format!("{id} is this conversation: just answer here")));
        }
        if let Some(tool) = self.reached.posts_by(&conversation) {
            return Err(ToolError::tell(format!("{id} is public: {tool} posts there")));
        }
        // Everybody else is told the same of all whom they do not know, and an owner has to agree.
        if known.is_none() && by.sees_all && !self.reached.knows(&conversation).await? {
            return Err(unknown(&id));
        }
        let rests = known.and_then(|known| rests(&known.fields, self.clock.now()));
        if let Some(until) = rests {
            return Err(ToolError::tell(format!(
                "{} is left alone until {until} ({COOLDOWN} in the contact files)",
                known.map(KnownPerson::name).unwrap_or_default()
            )));
        }
        let costs = match self.reached.unasked(&conversation).await {
            UnpromptedCost::Free => None,
            UnpromptedCost::Counted(each) => Some(each),
            UnpromptedCost::Spent(why) | UnpromptedCost::Never(why) => {
                return Err(ToolError::Tell(why));
            }
        };
        Ok(Addressee {
            conversation,
            contact: known.map(|known| known.fields.id().to_owned()).unwrap_or_default(),
            name: known.map(KnownPerson::name).unwrap_or_default(),
            is_shared: known.is_some_and(|known| known.is_shared_in(&id)),
            costs,
            level,
        })
    }
}

/// Of whom a task hears: the people of its conversation, and those whom whoever asks has met in a group.
struct Audience {
    circle: Visibility,
    beside: Visibility,
}

/// Where somebody is reached, and who it is.
struct FoundAddressee<'k> {
    id: String,
    known: Option<&'k KnownPerson>,
}

impl AddressBook {
    /// Reads the contacts that a task may know of: an owner alone of all, everybody else of whom this conversation has met
    /// and of those who have spoken in a group where whoever asks has spoken, too.
    async fn book(&self, by: &Sender) -> Result<Book, ToolError> {
        let read = self.directory.shelves().await;
        let shelves = read.map_err(|error| ToolError::tell(error.to_string()))?;
        let Audience { circle, beside } = self.heard(by).await?;
        let mut all = Vec::new();
        let here = circle.look();
        let elsewhere = beside.look();
        for fields in shelves.all().map(|found| found.fields) {
            let every = self.forms.all_ids(fields);
            let is_shared = elsewhere.knows(&every);
            if is_shared || here.knows(&every) {
                let routes = self.forms.routes(fields);
                let ids = self.forms.ids(fields);
                let known = KnownPerson { fields: fields.clone(), routes, ids, is_shared };
                all.push(known.told(&circle, &beside));
            }
        }
        Ok(Book { all, level: shelves.level })
    }

    /// Returns of whom a task hears.
    async fn heard(&self, by: &Sender) -> Result<Audience, ToolError> {
        let here = &by.conversation;
        let beside = match &by.person {
            Some(person) => self.reached.met_beside(here, person).await?,
            None => Vec::new(),
        };
        let beside = Visibility { met: beside, ..Visibility::default() };
        let is_whole = by.sees_all && by.trust == Trust::Owner;
        let met = self.conversations.met(here, is_whole).await?;
        let circle = Visibility { is_whole, chat: self.conversations.chat(here), met };
        Ok(Audience { circle, beside })
    }

    fn contact<'k>(
        &self,
        all: &'k [KnownPerson],
        id: &str,
        chat: Option<&str>,
    ) -> Result<FoundAddressee<'k>, ToolError> {
        let exact = all.iter().find(|known| known.fields.id() == id);
        let by_id: Vec<&KnownPerson> =
            all.iter().filter(|known| known.ids.iter().any(|own| own == id)).collect();
        let known = match (exact, by_id.as_slice()) {
            (Some(known), _) => known,
            (None, [known]) => *known,
            (None, []) => return Err(not_found(all, id)),
            (None, many) => return Err(several(&self.forms.channel_of(id), id, many)),
        };
        match self.forms.route(&known.routes, chat) {
            Some(to) => Ok(FoundAddressee { id: to, known: Some(known) }),
            None => Err(unreachable(&known.routes, &known.ids, chat, &known.name())),
        }
    }

    fn anybody<'k>(
        &self,
        all: &'k [KnownPerson],
        by: &Sender,
        to: &str,
    ) -> Result<FoundAddressee<'k>, ToolError> {
        if self.forms.is_chat(to) || self.reached.conversation(to).is_some() && to.contains(':') {
            let reaches = |known: &&KnownPerson| {
                known
                    .routes
                    .iter()
                    .any(|route| route.direct.iter().chain(&route.shared).any(|id| id == to))
            };
            let direct = |known: &&KnownPerson| {
                known.routes.iter().any(|route| route.direct.iter().any(|id| id == to))
            };
            let known = all.iter().find(direct).or_else(|| all.iter().find(reaches));
            return Ok(FoundAddressee { id: to.to_owned(), known });
        }
        let called: Vec<&KnownPerson> = all
            .iter()
            .filter(|known| {
                known.fields.id() == to
                    || known.is_called(to)
                    || known.ids.iter().any(|id| id == to)
            })
            .collect();
        match called.as_slice() {
            [known] => match self.forms.route(&known.routes, None) {
                Some(id) => Ok(FoundAddressee { id, known: Some(known) }),
                None => Err(unreachable(&known.routes, &known.ids, None, &known.name())),
            },
            [] if by.sees_all => Err(ToolError::tell(format!(
                "there is nobody called {}: give a chat's id ({}) or a name from the contacts",
                short(to),
                self.forms.chats_such_as()
            ))),
            [] => Err(ToolError::tell(format!("nobody here is called {}", short(to)))),
            many => {
                let ids: Vec<&str> =
                    many.iter().take(MAX_NAMED).map(|known| known.fields.id()).collect();
                Err(ToolError::tell(format!(
                    "{} names several: {}; write the id of one",
                    short(to),
                    ids.join(", ")
                )))
            }
        }
    }

    fn is_here(&self, by: &Sender, to: &ConversationId) -> bool {
        *to == by.conversation
            || (to.account() == by.conversation.account()
                && self.conversations.chat(to) == self.conversations.chat(&by.conversation))
    }
}

/// Until when a contact is left alone, if that is later than now.
fn rests(fields: &Fields, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let until: DateTime<Utc> = fields.text(COOLDOWN)?.parse().ok()?;
    (until > now).then_some(until)
}

fn not_found(all: &[KnownPerson], id: &str) -> ToolError {
    let called = all.iter().filter(|known| known.is_called(id)).take(MAX_NAMED);
    let ids: Vec<&str> = called.map(|known| known.fields.id()).collect();
    let hint = match ids.as_slice() {
        [] => String::new(),
        ids => format!(" (contact_id takes an id: {})", ids.join(", ")),
    };
    ToolError::tell(format!("contact not found: {}{hint}", short(id)))
}

fn several(channel: &str, id: &str, many: &[&KnownPerson]) -> ToolError {
    let ids: Vec<&str> = many.iter().take(MAX_NAMED).map(|known| known.fields.id()).collect();
    ToolError::tell(format!(
        "{channel} username {:?} matches multiple contacts: write the contact_id of one ({})",
        short(id),
        ids.join(", ")
    ))
}

fn unreachable(routes: &[Route], ids: &[String], chat: Option<&str>, name: &str) -> ToolError {
    let chats: Vec<&str> =
        routes.iter().flat_map(|route| &route.shared).map(String::as_str).collect();
    let why = match chat {
        Some(chat) => format!("{} is none of the chats of {name}", short(chat)),
        None if chats.is_empty() && ids.iter().any(|id| id.contains('@')) => {
            let channel = routes.first().map_or("", |route| route.channel);
            return ToolError::tell(format!(
                "{channel} username target is not sendable: {name} has to write to the bot first"
            ));
        }
        None => format!("there is no private chat with {name}"),
    };
    let takes = if chats.is_empty() {
        String::new()
    } else {
        format!(" (chat_id takes {})", chats.join(", "))
    };
    ToolError::tell(format!("unable to resolve delivery channel: {why}{takes}"))
}

fn unknown(id: &str) -> ToolError {
    ToolError::tell(format!(
        "nobody here knows {}: the bot speaks to contacts, to chats in which somebody has written to it, and to those \
         that stand on a channel's list",
        short(id)
    ))
}

fn not_configured(id: &str) -> ToolError {
    ToolError::tell(format!(
        "unable to resolve delivery channel: no channel that is configured reaches {}",
        short(id)
    ))
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
