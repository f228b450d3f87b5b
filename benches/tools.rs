//! Tools beside the programs they stand in for: the same work on the same tree, ratios within one run.
//!
//! `cargo bench --bench tools`. Wants ripgrep for two of its lines: `rg` on the path.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use selkie::domain::clock::SystemClock;
use selkie::domain::facts::{Mode, Trigger, Trust};
use selkie::domain::ids::TaskId;
use selkie::domain::transcript::Call;
use selkie::tools::base::{ToolDeps, build};
use selkie::tools::dispatch::dispatch;
use selkie::tools::paths::Roots;
use selkie::tools::ports::{Modes, NoAsker, Reply, SayOutcome, Silent, Todos};
use selkie::tools::registry::{Overlay, Registry};
use selkie::tools::scope::Scope;
use selkie::tools::{Settings, ToolError, memory, ports, skills};
use selkie_channel_core::{AccountId, Body, ConversationId, Redactor};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

#[path = "../src/tools/absent.rs"]
mod absent;

use absent::{
    NoAddressees, NoAgents, NoMemory, NoPostFiles, NoSessions, NoSkills, NoStudio, NoTimetable,
    NoTodoFile,
};

/// Files of the tree.
const FILES: usize = 100_000;
/// Files of one folder.
const FOLDER: usize = 100;
/// Bytes of the large file.
const LARGE: u64 = 2 * 1024 * 1024 * 1024;
/// Lines of a page, of which the 10,000th is read.
const PAGE: u64 = 2_000;
/// The best of so many counts: what else runs on the machine only ever adds.
const TRIES: usize = 5;

fn main() {
    let bench = ToolRunner::new();
    let tree = bench.folder("tree");
    let began = Instant::now();
    make_tree(&tree);
    println!(
        "a tree of {FILES} files in {} folders, made in {:.1?}",
        FILES / FOLDER,
        began.elapsed()
    );
    match ripgrep() {
        Some(rg) => beside_ripgrep(&bench, &rg, &tree),
        None => println!("grep and glob are not compared: there is no rg. `cargo install ripgrep`"),
    }
    page_of_a_large_file(&bench);
    patch_of_a_megabyte(&bench);
}

fn beside_ripgrep(bench: &ToolRunner, rg: &Path, tree: &Path) {
    // Every file is read, and few lines are found: the walk and the search count, not the printing.
    let ours = best(|| bench.call("grep", json!({"pattern": "needle_[0-9]+x", "path": "tree"})));
    let theirs = best(|| {
        run(
            rg,
            tree,
            &[
                "--max-filesize",
                "1M",
                "--crlf",
                "--line-number",
                "--sort",
                "none",
                "needle_[0-9]+x",
            ],
        )
    });
    row("grep, few matches", ours, Some(theirs), Some(1.5));
    let ours = best(|| bench.call("grep", json!({"pattern": "fn [a-z]+", "path": "tree"})));
    let theirs =
        best(|| run(rg, tree, &["--max-filesize", "1M", "--crlf", "--line-number", "fn [a-z]+"]));
    row("grep, a match in every file", ours, Some(theirs), Some(1.5));
    let ours = best(|| bench.call("glob", json!({"pattern": "**/*.rs", "path": "tree"})));
    let theirs = best(|| run(rg, tree, &["--files", "--sortr", "modified", "--glob", "*.rs"]));
    row("glob", ours, Some(theirs), Some(1.5));
}

fn page_of_a_large_file(bench: &ToolRunner) {
    let large = bench.folder("large.log");
    let lines = make_large(&large);
    let offset = (PAGE * 9_999 + 1).min(lines - PAGE);
    let before = memory();
    let began = Instant::now();
    let said = bench.call("read_file", json!({"path": "large.log", "offset": offset}));
    let took = began.elapsed();
    assert!(said.starts_with(&format!("{offset} | ")), "{}", &said[..80]);
    let grown = memory().saturating_sub(before);
    row(&format!("read_file, line {offset} of 2 GB"), took, None, None);
    let verdict = if grown < 16 * 1024 { "under" } else { "OVER" };
    println!("  memory grew by {:.1} MB ({verdict} 16 MB)", grown as f64 / 1024.0);
}

fn patch_of_a_megabyte(bench: &ToolRunner) {
    let lines: Vec<String> =
        (0..20_000).map(|n| format!("line {n} of a file with much to say, and more")).collect();
    let text = lines.join("\n") + "\n";
    let mut patch = "--- a/big.txt\n+++ b/big.txt\n".to_owned();
    for at in (10..lines.len()).step_by(400) {
        // The line numbers are wrong: every hunk is looked for.
        patch.push_str(&format!(
            "@@ -{0},3 +{0},3 @@\n {1}\n-{2}\n+changed {at}\n {3}\n",
            at + 7,
            lines[at],
            lines[at + 1],
            lines[at + 2]
        ));
    }
    let mut fastest = Duration::MAX;
    for _ in 0..TRIES {
        fs::write(bench.folder("big.txt"), &text).expect("a file");
        let began = Instant::now();
        bench.call("apply_patch", json!({"patch": patch}));
        fastest = fastest.min(began.elapsed());
    }
    row(
        &format!("apply_patch, 50 hunks on {:.1} MB", text.len() as f64 / 1e6),
        fastest,
        None,
        None,
    );
    let verdict = if fastest < Duration::from_millis(50) { "under" } else { "OVER" };
    println!("  {verdict} 50 ms, its syncs included");
}

fn row(what: &str, ours: Duration, theirs: Option<Duration>, most: Option<f64>) {
    let Some(theirs) = theirs else {
        println!("{what:<34} {ours:>10.1?}");
        return;
    };
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let verdict = most.map_or("", |most| if ratio <= most { "within 1.5" } else { "OVER 1.5" });
    println!("{what:<34} {ours:>10.1?}   rg {theirs:>10.1?}   ratio {ratio:.2}   {verdict}");
}

/// The shortest of some tries, after one that warms the caches.
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    work();
    let mut fastest = Duration::MAX;
    for _ in 0..TRIES {
        let began = Instant::now();
        std::hint::black_box(work());
        fastest = fastest.min(began.elapsed());
    }
    fastest
}

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    // Into a pipe, read to its end, as a harness would.
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    command.output().expect("rg runs").status.success()
}

/// `rg` as the system finds it.
fn ripgrep() -> Option<PathBuf> {
    let there = Command::new("rg").arg("--version").stdout(Stdio::null()).status();
    there.is_ok_and(|status| status.success()).then(|| PathBuf::from("rg"))
}

/// Sources and prose of a few kilobytes; one in a thousand holds a needle.
fn make_tree(tree: &Path) {
    let body =
        "    let value = compute(input, 17);\n    // a comment that says what is done, and why\n"
            .repeat(16);
    for number in 0..FILES {
        let folder = tree.join(format!("m{:03}/part", number / FOLDER));
        if number % FOLDER == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        let ending = if number % 3 == 0 { "md" } else { "rs" };
        let needle = if number % 1000 == 7 { format!("needle_{number}x\n") } else { String::new() };
        let text = format!("fn work() {{\n{body}}}\n{needle}");
        fs::write(folder.join(format!("f{number}.{ending}")), text).expect("a file");
    }
}

/// Two gigabytes of lines of about 100 bytes; how many.
fn make_large(path: &Path) -> u64 {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    let line = format!(
        "{}\n",
        "a line of a log that says when, who, and what became of it; ".repeat(2).trim_end()
    );
    let block = line.repeat(1000);
    let (mut written, mut lines) = (0, 0);
    while written < LARGE {
        file.write_all(block.as_bytes()).expect("room on the disk");
        written += block.len() as u64;
        lines += 1000;
    }
    file.flush().expect("room on the disk");
    lines
}

/// The most memory this process has held, in kilobytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// A workspace and the tools over it.
struct ToolRunner {
    dir: TempDir,
    runtime: Runtime,
    registry: Registry,
}

impl ToolRunner {
    fn new() -> Self {
        let base = build(&Settings::default(), &ToolDeps::default()).expect("the base");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        Self {
            dir: TempDir::new().expect("a folder"),
            runtime: runtime.expect("a runtime"),
            registry: Registry::view(Arc::new(base), Vec::new(), Overlay::default()),
        }
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn call(&self, name: &str, arguments: Value) -> String {
        let call = Call { id: "c1.0".to_owned(), name: name.to_owned(), arguments };
        let scope = self.scope();
        let redactor = Redactor::default();
        let called = dispatch(&self.registry, &call, &scope, &redactor);
        let answer = self.runtime.block_on(called).expect("no abort").answer;
        assert!(!answer.is_error, "{name}: {}", answer.text);
        answer.text
    }

    fn scope(&self) -> Scope {
        let at = |name: &str| self.folder(name);
        Scope {
            kept: None,
            task: TaskId(1),
            call: "c1.0".to_owned(),
            conversation: ConversationId::new(AccountId::new("cli:bench"), "cli:/bench"),
            agent: None,
            message: None,
            speaker: None,
            is_private: true,
            trust: Trust::Owner,
            roots: Roots {
                cache: at("cache"),
                own: at("cache/own"),
                state: Some(at("state")),
                workspace: Some(self.dir.path().to_owned()),
                elsewhere: false,
                skills: Default::default(),
                confinement: Default::default(),
                lists: Default::default(),
                level: Default::default(),
                ours: selkie::tools::paths::Ours::default(),
            },
            reply: Arc::new(Nobody),
            tools: Arc::clone(self.registry.block()),
            progress: Arc::new(Silent),
            mode: Mode::Normal,
            trigger: Trigger::Asked,
            taint: Default::default(),
            outward: Default::default(),
            approved: None,
            earlier: Default::default(),
            plan: None,
            given: Vec::new(),
            modes: Arc::new(Nobody),
            todos: Arc::new(Nobody),
            todo_file: Arc::new(NoTodoFile),
            asked: Arc::default(),
            timetable: Arc::new(NoTimetable),
            addressees: Arc::new(NoAddressees),
            sessions: Arc::new(NoSessions),
            agents: Arc::new(NoAgents),
            begun: Vec::new(),
            memory: Arc::new(NoMemory),
            skills: Arc::new(NoSkills),
            own_memory: None,
            studio: Arc::new(NoStudio),
            permissions: NoAsker::permissions("nobody is there"),
            post_files: Arc::new(NoPostFiles),
            spent: Arc::default(),
            deadline: tokio::time::Instant::now() + Duration::from_secs(600),
            task_deadline: tokio::time::Instant::now() + Duration::from_secs(24 * 60 * 60),
            cancel: CancellationToken::new(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// Nobody is spoken to, and nothing is noted.
struct Nobody;

#[async_trait]
impl Reply for Nobody {
    async fn say(&self, _: &str, _: Body) -> Result<SayOutcome, ToolError> {
        Ok(SayOutcome::Sent(None))
    }

    async fn send(&self, _: &str, _: Body, _: File) -> Result<SayOutcome, ToolError> {
        Ok(SayOutcome::Sent(None))
    }

    fn is_here(&self, _: &str) -> Option<bool> {
        None
    }
}

#[async_trait]
impl Modes for Nobody {
    async fn change(&self, _: &ConversationId, _: Mode) -> Result<(), ToolError> {
        Ok(())
    }
}

#[async_trait]
impl Todos for Nobody {
    async fn read(&self, _: &ConversationId) -> Result<Option<String>, ToolError> {
        Ok(None)
    }

    async fn write(&self, _: &ConversationId, _: String) -> Result<(), ToolError> {
        Ok(())
    }
}
