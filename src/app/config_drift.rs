//! What of the config is in force: a reload leaves some of it to a restart, and a file may be changed without any reload.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::locked;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use selkie_config::{Effective, written};
use selkie_domain::clock::SharedClock;
use selkie_domain::config_drift::{DueKey, NotInForce, NotLoaded, RefusedReload};
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// How long the files may take: a disk of the network may stand still.
const TIMEOUT: Duration = Duration::from_secs(2);
/// A file that was changed so shortly ago may be changed once more without its time telling.
const FRESH: TimeDelta = TimeDelta::seconds(2);
/// So many keys are named.
const MAX_KEYS: usize = 6;

/// Reads what the config says now, and changes nothing.
pub type Peek = Arc<dyn Fn() -> ConfigPeek + Send + Sync>;

/// What a config says.
pub struct ConfigPeek {
    /// Key by key; `None` when it cannot be read.
    pub effective: Option<Effective>,
    /// How much is wrong with it.
    pub faults: usize,
    /// The files that it lies in: the config's own first.
    pub files: Vec<PathBuf>,
}

/// Knows what was loaded.
pub struct InForce {
    peek: Option<Peek>,
    clock: SharedClock,
    stands: Mutex<Stands>,
    /// Who looks at the files: one at a time, however long they take.
    looking: Mutex<()>,
}

struct Stands {
    loaded: Effective,
    due: Vec<DueKey>,
    refused: Option<RejectedReload>,
    /// What the last look at the files came to.
    seen: Option<SeenConfig>,
}

/// What a reload was asked to put in force and did not, or not all of it.
struct RejectedReload {
    /// Nothing where it had mistakes.
    tried: Option<Effective>,
    told: RefusedReload,
}

struct SeenConfig {
    marks: Vec<Mark>,
    not_loaded: Option<NotLoaded>,
}

/// How a file looks from outside: another look, another content.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    path: PathBuf,
    changed_at: Option<DateTime<Utc>>,
    length: u64,
    inode: u64,
}

impl InForce {
    /// Begins with what was loaded at the start; without `peek` nobody can look what the config says now.
    pub fn new(loaded: Effective, peek: Option<Peek>, clock: SharedClock) -> Self {
        let stands = Stands { loaded, due: Vec::new(), refused: None, seen: None };
        Self { peek, clock, stands: Mutex::new(stands), looking: Mutex::new(()) }
    }

    /// Notes what a reload has loaded, and which keys of it wait for a restart.
    pub fn loaded(&self, loaded: Effective, needs_restart: &[String]) {
        let now = self.clock.now();
        let mut stands = locked(&self.stands);
        let before = std::mem::take(&mut stands.due);
        let due = |key: &String| {
            let known = before.iter().find(|due| due.key == *key);
            DueKey { key: key.clone(), since: known.map_or(now, |due| due.since) }
        };
        stands.due = needs_restart.iter().map(due).collect();
        stands.loaded = loaded;
        (stands.refused, stands.seen) = (None, None);
    }

    /// Notes what a reload was to put in force, and why it did not do so with all of it.
    pub fn refused(&self, tried: Option<Effective>, why: Vec<String>) {
        let told = RefusedReload { at: self.clock.now(), why };
        let mut stands = locked(&self.stands);
        stands.refused = Some(RejectedReload { tried, told });
        stands.seen = None;
    }

    /// Tells what waits for a restart; no file is looked at.
    pub fn restart_due(&self) -> NotInForce {
        NotInForce { restart_due: locked(&self.stands).due.clone(), not_loaded: None }
    }

    /// Tells everything that is not in force. Files that do not answer tell nothing.
    pub async fn look(self: &Arc<Self>) -> NotInForce {
        if self.peek.is_none() {
            return self.restart_due();
        }
        let this = Arc::clone(self);
        let looked = timeout(TIMEOUT, spawn_blocking(move || this.not_loaded())).await;
        let not_loaded = looked.ok().and_then(Result::ok).flatten();
        NotInForce { not_loaded, ..self.restart_due() }
    }

    fn not_loaded(&self) -> Option<NotLoaded> {
        let peek = self.peek.as_ref()?;
        let Ok(_one) = self.looking.try_lock() else {
            return locked(&self.stands).seen.as_ref().and_then(|seen| seen.not_loaded.clone());
        };
        let known = locked(&self.stands).seen.as_ref().map(|seen| seen.marks.clone());
        if known.is_some_and(|marks| marks.iter().all(|mark| Mark::of(&mark.path) == *mark)) {
            return locked(&self.stands).seen.as_ref().and_then(|seen| seen.not_loaded.clone());
        }
        let peeked = peek();
        let marks: Vec<Mark> = peeked.files.iter().map(Mark::of).collect();
        let fresh = self.clock.now() - FRESH;
        let may_be_kept = marks.iter().all(|mark| mark.changed_at.is_none_or(|at| at < fresh));
        let mut stands = locked(&self.stands);
        let not_loaded = judged(&stands, &peeked, &marks);
        stands.seen = may_be_kept.then(|| SeenConfig { marks, not_loaded: not_loaded.clone() });
        not_loaded
    }
}

impl Mark {
    fn of(path: &PathBuf) -> Self {
        let found = fs::metadata(path).ok();
        let changed = found.as_ref().and_then(|found| found.modified().ok());
        Self {
            path: path.clone(),
            changed_at: changed.map(DateTime::from),
            length: found.as_ref().map_or(0, fs::Metadata::len),
            inode: found.as_ref().map_or(0, |found| found.ino()),
        }
    }
}

fn judged(stands: &Stands, peeked: &ConfigPeek, marks: &[Mark]) -> Option<NotLoaded> {
    let Stands { loaded, refused, .. } = stands;
    let keys: Vec<String> = peeked.effective.as_ref().map_or_else(Vec::new, |effective| {
        effective.changed(loaded).iter().map(|path| written(path)).collect()
    });
    if keys.is_empty() && peeked.faults == 0 {
        return None;
    }
    let last = marks.iter().filter(|mark| mark.changed_at.is_some());
    let last = last.max_by_key(|mark| mark.changed_at).or_else(|| marks.first());
    Some(NotLoaded {
        file: last.map_or_else(|| "the config".to_owned(), |mark| mark.path.display().to_string()),
        changed_at: last.and_then(|mark| mark.changed_at),
        keys,
        faults: peeked.faults,
        // Once it says something else, nobody has refused that yet.
        refused: refused
            .as_ref()
            .filter(|it| is_still(it.tried.as_ref(), peeked))
            .map(|it| it.told.clone()),
    })
}

fn is_still(tried: Option<&Effective>, peeked: &ConfigPeek) -> bool {
    match (tried, &peeked.effective) {
        (Some(tried), Some(now)) => now.changed(tried).is_empty(),
        (Some(_), None) => false,
        (None, _) => peeked.faults > 0,
    }
}

/// Says which keys wait for a restart, and since when; `None` where none does.
pub fn restart_due(due: &[DueKey], zone: Zone) -> Option<String> {
    let mut due: Vec<&DueKey> = due.iter().collect();
    due.sort_by_key(|due| due.since);
    let at_once = |due: &[&DueKey]| {
        let keys = named(due.iter().map(|due| due.key.as_str()));
        let at = due.first().map(|due| moment(due.since, zone)).unwrap_or_default();
        format!("{keys} changed at {at}")
    };
    let groups: Vec<String> = due.chunk_by(|a, b| a.since == b.since).map(at_once).collect();
    (!groups.is_empty()).then(|| groups.join("; "))
}

/// Says that a config was changed and not loaded.
pub fn not_loaded(it: &NotLoaded, zone: Zone) -> String {
    let changed = match it.changed_at {
        Some(at) => format!("{} was changed at {}", it.file, moment(at, zone)),
        None => format!("{} is gone", it.file),
    };
    if it.faults > 0 {
        let refused = it.refused.as_ref().map(|refused| moment(refused.at, zone));
        if it.changed_at.is_none() {
            return format!("{changed}, so it cannot be loaded");
        }
        let refused = refused.map(|at| format!(" (the reload at {at} was refused)"));
        return format!(
            "{changed} and has mistakes, so it cannot be loaded{}",
            refused.unwrap_or_default()
        );
    }
    let keys = named(it.keys.iter().map(String::as_str));
    let refused = it.refused.as_ref().map(|refused| {
        let at = moment(refused.at, zone);
        format!(", because the reload at {at} was refused: {}", refused.why.join("; "))
    });
    format!("{changed} and is not in force ({keys}){}", refused.unwrap_or_default())
}

/// Says what to do about it.
pub fn advice(it: &NotLoaded) -> &'static str {
    match (it.faults, &it.refused) {
        (0, None) => "selkie reload",
        (0, Some(_)) => "correct it, then selkie reload",
        _ if it.changed_at.is_none() => "put it back",
        _ => "selkie config check shows them",
    }
}

fn named<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    let keys: Vec<&str> = keys.collect();
    match keys.len() > MAX_KEYS {
        true => format!("{} and {} more", keys[..MAX_KEYS].join(", "), keys.len() - MAX_KEYS),
        false => keys.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use selkie_domain::clock::{Clock as _, SystemClock};

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minutes * 60, 0).unwrap()
    }

    /// Something that reads a file as the config's value, and counts how often.
    fn peek(file: PathBuf, reads: Arc<Mutex<usize>>) -> Peek {
        Arc::new(move || {
            *locked(&reads) += 1;
            let text = fs::read(&file).unwrap_or_default();
            let value: Option<Value> = serde_json::from_slice(&text).ok();
            let faults = usize::from(value.is_none());
            ConfigPeek { effective: value.map(Effective::of), faults, files: vec![file.clone()] }
        })
    }

    fn write(file: &PathBuf, value: &Value, minutes_ago: i64) {
        fs::write(file, value.to_string()).unwrap();
        let then = SystemClock.now() - TimeDelta::minutes(minutes_ago);
        fs::File::options().write(true).open(file).unwrap().set_modified(then.into()).unwrap();
    }

    #[tokio::test]
    async fn a_file_that_says_something_else_is_told_until_it_is_loaded_and_read_no_more_than_needed()
     {
        let folder = tempfile::tempdir().unwrap();
        let (file, reads) = (folder.path().join("config.yaml"), Arc::new(Mutex::new(0)));
        let old = json!({ "worker": { "count": 1 } });
        write(&file, &old, 9);
        let peek = peek(file.clone(), Arc::clone(&reads));
        let all = Arc::new(InForce::new(Effective::of(old), Some(peek), Arc::new(SystemClock)));
        for _ in 0..3 {
            assert_eq!(all.look().await, NotInForce::default());
        }
        assert_eq!(*locked(&reads), 1);
        let new = json!({ "worker": { "count": 2 } });
        write(&file, &new, 5);
        let told = all.look().await.not_loaded.expect("it was changed");
        assert_eq!((told.keys.as_slice(), told.faults), (&["worker.count".to_owned()][..], 0));
        assert!(told.changed_at.is_some() && told.file.ends_with("config.yaml"), "{told:?}");
        // What was refused says so as long as the file says just that.
        all.refused(Some(Effective::of(new.clone())), vec!["no".to_owned()]);
        let refused = all.look().await.not_loaded.and_then(|it| it.refused);
        assert_eq!(refused.map(|it| it.why), Some(vec!["no".to_owned()]));
        write(&file, &json!({ "worker": { "count": 3 } }), 4);
        assert_eq!(all.look().await.not_loaded.expect("another change").refused, None);
        write(&file, &new, 3);
        all.loaded(Effective::of(new), &["worker.count".to_owned()]);
        let since = all.restart_due().restart_due[0].since;
        let told = all.look().await;
        assert_eq!((told.not_loaded, told.restart_due.len()), (None, 1));
        all.loaded(Effective::of(json!({})), &["worker.count".to_owned()]);
        assert_eq!(all.restart_due().restart_due[0].since, since, "it waits since then");
        fs::write(&file, "{").unwrap();
        assert_eq!(all.look().await.not_loaded.map(|it| it.faults), Some(1));
        // A file of just now is read again: its time may stay as it is.
        let before = *locked(&reads);
        all.look().await;
        assert_eq!(*locked(&reads), before + 1);
    }

    #[test]
    fn what_is_not_in_force_is_said_in_a_line() {
        let key = |key: &str, minute| DueKey { key: key.to_owned(), since: at(minute) };
        let due = [key("worker.count", 60), key("logging.level", 5), key("timezone", 60)];
        assert_eq!(
            restart_due(&due, Zone::UTC).unwrap(),
            "logging.level changed at 1970-01-01 00:05 UTC; worker.count, timezone changed at 1970-01-01 01:00 UTC"
        );
        assert_eq!(restart_due(&[], Zone::UTC), None);
        let changed = NotLoaded {
            file: "/etc/c.yaml".to_owned(),
            changed_at: Some(at(0)),
            keys: (0..8).map(|n| format!("k{n}")).collect(),
            faults: 0,
            refused: None,
        };
        assert_eq!(
            not_loaded(&changed, Zone::UTC),
            "/etc/c.yaml was changed at 1970-01-01 00:00 UTC and is not in force (k0, k1, k2, k3, k4, k5 and 2 more)"
        );
        let why = vec!["tea keeps its previous settings: 401".to_owned()];
        let refused = Some(RefusedReload { at: at(7), why });
        let refused = NotLoaded { refused, keys: vec!["tea.token".to_owned()], ..changed.clone() };
        assert_eq!(
            not_loaded(&refused, Zone::UTC),
            "/etc/c.yaml was changed at 1970-01-01 00:00 UTC and is not in force (tea.token), because the reload at \
             1970-01-01 00:07 UTC was refused: tea keeps its previous settings: 401"
        );
        assert_eq!(advice(&refused), "correct it, then selkie reload");
        let broken = NotLoaded { faults: 2, changed_at: None, ..changed };
        assert_eq!(not_loaded(&broken, Zone::UTC), "/etc/c.yaml is gone, so it cannot be loaded");
    }
}
