//! A command as somebody gives it: in a message of a platform, or typed at the command line.

use selkie_channel_core::{
    Audience, Command, ConversationId, Inbound, MessageRef, PersonId, PlaceId,
};

use selkie_domain::facts::Trust;
use selkie_store::Location;

/// A command that is typed at the command line, whose owner everybody there is.
#[derive(Clone, Debug)]
pub struct TerminalCommand {
    /// Where.
    pub location: Location,
    /// Who typed it.
    pub person: PersonId,
    /// Who hears the answer.
    pub asked: MessageRef,
    /// What.
    pub command: Command,
}

/// A command, who gives it, and where.
#[derive(Clone, Copy)]
pub struct GivenCommand<'a> {
    pub(crate) conversation: &'a ConversationId,
    pub(crate) place: &'a PlaceId,
    pub(crate) person: &'a PersonId,
    pub(crate) audience: Audience,
    pub(crate) command: &'a Command,
    pub(crate) by: By<'a>,
}

/// What brings it.
#[derive(Clone, Copy)]
pub enum By<'a> {
    /// A message.
    Message(&'a Inbound),
    /// The command line; this is who hears the answer.
    Hand(&'a MessageRef),
}

impl<'a> GivenCommand<'a> {
    /// The command of a message.
    pub fn in_message(inbound: &'a Inbound, command: &'a Command) -> Self {
        let Inbound { conversation, place, speaker, audience, .. } = inbound;
        let (person, audience, by) = (&speaker.id, *audience, By::Message(inbound));
        Self { conversation, place, person, audience, command, by }
    }

    /// Whether an owner gives it where nobody else reads the answer.
    pub fn is_owner_alone(&self, trust: Trust) -> bool {
        trust == Trust::Owner && self.audience == Audience::Direct
    }

    /// Returns the message that it came in.
    pub fn message(&self) -> Option<&'a Inbound> {
        match self.by {
            By::Message(inbound) => Some(inbound),
            By::Hand(_) => None,
        }
    }
}

impl<'a> From<&'a TerminalCommand> for GivenCommand<'a> {
    fn from(typed: &'a TerminalCommand) -> Self {
        let TerminalCommand {
            location: Location { conversation, place, .. },
            person,
            asked,
            command,
        } = typed;
        let (audience, by) = (Audience::Direct, By::Hand(asked));
        Self { conversation, place, person, audience, command, by }
    }
}
