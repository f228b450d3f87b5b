//! Whether somebody is writing a file just now: editors that save in place empty it first, and their words come later.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use selkie_domain::clock::SharedClock;

/// What somebody changed so lately may not be whole.
const YOUNG: Duration = Duration::from_millis(500);
/// What was emptied so lately may be about to be filled.
const YOUNG_EMPTY: Duration = Duration::from_secs(10);
/// How long one change waits in all.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long it waits between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What a file looks like from outside: whoever writes into it changes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    inode: u64,
    second: i64,
    nano: i64,
    pub size: u64,
}

impl Look {
    pub fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            second: found.mtime(),
            nano: found.mtime_nsec(),
            size: found.size(),
        }
    }

    /// Looks at a file; `None` where there is none.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(found) => Ok(Some(Self::of(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn line(&self) -> String {
        let Self { inode, second, nano, size } = self;
        format!("{inode} {second} {nano} {size}")
    }

    fn age(&self, now: SystemTime) -> Duration {
        let second = Duration::from_secs(u64::try_from(self.second).unwrap_or_default());
        let nano = Duration::from_nanos(u64::try_from(self.nano).unwrap_or_default());
        let at = SystemTime::UNIX_EPOCH + second + nano;
        // A clock that was set back says nothing: what lies far ahead is not young for ever.
        now.duration_since(at).unwrap_or_else(|ahead| ahead.duration())
    }

    /// Whether nobody is writing it; `had_words`: whether there was something in the file before.
    pub fn rests(&self, had_words: bool, now: SystemTime) -> bool {
        let age = self.age(now);
        age >= YOUNG && !(self.size == 0 && had_words && age < YOUNG_EMPTY)
    }
}

/// The time, and what waits.
pub(super) struct Time {
    pub clock: SharedClock,
    pub pause: Box<dyn Fn(Duration) + Send + Sync>,
}

impl Time {
    pub fn of(clock: SharedClock) -> Self {
        Self { clock, pause: Box::new(thread::sleep) }
    }

    pub fn now(&self) -> SystemTime {
        self.clock.now().into()
    }
}

/// How much longer one change may wait.
pub(super) struct Patience(Duration);

impl Patience {
    pub fn new() -> Self {
        Self(TIMEOUT)
    }

    /// Waits a moment; says whether there was one left.
    pub fn wait(&mut self, time: &Time) -> bool {
        let left = self.0.checked_sub(PAUSE);
        if let Some(left) = left {
            self.0 = left;
            (time.pause)(PAUSE);
        }
        left.is_some()
    }
}
