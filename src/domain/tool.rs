//! What a tool is to everybody but itself: name, words, schema, class; and the block of them a model sees.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::foreign::Foreign;
use crate::named::named;

pub use crate::other_names::{
    AbsentParameter, Also, ImpliedArgument, ImpliedValue, OtherName, OtherParameter,
};

named! {
    /// What kind of thing a tool does. Policy, plan mode, parallel calls and recovery go by it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Class {
        /// Looks and changes nothing: simply called again after a crash.
        Read = "read",
        /// Writes the bot's own records.
        Note = "note",
        /// Speaks into this very conversation.
        Reply = "reply",
        /// Changes files.
        Write = "write",
        /// Runs programs.
        Exec = "exec",
        /// Asks the network.
        Network = "network",
        /// Speaks into another conversation.
        Message = "message",
        /// Starts or steers other agents.
        Agent = "agent",
        /// Publishes to the world.
        Public = "public",
    }
}

/// What a crash between a call's start and its stored answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Call it again: it changes nothing, or its effect is a row with the call's key.
    CallAgain,
    /// It changes nothing, but works on foreign bytes in this process: one that was started is not asked
    /// again after a death that it may have caused; one that was not, is.
    NotTwice,
    /// Its effect may have happened: answer "interrupted, outcome unknown".
    Unknown,
}

/// A tool as the model sees it.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    /// The one canonical name.
    pub name: &'static str,
    /// For the model.
    pub description: String,
    /// JSON Schema of the parameters; root `type: object`.
    pub parameters: Value,
    /// What kind of thing it does.
    pub class: Class,
    /// Which part of the catalogue it belongs to, for lists: `files`, `conversation`, `telegram`.
    pub group: &'static str,
    /// The reference documents that describe it: `S3`, `S0`.
    pub sources: &'static [&'static str],
    /// What a person reads while it works: `running a command`. Empty: its name.
    pub doing: &'static str,
    /// What other harnesses call it and its parameters.
    pub also: Also,
    /// What a crash in the middle of a call means.
    pub recovery: Recovery,
    /// It speaks on a platform: by hand nobody is there who could.
    pub speaks: bool,
    /// It is never called beside or between others: calls before it in the same answer of the model finish first,
    /// those after it begin when it is answered.
    pub stands_alone: bool,
    /// Consecutive calls of it and others like it are one group that stands alone.
    pub groups: bool,
    /// How many bytes of an answer dispatch lets through.
    pub max_output: usize,
    /// How long a call may take, when that is not the scope's own deadline.
    pub longest: Option<Duration>,
    /// What is known of it where it is not selkie's own.
    pub foreign: Option<Foreign>,
}

impl ToolSpec {
    /// What a tool answers at most, in bytes, when it sets no limit of its own.
    pub const MAX_OUTPUT: usize = 50 * 1024;

    /// A tool of these parameters about which there is nothing special.
    pub fn new(name: &'static str, class: Class, recovery: Recovery, parameters: Value) -> Self {
        Self {
            name,
            description: String::new(),
            parameters,
            class,
            group: "",
            sources: &[],
            doing: "",
            also: Also::default(),
            recovery,
            speaks: false,
            stands_alone: false,
            groups: false,
            max_output: Self::MAX_OUTPUT,
            longest: None,
            foreign: None,
        }
    }

    /// Says what it does while it works, for a person; a tool without words of its own is named.
    pub fn words(&self) -> String {
        match self.doing {
            "" => self.name.replace('_', " "),
            doing => doing.to_owned(),
        }
    }

    /// Returns about how many bytes of a request it takes: what is sent, with the keys around it.
    pub fn size(&self) -> usize {
        const AROUND: usize = 85;
        let description = serde_json::to_string(&self.description).map_or(0, |json| json.len());
        AROUND + self.name.len() + description + self.parameters.to_string().len()
    }
}

/// Returns the one of these names that stands in what a model wrote for a name: models put what they call tools in
/// general before it (`functions.todo_read`), or their own marks behind it (`todo_read<|channel|>commentary`).
pub fn named_in<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let bare = written.split("<|").next().unwrap_or_default().trim();
    let parts = || bare.split(['.', ':', '/']).map(str::trim);
    let mut fitting = names.filter(|name| bare == *name || parts().any(|part| part == *name));
    let only = fitting.next()?;
    fitting.next().is_none().then_some(only)
}

/// The tools of one shape in the order the model sees them, with their serialized form cached: built
/// once per (rules, overlay) and shared by every task of that shape.
pub struct ToolBlock {
    specs: Vec<Arc<ToolSpec>>,
    serialized: Mutex<BTreeMap<&'static str, Arc<RawValue>>>,
    size: OnceLock<usize>,
    listings: Mutex<BTreeMap<u64, Arc<ToolList>>>,
}

/// What a model reads of a shape's tools.
#[derive(Clone, Debug)]
pub struct ToolList {
    /// The tools that it reads.
    pub block: Arc<ToolBlock>,
    /// Those for which there is no room: they can be called all the same.
    pub left: Vec<&'static str>,
    /// The tools are told in a sentence each.
    pub is_short: bool,
}

impl ToolList {
    /// All of them as they are.
    pub fn whole(block: &Arc<ToolBlock>) -> Self {
        Self { block: Arc::clone(block), left: Vec::new(), is_short: false }
    }
}

impl ToolBlock {
    /// Lists these tools, in this order.
    pub fn new(specs: Vec<Arc<ToolSpec>>) -> Self {
        Self {
            specs,
            serialized: Mutex::default(),
            size: OnceLock::new(),
            listings: Mutex::default(),
        }
    }

    /// Returns about how many bytes of a request it takes.
    pub fn size(&self) -> usize {
        *self.size.get_or_init(|| self.specs.iter().map(|spec| spec.size()).sum())
    }

    /// Returns what there is room for in a window: `make` runs once per window for all tasks.
    pub fn listing(
        &self,
        window: u64,
        make: impl FnOnce(&[Arc<ToolSpec>]) -> ToolList,
    ) -> Arc<ToolList> {
        let mut listings = locked(&self.listings);
        Arc::clone(listings.entry(window).or_insert_with(|| Arc::new(make(&self.specs))))
    }

    /// Returns the tools.
    pub fn specs(&self) -> &[Arc<ToolSpec>] {
        &self.specs
    }

    /// Returns the block in a provider's dialect: `write` runs once per dialect for all tasks.
    ///
    /// # Errors
    /// When `write` gives no valid JSON.
    pub fn serialized(
        &self,
        dialect: &'static str,
        write: impl FnOnce(&[Arc<ToolSpec>]) -> Value,
    ) -> serde_json::Result<Arc<RawValue>> {
        let mut cache = locked(&self.serialized);
        if let Some(block) = cache.get(dialect) {
            return Ok(Arc::clone(block));
        }
        let block: Arc<RawValue> = serde_json::value::to_raw_value(&write(&self.specs))?.into();
        cache.insert(dialect, Arc::clone(&block));
        Ok(block)
    }
}

impl std::fmt::Debug for ToolBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.specs.iter().map(|s| s.name)).finish()
    }
}
