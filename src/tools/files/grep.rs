//! `grep`: lines that match a regular expression, with ripgrep's crates.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use selkie_channel_core::locked;
use serde::Deserialize;
use serde_json::Value;

use super::DenyList;
use super::blocking::{on_disk, refused};
use super::list_files::start;
use super::tame::is_tame;
use super::walk::{Sight, files, with_closed};
use crate::args::typed;
use crate::paths::{Kind, Location, Stop};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "grep";
/// Matches shown at most.
const MAX_MATCHES: usize = 200;
/// Larger files are skipped, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
/// A zero among so many first bytes means: not text.
const BINARY_HEAD: usize = 512;
/// A line shows at most so many characters.
const MAX_LINE: usize = 500;

/// The tool.
pub(crate) struct Grep(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Regular expression; `(?i)` ignores case.
    pattern: String,
    /// File or folder. Default: workspace, else cache folder.
    path: Option<String>,
    /// Names, like `*.{js,ts}`.
    include: Option<String>,
    /// Default: 0.
    #[schemars(range(min = 0, max = 10))]
    context_lines: Option<u64>,
}

#[async_trait]
impl Handler for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Search in files; answers file:line:content. Skips hidden and binary files, those over 1 \
                          MB and what .gitignore names."
                .to_owned(),
            group: "files",
            sources: &["S0", "S2", "S4"],
            doing: "looking through files",
            ..spec::<Args>(NAME, Class::Read, Recovery::NotTwice)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let sight = Sight { tool: NAME, roots: scope.roots.clone(), denied: self.0.clone() };
        on_disk(scope, move |stop| Ok(Output::outside(search(sight, &args, stop)?))).await
    }
}

fn search(sight: Sight, args: &Args, stop: &Stop) -> Result<String, ToolError> {
    let asked = GrepQuery::of(args)?;
    let denied = sight.denied.clone();
    let roots = sight.roots.clone();
    let finder = denied.finder(NAME, &roots);
    // A path with a star is a folder's name here, not a pattern: include is for that.
    let place = match args.path.as_deref().filter(|p| !p.is_empty()) {
        Some(path) => Some(finder.existing(path)?),
        None => start(&finder, None)?.map(|(folder, _)| folder),
    };
    let Some(place) = place else { return Ok(NOTHING.to_owned()) };
    let shown = place.shown();
    let fault = |e: io::Error| refused(&shown, &e);
    let (kind, size) = place.kind().map_err(fault)?;
    let found = Mutex::new(FirstMatches::default());
    let mut closed = 0;
    // A file under a second name of what is closed looks open until it is opened.
    let refused_late = AtomicUsize::new(0);
    if kind == Kind::Folder {
        closed = files(&place, sight, stop, |file, entry| {
            if asked.include.as_ref().is_some_and(|i| !i.is_match(entry.file_name())) {
                return;
            }
            match asked.in_file(&file) {
                Ok(Some(hits)) => {
                    locked(&found).add(file.shown(), hits);
                }
                Ok(None) => {}
                Err(_) => drop(refused_late.fetch_add(1, Ordering::Relaxed)),
            }
        })
        .map_err(fault)?;
    } else if size > MAX_FILE {
        return Err(ToolError::tell(format!("{shown} is larger than 1 MB: it is not searched")));
    } else if let Some(hits) = asked.in_file(&place).map_err(fault)? {
        locked(&found).add(shown, hits);
    }
    let list = found.into_inner().unwrap_or_else(PoisonError::into_inner).print(asked.context > 0);
    Ok(with_closed(list, closed + refused_late.into_inner()))
}

const NOTHING: &str = "No matches found.";

/// What is searched for.
struct GrepQuery {
    matcher: RegexMatcher,
    include: Option<GlobMatcher>,
    context: usize,
    /// A line can match only where the whole text does: one look spares most files the search by lines.
    /// Not so with anchors of the whole text, or with flags that change what `^` means.
    looks_first: bool,
}

impl GrepQuery {
    fn of(args: &Args) -> Result<Self, ToolError> {
        let matcher = RegexMatcherBuilder::new().multi_line(true).crlf(true).build(&args.pattern);
        let matcher = matcher.map_err(|e| ToolError::tell(format!("invalid pattern: {e}")))?;
        if args.include.as_deref().is_some_and(|include| !is_tame(include)) {
            return Err(ToolError::tell(
                "invalid include: it is too long, or nests too many braces",
            ));
        }
        let include =
            args.include.as_deref().filter(|i| !i.is_empty()).map(|include| {
                GlobBuilder::new(include).build().map(|glob| glob.compile_matcher())
            });
        let include = include.transpose();
        let include =
            include.map_err(|e| ToolError::tell(format!("invalid include: {}", e.kind())))?;
        let context = usize::try_from(args.context_lines.unwrap_or(0)).unwrap_or(0);
        let looks_first = !["\\A", "\\z", "(?"].iter().any(|word| args.pattern.contains(word));
        Ok(Self { matcher, include, context, looks_first })
    }

    /// Searches one file; `None` when nothing matches or it is no text.
    fn in_file(&self, file: &Location) -> io::Result<Option<Hits>> {
        let place = file;
        let (file, level) = place.look()?;
        let size = file.metadata()?.len();
        if size > MAX_FILE {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        file.take(MAX_FILE + 1).read_to_end(&mut content)?;
        let hits = self.in_text(&content)?;
        if hits.is_some() {
            place.saw(level);
        }
        Ok(hits)
    }

    fn in_text(&self, content: &[u8]) -> io::Result<Option<Hits>> {
        let head = &content[..content.len().min(BINARY_HEAD)];
        if content.len() as u64 > MAX_FILE || head.contains(&0) {
            return Ok(None);
        }
        if self.looks_first && !self.matcher.is_match(content).map_err(io::Error::other)? {
            return Ok(None);
        }
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .before_context(self.context)
            .after_context(self.context)
            .build();
        let mut hits = Hits::default();
        searcher.search_slice(&self.matcher, content, &mut hits)?;
        Ok((hits.matches > 0).then_some(hits))
    }
}

/// What was found in one file.
#[derive(Default)]
struct Hits {
    lines: Vec<Hit>,
    matches: usize,
    /// There are more matches than are kept.
    more: bool,
}

enum Hit {
    Match(u64, String),
    Around(u64, String),
    Gap,
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches == MAX_MATCHES {
            self.more = true;
            return Ok(false);
        }
        self.matches += 1;
        self.lines.push(Hit::Match(found.line_number().unwrap_or(0), line(found.bytes())));
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        self.lines.push(Hit::Around(around.line_number().unwrap_or(0), line(around.bytes())));
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.lines.push(Hit::Gap);
        Ok(true)
    }
}

fn line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(MAX_LINE) {
        Some((cut, _)) => {
            format!("{} [+{} characters]", &text[..cut], text[cut..].chars().count())
        }
        None => text.to_owned(),
    }
}

/// The first matches by path, whatever the order they come in.
#[derive(Default)]
struct FirstMatches {
    files: BTreeMap<String, Hits>,
    matches: usize,
    more: bool,
}

impl FirstMatches {
    fn add(&mut self, path: String, hits: Hits) {
        self.matches += hits.matches;
        self.files.insert(path, hits);
        // Whole files at the end go while the rest is still enough.
        while let Some(last) = self.files.last_entry() {
            if self.matches - last.get().matches < MAX_MATCHES {
                break;
            }
            self.matches -= last.remove().matches;
            self.more = true;
        }
    }

    fn print(self, with_context: bool) -> String {
        if self.files.is_empty() {
            return NOTHING.to_owned();
        }
        let mut lines: Vec<String> = Vec::new();
        let mut left = MAX_MATCHES;
        let mut more = self.more;
        for (path, hits) in self.files {
            more |= hits.more;
            if with_context && !lines.is_empty() {
                lines.push("--".to_owned());
            }
            for hit in hits.lines {
                match hit {
                    Hit::Match(..) if left == 0 => {
                        more = true;
                        break;
                    }
                    Hit::Match(number, text) => {
                        left -= 1;
                        lines.push(format!("{path}:{number}:{text}"));
                    }
                    Hit::Around(number, text) => lines.push(format!("{path}:{number} {text}")),
                    Hit::Gap => lines.push("--".to_owned()),
                }
            }
        }
        if more {
            lines.push(format!(
                "[Showing the first {MAX_MATCHES} matches. Name a folder with path, or use include or a narrower pattern, for the rest.]"
            ));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let tool = Grep(DenyList::new(vec!["diary".to_owned()]));
        tool.call(scope, args).await.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_shows_matches_with_their_places() {
        let folders = Folders::new();
        folders
            .put("work/a_test.go", "package a\n\nfunc TestA() {\n}\n\n\n\nfunc TestB() {\r\n}\n");
        folders.put("work/sub/b.go", "func TestC() {}\n");
        folders.put("work/note.md", "func Test in prose\n");
        folders.put("work/big.go", format!("func TestBig\n{}", "x".repeat(1024 * 1024)));
        folders.put("work/bin.go", b"func Test\0");
        folders.put("work/late.go", format!("{}\0\nfunc TestLate\n", "y".repeat(600)));
        folders.put("work/.hidden.go", "func TestHidden\n");
        folders.put("work/gen/g.go", "func TestGenerated\n");
        folders.put("work/diary", "func TestSecret\n");
        folders.put("work/.gitignore", "gen\n");
        folders.put("work/latin", b"caf\xe9 func\n");
        folders.put("outside/o.go", "func TestOutside\n");
        std::os::unix::fs::symlink(folders.at("outside/o.go"), folders.at("work/link.go")).unwrap();
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({"pattern": "func Test", "include": "*.go", "context_lines": 1}),
            json!({"pattern": "func Test"}),
            json!({"pattern": "\\{$", "path": "a_test.go"}),
            json!({"pattern": "caf", "path": "latin"}),
            json!({"pattern": "nothing like this"}),
            json!({"pattern": "("}),
            json!({"pattern": "x", "path": "big.go"}),
            json!({"pattern": "x", "path": "../outside"}),
            json!({"pattern": "x", "path": "diary"}),
        ] {
            said.push(format!("{args}\n{}", call(&scope, args.clone()).await));
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r##"
{"pattern":"func Test","include":"*.go","context_lines":1}
a_test.go:2 
a_test.go:3:func TestA() {
a_test.go:4 }
--
a_test.go:7 
a_test.go:8:func TestB() {
a_test.go:9 }
--
late.go:1 yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy [+101 characters]
late.go:2:func TestLate
--
sub/b.go:1:func TestC() {}
[1 entry is closed to tools.]
--
{"pattern":"func Test"}
a_test.go:3:func TestA() {
a_test.go:8:func TestB() {
late.go:2:func TestLate
note.md:1:func Test in prose
sub/b.go:1:func TestC() {}
[1 entry is closed to tools.]
--
{"pattern":"\\{$","path":"a_test.go"}
a_test.go:3:func TestA() {
a_test.go:8:func TestB() {
--
{"pattern":"caf","path":"latin"}
latin:1:caf� func
--
{"pattern":"nothing like this"}
No matches found.
[1 entry is closed to tools.]
--
{"pattern":"("}
invalid pattern: regex parse error:
    (?:()
    ^
error: unclosed group
--
{"pattern":"x","path":"big.go"}
big.go is larger than 1 MB: it is not searched
--
{"pattern":"x","path":"../outside"}
refusing to read outside allowed base dir: ../outside (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
--
{"pattern":"x","path":"diary"}
grep denied for path: diary (tools.grep.deny_paths)
"##);
    }

    #[tokio::test]
    async fn pipes_do_not_hold_it_up() {
        let folders = Folders::new();
        folders.put("work/a", "hit\n");
        folders.put("work/closed/b", "hit\n");
        for pipe in ["work/pipe", "work/closed/.gitignore"] {
            let made = std::process::Command::new("mkfifo").arg(folders.at(pipe)).status();
            assert!(made.unwrap().success());
        }
        assert_eq!(call(&folders.scope(), json!({"pattern": "hit"})).await, "a:1:hit");
    }

    #[tokio::test]
    async fn the_first_matches_by_path_are_shown() {
        let folders = Folders::new();
        for number in 0..300 {
            folders.put(&format!("work/{number:03}"), "hit\nhit\n");
        }
        let text = call(&folders.scope(), json!({"pattern": "hit"})).await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), MAX_MATCHES + 1);
        assert_eq!((lines[0], lines[199]), ("000:1:hit", "099:2:hit"));
        assert!(lines[200].starts_with("[Showing the first 200 matches."));
    }

    /// Word by word, the slow way.
    fn naive(files: &[String], word: &str, around: usize) -> String {
        let mut groups: Vec<String> = Vec::new();
        for (number, text) in files.iter().enumerate() {
            let lines: Vec<&str> = text.lines().collect();
            let hit = |at: usize| lines[at].contains(word);
            let shows = |at: usize| {
                (at.saturating_sub(around)..=at + around).any(|n| n < lines.len() && hit(n))
            };
            let mut last = None;
            for at in (0..lines.len()).filter(|at| shows(*at)) {
                let mark = if hit(at) { ':' } else { ' ' };
                let line = format!("{number:02}:{}{mark}{}", at + 1, lines[at]);
                match (last, groups.last_mut()) {
                    (Some(before), Some(group)) if before + 1 == at || around == 0 => {
                        group.push('\n');
                        group.push_str(&line);
                    }
                    _ => groups.push(line),
                }
                last = Some(at);
            }
        }
        let between = if around == 0 { "\n" } else { "\n--\n" };
        if groups.is_empty() { NOTHING.to_owned() } else { groups.join(between) }
    }

    proptest! {
        #[test]
        fn a_first_look_hides_nothing(
            text in "[ab_ \r\n]{0,12}",
            pattern in prop::sample::select(vec![
                "^a", "b$", "^$", "^", r"\bab\b", r"\Bb", "[^a]", r"\s", r"\S$", "a.b", "a|b$", "(a|b)+$",
            ])
        ) {
            let args = json!({ "pattern": pattern });
            let first = GrepQuery::of(&serde_json::from_value(args).unwrap()).unwrap();
            prop_assert!(first.looks_first);
            let shown = |asked: &GrepQuery| {
                let hits = asked.in_text(text.as_bytes()).unwrap().unwrap_or_default();
                let mut found = FirstMatches::default();
                found.add("x".to_owned(), hits);
                found.print(false)
            };
            let with = shown(&first);
            let without = shown(&GrepQuery { looks_first: false, ..first });
            prop_assert_eq!(with, without);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn it_finds_what_a_naive_search_finds(
            files in prop::collection::vec("([abc .]{0,4}\n){0,8}", 1..4),
            word in "[abc]{1,2}", around in 0_usize..3
        ) {
            let folders = Folders::new();
            for (number, text) in files.iter().enumerate() {
                folders.put(&format!("work/{number:02}"), text);
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let args = json!({"pattern": word, "context_lines": around});
            let said = runtime.block_on(call(&folders.scope(), args));
            prop_assert_eq!(said, naive(&files, &word, around));
        }
    }
}
