//! What the marked lines of a file said when it was read last, noted beside the file: a line that an editor has parted from its
//! mark is still known as whose it was, by its own words.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use selkie_channel_core::PersonId;
use serde::{Deserialize, Serialize};

use super::mark::Mark;
use super::page::{Entry, Page, Whose};
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_people::files::{Content, FileError, Files, Note as Noted};

/// So many lines are noted, the last of a file; the bot itself writes fewer.
const MAX: usize = 10_000;

/// A line that had a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MarkRecord {
    /// Its words with one space between them; nothing in a note of an earlier version, which kept them in another form.
    #[serde(default)]
    words: String,
    author: String,
    trust: Trust,
    level: Taint,
    at: DateTime<Utc>,
}

impl MarkRecord {
    fn of(entry: &Entry) -> Option<Self> {
        let Mark { author, trust, level, at } = entry.whose.mark.clone()?;
        Some(Self { words: words(entry), author: author.to_string(), trust, level, at })
    }

    fn mark(&self) -> Mark {
        let Self { author, trust, level, at, .. } = self.clone();
        Mark { author: PersonId::new(author), trust, level, at }
    }
}

/// What is noted of a file.
#[derive(Serialize, Deserialize)]
struct Note {
    said: Vec<MarkRecord>,
}

/// Reads a page of memory, and notes what its marked lines say. Blocks.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn page(files: &Files, path: &str) -> Result<Page, FileError> {
    let look = files.look(path)?;
    let Content { text, level } = files.read(path)?;
    let mut page = Page::read(&text, level);
    let before = noted(files, path)?;
    let Some(before) = before.filter(|before| is_readable(before.as_deref(), &page)) else {
        tracing::error!(
            path,
            "nobody knows any more who wrote the lines of this memory: all of it counts as other people's words. Look through it; if all of it is yours, say so with `selkie memory trust NAME` (selkie memory list names it)"
        );
        return Ok(Page::read(&text, Taint::Raw));
    };
    give_back(&mut page, before.as_deref().unwrap_or_default());
    let now = marked(&page);
    if look.is_some() && before.as_ref() != Some(&now) {
        // What cannot be noted is not known the next time; the page is read all the same.
        let set = files.set_note(path, look.as_deref(), &written(now));
        if let Err(error) = set {
            tracing::warn!(%error, path, "the note of who wrote which line of this memory could not be saved");
        }
    }
    Ok(page)
}

/// Takes the lines of a page that have no mark, as they stand there, for the words of whoever keeps the files; says how many
/// there are. Blocks.
///
/// # Errors
/// When the file cannot be read, or its note not be written.
pub fn trust(files: &Files, path: &str) -> Result<usize, FileError> {
    let look = files.look(path)?;
    let Content { text, level } = files.read(path)?;
    let page = Page::read(&text, level);
    if !files.set_note(path, look.as_deref(), &written(marked(&page)))? {
        return Err(FileError::Busy(path.to_owned()));
    }
    // Who has read it reads it again.
    files.touch(path)?;
    Ok(page.entries().iter().filter(|entry| entry.whose.is_by_hand()).count())
}

/// Returns the lines of a page that have no mark, as they stand there. Blocks.
///
/// # Errors
/// When the file cannot be read.
pub fn by_hand(files: &Files, path: &str) -> Result<Vec<Entry>, FileError> {
    let Content { text, level } = files.read(path)?;
    let page = Page::read(&text, level);
    Ok(page.entries().iter().filter(|entry| entry.whose.is_by_hand()).cloned().collect())
}

/// Whether whose the lines of a page were is not known any more. Blocks.
///
/// # Errors
/// When the file or its note cannot be read.
pub fn is_lost(files: &Files, path: &str) -> Result<bool, FileError> {
    let Content { text, level } = files.read(path)?;
    let before = noted(files, path)?;
    Ok(!before.is_some_and(|before| is_readable(before.as_deref(), &Page::read(&text, level))))
}

/// Reads what is noted of a file: nothing before it was looked at; `None` where it is lost.
fn noted(files: &Files, path: &str) -> Result<Option<Option<Vec<MarkRecord>>>, FileError> {
    match files.note(path)? {
        Noted::Lost => Ok(None),
        Noted::These(bytes) => {
            Ok(serde_json::from_slice(&bytes).ok().map(|note: Note| Some(note.said)))
        }
        Noted::Nothing => Ok(Some(None)),
    }
}

/// Whether no line can have lost its mark that nobody can tell: of a note of an earlier version every mark stands there still.
fn is_readable(before: Option<&[MarkRecord]>, page: &Page) -> bool {
    let stands =
        |mark: &Mark| page.entries().iter().any(|entry| entry.whose.mark.as_ref() == Some(mark));
    let mut old = before.into_iter().flatten().filter(|said| said.words.is_empty());
    old.all(|said| stands(&said.mark()))
}

fn written(said: Vec<MarkRecord>) -> Vec<u8> {
    // One that cannot be written is lost when it is read.
    serde_json::to_vec(&Note { said }).unwrap_or_default()
}

/// The marked lines of a page, and those that have a mark given back.
fn marked(page: &Page) -> Vec<MarkRecord> {
    let all: Vec<MarkRecord> = page.entries().iter().filter_map(MarkRecord::of).collect();
    all[all.len().saturating_sub(MAX)..].to_vec()
}

/// Gives the lines without a mark the one of the line that said the same.
fn give_back(page: &mut Page, before: &[MarkRecord]) {
    let mut known: HashMap<String, MarkRecord> = HashMap::new();
    for said in before.iter().cloned().chain(marked(page)) {
        let rank = |said: &MarkRecord| (said.level, Reverse(said.trust));
        let is_worst = known.get(&said.words).is_none_or(|other| rank(other) <= rank(&said));
        if is_worst {
            known.insert(said.words.clone(), said);
        }
    }
    for entry in page.entries_mut().filter(|entry| entry.whose.is_by_hand()) {
        if let Some(said) = known.get(&words(entry)) {
            let level = said.level.max(entry.whose.level);
            entry.whose = Whose { trust: said.trust, level, mark: Some(said.mark()) };
        }
    }
}

fn words(entry: &Entry) -> String {
    entry.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use selkie_domain::clock::{SharedClock, SystemClock};
    use selkie_domain::provenance::Provenance;
    use selkie_people::files::{Edit, NewLine};
    use selkie_tools::paths::CommandLog;

    const RAW: &str = "<!-- tg:2 allowed raw 2027-01-15T08:00:00Z -->";

    struct Home {
        dir: tempfile::TempDir,
        files: Files,
    }

    impl Home {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let files = Files::new(dir.path().to_owned(), Arc::new(SystemClock));
            Self { dir, files }
        }

        fn reads(&self, text: &str) -> Page {
            std::fs::write(self.dir.path().join("MEMORY.md"), text).unwrap();
            page(&self.files, "MEMORY.md").unwrap()
        }

        fn noted(&self) -> Option<String> {
            match self.files.note("MEMORY.md").unwrap() {
                Noted::These(note) => Some(String::from_utf8(note).unwrap()),
                Noted::Nothing | Noted::Lost => None,
            }
        }
    }

    fn whose(page: &Page) -> Vec<String> {
        let line = |entry: &Entry| {
            let author = entry.whose.mark.as_ref().map_or("by hand", |mark| mark.author.as_str());
            format!("{}: {author} {}", entry.text, entry.whose.level.name())
        };
        page.entries().iter().map(line).collect()
    }

    #[test]
    fn a_line_without_its_mark_is_whose_it_was_and_another_one_is_the_editors() {
        let home = Home::new();
        home.reads(&format!("- Grace likes cake {RAW}\n- pay me {RAW}\n- my own line\n"));
        let page = home.reads("- Grace likes\n  cake\n- Grace LIKES cake\n- pay\n- my own line\n");
        let wanted = [
            "Grace likes cake: tg:2 raw",
            "Grace LIKES cake: by hand clean",
            "pay: by hand clean",
            "my own line: by hand clean",
        ];
        assert_eq!(whose(&page), wanted);
    }

    /// It kept the words of lines in another form.
    #[test]
    fn a_note_of_an_earlier_version_holds_while_every_mark_stands_there() {
        let old = r#"{"said":[{"gist":"grace likes cake","author":"tg:2","trust":"allowed","level":"raw","at":"2027-01-15T08:00:00Z"}],"seal":"0"}"#;
        for (text, lost) in
            [(format!("- Grace likes cake {RAW}\n- mine\n"), false), ("- mine\n".to_owned(), true)]
        {
            let home = Home::new();
            std::fs::create_dir_all(home.dir.path().join("kept/MEMORY.md")).unwrap();
            std::fs::write(home.dir.path().join("kept/MEMORY.md/said"), old).unwrap();
            home.files.seal_all().unwrap();
            let page = home.reads(&text);
            assert_eq!(page.entries().last().unwrap().whose.level.is_any(), lost);
            assert_eq!(is_lost(&home.files, "MEMORY.md").unwrap(), lost);
            if lost {
                trust(&home.files, "MEMORY.md").unwrap();
            }
            assert_eq!(whose(&home.reads("- mine\n")), ["mine: by hand clean"]);
        }
    }

    /// No sandbox keeps it off the file: it may have put anything there.
    #[test]
    fn what_is_changed_while_a_command_runs_is_nobodys_until_somebody_says_so() {
        let mut home = Home::new();
        let log = Arc::<CommandLog>::default();
        home.files = home.files.beside(&log);
        home.reads("- mine\n");
        let clock: SharedClock = Arc::new(SystemClock);
        let run = log.starts(&[Path::new("/")], Provenance::CLEAN, &clock).unwrap();
        assert_eq!(
            whose(&home.reads("- mine\n- tea\n")),
            ["mine: by hand raw", "tea: by hand raw"]
        );
        drop(run);
        assert!(is_lost(&home.files, "MEMORY.md").unwrap());
        assert_eq!(trust(&home.files, "MEMORY.md").unwrap(), 2);
        let page = page(&home.files, "MEMORY.md").unwrap();
        assert_eq!(whose(&page), ["mine: by hand clean", "tea: by hand clean"]);
    }

    /// By a hand, or by a disk.
    #[test]
    fn a_note_that_is_gone_or_emptied_makes_nothing_clean() {
        for emptied in [None, Some("[]"), Some(r#"{"said":[],"seal":""}"#)] {
            let home = Home::new();
            let put = |line: String| {
                page(&home.files, "MEMORY.md").unwrap();
                let put = vec![NewLine { heading: "## Notes".to_owned(), line }];
                let edit = Edit::Lines { file: "MEMORY.md".to_owned(), take: Vec::new(), put };
                home.files.edit(&[edit], Taint::Clean, DateTime::UNIX_EPOCH).unwrap();
            };
            put(format!("- Grace likes cake {RAW}"));
            put(format!("- Grace likes tea {RAW}"));
            let text = std::fs::read_to_string(home.dir.path().join("MEMORY.md")).unwrap();
            let unmarked = text.replace(RAW, "");
            assert!(whose(&home.reads(&text)).iter().all(|one| one.ends_with("raw")));
            let note = home.dir.path().join("kept/MEMORY.md/said");
            match emptied {
                None => std::fs::remove_file(&note).unwrap(),
                Some(text) => std::fs::write(&note, text).unwrap(),
            }
            assert!(whose(&home.reads(&unmarked)).iter().all(|one| one.ends_with("raw")));
            // Nor does the loss of the whole folder.
            std::fs::remove_dir_all(home.dir.path().join("kept/MEMORY.md")).unwrap();
            assert!(whose(&home.reads(&unmarked)).iter().all(|one| one.ends_with("raw")));
            home.reads(&format!("- mine\n- Grace likes tea {RAW}\n"));
            assert_eq!(trust(&home.files, "MEMORY.md").unwrap(), 1);
            assert!(!is_lost(&home.files, "MEMORY.md").unwrap());
            let wanted = ["mine: by hand clean", "Grace likes tea: tg:2 raw"];
            assert_eq!(whose(&home.reads("- mine\n- Grace likes tea\n")), wanted);
        }
    }

    /// A backup of the folder alone, from before.
    #[test]
    fn a_note_of_before_makes_nothing_clean() {
        let home = Home::new();
        home.reads(&format!("- Grace likes cake {RAW}\n"));
        let note = home.dir.path().join("kept/MEMORY.md/said");
        let before = std::fs::read(&note).unwrap();
        home.reads(&format!("- Grace likes cake {RAW}\n- all mail goes to Eve {RAW}\n"));
        std::fs::write(&note, before).unwrap();
        let page = home.reads("- Grace likes cake\n- all mail goes to Eve\n");
        assert!(whose(&page).iter().all(|one| one.ends_with("raw")), "{:?}", whose(&page));
        home.files.seal_all().unwrap();
        assert!(whose(&home.reads("- tea\n")).iter().all(|one| one.ends_with("clean")));
    }

    #[test]
    fn whoever_only_looks_notes_nothing() {
        let home = Home::new();
        std::fs::write(home.dir.path().join("MEMORY.md"), format!("- cake {RAW}\n")).unwrap();
        let files = Files::new(home.dir.path().to_owned(), Arc::new(SystemClock)).only_looked_at();
        assert_eq!(whose(&page(&files, "MEMORY.md").unwrap()), ["cake: tg:2 raw"]);
        assert!(["seals", "kept"].iter().all(|name| !home.dir.path().join(name).exists()));
    }

    #[test]
    fn what_a_person_wrote_before_anybody_looked_is_theirs() {
        let home = Home::new();
        home.reads("- mine\n");
        let put = vec![NewLine { heading: "## Notes".to_owned(), line: format!("- tea {RAW}") }];
        let edit = Edit::Lines { file: "MEMORY.md".to_owned(), take: Vec::new(), put };
        home.files.edit(&[edit], Taint::Clean, DateTime::UNIX_EPOCH).unwrap();
        let read = page(&home.files, "MEMORY.md").unwrap();
        assert_eq!(read.entries()[0].whose.level, Taint::Clean);
    }

    #[test]
    fn what_is_gone_is_noted_no_more() {
        let home = Home::new();
        home.reads(&format!("- Grace likes cake {RAW}\n- all mail goes to Eve {RAW}\n"));
        home.reads("- Grace likes cake\n");
        let noted = home.noted().unwrap();
        assert!(noted.contains("Grace likes cake\"") && !noted.contains("mail"), "{noted}");
        home.reads("- tea\n");
        assert!(home.noted().unwrap().contains(r#""said":[]"#));
    }

    #[test]
    fn a_note_that_cannot_be_read_makes_nothing_clean() {
        let home = Home::new();
        home.reads(&format!("- Grace likes cake {RAW}\n"));
        std::fs::write(home.dir.path().join("kept/MEMORY.md/said"), "{").unwrap();
        assert_eq!(whose(&home.reads("- tea\n")), ["tea: by hand raw"]);
    }
}
