//! What was said in a conversation, message by message, as people and tools read it: without what tools answered.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use selkie_channel_core::{Body, Inbound};
use serde::Serialize;

use selkie_domain::ids::{InboxId, TaskId};
use selkie_domain::pairing;
use selkie_domain::spoken::SpokenWords;
use selkie_domain::transcript::{Call, Item, UserMessage};
use selkie_store::DeliveryState;
use selkie_store::read::{SaidTask, UnansweredMessage};
use selkie_store::spoken::{NamedSchedule, SpokenFor, Utterance};

/// Something that was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// In which task; none where no task has answered it.
    pub task: Option<TaskId>,
    /// When, as far as it is known.
    pub at: Option<DateTime<Utc>>,
    /// Who; nobody for the bot itself.
    pub speaker: Option<String>,
    /// In markdown; empty where it called tools without a word.
    pub text: String,
    /// The tools that it called before these words, or beside them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What it comes from, where that is no message and no model's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Why no task has answered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<String>,
    /// Why it has not arrived, or nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undelivered: Option<String>,
    /// When it was stored, by our own clock: the order goes by it, since a platform may tell seconds alone.
    #[serde(skip)]
    stored_at: DateTime<Utc>,
}

/// All that is kept of a conversation.
pub struct ConversationRecord {
    /// Its finished tasks.
    pub tasks: Vec<SaidTask>,
    /// What was heard and stands in none of them.
    pub unanswered: Vec<UnansweredMessage>,
    /// What the bot said and stands in none of them.
    pub spoken: Vec<Utterance>,
}

/// Lists everything that was said, oldest first.
pub fn whole(kept: ConversationRecord) -> Vec<Entry> {
    let ConversationRecord { tasks, unanswered, mut spoken } = kept;
    let mut said = entries(tasks);
    spoken.retain(|one| !is_told_as_sent(&mut said, one));
    let (mut answers, others) = sorted(&said, spoken);
    let mut rest: Vec<Vec<Entry>> = Vec::new();
    for heard in unanswered {
        let answers = answers.remove(&heard.inbox).unwrap_or_default();
        rest.push(with_answers(heard, answers));
    }
    let unasked = answers.into_values().flatten().chain(others);
    rest.extend(unasked.map(|one| vec![of_bot(one)]));
    let stored_at = |group: &[Entry]| group.first().map(|entry| entry.stored_at);
    rest.sort_by_key(|group| stored_at(group));
    let mut rest = rest.into_iter().peekable();
    let mut all = Vec::new();
    for entry in said {
        while let Some(earlier) = rest.next_if(|group| stored_at(group) < Some(entry.stored_at)) {
            all.extend(earlier);
        }
        all.push(entry);
    }
    all.extend(rest.flatten());
    all
}

/// Whether something that was sent with buttons is words of its task, which are told as they were sent then.
fn is_told_as_sent(said: &mut [Entry], sent: &Utterance) -> bool {
    let (SpokenFor::Task { task, .. }, Body::Question(question)) =
        (&sent.said_for, &sent.outbound.body)
    else {
        return false;
    };
    let words = pairing::hidden(question.markdown.trim_end());
    let is_it = |entry: &&mut Entry| {
        entry.speaker.is_none() && entry.task == Some(*task) && entry.text.trim_end() == words
    };
    let Some(entry) = said.iter_mut().find(is_it) else { return false };
    entry.text = pairing::hidden(&sent.text);
    entry.undelivered = undelivered(&sent.standing);
    true
}

/// Answers to commands by what they answer, and everything else; without what stands in its task's transcript already.
type SortedEntries = (BTreeMap<InboxId, Vec<Utterance>>, Vec<Utterance>);

fn sorted(said: &[Entry], spoken: Vec<Utterance>) -> SortedEntries {
    let own = said.iter().filter(|entry| entry.speaker.is_none());
    let there: BTreeSet<(TaskId, &str)> =
        own.filter_map(|entry| Some((entry.task?, entry.text.as_str()))).collect();
    let (mut answers, mut others) = SortedEntries::default();
    for one in spoken {
        match one.said_for {
            SpokenFor::Command { inbox } => answers.entry(inbox).or_default().push(one),
            SpokenFor::Task { task, .. }
                if there.contains(&(task, pairing::hidden(&one.text).as_str())) => {}
            _ => others.push(one),
        }
    }
    (answers, others)
}

/// Lists what was said in tasks, oldest first.
pub fn entries(tasks: Vec<SaidTask>) -> Vec<Entry> {
    tasks.into_iter().flat_map(of_task).collect()
}

/// What was heard, and right behind it what answers it.
fn with_answers(heard: UnansweredMessage, answers: Vec<Utterance>) -> Vec<Entry> {
    let mut first = of_nobody(heard);
    if !answers.is_empty() {
        first.unanswered = None;
    }
    std::iter::once(first).chain(answers.into_iter().map(of_bot)).collect()
}

fn of_nobody(unanswered: UnansweredMessage) -> Entry {
    let UnansweredMessage { at, stored_at, why, heard, spoken, .. } = unanswered;
    let Inbound { speaker, text, command, attachments, .. } = heard;
    let spoken = spoken.iter().map(SpokenWords::marked);
    let files = attachments.iter().map(|file| format!("(file: {})", file.name));
    let text = match command {
        Some(command) => command.written(),
        None => text,
    };
    let typed = std::iter::once(text).filter(|text| !text.is_empty());
    let lines = typed.chain(spoken).chain(files);
    let speaker = Some(format!("{} ({})", speaker.name, speaker.id).trim_start().to_owned());
    let cause = why.is_none().then(|| "an answer to a question".to_owned());
    let text = pairing::hidden(&lines.collect::<Vec<_>>().join("\n"));
    Entry { at: Some(at), stored_at, speaker, text, cause, unanswered: why, ..Entry::default() }
}

/// What the bot has said for no task's model.
fn of_bot(spoken: Utterance) -> Entry {
    let Utterance { at, said_for, text, standing, .. } = spoken;
    let task = match &said_for {
        SpokenFor::Task { task, .. } => Some(*task),
        _ => None,
    };
    Entry {
        task,
        at: Some(at),
        stored_at: at,
        text: pairing::hidden(&text),
        cause: cause(&said_for),
        undelivered: undelivered(&standing),
        ..Entry::default()
    }
}

/// Why something was said, in words; nothing for what its task says.
fn cause(said_for: &SpokenFor) -> Option<String> {
    match said_for {
        SpokenFor::Task { elsewhere: false, .. } => None,
        SpokenFor::Task { .. } => Some("for a task of another conversation".to_owned()),
        SpokenFor::Command { .. } => Some("the answer to a command".to_owned()),
        SpokenFor::Say => Some("the owner's words, by `selkie say`".to_owned()),
        SpokenFor::Schedule { schedule } => Some(schedule.to_string()),
        SpokenFor::Notice { about } => Some(format!("selkie's own notice, about {about}")),
    }
}

/// Why something has not arrived.
fn undelivered(standing: &DeliveryState) -> Option<String> {
    let why = match standing {
        DeliveryState::Delivered { .. } => return None,
        DeliveryState::Open => "not sent yet".to_owned(),
        DeliveryState::Refused { reason } => format!("refused: {reason}"),
        DeliveryState::Partly { reason } => format!("only the beginning was sent: {reason}"),
        DeliveryState::Unclear => "it is not known whether it arrived".to_owned(),
        DeliveryState::Cancelled => "withdrawn before it was sent".to_owned(),
        DeliveryState::Expired => "it expired before it could be sent".to_owned(),
    };
    Some(why)
}

fn of_task(task: SaidTask) -> Vec<Entry> {
    let SaidTask { id, created_at, ended_at, items, schedule, .. } = task;
    let ended = ended_at.unwrap_or(created_at);
    let own = |text: String, tools: Vec<String>| Entry {
        task: Some(id),
        at: ended_at,
        stored_at: ended,
        text: pairing::hidden(&text),
        tools,
        ..Entry::default()
    };
    let mut entries = Vec::new();
    // Calls without a word stand with the words that follow them: nothing tells when each was made.
    let mut tools = Vec::new();
    for item in items {
        match item {
            Item::Received(heard) => {
                // What begins a task is stored with it, and what it reads later not before.
                let stored_at =
                    if entries.is_empty() { created_at } else { heard.at.max(created_at) };
                let entry = heard_entry(id, heard, schedule.as_ref());
                entries.push(Entry { stored_at, ..entry });
            }
            Item::Said { text, .. } if text.trim().is_empty() => {}
            Item::Said { text, .. } => entries.push(own(text, std::mem::take(&mut tools))),
            Item::Asked { text, calls, .. } => {
                tools.extend(calls.into_iter().map(|Call { name, .. }| name));
                if !text.trim().is_empty() {
                    entries.push(own(text, std::mem::take(&mut tools)));
                }
            }
            // What the program tells the model, and what tools brought, is no part of the talk.
            Item::Noted { .. } | Item::Answered { .. } => {}
        }
    }
    if !tools.is_empty() {
        entries.push(own(String::new(), tools));
    }
    entries
}

fn heard_entry(task: TaskId, heard: UserMessage, schedule: Option<&NamedSchedule>) -> Entry {
    let is_own = heard.inbox.is_none() && !heard.talk;
    let schedule = schedule.filter(|_| is_own);
    let text = heard.said();
    let UserMessage { at, speaker, files, relayed, .. } = heard;
    let files = files.iter().map(|file| format!("(file: {file})"));
    let lines: Vec<String> =
        std::iter::once(text).filter(|text| !text.is_empty()).chain(files).collect();
    let cause = match schedule {
        // Whose it is: nobody has typed these words.
        Some(_) => Some(format!("it came due for {speaker}")),
        None => relayed.then(|| "sent by a task of another conversation".to_owned()),
    };
    Entry {
        task: Some(task),
        at: Some(at),
        speaker: Some(schedule.map_or(speaker, ToString::to_string)),
        text: pairing::hidden(&lines.join("\n")),
        cause,
        ..Entry::default()
    }
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::{
        AccountId, Choice, Command, ConversationId, Outbound, PlaceId, Question, What,
    };

    use super::*;
    use selkie_domain::ids::{OutboundId, ScheduleId};
    use selkie_domain::taint::Taint;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn here() -> ConversationId {
        ConversationId::new(AccountId::new("tg:8"), "tg:1")
    }

    fn received(seconds: i64, text: &str) -> Item {
        Item::Received(UserMessage {
            inbox: None,
            at: at(seconds),
            local: String::new(),
            speaker: "Ada (tg:1)".to_owned(),
            text: text.to_owned(),
            quote: None,
            forwarded: false,
            origin: String::new(),
            talk: false,
            relayed: false,
            agent: None,
            spoken: Vec::new(),
            files: Vec::new(),
            pictures: Vec::new(),
        })
    }

    fn asked(text: &str, tool: &str) -> Item {
        let arguments = serde_json::json!({});
        let call = Call { id: "c1.0".to_owned(), name: tool.to_owned(), arguments };
        Item::Asked { text: text.to_owned(), calls: vec![call], taint: Taint::Clean }
    }

    fn task(id: i64, ended: i64, items: Vec<Item>) -> SaidTask {
        let ended_at = Some(at(ended));
        let id = TaskId(id);
        SaidTask { id, epoch: 0, created_at: at(1), ended_at, items, schedule: None }
    }

    fn command(inbox: i64, seconds: i64, name: &str, args: &str) -> UnansweredMessage {
        let place = PlaceId::new(here().account().clone(), here().key());
        let mut heard = Inbound::blank(String::new(), here(), place, What::Message);
        heard.command = Some(Command { name: name.to_owned(), args: args.to_owned() });
        heard.speaker.name = "Ada".to_owned();
        let why = Some("a command without an answer".to_owned());
        let [at, stored_at] = [seconds, seconds - 2].map(at);
        UnansweredMessage { inbox: InboxId(inbox), at, stored_at, why, heard, spoken: Vec::new() }
    }

    fn spoken(id: i64, seconds: i64, said_for: SpokenFor, text: &str) -> Utterance {
        let standing = DeliveryState::Delivered { message: None };
        let (id, outbound) = (OutboundId(id), Outbound::text(here(), text));
        Utterance { id, at: at(seconds), said_for, outbound, text: text.to_owned(), standing }
    }

    fn told(entries: &[Entry]) -> Vec<String> {
        let line = |one: &Entry| {
            let who = one.speaker.as_deref().unwrap_or("selkie");
            let marks = [&one.cause, &one.unanswered, &one.undelivered];
            let marks: Vec<&str> = marks.into_iter().flatten().map(String::as_str).collect();
            let (marks, tools) = (marks.join("; "), one.tools.join(", "));
            let at = one.at.map(|at| at.timestamp() - 1_800_000_000).unwrap_or(-1);
            format!("{at} {who} [{marks}] {} ({tools})", one.text)
        };
        entries.iter().map(line).collect()
    }

    #[test]
    fn everything_stands_in_order_with_whose_it_is() {
        let first = vec![received(1, "hello"), Item::said("hi", Taint::Clean)];
        let mut due =
            task(2, 40, vec![received(30, "tell me the news"), Item::said("none", Taint::Clean)]);
        due.created_at = at(30);
        due.schedule = Some(NamedSchedule { id: ScheduleId(3), name: "News".to_owned() });
        let mut lost = spoken(5, 50, SpokenFor::Notice { about: "pairing" }, "`/pair ab3defgh`");
        lost.standing = DeliveryState::Refused { reason: "blocked".to_owned() };
        let answer = SpokenFor::Command { inbox: InboxId(7) };
        let of_task = |elsewhere| SpokenFor::Task { task: TaskId(1), elsewhere };
        let kept = ConversationRecord {
            tasks: vec![task(1, 9, first), due],
            unanswered: vec![command(7, 20, "status", ""), command(8, 21, "pair", "ab3defgh")],
            spoken: vec![
                spoken(1, 9, of_task(false), "hi"),
                spoken(2, 5, of_task(false), "which tea?"),
                // The platform's clock is ahead of ours.
                spoken(3, 19, answer, "all is well"),
                spoken(4, 45, SpokenFor::Say, "coffee is ready"),
                lost,
            ],
        };
        let all = told(&whole(kept));
        assert_eq!(
            all,
            [
                "1 Ada (tg:1) [] hello ()",
                "5 selkie [] which tea? ()",
                "9 selkie [] hi ()",
                "20 Ada () [] /status ()",
                "19 selkie [the answer to a command] all is well ()",
                "21 Ada () [a command without an answer] /pair (pairing code) ()",
                "30 schedule 3 “News” [it came due for Ada (tg:1)] tell me the news ()",
                "40 selkie [] none ()",
                "45 selkie [the owner's words, by `selkie say`] coffee is ready ()",
                "50 selkie [selkie's own notice, about pairing; refused: blocked] `/pair (pairing code)` ()",
            ]
        );
    }

    #[test]
    fn a_reminder_stands_once_as_it_was_sent() {
        let items = vec![received(30, "the kettle"), Item::said("the kettle", Taint::Clean)];
        let choice = |id: &str, label: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        let question = Question {
            key: "k".to_owned(),
            markdown: "the kettle".to_owned(),
            choices: vec![choice("1", "Done"), choice("2", "In 10 minutes")],
            free_text: false,
            placeholder: String::new(),
        };
        let said_for = SpokenFor::Task { task: TaskId(1), elsewhere: false };
        let mut sent = spoken(1, 31, said_for, &question.in_words());
        sent.outbound = Outbound::new(here(), Body::Question(question));
        let kept = ConversationRecord {
            tasks: vec![task(1, 31, items)],
            unanswered: Vec::new(),
            spoken: vec![sent],
        };
        assert_eq!(
            told(&whole(kept)),
            [
                "30 Ada (tg:1) [] the kettle ()",
                "31 selkie [] the kettle\n\n1. Done\n2. In 10 minutes ()",
            ]
        );
    }

    #[test]
    fn tools_stand_with_the_words_that_follow_and_never_without_a_time() {
        let items = vec![
            received(1, "note it"),
            asked("", "todo_read"),
            asked("", "todo_write"),
            Item::said("Noted.", Taint::Clean),
        ];
        let spoke = vec![received(11, "look"), asked("I look.", "glob"), asked("", "read_file")];
        let all = told(&entries(vec![task(1, 9, items), task(2, 19, spoke)]));
        assert_eq!(
            all,
            [
                "1 Ada (tg:1) [] note it ()",
                "9 selkie [] Noted. (todo_read, todo_write)",
                "11 Ada (tg:1) [] look ()",
                "19 selkie [] I look. (glob)",
                "19 selkie []  (read_file)",
            ]
        );
    }
}
