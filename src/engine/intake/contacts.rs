//! The commands about people and what they want done: `/contacts`, `/todos`.

use std::sync::Arc;

use selkie_domain::facts::Trust;
use crate::intake::given::Given;
use crate::intake::messages::{contacts as messages, todos as todo_messages};
use selkie_people::book::ContactBook;
use selkie_people::circle::{Circle, Known};
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::Zones;
use selkie_store::StoreError;
use crate::work::acquaintances::{Acquaintances, NotBrought};
use crate::work::todo_list::{Reader, TodoLists, Unlisted};

/// Carries the command out.
pub struct ContactCommands {
    pub(crate) acquaintances: Arc<Acquaintances>,
    pub(crate) book: ContactBook,
    pub(crate) todos: TodoLists,
    pub(crate) zones: Arc<Zones>,
}

impl ContactCommands {
    /// Answers `/todos`: an owner alone sees the whole list, every other conversation its own items.
    pub async fn todos(
        &self,
        given: &Given<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let is_whole = given.is_owner_alone(trust);
        let (chat, person) = (given.place.key().to_owned(), Some(given.person.clone()));
        let zone = self.zone(given).await?;
        match self.todos.seen(&Reader { chat, is_whole, person }).await {
            Ok(todos) => {
                Ok(todo_messages::todos(&todos, todo_messages::Showing { is_whole, zone }))
            }
            Err(Unlisted::Store(error)) => Err(error),
            Err(Unlisted::File(why)) if is_whole => Ok(why.to_string()),
            Err(Unlisted::File(_)) => Ok(todo_messages::unreadable()),
        }
    }

    /// Answers `/contacts`: an owner alone hears of everybody, everybody else of the people of their conversation.
    pub async fn contacts(
        &self,
        given: &Given<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        if trust == Trust::Stranger {
            return Ok(messages::NOT_FOR_STRANGERS.to_owned());
        }
        let is_whole = given.is_owner_alone(trust);
        let unwritten = match self.acquaintances.bring().await {
            Ok(_) => None,
            Err(NotBrought::Store(error)) => return Err(error),
            Err(NotBrought::File(why)) => Some(why.to_string()),
        };
        let met = self.acquaintances.met_in(given.place).await?;
        let circle = Circle { is_whole, chat: given.place.key().to_owned(), met };
        let listed = match self.book.known(circle).await {
            Ok(listed) => listed,
            Err(why) if is_whole => return Ok(why.to_string()),
            Err(_) => return Ok(messages::unreadable()),
        };
        let zone = self.zone(given).await?;
        let showing = messages::Showing { zone, forms: &self.book.forms };
        let name = given.command.args.trim();
        let called = |known: &&Known| name.is_empty() || known.is_called(name);
        let mut everybody = listed.known;
        if is_whole {
            self.acquaintances.last_spoke().await?.tell(&mut everybody);
        }
        let known: Vec<&Known> = everybody.iter().filter(called).collect();
        let faults =
            unwritten.filter(|_| is_whole).into_iter().chain(listed.faults).collect::<Vec<_>>();
        Ok(match name {
            "" => messages::contacts(&known, &faults, zone),
            name => messages::contact(&known, name, showing),
        })
    }

    /// Returns the zone by whose clocks whoever asks reads times.
    async fn zone(&self, given: &Given<'_>) -> Result<Zone, StoreError> {
        Ok(self.zones.of(given.place, Some(given.person)).await?.zone)
    }
}
