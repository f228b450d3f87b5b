//! `selkie forget`: everything that a person has said to the bot alone goes for good.

use std::io::IsTerminal as _;

use super::confirm::confirmed;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{quiet, told};
use crate::daemon::Binary;
use crate::daemon::build::Chosen;
use crate::daemon::forgetting::{AskedToForget, Forgotten};
use crate::domain::count::counted;
use crate::guard::visible::one_line;
use crate::store::PrivateChat;

/// `selkie forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie forget Grace                       shows what goes, and asks
  selkie forget tg:4711 --yes

It does what /forget does in each of their private chats, without saying anything there, and removes their contact. What they \
said in groups stays, and so do todo lists, schedules and backups.

Exit codes: 0 it is gone · 1 it is not, or nobody has that name · 2 the command line or the config is wrong")]
pub struct ForgetArgs {
    /// Their name or an id of theirs: `selkie contacts list` shows them
    pub person: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// JSON instead of text; without --yes it only tells what would be forgotten
    #[arg(long)]
    pub json: bool,
}

/// Shows what goes, asks, and forgets.
pub fn forget(binary: &Binary, chosen: &Chosen, args: &ForgetArgs) -> Outcome {
    let ask = |only_look: bool| -> Result<Forgotten, Failure> {
        told(quiet(binary, chosen)?, AskedToForget { who: args.person.clone(), only_look })
    };
    if !args.yes {
        let found = ask(true)?;
        if args.json {
            return Ok(print::json(&found)?);
        }
        print::out(&format!("This goes for good:\n{}", all(&found)))?;
        if !std::io::stdin().is_terminal() {
            return Err(Failure::Usage(
                "selkie forget asks before it takes anything away, and nobody can answer here: add --yes".to_owned(),
            ));
        }
        if !confirmed("Forget all of it?")? {
            print::out("Nothing has changed.\n")?;
            return Err(Failure::Told);
        }
    }
    let gone = ask(false)?;
    if args.json {
        return Ok(print::json(&gone)?);
    }
    let rest = match gone.goes_on {
        true => {
            "A task that was told to stop has not ended yet: what it has said goes when it has.\n"
        }
        false => "",
    };
    Ok(print::out(&format!(
        "Forgotten:\n{}{rest}Backups that were made before still hold it.\n",
        all(&gone)
    ))?)
}

fn all(found: &Forgotten) -> String {
    let contact = found.contact.as_ref().map(|contact| {
        format!("  the contact {} ({})\n", one_line(&contact.name), one_line(&contact.contact_id))
    });
    let chats: String = found.chats.iter().map(chat).collect();
    contact.unwrap_or_default() + &chats
}

fn chat(chat: &PrivateChat) -> String {
    format!(
        "  the chat {}: {}, {}, and what is remembered of it\n",
        one_line(&chat.conversation.to_string()),
        counted(chat.messages, ["message", "messages"]),
        counted(chat.tasks, ["task", "tasks"])
    )
}
