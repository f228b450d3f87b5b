//! The writer beside people who write, too, and killed at every edge.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use chrono::TimeDelta;
use rustix::io::Errno;

use super::*;
use crate::todo::{Entry, List, Todos};
use selkie_domain::clock::{Clock as _, ManualClock, SystemClock};
use selkie_domain::provenance::Provenance;

fn now() -> DateTime<Utc> {
    "2026-03-06T07:08:00Z".parse().unwrap()
}

fn entry(content: &str) -> Entry {
    Entry { created: Some(now().naive_utc()), content: content.to_owned(), ..Entry::default() }
}

fn add(content: &str) -> Vec<Edit> {
    vec![Edit::Todos { list: List::Open, take: Vec::new(), put: vec![entry(content)] }]
}

/// As an item is completed: into the one file, out of the other.
fn complete(content: &str) -> Vec<Edit> {
    let entry = entry(content);
    let ticked = entry.ticked(now().naive_utc());
    vec![
        Edit::Todos { list: List::Done, take: Vec::new(), put: vec![ticked] },
        Edit::Todos { list: List::Open, take: vec![entry], put: Vec::new() },
    ]
}

struct Home(tempfile::TempDir);

impl Home {
    /// One whose lists selkie has met.
    fn new() -> Self {
        let home = Self::unmet();
        home.files().meet_lists().unwrap();
        home
    }

    fn unmet() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Waiting takes no time there: the clock goes on instead.
    fn files(&self) -> Files {
        self.waiting(|_| Ok(()))
    }

    fn waiting(
        &self,
        waits: impl Fn(&ManualClock) -> io::Result<()> + Send + Sync + 'static,
    ) -> Files {
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let mut files = Files::new(self.0.path().to_owned(), clock.clone());
        files.time.pause = Box::new(move |pause| {
            clock.advance(TimeDelta::from_std(pause).unwrap());
            waits(&clock).unwrap();
        });
        files
    }

    fn with(&self, edges: impl Fn(Edge) -> io::Result<()> + Send + Sync + 'static) -> Files {
        Files { edges: Some(Box::new(edges)), ..self.files() }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn contents(&self, list: List) -> Vec<String> {
        let text = fs::read_to_string(self.path(list.file())).unwrap_or_default();
        Todos::read(list, &text).counted().map(|entry| entry.content.clone()).collect()
    }

    fn kept(&self) -> Vec<String> {
        let keep = Keep::of(self.0.path(), List::Open.file());
        let kept = keep.kept().unwrap_or_default();
        kept.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    /// Nothing but versions and the lock is left.
    fn is_tidy(&self) -> bool {
        let left =
            |path: &Path| path.ends_with("next") || path.ends_with("part") || path.ends_with("old");
        let folders = fs::read_dir(self.path("kept")).unwrap().flatten();
        let inside = folders.flat_map(|f| fs::read_dir(f.path()).into_iter().flatten().flatten());
        inside.map(|f| f.path()).all(|path| !left(&path)) && !Journal::is_there(self.0.path())
    }
}

fn edit(files: &Files, edits: &[Edit]) -> Result<FileResult, FileError> {
    files.edit(edits, Taint::Clean, now())
}

#[test]
fn a_change_keeps_what_was_there_and_its_mode() {
    let home = Home::new();
    let files = home.files();
    assert_eq!(edit(&files, &add("one")).unwrap(), FileResult { put: 1, ..FileResult::default() });
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path("TODO.md")), 0o600);
    fs::set_permissions(home.path("TODO.md"), fs::Permissions::from_mode(0o640)).unwrap();
    assert!(home.kept().is_empty(), "there was nothing before");
    for n in 0..MAX_KEPT + 3 {
        edit(&files, &add(&format!("item {n}"))).unwrap();
    }
    assert_eq!(
        edit(&files, &add("one")).unwrap(),
        FileResult::default(),
        "made twice it is made once"
    );
    assert_eq!(mode(&home.path("TODO.md")), 0o640);
    assert_eq!(home.contents(List::Open).len(), MAX_KEPT + 4);
    let kept = home.kept();
    assert_eq!(kept.len(), MAX_KEPT);
    assert!(kept.last().unwrap().contains("item 11") && !kept.last().unwrap().contains("item 12"));
    assert!(home.is_tidy());
}

#[test]
fn the_level_of_a_list_is_that_of_its_items() {
    let home = Home::new();
    let files = home.files();
    let level = |list: List| files.read(list.file()).unwrap().level;
    files.edit(&add("of others"), Taint::Derived, now()).unwrap();
    edit(&files, &add("own")).unwrap();
    assert_eq!(level(List::Open), Taint::Derived);
    edit(&files, &complete("of others")).unwrap();
    assert_eq!((level(List::Open), level(List::Done)), (Taint::Clean, Taint::Derived));
    let own = files.listed(List::Open).unwrap();
    assert_eq!(own.level("own"), Taint::Clean);
    assert_eq!(own.level("what nobody said"), Taint::Raw);
    let contacts =
        vec![Edit::Whole { file: "contacts/ACTIVE.md".to_owned(), text: "# x\n".to_owned() }];
    files.edit(&contacts, Taint::Derived, now()).unwrap();
    assert_eq!(files.read("contacts/ACTIVE.md").unwrap().level, Taint::Derived);
}

#[test]
fn a_tool_that_writes_a_whole_file_is_noted_for_what_it_changes() {
    let home = Home::new();
    let files = home.files();
    let whole =
        |text: &str| vec![Edit::Whole { file: "TODO.md".to_owned(), text: text.to_owned() }];
    fs::write(home.path("TODO.md"), "- [ ] mine\n").unwrap();
    let theirs = Entry { chat: Some("a:1".to_owned()), ..entry("theirs") };
    let put = vec![Edit::Todos { list: List::Open, take: Vec::new(), put: vec![theirs] }];
    edit(&files, &put).unwrap();
    files
        .edit(
            &whole("- [ ] mine\n- [ ] [ChatID](a:1) | theirs\n- [ ] new\nprose\n"),
            Taint::Derived,
            now(),
        )
        .unwrap();
    let level = |content: &str| files.listed(List::Open).unwrap().level(content);
    assert_eq!([level("mine"), level("new")], [Taint::Clean, Taint::Derived]);
    let of = |text: &str| files.level_of_list(List::Open, text.as_bytes(), Some("a:1"));
    assert_eq!(of("- [ ] mine\n- [ ] [ChatID](a:1) | theirs\n"), Taint::Clean);
    assert_eq!(of("- [ ] [ChatID](a:2) | theirs\n"), Taint::Raw);
    assert_eq!(of("prose\n"), Taint::Derived, "what is no item counts in the file");
    edit(&files, &whole("- [ ] mine\n- [ ] clean words\n- [ ] new\n")).unwrap();
    assert_eq!([level("clean words"), level("new")], [Taint::Clean, Taint::Derived]);
}

#[test]
fn what_an_editor_cuts_out_and_puts_back_later_is_whose_it_was() {
    let home = Home::new();
    let files = home.files();
    files.edit(&add("okapi of others"), Taint::Derived, now()).unwrap();
    let cut = fs::read_to_string(home.path("TODO.md")).unwrap();
    fs::write(home.path("TODO.md"), "- [ ] own\n").unwrap();
    for n in 0..MAX_KEPT + 2 {
        edit(&files, &add(&format!("item {n}"))).unwrap();
    }
    fs::write(home.path("TODO.md"), cut).unwrap();
    let level = |content: &str| files.listed(List::Open).unwrap().level(content);
    assert_eq!(level("okapi of others"), Taint::Derived);
    fs::write(home.path("TODO.md"), "- [ ] okapi of others\n- [ ] mine\n").unwrap();
    assert_eq!([level("okapi of others"), level("mine")], [Taint::Derived, Taint::Clean]);
}

#[test]
fn what_cannot_be_read_makes_everything_nobodys() {
    let home = Home::new();
    let files = home.files();
    fs::write(home.path("TODO.md"), "- [ ] mine\n").unwrap();
    fs::write(home.path("TODO.DONE.md"), "- [x] done\n").unwrap();
    files.edit(&add("of others"), Taint::Derived, now()).unwrap();
    fs::write(home.path("kept/TODO.md/said"), "{").unwrap();
    let level = |list, content: &str| files.listed(list).unwrap().level(content);
    assert_eq!(level(List::Open, "mine"), Taint::Raw);
    edit(&files, &add("after it")).unwrap();
    assert_eq!([level(List::Open, "mine"), level(List::Done, "done")], [Taint::Raw, Taint::Raw]);
    assert_eq!(level(List::Open, "after it"), Taint::Clean);
}

/// By a hand, or by a disk.
#[test]
fn what_is_gone_or_emptied_makes_everything_nobodys_until_somebody_says_whose_it_is() {
    for emptied in
        [None, Some(r#"{"lists":[],"marks":[]}"#), Some(r#"{"lists":["open","done"],"marks":[]}"#)]
    {
        let home = Home::new();
        let files = home.files();
        files.edit(&add("okapi of others"), Taint::Derived, now()).unwrap();
        let level = |content: &str| files.listed(List::Open).unwrap().level(content);
        assert!(!files.has_lost_whose().unwrap());
        fs::write(
            home.path("TODO.md"),
            "- [ ] okapi of others\n- [ ] sail to Rona\n- [ ] [ChatID](a:1) | feed the crew\n",
        )
        .unwrap();
        match emptied {
            None => fs::remove_file(home.path("kept/TODO.md/said")).unwrap(),
            Some(text) => fs::write(home.path("kept/TODO.md/said"), text).unwrap(),
        }
        assert!(files.has_lost_whose().unwrap());
        assert_eq!([level("okapi of others"), level("sail to Rona")], [Taint::Raw; 2]);
        assert!(files.has_lost_whose().unwrap(), "until somebody has looked");
        let doubtful = files.doubtful_todos().unwrap();
        assert!(doubtful.iter().all(|one| !one.is_noted), "nobody knows: {doubtful:?}");
        let own: Vec<_> = doubtful.iter().filter(|one| one.chat.is_none()).cloned().collect();
        assert_eq!(files.trust_todos(&own).unwrap(), 2);
        assert!(!files.has_lost_whose().unwrap());
        assert_eq!([level("okapi of others"), level("sail to Rona")], [Taint::Clean; 2]);
        let of_chat = || files.listed(List::Open).unwrap().level("feed the crew");
        assert_eq!(of_chat(), Taint::Raw, "nobody knows out of whose words");
        let crew = files.doubtful_todos().unwrap();
        assert!(crew.len() == 1 && crew[0].chat.as_deref() == Some("a:1") && !crew[0].is_noted);
        assert_eq!(files.trust_todos(&crew).unwrap(), 1);
        assert_eq!(of_chat(), Taint::Clean);
        assert!(files.doubtful_todos().unwrap().is_empty());
    }
}

/// A backup of the folder alone, from before.
#[test]
fn notes_of_before_make_everything_nobodys() {
    let home = Home::new();
    let files = home.files();
    edit(&files, &add("mine")).unwrap();
    let before = fs::read(home.path("kept/TODO.md/said")).unwrap();
    files.edit(&add("okapi of others"), Taint::Derived, now()).unwrap();
    fs::write(home.path("kept/TODO.md/said"), before).unwrap();
    assert!(files.has_lost_whose().unwrap());
    let level = |content: &str| files.listed(List::Open).unwrap().level(content);
    assert_eq!(level("okapi of others"), Taint::Raw);
    fs::remove_dir_all(home.path("kept")).unwrap();
    assert!(files.has_lost_whose().unwrap());
    assert_eq!(level("okapi of others"), Taint::Raw);
}

/// A list that was carried into a new folder, or written before selkie came there.
#[test]
fn what_stands_there_before_the_first_look_is_nobodys_until_somebody_says_so() {
    for (list, mark) in [(List::Open, "- [ ]"), (List::Done, "- [x]")] {
        let home = Home::unmet();
        let files = home.files();
        let file = list.file();
        fs::write(home.path(file), format!("{mark} sail to Rona\n")).unwrap();
        let level = |content: &str| files.listed(list).unwrap().level(content);
        assert_eq!(level("sail to Rona"), Taint::Raw);
        assert!(files.has_lost_whose().unwrap(), "until somebody has looked");
        let more = format!("{mark} sail to Rona\n{mark} mend the net\n");
        fs::write(home.path(file), more).unwrap();
        assert_eq!(level("mend the net"), Taint::Clean, "written since");
        let doubtful = files.doubtful_todos().unwrap();
        assert!(doubtful.len() == 1 && !doubtful[0].is_noted, "{doubtful:?}");
        assert_eq!(files.trust_todos(&doubtful).unwrap(), 1);
        assert!(!files.has_lost_whose().unwrap());
        assert_eq!([level("sail to Rona"), level("mend the net")], [Taint::Clean; 2]);
    }
}

#[test]
fn what_is_written_into_empty_lists_after_the_first_look_is_own() {
    let frame = "---\ncreated_at: \"2026-03-06T07:08:00Z\"\nupdated_at: \"2026-03-06T07:08:00Z\"\nopen_count: 0\n---\n# TODO Work In Progress (WIP)\n";
    for before in [None, Some(""), Some(frame)] {
        let home = Home::unmet();
        let files = home.files();
        before.into_iter().for_each(|text| fs::write(home.path("TODO.md"), text).unwrap());
        files.meet_lists().unwrap();
        fs::write(home.path("TODO.md"), format!("{frame}\n- [ ] sail to Rona\n")).unwrap();
        let level = files.listed(List::Open).unwrap().level("sail to Rona");
        assert_eq!(level, Taint::Clean, "{before:?}");
        assert!(!files.has_lost_whose().unwrap());
    }
}

/// A list of another program names chats: nobody knows out of whose words its items were written, until the owner says so. What
/// a task wrote there out of others' words stays theirs, and is taken by name alone.
#[test]
fn a_list_that_came_with_chats_is_taken_when_somebody_says_so() {
    let home = Home::unmet();
    let files = home.files();
    let item = |what: &str| format!("- [ ] [Created](2027-01-15 08:00), [ChatID](a:1) | {what}\n");
    fs::write(home.path("TODO.md"), item("feed the crew") + &item("mend the mainsail")).unwrap();
    let theirs = Entry { chat: Some("a:1".to_owned()), ..entry("wire the savings to okapi") };
    let put = vec![Edit::Todos { list: List::Open, take: Vec::new(), put: vec![theirs] }];
    files.edit(&put, Taint::Raw, now()).unwrap();
    let level = |content: &str| files.listed(List::Open).unwrap().level(content);
    assert_eq!([level("feed the crew"), level("mend the mainsail")], [Taint::Raw; 2]);
    let doubtful = files.doubtful_todos().unwrap();
    let found = |noted: bool| -> Vec<&str> {
        doubtful.iter().filter(|one| one.is_noted == noted).map(|one| &one.text[..]).collect()
    };
    assert_eq!(found(true), ["wire the savings to okapi"], "by name alone");
    assert_eq!(found(false), ["feed the crew", "mend the mainsail"]);
    let crew: Vec<_> = doubtful.iter().filter(|one| one.text == "feed the crew").cloned().collect();
    assert_eq!(files.trust_todos(&crew).unwrap(), 1);
    assert_eq!(level("feed the crew"), Taint::Clean);
    assert_eq!([level("mend the mainsail"), level("wire the savings to okapi")], [Taint::Raw; 2]);
    // Taken out, and written anew by a task that holds others' words, it is theirs.
    let stands = fs::read_to_string(home.path("TODO.md")).unwrap();
    let without = stands.lines().filter(|line| !line.contains("mainsail"));
    fs::write(home.path("TODO.md"), without.map(|line| format!("{line}\n")).collect::<String>())
        .unwrap();
    let again = Entry { chat: Some("a:1".to_owned()), ..entry("mend the mainsail") };
    let put = vec![Edit::Todos { list: List::Open, take: Vec::new(), put: vec![again] }];
    files.edit(&put, Taint::Raw, now()).unwrap();
    let now_noted = files.doubtful_todos().unwrap();
    assert!(now_noted.iter().all(|one| one.is_noted), "{now_noted:?}");
}

#[test]
fn what_a_task_wrote_is_whose_it_is_in_every_copy_and_what_an_editor_changes_is_the_editors() {
    let home = Home::new();
    let files = home.files();
    let of = |chat: &str, words: &str| {
        let entry = Entry { chat: Some(chat.to_owned()), ..entry(words) };
        vec![Edit::Todos { list: List::Open, take: Vec::new(), put: vec![entry] }]
    };
    edit(&files, &of("a:1", "water the plants")).unwrap();
    edit(&files, &of("a:1", "buy milk and bread")).unwrap();
    edit(&files, &add("buy milk and bread")).unwrap();
    files.edit(&add("obey okapi"), Taint::Derived, now()).unwrap();
    let level = |line: &str| {
        let stands = fs::read_to_string(home.path("TODO.md")).unwrap();
        fs::write(home.path("TODO.md"), format!("{stands}- [ ] {line}\n")).unwrap();
        let (_, content) = line.rsplit_once(" | ").unwrap_or(("", line));
        files.listed(List::Open).unwrap().level(content)
    };
    assert_eq!(level("[Created](2027-01-15 08:00) | obey  okapi"), Taint::Derived);
    assert_eq!(level("2099-01-15 08:00 obey okapi"), Taint::Derived, "at another time");
    assert_eq!(level("obey okapis"), Taint::Clean);
    assert_eq!(level("water the plants"), Taint::Raw, "a copy of a chat's, whose it is no more");
    assert_eq!(level("water the plant"), Taint::Clean);
    assert_eq!(level("[ChatID](a:2) | water the plants"), Taint::Raw, "another chat's");
    assert_eq!(level("buy milk and bread"), Taint::Clean, "the owner's task has said it, too");
    fs::write(home.path("TODO.md"), "").unwrap();
    let done = entry("obey okapi").ticked(now().naive_utc());
    fs::write(home.path("TODO.DONE.md"), format!("{done}\n")).unwrap();
    assert_eq!(level("obey okapi"), Taint::Derived, "taken back from what is done");
}

/// No sandbox keeps it off the lists: it may have put anything there.
#[test]
fn what_is_changed_while_a_command_runs_is_nobodys_until_somebody_says_so() {
    let home = Home::new();
    let log = Arc::<CommandLog>::default();
    let files = home.files().beside(&log);
    let level = |content: &str| files.listed(List::Open).unwrap().level(content);
    let write = |items: [&str; 2]| {
        let items = items.map(|item| format!("- [ ] {item}\n")).concat();
        fs::write(home.path("TODO.md"), items).unwrap();
    };
    edit(&files, &add("a task's own")).unwrap();
    let clock: SharedClock = Arc::new(SystemClock);
    let inside = [home.path("kept"), PathBuf::from("/elsewhere")];
    let held: Vec<&Path> = inside.iter().map(PathBuf::as_path).collect();
    let held = log.starts(&held, Provenance::RAW, &clock).unwrap();
    write(["a task's own", "by hand"]);
    assert_eq!(level("by hand"), Taint::Clean, "the sandbox keeps it off");
    drop(held);
    let free = log.starts(&[Path::new("/")], Provenance::CLEAN, &clock).unwrap();
    assert!(free.is_some());
    write(["a task's own", "by whomever"]);
    assert_eq!([level("a task's own"), level("by whomever")], [Taint::Clean, Taint::Raw]);
    edit(&files, &add("on top of it")).unwrap();
    drop(free);
    assert_eq!([level("on top of it"), level("by whomever")], [Taint::Clean, Taint::Raw]);
    let doubtful = files.doubtful_todos().unwrap();
    assert!(doubtful.len() == 1 && !doubtful[0].is_noted, "{doubtful:?}");
    assert!(!files.has_lost_whose().unwrap());
    assert_eq!(files.trust_todos(&doubtful).unwrap(), 1);
    assert_eq!(level("by whomever"), Taint::Clean);
}

#[test]
fn what_somebody_writes_in_between_stays_and_ours_comes_on_top() {
    for edge in [Edge::Read, Edge::Staged, Edge::Noted] {
        for by_rename in [false, true] {
            let home = Home::new();
            edit(&home.files(), &add("old")).unwrap();
            let path = home.path("TODO.md");
            let files = home.with(move |at| {
                if at == edge && !fs::read_to_string(&path)?.contains("by hand") {
                    let text = fs::read_to_string(&path)? + "- [ ] by hand\n";
                    if by_rename {
                        let new = path.with_extension("mine");
                        fs::write(&new, text)?;
                        fs::rename(new, &path)?;
                    } else {
                        fs::write(&path, text)?;
                    }
                }
                Ok(())
            });
            edit(&files, &add("ours")).unwrap();
            assert_eq!(
                home.contents(List::Open),
                ["ours", "old", "by hand"],
                "{edge:?} {by_rename}"
            );
            assert!(home.kept().last().unwrap().contains("by hand") && home.is_tidy());
        }
    }
}

#[test]
fn a_file_that_comes_or_goes_in_between_is_found() {
    let home = Home::new();
    let path = home.path("TODO.md");
    let once = AtomicUsize::new(0);
    let files = home.with(move |at| {
        match (at, once.fetch_add(usize::from(at == Edge::Noted), Ordering::Relaxed)) {
            (Edge::Noted, 0) => fs::write(&path, "- [ ] by hand\n"),
            (Edge::Noted, 1) => fs::remove_file(&path),
            _ => Ok(()),
        }
    });
    edit(&files, &add("one")).unwrap();
    assert_eq!(home.contents(List::Open), ["one", "by hand"]);
    edit(&files, &add("two")).unwrap();
    assert_eq!(home.contents(List::Open), ["two"], "somebody has thrown it away");
    assert!(home.is_tidy());
}

#[test]
fn what_becomes_unreadable_in_between_is_put_back() {
    let home = Home::new();
    edit(&home.files(), &add("one")).unwrap();
    let path = home.path("TODO.md");
    let files = home
        .with(move |at| if at == Edge::Noted { fs::write(&path, b"\xff\xfeb") } else { Ok(()) });
    let why = edit(&files, &add("two")).unwrap_err().to_string();
    assert_eq!(why, "TODO.md cannot be read: it is no UTF-8 from byte 0 on: save it as UTF-8");
    assert_eq!(fs::read(home.path("TODO.md")).unwrap(), b"\xff\xfeb");
    fs::write(home.path("TODO.md"), "\n").unwrap();
    edit(&home.files(), &add("three")).unwrap();
    assert_eq!(home.contents(List::Open), ["three"], "what was refused is not done later");
    assert!(home.is_tidy());
}

const BY_HAND: &str = "- [ ] old\n- [ ] by hand\n";

/// As an editor that saves in place: empty, and its words later.
fn emptied(path: &Path) -> io::Result<fs::File> {
    fs::File::options().write(true).truncate(true).open(path)
}

#[test]
fn an_editor_that_empties_the_file_first_is_waited_for() {
    for half in [0, 4, 14] {
        let home = Home::new();
        edit(&home.files(), &add("old")).unwrap();
        let mut editor = emptied(&home.path("TODO.md")).unwrap();
        editor.write_all(&BY_HAND.as_bytes()[..half]).unwrap();
        let waits = AtomicUsize::new(0);
        let files = home.waiting(move |_| match waits.fetch_add(1, Ordering::Relaxed) {
            3 => (&editor).write_all(&BY_HAND.as_bytes()[half..]),
            _ => Ok(()),
        });
        edit(&files, &add("ours")).unwrap();
        assert_eq!(home.contents(List::Open), ["ours", "old", "by hand"], "{half}");
        assert!(home.is_tidy());
    }
}

#[test]
fn an_editor_that_comes_in_between_gets_its_file_back() {
    let home = Home::new();
    edit(&home.files(), &add("old")).unwrap();
    let open = Arc::new(Mutex::new(None));
    let (path, opened) = (home.path("TODO.md"), Arc::clone(&open));
    let files = home.waiting(move |_| match locked(&open).take() {
        Some(mut editor) => fs::File::write_all(&mut editor, BY_HAND.as_bytes()),
        None => Ok(()),
    });
    let edges: Edges = Box::new(move |at| {
        if at == Edge::Noted {
            *locked(&opened) = Some(emptied(&path)?);
        }
        Ok(())
    });
    edit(&Files { edges: Some(edges), ..files }, &add("ours")).unwrap();
    assert_eq!(home.contents(List::Open), ["ours", "old", "by hand"]);
    assert!(home.is_tidy());
}

#[test]
fn what_stays_empty_or_never_rests_is_refused_and_nothing_changes() {
    let home = Home::new();
    edit(&home.files(), &add("old")).unwrap();
    let editor = emptied(&home.path("TODO.md")).unwrap();
    assert_eq!(
        edit(&home.files(), &add("ours")).unwrap_err().to_string(),
        "TODO.md is empty where it had entries a moment ago: if that is meant, try again in a few seconds; nothing was changed"
    );
    assert_eq!(fs::read(home.path("TODO.md")).unwrap(), b"");
    let files = home.waiting(move |clock| {
        (&editor).write_all(b"- [ ] on and on\n")?;
        editor.set_modified(clock.now().into())
    });
    assert_eq!(
        edit(&files, &add("ours")).unwrap_err().to_string(),
        "TODO.md is being written by somebody: nothing was changed, try again in a moment"
    );
    let all = home.contents(List::Open);
    assert!(all.len() > 50 && !all.contains(&"ours".to_owned()) && home.is_tidy(), "{all:?}");
}

#[test]
fn a_disk_that_takes_no_more_is_told_with_what_to_do() {
    for errno in [Errno::FBIG, Errno::NOSPC, Errno::DQUOT] {
        let says = error::written("TODO.md", errno.into()).to_string();
        let advice = ": the disk takes no more: free space or raise the limit, then try again";
        assert!(
            says.starts_with("TODO.md cannot be written: ") && says.ends_with(advice),
            "{says}"
        );
    }
    let says = error::written("TODO.md", Errno::ACCESS.into()).to_string();
    assert!(!says.contains("the disk"), "{says}");
}

#[test]
fn what_is_emptied_for_good_is_taken() {
    let home = Home::new();
    edit(&home.files(), &add("old")).unwrap();
    let before = SystemClock.now() - TimeDelta::seconds(11);
    emptied(&home.path("TODO.md")).unwrap().set_modified(before.into()).unwrap();
    edit(&home.files(), &add("ours")).unwrap();
    assert_eq!(home.contents(List::Open), ["ours"]);
}

#[test]
fn what_is_written_into_the_file_that_came_out_counts() {
    let home = Home::new();
    edit(&home.files(), &add("old")).unwrap();
    let editor = fs::File::options().append(true).open(home.path("TODO.md")).unwrap();
    let once = AtomicUsize::new(0);
    let files = home.waiting(|_| Ok(()));
    let edges: Edges = Box::new(move |at| match at {
        Edge::Kept if once.fetch_add(1, Ordering::Relaxed) == 0 => {
            (&editor).write_all(b"- [ ] by hand\n")
        }
        _ => Ok(()),
    });
    edit(&Files { edges: Some(edges), ..files }, &add("ours")).unwrap();
    assert_eq!(home.contents(List::Open), ["ours", "old", "by hand"]);
    assert!(home.is_tidy());
}

#[test]
fn somebody_who_writes_without_end_is_not_fought() {
    let home = Home::new();
    edit(&home.files(), &add("one")).unwrap();
    let (path, count) = (home.path("TODO.md"), AtomicUsize::new(0));
    let files = home.with(move |at| match at {
        Edge::Kept | Edge::Noted => {
            let n = count.fetch_add(1, Ordering::Relaxed);
            fs::write(&path, format!("- [ ] by hand {n}\n"))?;
            // As by a program that sets the times of what it copies.
            fs::File::options().append(true).open(&path)?.set_modified(SystemTime::UNIX_EPOCH)
        }
        _ => Ok(()),
    });
    assert!(matches!(edit(&files, &add("two")), Err(FileError::Busy(_))));
    assert!(home.contents(List::Open)[0].starts_with("by hand"));
}

#[test]
fn killed_at_every_edge_a_change_of_two_files_is_made_once() {
    for kill_at in 0.. {
        let home = Home::new();
        edit(&home.files(), &add("other")).unwrap();
        edit(&home.files(), &add("milk")).unwrap();
        let edges = AtomicUsize::new(0);
        let files = home.with(move |_| match edges.fetch_add(1, Ordering::Relaxed) == kill_at {
            true => Err(io::Error::other("killed")),
            false => Ok(()),
        });
        let was_killed = edit(&files, &complete("milk")).is_err();
        // What the next process finds.
        let next = home.files();
        next.read("TODO.md").unwrap();
        let (open, done) = (home.contents(List::Open), home.contents(List::Done));
        let is_done = open == ["other"] && done == ["milk"];
        let is_not = open == ["milk", "other"] && done.is_empty();
        assert!(is_done || is_not, "edge {kill_at}: {open:?} {done:?}");
        edit(&next, &complete("milk")).unwrap();
        assert_eq!(
            (home.contents(List::Open), home.contents(List::Done)),
            (vec!["other".into()], vec!["milk".into()])
        );
        assert!(home.is_tidy(), "edge {kill_at}");
        if !was_killed {
            assert!(kill_at > 6, "every edge was passed: {kill_at}");
            break;
        }
    }
}

#[test]
fn killed_at_every_edge_nothing_that_somebody_wrote_in_between_is_lost() {
    for kill_at in 0.. {
        let home = Home::new();
        edit(&home.files(), &add("milk")).unwrap();
        let (edges, path) = (AtomicUsize::new(0), home.path("TODO.md"));
        let files = home.with(move |at| {
            if at == Edge::Noted {
                fs::write(&path, fs::read_to_string(&path)? + "- [ ] by hand\n")?;
            }
            match edges.fetch_add(1, Ordering::Relaxed) == kill_at {
                true => Err(io::Error::other("killed")),
                false => Ok(()),
            }
        });
        let was_killed = edit(&files, &add("tea")).is_err();
        home.files().read("TODO.md").unwrap();
        edit(&home.files(), &add("tea")).unwrap();
        let is = home.contents(List::Open);
        let wrote = kill_at >= 2 || !was_killed;
        let wanted: &[&str] = if wrote { &["tea", "milk", "by hand"] } else { &["tea", "milk"] };
        assert_eq!(is, wanted, "edge {kill_at}");
        if !was_killed {
            break;
        }
    }
}

#[test]
fn threads_and_a_person_lose_nothing() {
    let home = Home::new();
    let files = Arc::new(home.files());
    let others = Home(tempfile::tempdir_in(home.0.path()).unwrap());
    drop(others);
    thread::scope(|scope| {
        for n in 0..4 {
            let files = Arc::clone(&files);
            let own = home.files();
            scope.spawn(move || {
                for i in 0..10 {
                    // Half of them as another process would.
                    let files = if n % 2 == 0 { &*files } else { &own };
                    edit(files, &add(&format!("item {n} {i}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(home.contents(List::Open).len(), 40);
    assert!(home.is_tidy());
}

#[test]
fn what_is_no_file_of_its_own_is_left_alone() {
    let home = Home::new();
    fs::write(home.path("mine.md"), "- [ ] mine\n").unwrap();
    std::os::unix::fs::symlink(home.path("mine.md"), home.path("TODO.md")).unwrap();
    let refused = |home: &Home| edit(&home.files(), &add("one")).unwrap_err().to_string();
    assert_eq!(refused(&home), "TODO.md is a link to another file: it is left alone");
    fs::remove_file(home.path("TODO.md")).unwrap();
    fs::hard_link(home.path("mine.md"), home.path("TODO.md")).unwrap();
    assert_eq!(refused(&home), "TODO.md has several names (hard links): it is left alone");
    assert_eq!(fs::read_to_string(home.path("mine.md")).unwrap(), "- [ ] mine\n");
}

/// Runs in a process of its own, where no file grows beyond a kilobyte.
#[test]
#[ignore = "started by the test below, in a folder of its own"]
fn on_a_full_disk() {
    let files = Files::new(PathBuf::from("."), Arc::new(SystemClock));
    let why = edit(&files, &add("one more")).unwrap_err().to_string();
    assert!(why.starts_with("TODO.md cannot be written: "), "{why}");
    // The small file has room: it is not changed without the big one.
    let why = edit(&files, &complete("big")).unwrap_err().to_string();
    assert!(why.starts_with("TODO.md cannot be written: "), "{why}");
}

#[test]
fn a_full_disk_changes_nothing() {
    let home = Home::new();
    let long = format!("- [ ] [Created](2026-03-06 07:08) | big\n- [ ] {}\n", "x".repeat(3000));
    fs::write(home.path("TODO.md"), &long).unwrap();
    let name = "people::files::tests::on_a_full_disk";
    let script =
        "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact \"$1\" --ignored --nocapture >/dev/null";
    let test = std::env::current_exe().unwrap();
    let mut child = Command::new("bash");
    child.args(["-c", script]).arg(test).arg(name).current_dir(home.0.path());
    assert!(child.status().unwrap().success());
    assert_eq!(fs::read_to_string(home.path("TODO.md")).unwrap(), long);
    assert!(!home.path("TODO.DONE.md").exists());
    edit(&home.files(), &complete("big")).unwrap();
    assert_eq!(home.contents(List::Done), ["big"]);
    assert!(home.is_tidy());
}
