//! `selkie forget`: everything that a person has said to the bot alone goes for good.

use super::confirm::agreed;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{ask, mismatched, to_ask};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::forgetting::ForgetReport;
use selkie_app::request::{Request, Response};
use selkie_domain::count::counted;
use selkie_guard::visible::one_line;
use selkie_store::PrivateChat;

/// `selkie forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie forget Grace                       show what will be gone, and ask
  selkie forget tg:4711 --yes

This does what /forget does in each of their private chats, without saying anything there, and removes their contact. What they \
said in groups stays, as do to-do lists, files in workspaces, schedules (it names them) and backups.

Exit codes: 0 forgotten · 1 nothing is forgotten: you said no, or nobody has that name · 2 the command line or the config is \
wrong, or nobody could be asked: add --yes")]
pub struct ForgetArgs {
    /// Their name or one of their ids: `selkie contacts list` shows both
    pub person: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Print JSON instead of text; without --yes it only shows what would be forgotten
    #[arg(long)]
    pub json: bool,
}

/// Shows what goes, asks, and forgets.
pub fn forget(binary: &Binary, chosen: &ConfigChoice, args: &ForgetArgs) -> Outcome {
    let asks = |only_look: bool| -> Result<Box<ForgetReport>, Failure> {
        let request = Request::Forget { who: args.person.clone(), only_look };
        match ask(to_ask(binary, chosen)?, request)? {
            Response::Forgotten(told) => Ok(told),
            _ => mismatched(),
        }
    };
    if !args.yes {
        let found = asks(true)?;
        if args.json {
            return Ok(print::json(&found)?);
        }
        print::prose(&format!(
            "This will be gone for good:\n{}{}",
            all(&found),
            schedules(&found)
        ))?;
        agreed("Forget all of this?", || {
            "selkie forget asks first, and there is no terminal to ask on. To forget all of this, add --yes".to_owned()
        })?;
    }
    let gone = asks(false)?;
    if args.json {
        return Ok(print::json(&gone)?);
    }
    let rest = match gone.goes_on {
        true => {
            "Something is still running or being sent there: its words are deleted as soon as it has ended.\n"
        }
        false => "",
    };
    Ok(print::prose(&format!(
        "Forgotten:\n{}{rest}{}Earlier backups, and folders that a restore has moved aside, still contain it.\n",
        all(&gone),
        schedules(&gone)
    ))?)
}

fn all(found: &ForgetReport) -> String {
    let contact = found.contact.as_ref().map(|contact| {
        format!("  the contact {} ({})\n", one_line(&contact.name), one_line(&contact.contact_id))
    });
    let versions = match found.versions as u64 {
        0 => String::new(),
        some => format!(
            "  the earlier versions of the contacts' files, of which {} {} them\n",
            some,
            if some == 1 { "names" } else { "name" }
        ),
    };
    let chats: String = found.chats.iter().map(chat).collect();
    contact.unwrap_or_default() + &versions + &chats
}

/// What goes on saying what they wanted said.
fn schedules(found: &ForgetReport) -> String {
    let ids: Vec<String> = found.schedules.iter().map(i64::to_string).collect();
    match ids.as_slice() {
        [] => String::new(),
        [one] => format!(
            "Schedule {one} stays, with its words: `selkie schedules remove {one}` removes it.\n"
        ),
        [first, ..] => format!(
            "Schedules {} stay, with their words: `selkie schedules remove {first}` removes one.\n",
            ids.join(", ")
        ),
    }
}

fn chat(chat: &PrivateChat) -> String {
    format!(
        "  the chat {}: {}, {}, and what the bot remembers from it\n",
        one_line(&chat.conversation.to_string()),
        counted(chat.messages, ["message", "messages"]),
        counted(chat.tasks, ["task", "tasks"])
    )
}
