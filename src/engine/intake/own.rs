//! What commands: a speaker's own plain words alone. What they pass on is text.

use selkie_channel_core::{AddressReason, Aside, Audience, Command, Inbound, What};

use selkie_domain::builtin::Builtin;
use selkie_domain::pairing;

/// Makes text of a command that stands in somebody else's words, or has such words in it.
pub fn in_own_words(mut inbound: Inbound) -> Inbound {
    let Some(command) = &inbound.command else {
        inbound.command = code_alone(&inbound);
        return inbound;
    };
    // A question may hold what it is about.
    let asks = Builtin::parse(&command.name) == Some(Builtin::Ask);
    if !inbound.forwarded && (asks || inbound.aside != Aside::Words) {
        return inbound;
    }
    inbound.text = command.written();
    inbound.command = None;
    if inbound.addressed == AddressReason::Command {
        // Who typed its name meant the bot; who passed it on did not.
        let passed_on = inbound.forwarded;
        inbound.addressed = if passed_on { AddressReason::No } else { AddressReason::Mention };
    }
    inbound
}

/// A pairing code in private stands for its command: not every platform lets people type one.
fn code_alone(inbound: &Inbound) -> Option<Command> {
    let is_own = !inbound.forwarded && inbound.aside.is_nothing() && inbound.quote.is_none();
    let is_alone = is_own && inbound.attachments.is_empty() && inbound.what == What::Message;
    if !is_alone || inbound.audience != Audience::Direct {
        return None;
    }
    let args = pairing::in_words(&inbound.text)?;
    Some(Command { name: Builtin::Pair.name().to_owned(), args })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing;

    fn command(name: &str, forwarded: bool, aside: Aside) -> Inbound {
        let command = Command { name: name.to_owned(), args: "/etc".to_owned() };
        let (audience, addressed) = (Audience::Group, AddressReason::Command);
        let said = testing::message("tg:1", "/etc");
        Inbound { command: Some(command), forwarded, aside, audience, addressed, ..said }
    }

    fn said(inbound: Inbound) -> (String, AddressReason, bool) {
        let inbound = in_own_words(inbound);
        (inbound.text, inbound.addressed, inbound.command.is_some())
    }

    #[test]
    fn a_code_alone_in_private_pairs() {
        let pairs = |inbound: Inbound| in_own_words(inbound).command.is_some();
        let said = |text: &str| testing::message("tg:5", text);
        assert!(pairs(said("pair ab3defgh")) && pairs(said(" Pair AB3DEFGH ")));
        assert!(!pairs(said("pair these socks")) && !pairs(said("please pair ab3defgh")));
        assert!(!pairs(Inbound { forwarded: true, ..said("pair ab3defgh") }));
        assert!(!pairs(Inbound { audience: Audience::Group, ..said("pair ab3defgh") }));
        assert!(!pairs(Inbound { what: What::Edit, ..said("pair ab3defgh") }));
    }

    #[test]
    fn only_own_plain_words_command() {
        let text = |addressed| ("/workspace /etc".to_owned(), addressed, false);
        for aside in [Aside::Nothing, Aside::Code, Aside::Words] {
            let forwarded = command("workspace", true, aside);
            assert_eq!(said(forwarded), text(AddressReason::No), "{aside:?}");
        }
        assert!(said(command("workspace", false, Aside::Nothing)).2);
        assert!(said(command("tools", false, Aside::Code)).2);
        assert_eq!(said(command("workspace", false, Aside::Words)), text(AddressReason::Mention));
        assert!(said(command("ask", false, Aside::Words)).2, "a question may quote");
        assert!(!said(command("ask", true, Aside::Nothing)).2);
    }
}
