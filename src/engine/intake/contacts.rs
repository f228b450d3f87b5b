//! The commands about people and what they want done: `/contacts`, `/todos`.

use std::sync::Arc;

use crate::intake::given::GivenCommand;
use crate::intake::messages::{contacts as messages, todos as todo_messages};
use crate::work::acquaintances::{Acquaintances, NotBrought};
use crate::work::todo_list::{ListError, Reader, TodoLists};
use selkie_domain::facts::Trust;
use selkie_people::book::ContactBook;
use selkie_people::visibility::{Visibility, VisiblePerson};
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::Zones;
use selkie_store::StoreError;

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
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        let is_whole = given.is_owner_alone(trust);
        let (chat, person) = (given.place.key().to_owned(), Some(given.person.clone()));
        let zone = self.zone(given).await?;
        match self.todos.seen(&Reader { chat, is_whole, person }).await {
            Ok(todos) => {
                Ok(todo_messages::todos(&todos, todo_messages::TodoStyle { is_whole, zone }))
            }
            Err(ListError::Store(error)) => Err(error),
            Err(ListError::File(why)) if is_whole => Ok(why.to_string()),
            Err(ListError::File(_)) => Ok(todo_messages::unreadable()),
        }
    }

    /// Answers `/contacts`: an owner alone hears of everybody, everybody else of the people of their conversation.
    pub async fn contacts(
        &self,
        given: &GivenCommand<'_>,
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
        let circle = Visibility { is_whole, chat: given.place.key().to_owned(), met };
        let listed = match self.book.known(circle).await {
            Ok(listed) => listed,
            Err(why) if is_whole => return Ok(why.to_string()),
            Err(_) => return Ok(messages::unreadable()),
        };
        let zone = self.zone(given).await?;
        let showing = messages::ContactStyle { zone, forms: &self.book.forms };
        let name = given.command.args.trim();
        let called = |known: &&VisiblePerson| name.is_empty() || known.is_called(name);
        let mut everybody = listed.known;
        if is_whole {
            self.acquaintances.last_spoke().await?.tell(&mut everybody);
        }
        let known: Vec<&VisiblePerson> = everybody.iter().filter(called).collect();
        let faults =
            unwritten.filter(|_| is_whole).into_iter().chain(listed.faults).collect::<Vec<_>>();
        Ok(match name {
            "" => messages::contacts(&known, &faults, zone),
            name => messages::contact(&known, name, showing),
        })
    }

    /// Returns the zone by whose clocks whoever asks reads times.
    async fn zone(&self, given: &GivenCommand<'_>) -> Result<Zone, StoreError> {
        Ok(self.zones.of(given.place, Some(given.person)).await?.zone)
    }
}
