//! Decides the stand-in's next step: walks through the wishes, hands each the answers that are its own,
//! and calls where answers end.

use serde_json::{Value, json};

use super::files::{self, meant};
use super::heard::{others_words, own_words};
use super::heartbeat;
use super::known;
use super::later::What;
use super::messages::{self, List};
use super::parse::{TweetAt, Wish, wishes};
use super::planner;
use super::todo;
use crate::model::ListedTool;
use crate::model::{AnsweredCall, TalkTurn};

/// What the stand-in does.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Calls a tool.
    Call {
        /// Which.
        name: String,
        /// An object.
        arguments: Value,
    },
    /// Calls a tool several times at once.
    CallEach {
        /// Which.
        name: String,
        /// An object for each call.
        all: Vec<Value>,
    },
    /// Has the last word.
    Say(String),
}

/// Returns the next step. What belongs to the present task: everything after the last assistant turn.
pub(super) fn next(turns: &[TalkTurn], tools: &[ListedTool], advice: &str) -> Step {
    let begin =
        turns.iter().rposition(|t| matches!(t, TalkTurn::Assistant(_))).map_or(0, |at| at + 1);
    let now = &turns[begin..];
    let heard = now.iter().filter_map(TalkTurn::user).map(own_words);
    let beats = heartbeat::is_heartbeat(now);
    let read = |text: String| if beats { heartbeat::known(&text) } else { self::wishes(&text) };
    let wishes: Vec<Wish> = heard.flat_map(read).collect();
    let mut answers = now.iter().flat_map(|t| match t {
        TalkTurn::Calls { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let mut walk = Walk { answers: &mut answers, tools, turns, advice, known: None };
    let mut said = Vec::new();
    for wish in &wishes {
        match walk.fulfil(wish) {
            Step::Say(text) => said.push(text),
            // Asked for words alone: a call would not be answered.
            Step::Call { name, .. } | Step::CallEach { name, .. } if tools.is_empty() => {
                said.push(messages::no_tools(&name));
            }
            call @ (Step::Call { .. } | Step::CallEach { .. }) => return call,
        }
    }
    if beats {
        return Step::Say(heartbeat::told(said));
    }
    if said.is_empty() {
        let users = now.iter().filter_map(TalkTurn::user);
        said.extend(users.flat_map(files::of).map(messages::got_file));
    }
    if said.is_empty() {
        said.push(messages::nothing_heard());
    }
    Step::Say(said.join("\n"))
}

/// A walk through the wishes: the answers that are left, and what they have told so far.
pub(super) struct Walk<'a> {
    pub(super) answers: &'a mut dyn Iterator<Item = &'a AnsweredCall>,
    tools: &'a [ListedTool],
    /// The whole talk: files came in earlier tasks, too.
    turns: &'a [TalkTurn],
    advice: &'a str,
    /// The list as this task left it: read once, not before each change.
    known: Option<List>,
}

impl Walk<'_> {
    fn fulfil(&mut self, wish: &Wish) -> Step {
        match wish {
            Wish::Note(text) => self.change_list(|list| Ok(list.add(text))),
            Wish::Remember(fact) => self.tell("memory_write", json!({ "text": fact })),
            Wish::Known => Step::Say(known::told(self.turns)),
            Wish::Todo { text, people } => {
                self.todo(json!({ "action": "add", "content": text, "people": people }))
            }
            Wish::Finished(words) => self.todo(json!({ "action": "complete", "content": words })),
            Wish::Done(number) => self.change_list(|list| list.done(*number)),
            Wish::List => match self.read_list() {
                Ok(list) => Step::Say(messages::list(&list)),
                Err(step) => step,
            },
            Wish::React(emoji) => self.call("message_react", json!({ "emoji": emoji }), |_| {
                format!("Reacted with {emoji}.")
            }),
            Wish::Write { name, text } => self.write(name, text),
            Wish::Append { name, text } => self.append(name, text),
            Wish::Read(name) => self.read(name),
            Wish::Repeat => Step::Say(messages::repeated(&self.others_words())),
            Wish::Compare(names) => self.compare(names),
            Wish::Files => self.call("list_files", json!({}), messages::files),
            Wish::Send { tool, name } => self.send(tool, name),
            Wish::Think(about) => self
                .call("think", json!({ "thought": about }), |_| format!("Thought about {about}.")),
            Wish::Call { tool, arguments } => self.call(tool, arguments.clone(), |answer| {
                format!("{tool} answered:\n{}", messages::unfenced(answer))
            }),
            Wish::Ask { question, options } => self.ask(question, options),
            Wish::Propose(plan) => self.propose(plan),
            Wish::Persona => self.persona().unwrap_or_else(|step| step),
            Wish::Plan(task) => self.call("plan_create", json!({ "task": task }), planner::told),
            Wish::Later { when, what } => self.later(when, what),
            Wish::Tell { to, text } => self.tell("message", json!({ "to": to, "content": text })),
            Wish::Tweet { text, at } => self.tweet(text, at.as_ref()),
            Wish::Schedules => self.tell("cron", json!({ "action": "list" })),
            Wish::Cancel(number) => {
                self.tell("cron", json!({ "action": "remove", "id": number.to_string() }))
            }
            Wish::Help => Step::Say(messages::help(self.tools, self.advice)),
            Wish::Long(length) => Step::Say(messages::long(*length)),
            Wish::Unknown(heard) => Step::Say(messages::unknown(heard, self.advice)),
        }
    }

    fn write(&mut self, name: &str, text: &str) -> Step {
        let arguments = json!({ "path": name, "content": text });
        self.call("write_file", arguments, |_| format!("Written: {name}."))
    }

    fn append(&mut self, name: &str, text: &str) -> Step {
        let line = format!("{text}\n");
        let arguments = json!({ "path": name, "content": line, "mode": "append" });
        self.call("write_file", arguments, |_| format!("Added to {name}."))
    }

    fn read(&mut self, name: &str) -> Step {
        let path = meant(name, self.turns);
        self.call("read_file", json!({ "path": path }), |answer| messages::file(name, answer))
    }

    fn ask(&mut self, question: &str, options: &[String]) -> Step {
        let mut arguments = json!({ "question": question });
        if !options.is_empty() {
            arguments["options"] = json!(options);
        }
        let words = |answer: &str| messages::answered(&messages::unfenced(answer));
        self.call("ask_user", arguments, words)
    }

    fn later(&mut self, when: &str, what: &What) -> Step {
        let arguments = match what {
            What::Prompt(words) => json!({ "action": "add", "schedule": when, "prompt": words }),
            What::Remind(words) => json!({ "action": "add", "schedule": when, "remind": words }),
        };
        self.tell("cron", arguments)
    }

    /// What others say in the present task's messages.
    fn others_words(&self) -> String {
        let last = self.turns.iter().rposition(|turn| matches!(turn, TalkTurn::Assistant(_)));
        let now = self.turns[last.map_or(0, |at| at + 1)..].iter().filter_map(TalkTurn::user);
        now.map(others_words).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Changes the list of what people want done; what kept it from that is told without names of tools and files.
    fn todo(&mut self, arguments: Value) -> Step {
        match self.answers.next() {
            None => Step::Call { name: "todo_update".to_owned(), arguments },
            Some(call) if call.is_error => Step::Say(todo::failed(&call.answer)),
            Some(call) => Step::Say(todo::told(&call.answer)),
        }
    }

    /// Calls a tool, or says what its answer means; an error is told as it is.
    fn call(&mut self, name: &str, arguments: Value, good: impl FnOnce(&str) -> String) -> Step {
        match self.answers.next() {
            None => Step::Call { name: name.to_owned(), arguments },
            Some(call) if call.is_error => Step::Say(messages::failed(name, &call.answer)),
            Some(call) => Step::Say(good(&call.answer)),
        }
    }

    /// Calls a tool and repeats its answer.
    fn tell(&mut self, name: &str, arguments: Value) -> Step {
        self.call(name, arguments, str::to_owned)
    }

    /// Asks for a name and a manner and writes them down; `Err` is the step to take before.
    fn persona(&mut self) -> Result<Step, Step> {
        let name = self.told("What shall I be called?")?;
        let manner = self.told("How shall I speak?")?;
        let arguments = json!({ "name": name, "manner": manner });
        Ok(self.tell("persona_write", arguments))
    }

    /// Returns what a person answered to a question; `Err` is the step to take before.
    fn told(&mut self, question: &str) -> Result<String, Step> {
        let mut told = None;
        let step = self.call("ask_user", json!({ "question": question }), |answer| {
            told = Some(messages::unfenced(answer));
            String::new()
        });
        told.ok_or(step)
    }

    /// Begins plan mode, and once it is on shows the plan.
    fn propose(&mut self, plan: &str) -> Step {
        let mut is_on = false;
        let begun = self.call("plan_enter", json!({}), |_| {
            is_on = true;
            String::new()
        });
        if !is_on {
            return begun;
        }
        let arguments = json!({ "plan_summary": plan });
        self.call("plan_exit", arguments, messages::unfenced)
    }

    /// Sends by the tool of this place whose name ends so; without one the bare name tells the reason.
    fn send(&mut self, ending: &str, name: &str) -> Step {
        let found = self.tools.iter().find(|t| t.name.ends_with(ending)).map(|t| t.name.as_str());
        let tool = found.unwrap_or_else(|| ending.trim_start_matches('_'));
        let path = meant(name, self.turns);
        self.call(tool, json!({ "path": path }), |_| format!("Sent: {name}."))
    }

    /// Posts by the tool of this place whose name ends so; without one its general name tells the reason.
    fn tweet(&mut self, text: &str, at: Option<&TweetAt>) -> Step {
        let (ending, general, arguments) = match at {
            None => ("_post", "post", json!({ "text": text })),
            Some(TweetAt { time, daily }) => {
                let recurrence = if *daily { "daily" } else { "once" };
                let arguments = json!({ "text": text, "time": time, "recurrence": recurrence });
                ("_schedule", "schedule_post", arguments)
            }
        };
        let found = self.tools.iter().find(|t| t.name.ends_with(ending));
        let tool = found.map_or(general, |tool| &tool.name);
        self.tell(tool, arguments)
    }

    /// Reads the list by the tool; `Err` is the step to take when there is no list to look at.
    fn read_list(&mut self) -> Result<List, Step> {
        let mut read = None;
        let step = self.call("todo_read", json!({}), |answer| {
            read = Some(List::read(answer));
            String::new()
        });
        let list = read.ok_or(step)?;
        self.known = Some(list.clone());
        Ok(list)
    }

    /// Changes the list and writes it whole. `change` gives the words for both outcomes.
    fn change_list(&mut self, change: impl FnOnce(&mut List) -> Result<String, String>) -> Step {
        let list = self.known.take().map_or_else(|| self.read_list(), Ok);
        let mut list = match list {
            Ok(list) => list,
            Err(step) => return step,
        };
        let changed = change(&mut list);
        let arguments = list.as_arguments();
        match changed {
            Ok(said) => {
                let mut written = false;
                let step = self.call("todo_write", arguments, |_| {
                    written = true;
                    said
                });
                self.known = written.then_some(list);
                step
            }
            Err(said) => {
                self.known = Some(list);
                Step::Say(said)
            }
        }
    }
}
