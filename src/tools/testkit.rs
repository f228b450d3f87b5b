//! Test support: real folders with a scope over them, a sender that remembers, tools that misbehave.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use selkie_channel_core::{AccountId, Body, ConversationId, MessageRef};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::absent::{
    NoAddressees, NoAgents, NoMemory, NoPostFiles, NoSessions, NoSkills, NoStudio, NoTimetable,
    NoTodoFile,
};
use crate::paths::{Level, Lists, Ours, Roots};
use crate::ports::{Modes, NoAsker, Reply, SayOutcome, Silent, Todos};
use crate::scope::{Outward, Scope};
use crate::{Handler, Output, Tool, ToolError};
use selkie_domain::clock::ManualClock;
use selkie_domain::facts::{Mode, Trigger, Trust};
use selkie_domain::ids::TaskId;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Class, Recovery, ToolBlock, ToolSpec};
use selkie_sandbox::Confinement;

/// A cache, a state folder and a workspace on the disk, and something outside of them.
pub(crate) struct Folders {
    dir: TempDir,
    pub(crate) sender: Arc<Remembering>,
    todos: Arc<Notebook>,
    /// What the conversation was changed to.
    pub(crate) modes: Arc<Mutex<Option<Mode>>>,
}

impl Folders {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        for folder in ["cache/bird/one", "cache/bird/two", "state/memory", "work", "outside"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        Self { dir, sender: Arc::default(), todos: Arc::default(), modes: Arc::default() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, content).unwrap();
        at
    }

    pub(crate) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    /// What a private conversation of an owner sees, but nothing elsewhere.
    pub(crate) fn roots(&self) -> Roots {
        Roots {
            cache: self.at("cache"),
            own: self.at("cache/bird/one"),
            state: Some(self.at("state")),
            workspace: Some(self.at("work")),
            elsewhere: false,
            skills: Default::default(),
            confinement: Confinement::default(),
            lists: Lists::default(),
            level: Level::default(),
            ours: Ours::new(self.at("state"), Vec::new(), vec![self.at("etc/bot.yaml")]),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope {
            task: TaskId(1),
            call: "c1.0".into(),
            conversation: ConversationId::new(AccountId::new("bird:1"), "bird:42"),
            agent: None,
            message: Some(MessageRef::new("7")),
            speaker: None,
            is_private: true,
            trust: Trust::Owner,
            mode: Mode::Normal,
            trigger: Trigger::Asked,
            taint: Taint::Clean,
            outward: Outward::Free,
            approved: None,
            earlier: Arc::default(),
            plan: None,
            given: Vec::new(),
            kept: None,
            roots: self.roots(),
            reply: Arc::clone(&self.sender) as Arc<dyn Reply>,
            tools: Arc::new(ToolBlock::new(Vec::new())),
            progress: Arc::new(Silent),
            todos: Arc::clone(&self.todos) as Arc<dyn Todos>,
            todo_file: Arc::new(NoTodoFile),
            memory: Arc::new(NoMemory),
            skills: Arc::new(NoSkills),
            own_memory: None,
            asked: Arc::default(),
            timetable: Arc::new(NoTimetable),
            addressees: Arc::new(NoAddressees),
            sessions: Arc::new(NoSessions),
            agents: Arc::new(NoAgents),
            begun: Vec::new(),
            studio: Arc::new(NoStudio),
            permissions: NoAsker::permissions("nobody is there"),
            post_files: Arc::new(NoPostFiles),
            modes: Arc::clone(&self.modes) as Arc<dyn Modes>,
            spent: Arc::default(),
            deadline: Instant::now() + Duration::from_secs(600),
            task_deadline: Instant::now() + Duration::from_secs(24 * 60 * 60),
            cancel: CancellationToken::new(),
            clock: Arc::new(ManualClock::at(DateTime::UNIX_EPOCH)),
        }
    }
}

/// Says nothing and remembers it; answers what it was told to.
#[derive(Default)]
pub(crate) struct Remembering {
    pub(crate) said: Mutex<Vec<Body>>,
    /// What stood in the files.
    pub(crate) sent: Mutex<Vec<String>>,
    pub(crate) next: Mutex<Option<SayOutcome>>,
}

#[async_trait]
impl Reply for Remembering {
    async fn say(&self, _call: &str, body: Body) -> Result<SayOutcome, ToolError> {
        self.said.lock().unwrap().push(body);
        Ok(self.next.lock().unwrap().take().unwrap_or(SayOutcome::Sent(None)))
    }

    async fn send(&self, call: &str, body: Body, mut file: File) -> Result<SayOutcome, ToolError> {
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        self.sent.lock().unwrap().push(content);
        self.say(call, body).await
    }

    async fn post(&self, call: &str, _to: &str, body: Body) -> Result<SayOutcome, ToolError> {
        self.say(call, body).await
    }

    fn is_here(&self, written: &str) -> Option<bool> {
        let number = written.strip_prefix("bird:").unwrap_or(written);
        number.parse::<i64>().ok().map(|n| n == 42)
    }
}

#[derive(Default)]
struct Notebook(Mutex<Option<String>>);

#[async_trait]
impl Todos for Notebook {
    async fn read(&self, _: &ConversationId) -> Result<Option<String>, ToolError> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn write(&self, _: &ConversationId, json: String) -> Result<(), ToolError> {
        *self.0.lock().unwrap() = Some(json);
        Ok(())
    }
}

#[async_trait]
impl Modes for Mutex<Option<Mode>> {
    async fn change(&self, _: &ConversationId, mode: Mode) -> Result<(), ToolError> {
        *self.lock().unwrap() = Some(mode);
        Ok(())
    }
}

/// What an [`Acting`] tool does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    Echo,
    Panic,
    Hang,
    Abort,
}

/// A tool of one parameter, `text`.
pub(crate) struct Acting(ToolSpec, Act);

impl Acting {
    pub(crate) fn tool(name: &'static str, class: Class, act: Act) -> Arc<Tool> {
        let parameters = json!({
            "type": "object", "additionalProperties": false, "required": ["text"],
            "properties": {"text": {"type": "string"}}
        });
        let spec = ToolSpec {
            description: format!("Does {name}."),
            group: "acting",
            ..ToolSpec::new(name, class, Recovery::CallAgain, parameters)
        };
        Tool::new(Self(spec, act))
    }
}

#[async_trait]
impl Handler for Acting {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, _scope: &Scope, args: Value) -> Result<Output, ToolError> {
        match self.1 {
            Act::Echo => Ok(Output::ok(args["text"].as_str().unwrap_or_default())),
            Act::Panic => panic!("on purpose"),
            Act::Hang => std::future::pending().await,
            Act::Abort => Err(ToolError::Abort("the claim is lost".into())),
        }
    }
}
