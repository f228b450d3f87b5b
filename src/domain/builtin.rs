//! The bot's own commands: one line makes one.

use selkie_channel_core::OfferedCommand;

use super::spelling::{is_slip, nearest};

macro_rules! builtins {
    ($($variant:ident = $name:literal, $help:literal;)*) => {
        /// A command of the bot. One line makes one: its name and what `/help` says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Builtin {
            $(#[doc = $help] $variant,)*
        }

        impl Builtin {
            /// Every command, as `/help` lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, without the slash.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it does, in words for `/help`.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

builtins! {
    Start = "start", "says hello";
    Help = "help", "shows this list";
    Ask = "ask", "asks me something, in groups too: /ask what now?";
    Stop = "stop", "stops what I am doing here";
    Reset = "reset", "starts the conversation over and stops what runs in it; files and memory stay, with whose words they hold (in a group my owner can, and whoever's request I am working on)";
    Status = "status", "shows what is running and waiting here, and what it cost";
    Model = "model", "shows which model answers here, or chooses another: /model NAME, /model default";
    Think = "think", "shows how hard the model here thinks, or sets it: /think high, /think default";
    Agent = "agent", "shows which agent answers here, or chooses one: /agent NAME, /agent off";
    Plan = "plan", "shows whether plan mode is on here; /plan off ends it";
    Schedules = "schedules", "lists what is scheduled here; /schedules pause N, resume N, remove N";
    Remind = "remind", "reminds you here: /remind in 20m TEXT, /remind tomorrow 08:00 TEXT";
    Memory = "memory", "shows what I remember here; /memory forget N deletes a line";
    Forget = "forget", "deletes everything of this chat for good (in a group only my owner can); asks first";
    Timezone = "timezone", "shows your time zone, or sets it (in a group my owner does): /timezone Europe/Berlin, /timezone off";
    Todos = "todos", "lists what people want done here (TODO.md)";
    Contacts = "contacts", "lists the people I know here; /contacts NAME shows one";
    Sessions = "sessions", "lists the conversations I take part in; in a group only this one";
    Agents = "agents", "lists the agents that work for this conversation, and those that have ended within a day";
    Skills = "skills", "lists the kinds of work that I do your way, and which are in force here";
    Ps = "ps", "lists the programs running for this conversation";
    Tools = "tools", "lists what I can use here; /tools why NAME says why one is here or not";
    Workspace = "workspace", "shows or sets the folder I work in here: /workspace /srv/project, /workspace off";
    Id = "id", "shows your id and this place's";
    Pair = "pair", "makes you my owner, in private, with a code that `selkie pair` prints: /pair CODE";
}

impl Builtin {
    /// Whether only an owner can use it.
    pub fn is_owners(self) -> bool {
        matches!(self, Self::Ps | Self::Workspace | Self::Model | Self::Think | Self::Agent)
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// Returns the command that somebody may have meant by a name that none has.
    pub fn meant(name: &str) -> Option<Self> {
        let near = Self::parse(nearest(name, Self::ALL.iter().map(|c| c.name()))?)?;
        // People seldom slip in the first letter, and many other words are as short.
        let begins_so = near.name().chars().next() == name.chars().next();
        (begins_so && is_slip(name, near.name())).then_some(near)
    }
}

/// What people are offered where a platform lists a bot's commands.
pub fn offered() -> Vec<OfferedCommand> {
    let offered = |command: &Builtin| OfferedCommand {
        name: command.name(),
        help: command.help(),
        in_groups: !command.is_owners() && !matches!(command, Builtin::Start | Builtin::Pair),
    };
    Builtin::ALL.iter().map(offered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_means_a_command_and_another_word_none() {
        for (slip, meant) in
            [("todo", "todos"), ("remindme", "remind"), ("statu", "status"), ("tool", "tools")]
        {
            assert_eq!(Builtin::meant(slip).map(Builtin::name), Some(meant));
        }
        for word in ["task", "end", "note", "summary", "wibble", "hello", "settings", "", "日本"]
        {
            assert_eq!(Builtin::meant(word), None, "{word}");
        }
    }
}
