//! What people read who use the bot's commands, or are not listened to.

use std::fmt::Write as _;
use std::path::Path;

use selkie_channel_core::{AllowKeys, Audience, ConversationId, Inbound, PersonId, PlaceId};

use crate::intake::messages::shown::{asked_line, length};
use selkie_domain::approval::code as code_of;
use selkie_domain::builtin::Builtin;
use selkie_domain::facts::{Mode, Trust};
use selkie_domain::ids::TaskId;
use selkie_shape::{Explanation, HiddenLine};
use selkie_store::ApprovalRow;
use selkie_tools::shell::ProcessLine;

pub mod choosing;
pub mod contacts;
pub mod later;
pub mod memory;
pub mod pairing;
pub mod schedules;
pub mod shown;
pub mod skills;
pub mod status;
pub mod todos;
pub mod webhooks;

/// Tells somebody who is not listened to which line lets them in.
pub fn not_allowed(inbound: &Inbound, channel: &str, keys: AllowKeys) -> String {
    let person = &inbound.speaker.id;
    let place = inbound.place.key();
    // Who writes in private is let in as a person, who writes among others with the place.
    let (key, id) = match inbound.audience {
        Audience::Direct => (keys.people, person.as_str()),
        Audience::Group => (keys.places, place),
    };
    let mut text = format!(
        "I do not answer here yet. If this is your bot, add this id to `{channel}.{key}` in its config and run \
         `selkie reload`:\n```\n{channel}:\n  {key}: [\"{id}\"]\n```\n"
    );
    if person.as_str() == id {
        _ = write!(
            text,
            "Or make yourself its owner: by `selkie pair` on its machine, or `owners: [\"{person}\"]`."
        );
    } else {
        _ = write!(
            text,
            "Your id is `{person}`. To make yourself the owner: `owners: [\"{person}\"]`."
        );
    }
    text
}

/// What somebody reads whom the bot does not know, in a place that its owner has not let in; who asks for their id reads it.
pub fn unknown(inbound: &Inbound, owner_hears: bool) -> String {
    let text = match inbound.audience {
        Audience::Direct => pairing::unknown(owner_hears),
        Audience::Group => pairing::UNKNOWN_GROUP,
    };
    let person = &inbound.speaker.id;
    match inbound.command.as_ref().and_then(|command| Builtin::parse(&command.name)) {
        Some(Builtin::Id | Builtin::Start) => format!("{text} Your id is `{person}`."),
        _ => text.to_owned(),
    }
}

/// Greets.
pub fn start(trust: Trust) -> String {
    let mut text = "Hello! Write to me and I will answer. /help lists my commands.".to_owned();
    if trust == Trust::Owner {
        text.push_str(" Say \"set up your persona\" to give me a name and a manner.");
    }
    text
}

/// Writes commands as they are typed where one of the platform's carries them: `/selkie stop`.
pub fn typed(text: &str, carrier: Option<&str>) -> String {
    let Some(carrier) = carrier else { return text.to_owned() };
    let mut typed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, command) = rest.split_at(at);
        let name = command[1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '/').next();
        let is_ours = name.is_some_and(|name| Builtin::parse(name).is_some());
        let begins = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '/');
        typed.push_str(before);
        if is_ours && begins {
            typed.push_str(carrier);
            typed.push(' ');
        } else {
            typed.push('/');
        }
        rest = &command[1..];
    }
    typed + rest
}

/// Lists the commands.
pub fn help(trust: Trust) -> String {
    let mut text = "Write to me and I will answer. Commands:\n".to_owned();
    let may = |command: &&Builtin| trust == Trust::Owner || !command.is_owners();
    for command in Builtin::ALL.iter().filter(may) {
        _ = writeln!(text, "- /{} {}", command.name(), command.help());
    }
    if trust == Trust::Owner {
        text.push_str(
            "When something needs your approval, I ask you in private: tap a button, or write `approve CODE` or \
             `deny CODE`.\n",
        );
    }
    text
}

/// Answers a command that there is not.
pub fn no_such_command(name: &str, trust: Trust) -> String {
    let name: String = name.chars().filter(|c| *c != '`').take(40).collect();
    match Builtin::meant(&name) {
        Some(meant) => format!("There is no command `{name}`. Did you mean /{}?", meant.name()),
        None => format!("There is no command `{name}`.\n\n{}", help(trust)),
    }
}

/// Answers `approve` and `deny` that mean no request; `open` are those that the reader can decide.
pub fn no_such_request(said: &str, open: &[ApprovalRow]) -> String {
    let code: String = said.split_whitespace().skip(1).filter(|word| !word.contains('`')).collect();
    let mut text = match code.as_str() {
        "" if open.is_empty() => "Nothing is waiting for your approval.".to_owned(),
        "" => "Write the code of the request after it.".to_owned(),
        code => format!("Nothing with the code `{code}` is waiting for your approval."),
    };
    for approval in open {
        let (code, tool) = (code_of(&approval.key), &approval.request.tool);
        _ = write!(text, "\n- `approve {code}` or `deny {code}`: {tool}");
    }
    text
}

/// Says what came of lifting a mute.
pub fn unmuted(done: bool) -> String {
    let told = match done {
        true => "These requests reach you again.",
        false => "Nobody is muted under this code.",
    };
    told.to_owned()
}

/// Says once that no more codes are read.
pub const TOO_MANY_CODES: &str = "Too many wrong codes: I will ignore codes for ten minutes. The buttons below a request still work.";

/// Tells the ids.
pub fn ids(person: &PersonId, place: &PlaceId, conversation: &ConversationId) -> String {
    format!(
        "You: `{}`\nThis place: `{}`\nThis conversation: `{}`",
        person,
        place.key(),
        conversation.key()
    )
}

/// Answers `/ask` without a question.
pub const ASK_WHAT: &str = "Put your question after the command: `/ask what is the time in Lima?`";

/// Answers `/plan`.
pub fn plan(mode: Mode) -> String {
    match mode {
        Mode::Plan => "Plan mode is on here: I will change nothing until you approve a plan. /plan off ends it.",
        Mode::Normal => "Plan mode is off here. Ask me to make a plan first, and I will change nothing until you \
            approve it.",
    }
    .to_owned()
}

/// Answers `/plan off`.
pub fn plan_off(before: Mode) -> String {
    match before {
        Mode::Plan => "Plan mode is off. All tools are available here again.",
        Mode::Normal => "Plan mode was not on here.",
    }
    .to_owned()
}

/// Answers `/plan` with words nobody knows.
pub const PLAN_USAGE: &str =
    "Write `/plan` to see whether plan mode is on here, `/plan off` to end it.";

/// Answers `/reset`; `answers` is what answers here by a command, which stays.
pub fn reset(answers: Option<&str>) -> String {
    let stays = answers.map(|answers| format!(" So does what answers here: {answers}."));
    "A fresh start: I have set our conversation aside, with the list that I kept in it, and stopped what I was still working on. \
     Files, what I remember (/memory), TODO.md and schedules stay, and I will still answer messages that are waiting."
        .to_owned()
        + &stays.unwrap_or_default()
}

/// Answers `/stop` when something ran, and names the programs that earlier tasks left running.
pub fn stopped(left: &[String]) -> String {
    "Stopped. I will still answer messages that are waiting.".to_owned() + &still_running(left)
}

/// Names the programs that a stop leaves running.
pub fn still_running(left: &[String]) -> String {
    if left.is_empty() {
        return String::new();
    }
    format!(
        " Still running in the background: {}. Send /stop again to end that too.",
        left.join(", ")
    )
}

/// Answers `/stop` when something ran in threads of the place: what was asked there.
pub fn stopped_in_threads(asked: &[String]) -> String {
    let mut text = "Stopped, also in threads here:\n".to_owned();
    asked.iter().for_each(|asked| asked_line(&mut text, asked));
    text.push_str("I will still answer messages that are waiting.");
    text
}

/// Answers `/stop` when no task ran: what was left in the background is ended.
pub fn nothing_to_stop(left: &[String]) -> String {
    ended_in_background(left).unwrap_or_else(|| "Nothing is running here.".to_owned())
}

/// Answers `/stop` when the task had ended just before.
pub fn already_finished(left: &[String]) -> String {
    ended_in_background(left).unwrap_or_else(|| "That had already finished.".to_owned())
}

fn ended_in_background(left: &[String]) -> Option<String> {
    let names = left.join(", ");
    (!left.is_empty()).then(|| format!("Stopped {names}, running in the background."))
}

/// Answers somebody else's `/stop` or `/reset` in a group.
pub fn not_yours(command: &str) -> String {
    format!(
        "In a group, only my owner can use /{command}, or the person whose request I am working on."
    )
}

/// Tells the owner, by another channel, that one does not hear.
pub fn deaf(channel: &str, reason: &str) -> String {
    format!(
        "I receive nothing on {channel} any more: {reason}. I try again every few minutes and will tell you when \
         it works."
    )
}

/// Tells the owner, by another channel, that one hears again.
pub fn hears_again(channel: &str) -> String {
    format!("{channel} works again: I receive messages there.")
}

/// Says where a place works.
pub fn workspace(set: Option<&str>, by_config: Option<&Path>) -> String {
    match (set, by_config) {
        (Some(set), _) => format!("I work in `{set}` here. `/workspace off` undoes that."),
        (None, Some(dir)) => format!(
            "I work in `{}` here, as workspace.dir in the config says. `/workspace /a/folder` sets another one.",
            dir.display()
        ),
        (None, None) => "I have no workspace here: files go to my cache folder. `/workspace /a/folder` sets one."
            .to_owned(),
    }
}

/// Says where a place works from now on.
pub fn workspace_set(real: &str) -> String {
    format!("From now on I work in `{real}` here. Everybody who can use me here works there too.")
}

/// Says that a place's own folder is taken back.
pub const NO_WORKSPACE: &str =
    "Done: files go where the config says again, or else to my cache folder.";

/// Answers a command that only the owner may give.
pub fn owners_only(command: &str) -> String {
    format!("Only an owner can use /{command}.")
}

/// Answers `/workspace` in the terminal.
pub const WORKSPACE_OF_TERMINAL: &str =
    "In the terminal I work in your current folder: start me in another one.";

/// Answers `/ps`. A command that the `running` task waits for has no name of its own.
pub fn processes(all: &[ProcessLine], running: Option<TaskId>) -> String {
    let lines = all.iter().map(|process| {
        let ProcessLine { name, state, age, command } = process;
        let command = command.replace('`', "'").replace('\n', " ⏎ ");
        format!("- {name} {state}, started {} ago: `{command}`", length(*age))
    });
    let own = running.map(|task| {
        format!("Task {task} is running; /stop ends it, and with it the command it waits for.")
    });
    let mut lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        let background = if own.is_some() { " in the background" } else { "" };
        lines.push(format!("No programs are running{background} for this conversation."));
    }
    lines.extend(own);
    lines.join("\n")
}

/// Answers `/tools`.
pub fn tools(explained: &Explanation) -> String {
    let mut text = format!("Tools here ({}):\n", explained.setting);
    for tool in &explained.there {
        _ = writeln!(text, "- `{}` {}", tool.name, tool.summary);
    }
    if explained.there.is_empty() {
        text.push_str("- none\n");
    }
    if !explained.hidden.is_empty() {
        let names: Vec<&str> =
            explained.hidden.iter().map(|HiddenLine { name, .. }| &**name).collect();
        _ = writeln!(text, "Not here: {}.", names.join(", "));
    }
    text.push_str("`/tools why NAME` says why a tool is here or not.");
    text
}

/// Answers `/tools why NAME`; `here` is nothing of a name that no tool has.
pub fn tool_why(name: &str, here: Option<bool>, lines: &[String]) -> String {
    let verdict = match here {
        Some(true) => " is available here",
        Some(false) => " is not available here",
        None => "",
    };
    format!("`{name}`{verdict}: {}", lines.join("; "))
}

/// Answers `/tools` with anything else behind it.
pub const TOOLS_USAGE: &str = "Write `/tools`, or `/tools why NAME`.";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use selkie_channel_core::{AccountId, Command, PlaceId};

    use super::*;
    use crate::flow::testing;

    #[test]
    fn the_hint_names_the_id_and_the_line() {
        let mut inbound = testing::message("tg:4711", "hi");
        let telegram = AllowKeys::one("allowed_chat_ids");
        insta::assert_snapshot!(not_allowed(&inbound, "telegram", telegram), @r#"
        I do not answer here yet. If this is your bot, add this id to `telegram.allowed_chat_ids` in its config and run `selkie reload`:
        ```
        telegram:
          allowed_chat_ids: ["tg:4711"]
        ```
        Or make yourself its owner: by `selkie pair` on its machine, or `owners: ["tg:4711"]`.
        "#);
        inbound.place = PlaceId::new(AccountId::new("tg:8"), "tg:-100");
        inbound.audience = Audience::Group;
        insta::assert_snapshot!(not_allowed(&inbound, "telegram", telegram), @r#"
        I do not answer here yet. If this is your bot, add this id to `telegram.allowed_chat_ids` in its config and run `selkie reload`:
        ```
        telegram:
          allowed_chat_ids: ["tg:-100"]
        ```
        Your id is `tg:4711`. To make yourself the owner: `owners: ["tg:4711"]`.
        "#);
    }

    #[test]
    fn the_hint_names_the_key_that_the_channel_has() {
        let keys = AllowKeys { places: "allowed_channel_ids", people: "allowed_user_ids" };
        let mut inbound = testing::message("slack:T1:U2", "hi");
        inbound.place = PlaceId::new(AccountId::new("slack:1"), "slack:T1:D3");
        let hint = not_allowed(&inbound, "slack", keys);
        assert!(hint.contains("slack:\n  allowed_user_ids: [\"slack:T1:U2\"]"), "{hint}");
        inbound.audience = Audience::Group;
        let hint = not_allowed(&inbound, "slack", keys);
        assert!(hint.contains("slack:\n  allowed_channel_ids: [\"slack:T1:D3\"]"), "{hint}");
    }

    #[test]
    fn strangers_read_no_keys_and_their_id_when_they_ask_for_it() {
        let mut inbound = testing::message("tg:4711", "hi");
        let told = "I only talk to people whom my owner knows. I have told them that you wrote.";
        assert_eq!(unknown(&inbound, true), told);
        inbound.command = Some(Command { name: "id".to_owned(), args: String::new() });
        assert_eq!(
            unknown(&inbound, false),
            "I only talk to people whom my owner knows. Your id is `tg:4711`."
        );
        inbound.audience = Audience::Group;
        assert!(unknown(&inbound, true).starts_with("I do not talk in this group"));
    }

    #[test]
    fn commands_are_told_as_they_are_typed() {
        let typed = |text| typed(text, Some("/selkie"));
        assert_eq!(
            typed("- /stop stops; `/plan off` ends it"),
            "- /selkie stop stops; `/selkie plan off` ends it"
        );
        assert_eq!(
            typed("/tools why NAME: /srv/tools, a/b, /stop/x"),
            "/selkie tools why NAME: /srv/tools, a/b, /stop/x"
        );
        assert_eq!(super::typed("/stop", None), "/stop");
        assert!(typed(&help(Trust::Allowed)).contains("- /selkie reset"));
        assert!(!help(Trust::Allowed).contains("workspace"), "an owner's");
    }

    #[test]
    fn help_has_a_line_for_every_command() {
        insta::assert_snapshot!(help(Trust::Owner), @r#"
        Write to me and I will answer. Commands:
        - /start says hello
        - /help shows this list
        - /ask asks me something, in groups too: /ask what now?
        - /stop stops what I am doing here
        - /reset starts the conversation over and stops what runs in it; files and memory stay, with whose words they hold (in a group my owner can, and whoever's request I am working on)
        - /status shows what is running and waiting here, and what it cost
        - /model shows which model answers here, or chooses another: /model NAME, /model default
        - /think shows how hard the model here thinks, or sets it: /think high, /think default
        - /agent shows which agent answers here, or chooses one: /agent NAME, /agent off
        - /plan shows whether plan mode is on here; /plan off ends it
        - /schedules lists what is scheduled here; /schedules pause N, resume N, remove N
        - /remind reminds you here: /remind in 20m TEXT, /remind tomorrow 08:00 TEXT
        - /memory shows what I remember here; /memory forget N deletes a line
        - /forget deletes everything of this chat for good (in a group only my owner can); asks first
        - /timezone shows your time zone, or sets it (in a group my owner does): /timezone Europe/Berlin, /timezone off
        - /todos lists what people want done here (TODO.md)
        - /contacts lists the people I know here; /contacts NAME shows one
        - /sessions lists the conversations I take part in; in a group only this one
        - /agents lists the agents that work for this conversation, and those that have ended within a day
        - /skills lists the kinds of work that I do your way, and which are in force here
        - /ps lists the programs running for this conversation
        - /tools lists what I can use here; /tools why NAME says why one is here or not
        - /workspace shows or sets the folder I work in here: /workspace /srv/project, /workspace off
        - /id shows your id and this place's
        - /pair makes you my owner, in private, with a code that `selkie pair` prints: /pair CODE
        When something needs your approval, I ask you in private: tap a button, or write `approve CODE` or `deny CODE`.
        "#);
    }

    #[test]
    fn short_sentences() {
        let said = testing::message("tg:4711", "");
        let all = [
            start(Trust::Owner),
            ids(&said.speaker.id, &said.place, &said.conversation),
            ASK_WHAT.to_owned(),
            reset(None),
            stopped(&[]),
            stopped(&["p1".to_owned(), "p2".to_owned()]),
            stopped_in_threads(&["what shall `we` do?".to_owned(), String::new()]),
            already_finished(&[]),
            nothing_to_stop(&[]),
            nothing_to_stop(&["p1".to_owned()]),
            not_yours("stop"),
            TOOLS_USAGE.to_owned(),
            tool_why("bash", Some(false), &["exec is closed in groups".to_owned()]),
        ];
        insta::assert_snapshot!(all.join("\n--\n"), @r#"
        Hello! Write to me and I will answer. /help lists my commands. Say "set up your persona" to give me a name and a manner.
        --
        You: `tg:4711`
        This place: `tg:4711`
        This conversation: `tg:4711`
        --
        Put your question after the command: `/ask what is the time in Lima?`
        --
        A fresh start: I have set our conversation aside, with the list that I kept in it, and stopped what I was still working on. Files, what I remember (/memory), TODO.md and schedules stay, and I will still answer messages that are waiting.
        --
        Stopped. I will still answer messages that are waiting.
        --
        Stopped. I will still answer messages that are waiting. Still running in the background: p1, p2. Send /stop again to end that too.
        --
        Stopped, also in threads here:
        - `what shall 'we' do?`
        - `(no text)`
        I will still answer messages that are waiting.
        --
        That had already finished.
        --
        Nothing is running here.
        --
        Stopped p1, running in the background.
        --
        In a group, only my owner can use /stop, or the person whose request I am working on.
        --
        Write `/tools`, or `/tools why NAME`.
        --
        `bash` is not available here: exec is closed in groups
        "#);
    }

    #[test]
    fn ps_lists_what_runs() {
        assert_eq!(processes(&[], None), "No programs are running for this conversation.");
        insta::assert_snapshot!(processes(&[], Some(TaskId(7))), @r"
        No programs are running in the background for this conversation.
        Task 7 is running; /stop ends it, and with it the command it waits for.
        ");
        let listed = |name: &str, state: &str, age, command: &str| ProcessLine {
            name: name.to_owned(),
            state: state.to_owned(),
            age: Duration::from_secs(age),
            command: command.to_owned(),
        };
        let all = [
            listed("p1", "running", 200, "make `date`\nmake"),
            listed("p2", "ended with exit code 1", 3, "false"),
        ];
        insta::assert_snapshot!(processes(&all, None), @r"
        - p1 running, started 3 min ago: `make 'date' ⏎ make`
        - p2 ended with exit code 1, started 3 s ago: `false`
        ");
    }
}
