//! What is remembered, behind the tools' port: every conversation sees its own, an owner alone the general memory, too.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::SubsecRound as _;
use selkie_channel_core::{ConversationId, PlaceId};
use tokio::sync::Mutex;

use super::found::{self, SearchResult};
use super::index::{Index, failed};
use super::line::{Line, MAX_AN_HOUR, MAX_BYTES, lately};
use super::mark::Mark;
use super::marked_lines;
use super::page::Entry;
use super::reading::{FileReader, blocking, files_of};
use super::remembered::{self, MemoryEntry};
use super::score::fewest;
use super::subject::Subject;
use super::vectors::Vectors;
use super::words;
use selkie_domain::clock::SharedClock;
use selkie_domain::command_line;
use selkie_domain::taint::Taint;
use selkie_llm::Embeddings;
use selkie_people::files::{Edit, Files, NewLine};
use selkie_store::{Ledger, SoughtWords};
use selkie_tools::ToolError;
use selkie_tools::memory::port::{Memory, MemoryQuery, NewMemory, Rememberer, WantedLines};
use selkie_tools::ports::TodoReport;

/// So many pieces are found by what they mean: more than a search tells.
const NEAREST: usize = 60;

/// What the book has to ask of conversations.
pub trait Places: Send + Sync {
    /// Returns the place that a conversation belongs to: the same for every thread of it.
    fn place(&self, conversation: &ConversationId) -> PlaceId;
}

/// What a book is made of.
pub struct MemoryParts {
    /// The one writer of files that people edit.
    pub files: Arc<Files>,
    /// Holds the index over the files.
    pub ledger: Arc<dyn Ledger>,
    /// Knows whose a conversation is.
    pub places: Arc<dyn Places>,
    /// The time.
    pub clock: SharedClock,
    /// Tells what lines mean; nothing where they are found by their words alone.
    pub embeddings: Option<Arc<dyn Embeddings>>,
}

/// The files of memory and their index.
pub struct MemoryBook {
    pub(super) reading: Arc<FileReader>,
    pub(super) index: Index,
    pub(super) places: Arc<dyn Places>,
    pub(super) clock: SharedClock,
    /// One line at a time: whether it stands there is asked before.
    pub(super) writing: Mutex<()>,
}

impl MemoryBook {
    /// Puts its parts together.
    pub fn new(parts: MemoryParts) -> Self {
        let MemoryParts { files, ledger, places, clock, embeddings } = parts;
        let reading = Arc::new(FileReader::new(files));
        let vectors = embeddings
            .map(|server| Arc::new(Vectors::new(server, Arc::clone(&ledger), Arc::clone(&clock))));
        let index = Index { reading: Arc::clone(&reading), ledger, one: Mutex::default(), vectors };
        Self { reading, index, places, clock, writing: Mutex::default() }
    }

    /// Returns what lines mean, where that is asked for.
    pub fn vectors(&self) -> Option<&Arc<Vectors>> {
        self.index.vectors.as_ref()
    }

    /// Returns whose memory a conversation writes into; `sees_general`: an owner alone reads what is said there.
    pub fn own(&self, conversation: &ConversationId, sees_general: bool) -> Subject {
        match command_line::is_at(conversation) && sees_general {
            true => Subject::general(),
            false => Subject::of(&self.places.place(conversation)),
        }
    }

    /// Returns what a conversation sees, its own first.
    pub fn seen(&self, conversation: &ConversationId, sees_general: bool) -> Vec<Subject> {
        let own = self.own(conversation, sees_general);
        let general = (sees_general && !own.is_general()).then(Subject::general);
        [own].into_iter().chain(general).collect()
    }

    /// Returns what a task sees, its own first: an agent that has a memory for itself sees that alone.
    pub fn seen_as(
        &self,
        conversation: &ConversationId,
        own_memory: Option<&str>,
        sees_general: bool,
    ) -> Vec<Subject> {
        match own_memory {
            Some(memory) => vec![self.own(conversation, false).of_agent(memory)],
            None => self.seen(conversation, sees_general),
        }
    }

    /// Brings the index to what the files are now; for the start.
    pub async fn follow(&self) {
        match self.index.follow_all().await {
            Ok(0) => {}
            Ok(files) => tracing::info!(files, "what is remembered was indexed"),
            Err(error) => {
                tracing::warn!(%error, "what is remembered is not indexed: it is tried again when it is searched")
            }
        }
    }

    /// Lists what a conversation sees, entry by entry, its own first, and behind it what its agents have for themselves.
    ///
    /// # Errors
    /// In words: a file cannot be read.
    pub async fn remembered(
        &self,
        conversation: &ConversationId,
        sees_general: bool,
    ) -> Result<Vec<MemoryEntry>, ToolError> {
        let mut all = Vec::new();
        let of_agents = self.of_agents(&self.own(conversation, false)).await?;
        for subject in self.seen(conversation, sees_general).into_iter().chain(of_agents) {
            let files = Arc::clone(self.reading.files());
            all.extend(blocking(move || remembered::entries(&files, &subject)).await?);
        }
        Ok(all)
    }

    /// Takes an entry out, and the earlier versions of its file with it; says whether it stood there still.
    ///
    /// # Errors
    /// In words: the file cannot be written.
    pub async fn take(
        &self,
        conversation: &ConversationId,
        one: &MemoryEntry,
    ) -> Result<bool, ToolError> {
        let _one = self.writing.lock().await;
        let page = self.reading.page(&one.path).await?;
        let is_it = |entry: &&Entry| *entry.lines.start() == one.line && entry.text == one.text;
        let Some(entry) = page.entries().iter().find(is_it) else { return Ok(false) };
        let file = one.path.clone();
        let take = page.raw(entry).to_vec();
        let files = Arc::clone(self.reading.files());
        let now = self.clock.now();
        let done = blocking(move || {
            let edit = Edit::Lines { file: file.clone(), take, put: Vec::new() };
            let done = files.edit(&[edit], Taint::Clean, now)?;
            files.forget_versions(&file)?;
            // What was noted of the line goes, too.
            marked_lines::page(&files, &file)?;
            Ok(done)
        });
        let is_gone = done.await?.lines_taken > 0;
        let mut subjects = self.seen(conversation, true);
        subjects.extend(self.of_agents(&self.own(conversation, false)).await?);
        if let Some(subject) = subjects.iter().find(|subject| subject.has(&one.path)) {
            self.index.follow(subject).await?;
        }
        Ok(is_gone)
    }

    /// Forgets everything that is remembered of a conversation's place, by its agents, too: the files and every earlier version
    /// of them. The general memory is no place's: it stays.
    ///
    /// # Errors
    /// In words: a file is there still, or stands in the index.
    pub async fn forget(&self, conversation: &ConversationId) -> Result<(), ToolError> {
        let _one = self.writing.lock().await;
        let place = self.own(conversation, false);
        let of_agents = self.of_agents(&place).await?;
        for subject in std::iter::once(place).chain(of_agents) {
            self.forget_subject(subject).await?;
        }
        Ok(())
    }

    async fn forget_subject(&self, subject: Subject) -> Result<(), ToolError> {
        let files = Arc::clone(self.reading.files());
        let own = subject.clone();
        let paths = blocking(move || {
            let mut paths = files_of(&files, &own)?;
            // One that is gone may have earlier versions.
            paths.push(own.main());
            paths.iter().try_for_each(|path| files.remove(path))?;
            Ok(paths)
        });
        paths.await?.iter().for_each(|path| self.reading.forget(path));
        self.index.follow(&subject).await.map(drop)
    }

    /// A place goes on under another id: its memory goes along. Doing it twice changes nothing.
    pub async fn moved(&self, old: &PlaceId, new: &PlaceId) {
        let old = Subject::of(old);
        let new = Subject::of(new);
        let of_agents = self.of_agents(&old).await.unwrap_or_else(|error| {
            tracing::error!(%error, of = old.folder(), "the memories of agents did not move with their place");
            Vec::new()
        });
        for old in std::iter::once(old).chain(of_agents) {
            let new = old.moved_to(&new);
            if let Err(error) = self.move_files(&old, &new).await {
                tracing::error!(%error, from = old.folder(), to = new.folder(), "memory did not move with its place");
            }
        }
    }

    async fn move_files(&self, old: &Subject, new: &Subject) -> Result<(), ToolError> {
        let _one = self.writing.lock().await;
        let files = Arc::clone(self.reading.files());
        let from = old.clone();
        let to = new.clone();
        let moved = blocking(move || {
            let paths = files_of(&files, &from)?;
            for path in &paths {
                let name = path.rsplit('/').next().unwrap_or_default();
                // What was remembered under the new id meanwhile stays, with the rest beside it.
                match files.look(&to.file(name))? {
                    None => files.rename(path, &to.file(name))?,
                    Some(_) => files.rename(path, &to.file(&format!("moved-{name}")))?,
                }
            }
            Ok(paths.len())
        });
        if moved.await? > 0 {
            self.index.follow(old).await?;
            self.index.follow(new).await?;
        }
        Ok(())
    }

    fn seen_by(&self, by: &Rememberer) -> Vec<Subject> {
        self.seen_as(&by.conversation, by.own_memory.as_deref(), by.sees_general)
    }

    /// Finds the file that a path names, among what the task sees.
    async fn file(&self, by: &Rememberer, path: &str) -> Result<String, ToolError> {
        let subjects = self.seen_by(by);
        let path = path.strip_prefix("file_state_dir/").unwrap_or(path);
        let is_there = |path: &str| subjects.iter().any(|subject| subject.has(path));
        let mut known = Vec::new();
        for subject in &subjects {
            known.extend(self.reading.list(subject).await?.into_iter().map(|file| file.path));
        }
        // The name that other harnesses know means the conversation's own.
        let own = subjects.first().map(Subject::main).unwrap_or_default();
        let meant = if path == "MEMORY.md" && !is_there(path) { own.as_str() } else { path };
        if is_there(meant) && known.iter().any(|file| file == meant) {
            return Ok(meant.to_owned());
        }
        let takes = match known.is_empty() {
            true => "nothing is remembered here yet".to_owned(),
            false => format!("takes {}", known.join(", ")),
        };
        Err(ToolError::tell(format!("invalid path: {path} ({takes})")))
    }
}

#[async_trait]
impl Memory for MemoryBook {
    async fn write(&self, by: &Rememberer, new: NewMemory) -> Result<TodoReport, ToolError> {
        let line = Line::of(&new.text, new.section.as_deref()).map_err(ToolError::Tell)?;
        let own = self.seen_by(by).into_iter().next();
        let subject = own.unwrap_or_else(|| self.own(&by.conversation, by.sees_general));
        let path = subject.main();
        let Rememberer { author, trust, level, now, .. } = by.clone();
        let mark = Mark { author, trust, level, at: now.trunc_subsecs(0) };
        let _one = self.writing.lock().await;
        let page = self.reading.page(&path).await?;
        let same = line.same(&page);
        if let Some(same) = same
            && !is_worse(same, &mark)
        {
            let at = same.lines.start();
            return Ok(told(
                format!("It is there already ({path}, line {at}): nothing was written."),
                level,
            ));
        }
        if lately(&page, now) >= MAX_AN_HOUR {
            return Err(ToolError::tell(format!(
                "{MAX_AN_HOUR} lines were remembered here within the last hour, which is the most: nothing was written"
            )));
        }
        let written = line.written(&mark);
        if page.bytes() + written.len() > MAX_BYTES {
            return Err(ToolError::tell(format!(
                "{path} has {} bytes and the most is {MAX_BYTES}: nothing was written; somebody has to shorten it by hand",
                page.bytes()
            )));
        }
        // What somebody less trusted said, or what came out of others' words, is said anew by this task.
        let take = same.map(|same| page.raw(same).to_vec()).unwrap_or_default();
        let put = vec![NewLine { heading: line.heading.clone(), line: written.clone() }];
        let edit = Edit::Lines { file: path.clone(), take, put };
        let files = Arc::clone(self.reading.files());
        // Every line has its own mark: the file's is that of what was written by hand.
        blocking(move || files.edit(&[edit], Taint::Clean, now)).await?;
        let page = self.reading.page(&path).await?;
        let at = (1..=page.len()).find(|at| page.shown(*at) == format!("- {}", line.text));
        let at = at.map_or(String::new(), |at| format!(", line {at}"));
        if let Err(error) = self.index.follow(&subject).await {
            tracing::warn!(%error, "what was remembered is not indexed yet");
        }
        let others = match mark.level {
            Taint::Clean => "",
            Taint::Derived | Taint::Raw => {
                " It came out of others' words: memory_search finds it, and it is not brought in unasked."
            }
        };
        Ok(told(format!("Remembered ({path}{at}).{others}"), Taint::Clean))
    }

    async fn search(&self, by: &Rememberer, sought: MemoryQuery) -> Result<TodoReport, ToolError> {
        let subjects = self.seen_by(by);
        for subject in &subjects {
            self.index.follow(subject).await?;
        }
        let question = words::of_question(&sought.query);
        let names: Vec<String> = subjects.iter().map(|subject| subject.name().to_owned()).collect();
        let asked = SoughtWords {
            subjects: names.clone(),
            words: question.clone(),
            least: fewest(question.len(), sought.least),
            enough: sought.most,
        };
        let near = async {
            match &self.index.vectors {
                Some(vectors) => vectors.near(names, &sought.query, NEAREST).await,
                None => Vec::new(),
            }
        };
        let both = tokio::join!(self.index.ledger.search_memory(asked), near);
        let found = SearchResult { pieces: both.0.map_err(failed)?, near: both.1 };
        Ok(found::tell(found, &question, &sought, by.trust))
    }

    async fn get(&self, by: &Rememberer, wanted: WantedLines) -> Result<TodoReport, ToolError> {
        let path = self.file(by, &wanted.path).await?;
        let page = self.reading.page(&path).await?;
        let from = wanted.from;
        let all = page.len();
        if from > all.max(1) {
            return Err(ToolError::tell(format!("invalid from: {from} ({path} has {all} lines)")));
        }
        let last = from.saturating_add(wanted.lines - 1).min(all);
        let lines = (from..=last).map(|at| format!("{at:>4} | {}\n", page.shown(at)));
        let mut text: String = lines.collect();
        if last < all {
            text.push_str(&format!(
                "[Showing lines {from}-{last} of {all}. Use from={} to continue.]",
                last + 1
            ));
        } else if all == 0 {
            text.push_str("(empty)");
        }
        let touched =
            page.entries().iter().filter(|e| *e.lines.start() <= last && *e.lines.end() >= from);
        let level = touched.map(|entry| entry.whose.level_for(by.trust)).max().unwrap_or_default();
        Ok(told(text, level))
    }
}

/// Whether an entry that says the same counts less than the task that says it now.
fn is_worse(there: &Entry, now: &Mark) -> bool {
    there.whose.level > now.level || there.whose.trust < now.trust
}

fn told(text: String, level: Taint) -> TodoReport {
    TodoReport { text, level }
}
