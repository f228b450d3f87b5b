//! What commands may have written, by when they ran and when a file changed.

use tempfile::TempDir;

use super::*;
use selkie_domain::clock::{Clock as _, ManualClock, SystemClock};
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

const WROTE: Provenance = Provenance { level: Taint::Derived, trust: Trust::Allowed };

fn changed(file: &Path) -> i64 {
    super::changed(&file.metadata().unwrap())
}

fn moment(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap()
}

fn clock(millis: i64) -> SharedClock {
    Arc::new(ManualClock::at(moment(millis)))
}

fn file(dir: &TempDir) -> PathBuf {
    let file = dir.path().canonicalize().unwrap().join("work/a.txt");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "x").unwrap();
    file
}

fn whose(log: &CommandLog, file: &Path) -> Provenance {
    log.around(file, &file.metadata().unwrap())
}

fn ran(log: &Arc<CommandLog>, folder: &Path, from: i64, to: i64) {
    let (clock, shared) = {
        let clock = Arc::new(ManualClock::at(moment(from)));
        (Arc::clone(&clock), clock as SharedClock)
    };
    let run = log.starts(&[folder], WROTE, &shared).unwrap();
    clock.advance(chrono::TimeDelta::milliseconds(to - from));
    drop(run);
}

#[test]
fn what_changed_there_while_a_command_ran_is_what_that_may_have_written() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    let at = changed(&file);
    let folder = file.parent().unwrap();
    for (from, to, is) in [
        (-9, 9, true),
        (0, 0, true),
        (-9, 0, true),
        (15, 50, true),
        (60, 90, false),
        (-90, -60, false),
        (50, -50, true),
    ] {
        let log = Arc::<CommandLog>::default();
        ran(&log, folder, at + from, at + to);
        assert_eq!(whose(&log, &file) == WROTE, is, "{from} to {to}");
        let elsewhere = Arc::<CommandLog>::default();
        ran(&elsewhere, &dir.path().join("other"), at + from, at + to);
        assert_eq!(whose(&elsewhere, &file), Provenance::CLEAN);
    }
}

/// A file that came in the millisecond in which a command started is not known to be the command's.
#[test]
fn a_command_made_for_certain_what_is_younger_than_it() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    let at = changed(&file);
    for (from, is) in [(at - 1, true), (at, false), (at + 1, false)] {
        let log = Arc::<CommandLog>::default();
        ran(&log, dir.path(), from, at + 9);
        assert_eq!(log.ran_at(&file, &file.metadata().unwrap()), is, "{from}");
    }
}

/// It is known that a command made it, as long as the daemon lives.
#[test]
fn an_owners_clean_command_leaves_files_clean() {
    let dir = TempDir::new().unwrap();
    let kept = dir.path().join("run/commands.json");
    let log = Arc::<CommandLog>::default();
    let now = SystemClock.now();
    log.begin(kept.clone(), now);
    // The kernel's clock stands behind ours.
    let shared = clock(now.timestamp_millis() - TICK);
    let run = log.starts(&[dir.path()], Provenance::CLEAN, &shared).unwrap();
    let file = file(&dir);
    assert!(log.ran_at(&file, &file.metadata().unwrap()));
    assert_eq!(whose(&log, &file), Provenance::CLEAN);
    drop(run);
    assert!(!kept.exists());
}

/// What it may have written is its owner's; that it may have written it is noted.
#[test]
fn a_clean_command_that_nothing_holds_is_noted() {
    let dir = TempDir::new().unwrap();
    let log = Arc::<CommandLog>::default();
    let shared: SharedClock = Arc::new(SystemClock);
    let run = log.starts(&[Path::new("/")], Provenance::CLEAN, &shared).unwrap();
    let file = file(&dir);
    assert!(run.is_some() && log.ran_around(&file, &file.metadata().unwrap()));
    assert_eq!(whose(&log, &file), Provenance::CLEAN);
}

#[test]
fn what_ran_when_a_daemon_died_ran_until_the_next_one_began() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    let (at, kept) = (changed(&file), dir.path().join("run/commands.json"));
    for (restart, is) in [(at + 5, true), (at - 5, false)] {
        let log = Arc::<CommandLog>::default();
        log.begin(kept.clone(), moment(at - 100));
        let run = log.starts(&[file.parent().unwrap()], WROTE, &clock(at - 50)).unwrap();
        // A daemon that dies ends nothing.
        std::mem::forget(run);
        let next = CommandLog::default();
        next.begin(kept.clone(), moment(restart));
        assert_eq!(whose(&next, &file) == WROTE, is, "{restart}");
        fs::remove_file(&kept).unwrap();
    }
}

#[test]
fn what_cannot_be_read_makes_everything_before_others_words() {
    let dir = TempDir::new().unwrap();
    let file = file(&dir);
    let kept = dir.path().join("commands.json");
    fs::write(&kept, "{").unwrap();
    let log = CommandLog::default();
    log.begin(kept, moment(changed(&file) + 1));
    assert_eq!(whose(&log, &file), Provenance::RAW);
}

#[test]
fn a_command_that_cannot_be_noted_does_not_start() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("run"), "no folder").unwrap();
    let log = Arc::<CommandLog>::default();
    log.begin(dir.path().join("run/commands.json"), moment(0));
    assert!(log.starts(&[dir.path()], WROTE, &clock(1)).is_err());
}

#[test]
fn many_runs_are_put_together_and_none_of_them_is_forgotten() {
    let log = Arc::<CommandLog>::default();
    let folders = ["/a/x", "/a/y"].map(PathBuf::from);
    let step = 10_000;
    let all = 600;
    for number in 0..all {
        for folder in &folders {
            ran(&log, folder, number * step, number * step + 10);
        }
    }
    let inner = locked(&log.0);
    assert_eq!(inner.runs.len(), MAX);
    for number in 0..all {
        for folder in &folders {
            let at = number * step + 5;
            let covers = |run: &Run| folder.starts_with(&run.folder) && run.covers(at, at, TICK);
            assert!(inner.runs.iter().any(covers), "{number}");
        }
    }
}
