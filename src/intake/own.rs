//! What commands: a speaker's own plain words alone. What they pass on is text.

use selkie_channel_core::{Addressed, Aside, Inbound};

use crate::domain::builtin::Builtin;

/// Makes text of a command that stands in somebody else's words, or has such words in it.
pub(crate) fn in_own_words(mut inbound: Inbound) -> Inbound {
    let Some(command) = &inbound.command else { return inbound };
    // A question may hold what it is about.
    let asks = Builtin::parse(&command.name) == Some(Builtin::Ask);
    if !inbound.forwarded && (asks || inbound.aside != Aside::Words) {
        return inbound;
    }
    inbound.text = format!("/{} {}", command.name, command.args).trim_end().to_owned();
    inbound.command = None;
    if inbound.addressed == Addressed::Command {
        // Who typed its name meant the bot; who passed it on did not.
        let passed_on = inbound.forwarded;
        inbound.addressed = if passed_on { Addressed::No } else { Addressed::Mention };
    }
    inbound
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{Audience, Command};

    use super::*;
    use crate::daemon::flow::testing;

    fn command(name: &str, forwarded: bool, aside: Aside) -> Inbound {
        let command = Command { name: name.to_owned(), args: "/etc".to_owned() };
        let (audience, addressed) = (Audience::Group, Addressed::Command);
        let said = testing::message("tg:1", "/etc");
        Inbound { command: Some(command), forwarded, aside, audience, addressed, ..said }
    }

    fn said(inbound: Inbound) -> (String, Addressed, bool) {
        let inbound = in_own_words(inbound);
        (inbound.text, inbound.addressed, inbound.command.is_some())
    }

    #[test]
    fn only_own_plain_words_command() {
        let text = |addressed| ("/workspace /etc".to_owned(), addressed, false);
        for aside in [Aside::Nothing, Aside::Code, Aside::Words] {
            let forwarded = command("workspace", true, aside);
            assert_eq!(said(forwarded), text(Addressed::No), "{aside:?}");
        }
        assert!(said(command("workspace", false, Aside::Nothing)).2);
        assert!(said(command("tools", false, Aside::Code)).2);
        assert_eq!(said(command("workspace", false, Aside::Words)), text(Addressed::Mention));
        assert!(said(command("ask", false, Aside::Words)).2, "a question may quote");
        assert!(!said(command("ask", true, Aside::Nothing)).2);
    }
}
