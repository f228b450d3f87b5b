//! When commands ran that may have brought others' words into files, or that nothing kept off any file, and where: what
//! changed there meanwhile is no cleaner than they were, though nothing marks it. Nothing is looked through for that; a file
//! is asked for its change time, which nobody can set, when it is read.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use selkie_channel_core::locked;
use serde::{Deserialize, Serialize};

use selkie_domain::clock::SharedClock;
use selkie_domain::provenance::Provenance;

/// So many runs are kept; of more those of one folder that are nearest to each other become one.
const MAX: usize = 1_000;
/// The kernel stamps files with a clock that stands up to a tick behind, in milliseconds.
const TICK: i64 = 20;
/// A file system that counts whole seconds says up to so much too little.
const WHOLE_SECOND: i64 = 999;

/// What ran.
#[derive(Debug, Default)]
pub struct CommandLog(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Where it is kept; `None`: in memory alone.
    path: Option<PathBuf>,
    runs: Vec<Run>,
    last: u64,
}

/// One run in one folder, or several that were put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    folder: PathBuf,
    /// In milliseconds since 1970.
    from: i64,
    /// `None` while it runs.
    to: Option<i64>,
    /// A [`Provenance`].
    wrote: String,
    /// Whether it outlives the daemon: where nobody remembers a clean run, what it made counts as others'.
    #[serde(skip, default = "kept")]
    is_kept: bool,
    #[serde(skip)]
    number: u64,
}

/// A run that goes on. Dropped, it has ended.
pub struct OpenRun {
    log: Arc<CommandLog>,
    clock: SharedClock,
    number: u64,
}

impl CommandLog {
    /// Goes on with what an earlier daemon kept here: what ran when that died ran until now. To be called once, while the
    /// store's lock is held.
    pub fn begin(&self, path: PathBuf, now: DateTime<Utc>) {
        let now = now.timestamp_millis();
        let mut runs = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                let path = path.display();
                tracing::warn!(%path, %error, "what commands ran cannot be read: files up to now count as others' words");
                vec![Run::anywhere(now)]
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, %error, "what commands ran cannot be read: files up to now count as others' words");
                vec![Run::anywhere(now)]
            }
        };
        runs.iter_mut().filter(|run| run.to.is_none()).for_each(|run| run.end(now));
        *locked(&self.0) = Inner { path: Some(path), runs, last: 0 };
    }

    /// Notes that a command starts that may write what is so into these folders, before it does. One that can write
    /// nothing but clean words of an owner, and not everywhere, is noted in memory alone.
    ///
    /// # Errors
    /// When it cannot be noted: then the command must not start.
    pub fn starts(
        self: &Arc<Self>,
        folders: &[&Path],
        wrote: Provenance,
        clock: &SharedClock,
    ) -> io::Result<Option<OpenRun>> {
        let is_kept = wrote != Provenance::CLEAN || folders.contains(&Path::new("/"));
        let from = clock.now().timestamp_millis();
        let mut inner = locked(&self.0);
        inner.last += 1;
        let number = inner.last;
        let mut places: Vec<PathBuf> = folders.iter().map(|folder| real(folder)).collect();
        places.sort();
        // What lies in another one is covered by that.
        places.dedup_by(|inside, around| inside.starts_with(around));
        let wrote = wrote.to_string();
        let new = |folder| Run { folder, from, to: None, wrote: wrote.clone(), is_kept, number };
        inner.runs.extend(places.into_iter().map(new));
        if is_kept && let Err(error) = inner.write() {
            inner.runs.retain(|run| run.number != number);
            return Err(error);
        }
        Ok(Some(OpenRun { log: Arc::clone(self), clock: Arc::clone(clock), number }))
    }

    /// Returns whose words a file may hold by what ran around it when it was changed.
    pub(super) fn around(&self, path: &Path, file: &fs::Metadata) -> Provenance {
        let inner = locked(&self.0);
        inner.around(path, file, TICK).fold(Provenance::CLEAN, |all, run| all.and(run.wrote()))
    }

    /// Whether a command that may write there ran when a file was changed last, for certain: what was changed in the
    /// millisecond in which the command started may be older than it.
    pub(super) fn ran_at(&self, path: &Path, file: &fs::Metadata) -> bool {
        locked(&self.0).around(path, file, 0).any(|run| run.from < changed(file))
    }

    /// Whether a command that may write there ran when a file was changed last, whatever it may have written.
    pub fn ran_around(&self, path: &Path, file: &fs::Metadata) -> bool {
        locked(&self.0).around(path, file, TICK).next().is_some()
    }

    fn ended(&self, number: u64, now: i64) {
        let mut inner = locked(&self.0);
        let of_it = |run: &&mut Run| run.number == number;
        let is_kept = inner.runs.iter_mut().find(of_it).is_some_and(|run| run.is_kept);
        inner.runs.iter_mut().filter(of_it).for_each(|run| run.end(now));
        inner.shorten();
        if is_kept && let Err(error) = inner.write() {
            tracing::warn!(%error, "the end of a command is not noted: after a restart it counts as running until then");
        }
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        self.log.ended(self.number, self.clock.now().timestamp_millis());
    }
}

fn kept() -> bool {
    true
}

impl Run {
    fn anywhere(to: i64) -> Self {
        let wrote = Provenance::RAW.to_string();
        Self { folder: PathBuf::from("/"), from: 0, to: Some(to), wrote, is_kept: true, number: 0 }
    }

    /// A clock that was set back meanwhile makes it no shorter.
    fn end(&mut self, now: i64) {
        self.to = Some(now.max(self.from));
        self.from = self.from.min(now);
        self.number = 0;
    }

    fn covers(&self, first: i64, last: i64, tick: i64) -> bool {
        last >= self.from.saturating_sub(tick) && self.to.is_none_or(|to| first <= to)
    }

    fn wrote(&self) -> Provenance {
        Provenance::parse(&self.wrote).unwrap_or(Provenance::RAW)
    }

    /// Both, and what lies between them.
    fn with(&self, other: &Self) -> Self {
        let common = self.folder.ancestors().find(|folder| other.folder.starts_with(folder));
        Self {
            folder: common.unwrap_or(Path::new("/")).to_owned(),
            from: self.from.min(other.from),
            to: self.to.max(other.to),
            wrote: self.wrote().and(other.wrote()).to_string(),
            is_kept: self.is_kept || other.is_kept,
            number: 0,
        }
    }
}

impl Inner {
    /// The runs that may have changed a file when it was changed last.
    fn around(&self, path: &Path, file: &fs::Metadata, tick: i64) -> impl Iterator<Item = &Run> {
        let first = changed(file);
        let last = first.saturating_add(if file.ctime_nsec() == 0 { WHOLE_SECOND } else { 0 });
        let meanwhile = self.runs.iter().filter(move |run| run.covers(first, last, tick));
        meanwhile.filter(move |run| path.starts_with(&run.folder))
    }

    /// Puts ended runs together that overlap, and where there are too many those that are nearest to each other.
    fn shorten(&mut self) {
        let (mut ended, open): (Vec<Run>, Vec<Run>) =
            std::mem::take(&mut self.runs).into_iter().partition(|run| run.to.is_some());
        ended.sort_by(|a, b| (&a.folder, a.from).cmp(&(&b.folder, b.from)));
        ended.dedup_by(|later, earlier| {
            let same = (&later.folder, &later.wrote) == (&earlier.folder, &earlier.wrote);
            let joins = same && Some(later.from) <= earlier.to;
            if joins {
                *earlier = earlier.with(later);
            }
            joins
        });
        while ended.len() + open.len() > MAX && ended.len() > 1 {
            let gap = |at: &usize| {
                let one = &ended[*at];
                let next = &ended[*at + 1];
                let differ = (&one.folder, &one.wrote) != (&next.folder, &next.wrote);
                (differ, next.from.abs_diff(one.to.unwrap_or(one.from)))
            };
            let Some(at) = (0..ended.len() - 1).min_by_key(gap) else { break };
            ended[at] = ended[at].with(&ended[at + 1]);
            ended.remove(at + 1);
        }
        self.runs = ended;
        self.runs.extend(open);
    }

    /// Synced: what a command changes may outlive the power, too.
    fn write(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = path.with_extension("new");
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        let kept: Vec<&Run> = self.runs.iter().filter(|run| run.is_kept).collect();
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        fs::File::open(folder)?.sync_all()
    }
}

/// In milliseconds since 1970.
fn changed(file: &fs::Metadata) -> i64 {
    file.ctime().saturating_mul(1_000).saturating_add(file.ctime_nsec() / 1_000_000)
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
