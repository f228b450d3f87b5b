//! The handle of the model servers: their scripts, and the record of what they were asked.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};

use super::cache::{Cache, CacheUsage};
use super::contract;
use super::conversation::Conversation;
use super::ears::Speech;
use super::maker::Maker;
use super::owned::OwnForm;
use super::prompt::Prompt;
use super::strict::Family;
use super::turn::Turn;
use crate::clock::Now;

/// The most requests that are kept.
const KEPT: usize = 2_000;

/// What the model answers without a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// `echo: ` and the last user message.
    #[default]
    Echo,
    /// One `echo: ` line for each user message since the model's last answer.
    EchoEach,
    /// `echo: ` and the last line of the last user message.
    EchoLine,
}

/// What the server of embeddings does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingMode {
    /// It answers as it should.
    #[default]
    Good,
    /// It answers when it is told to do something else.
    Silent,
    /// Its vectors have half of their numbers.
    OtherSize,
    /// Every second vector of an answer is shorter.
    Ragged,
    /// One vector is missing.
    TooFew,
    /// There is one vector too many.
    TooMany,
    /// Nobody can tell which vector is whose.
    NoIndex,
    /// Vectors have no numbers.
    Empty,
    /// A number is none.
    NoNumber,
    /// The body has 200 MB.
    Huge,
    /// The body is no JSON.
    Garbled,
    /// It is asked too often.
    Busy,
    /// It takes no text with this word in it: `unspeakable`.
    Choosy,
    /// The connection breaks.
    Away,
}

/// Which server was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The OpenAI-compatible one.
    OpenAi,
    /// The Anthropic one.
    Anthropic,
    /// OpenAI's own, with items.
    Responses,
    /// The OpenAI-compatible one, for embeddings.
    Embeddings,
}

/// A request a server took or refused.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Which server.
    pub dialect: Dialect,
    /// The body; null when it was no JSON.
    pub body: Value,
    /// Why it was refused as malformed.
    pub refused: Option<String>,
    /// How many tokens of it were cut off in silence.
    pub cut: usize,
}

/// Answers a talk in the place of the usual behaviour.
pub type Answerer = Arc<dyn Fn(&Conversation) -> Turn + Send + Sync>;

/// The handle of the model servers: write scripts, read requests.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    key: Option<String>,
    calls: AtomicU64,
    load: AtomicBool,
    /// How many requests were kept or counted.
    asked: watch::Sender<u64>,
    now: Now,
    embedding: watch::Sender<EmbeddingMode>,
    speech: Speech,
    maker: Maker,
    /// How many pieces may be written on.
    pace: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    owned: OwnForm,
    family: Option<Family>,
    answerer: Option<Answerer>,
    script: VecDeque<Turn>,
    /// Scripts for requests that contain a text.
    keyed: Vec<(String, VecDeque<Turn>)>,
    requests: VecDeque<ModelRequest>,
    embedded: VecDeque<ModelRequest>,
    cache: Cache,
}

impl Model {
    pub(crate) fn new(behaviour: Behaviour, key: Option<String>, now: Now) -> Self {
        let state = Mutex::new(State { behaviour, ..State::default() });
        let inner = Inner {
            state,
            key,
            calls: AtomicU64::new(0),
            load: AtomicBool::new(false),
            asked: watch::Sender::default(),
            now,
            embedding: watch::Sender::default(),
            speech: Speech::default(),
            maker: Maker::default(),
            pace: Arc::new(Semaphore::new(0)),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Appends turns for any conversation.
    pub fn script(&self, turns: Vec<Turn>) {
        self.state().script.extend(turns);
    }

    /// Appends turns for requests that contain `text` (as it stands in the request's JSON).
    pub fn script_for(&self, text: &str, turns: Vec<Turn>) {
        let mut state = self.state();
        match state.keyed.iter_mut().find(|(key, _)| key == text) {
            Some((_, script)) => script.extend(turns),
            None => state.keyed.push((text.to_owned(), turns.into())),
        }
    }

    /// How many scripted turns nobody asked for yet.
    pub fn turns_left(&self) -> usize {
        let state = self.state();
        state.script.len() + state.keyed.iter().map(|(_, script)| script.len()).sum::<usize>()
    }

    /// Changes what is answered without a script.
    pub fn set_behaviour(&self, behaviour: Behaviour) {
        self.state().behaviour = behaviour;
    }

    /// Changes what the servers mark as their own beside calls, and want back.
    pub fn set_owned(&self, owned: OwnForm) {
        self.state().owned = owned;
    }

    /// What they mark.
    pub(crate) fn owned(&self) -> OwnForm {
        let state = self.state();
        match state.family {
            Some(Family::DeepSeek) => OwnForm::Thoughts,
            Some(Family::Gemini) => OwnForm::Marks,
            Some(_) => OwnForm::Nothing,
            None => state.owned,
        }
    }

    /// Makes the servers keep the rules of a family.
    pub fn set_family(&self, family: Family) {
        self.state().family = Some(family);
    }

    /// Whose rules they keep.
    pub(crate) fn family(&self) -> Option<Family> {
        self.state().family
    }

    /// Lets somebody answer what no script answers.
    pub fn set_answerer(&self, answerer: Answerer) {
        self.state().answerer = Some(answerer);
    }

    /// The requests, oldest first (the last 2,000; none under load).
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state().requests.iter().cloned().collect()
    }

    /// Changes what the server of embeddings does.
    pub fn set_embedding(&self, does: EmbeddingMode) {
        self.inner.embedding.send_replace(does);
    }

    /// The requests for embeddings, oldest first (the last 2,000).
    pub fn embedded(&self) -> Vec<ModelRequest> {
        self.state().embedded.iter().cloned().collect()
    }

    /// The server of speech.
    pub fn speech(&self) -> &Speech {
        &self.inner.speech
    }

    /// The servers that say words aloud and make pictures.
    pub fn maker(&self) -> &Maker {
        &self.inner.maker
    }

    /// Lets what is written piece by piece go on so many times.
    pub fn write_on(&self, times: usize) {
        self.inner.pace.add_permits(times);
    }

    /// What lets pieces be written on.
    pub(crate) fn pace(&self) -> Arc<Semaphore> {
        Arc::clone(&self.inner.pace)
    }

    /// How many requests came, refused ones included.
    pub fn calls(&self) -> u64 {
        self.inner.calls.load(Ordering::SeqCst)
    }

    /// Waits until at least `count` requests came.
    pub async fn wait_for_calls(&self, count: u64) {
        // The sender lives as long as `self`.
        _ = self.inner.asked.subscribe().wait_for(|asked| *asked >= count).await;
    }

    /// Under load no request is kept, only counted.
    pub fn set_load_mode(&self, load: bool) {
        self.inner.load.store(load, Ordering::SeqCst);
        if load {
            self.state().requests.clear();
        }
    }

    /// The next turn for a well-formed request.
    pub(crate) fn next_turn(&self, heard: &Prompt<'_>) -> Turn {
        let mut state = self.state();
        let mut keyed = state.keyed.iter_mut();
        let fits = keyed.find(|(key, script)| !script.is_empty() && heard.raw.contains(&**key));
        let keyed = fits.and_then(|(_, script)| script.pop_front());
        state.keyed.retain(|(_, script)| !script.is_empty());
        let turn = keyed.or_else(|| state.script.pop_front()).unwrap_or(Turn::Usual);
        if let (Turn::Usual, Some(answerer)) = (&turn, state.answerer.clone()) {
            drop(state);
            return answerer(&(heard.talk)());
        }
        turn.spelled_out(|| usual(state.behaviour, heard))
    }

    /// Counts a request and keeps it, unless under load.
    pub(crate) fn record(&self, asked: impl FnOnce(u64) -> ModelRequest) -> u64 {
        let number = self.inner.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if !self.inner.load.load(Ordering::SeqCst) {
            let asked = asked(number);
            keep(&mut self.state().requests, asked);
        }
        self.inner.asked.send_modify(|asked| *asked += 1);
        number
    }

    /// Returns how much of a well-formed prompt was read before; under load none is kept.
    pub(crate) fn cached(&self, dialect: Dialect, body: &Value) -> CacheUsage {
        if self.inner.load.load(Ordering::SeqCst) {
            return CacheUsage::default();
        }
        let cache = &mut self.state().cache;
        match dialect {
            Dialect::OpenAi | Dialect::Responses => cache.automatic(body),
            Dialect::Anthropic => cache.marked(body),
            Dialect::Embeddings => CacheUsage::default(),
        }
    }

    /// Keeps a request for embeddings.
    pub(crate) fn record_embedding(&self, asked: ModelRequest) {
        keep(&mut self.state().embedded, asked);
    }

    /// What the server of embeddings does, as soon as it does anything.
    pub(crate) async fn embedding_when_it_speaks(&self) -> EmbeddingMode {
        let mut does = self.inner.embedding.subscribe();
        let speaks = does.wait_for(|does| *does != EmbeddingMode::Silent).await;
        speaks.map_or(EmbeddingMode::Away, |does| *does)
    }

    /// Whether this key opens the servers.
    pub(crate) fn takes_key(&self, key: Option<&str>) -> bool {
        self.inner.key.as_deref().is_none_or(|wanted| key == Some(wanted))
    }

    /// The time in Unix seconds.
    pub(crate) fn unix_now(&self) -> i64 {
        (self.inner.now)().timestamp()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.inner.state)
    }
}

/// Keeps a request among the newest.
fn keep(kept: &mut VecDeque<ModelRequest>, asked: ModelRequest) {
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(asked);
}

/// What is answered without a script.
fn usual(behaviour: Behaviour, heard: &Prompt<'_>) -> String {
    let last = heard.fresh.last();
    if let Some(text) = last.and_then(|text| contract::answer(text)) {
        return text;
    }
    let echo = |text: &str| format!("echo: {text}");
    let text = match behaviour {
        Behaviour::Echo => last.map(|text| echo(text)),
        Behaviour::EchoLine => last.and_then(|text| text.lines().next_back()).map(echo),
        Behaviour::EchoEach => {
            let lines: Vec<String> = heard.fresh.iter().map(|text| echo(text)).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
    };
    text.unwrap_or_else(|| "echo: (nothing new)".to_owned())
}
