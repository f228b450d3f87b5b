//! What a model asked to run → a program that may be started: judged, placed, limited.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::{Environment, environment};
use super::held::{Hold, Homes};
use super::own;
use super::supervise::Program;
use super::tape::Tape;
use crate::ToolError;
use crate::basis::{Basis, WorkFolder};
use crate::paths::{Finder, OpenRun, Roots, note_command};
use crate::scope::Scope;
use selkie_guard::{deny, plain};
use selkie_sandbox::{Boundary, Life, Limits};

/// Files that a command names, which are looked at before and after its approval.
const MAX_NAMED: usize = 32;

/// What may not be run.
pub(super) struct Rules<'a> {
    /// The tool, for refusals.
    pub(super) tool: &'static str,
    pub(super) deny_paths: &'a [String],
    pub(super) deny_tokens: &'a [String],
    /// What the command is written in.
    pub(super) language: Language,
}

/// What a command is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// What bash reads. A `&` leaves something running, which the tool has its own way for.
    Shell,
    Other,
}

/// How something is run.
pub(super) struct Way<'a> {
    pub(super) cwd: Option<&'a str>,
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) own_env: &'a Environment,
    pub(super) injected: &'a [String],
    pub(super) limit: Option<Duration>,
    pub(super) background: bool,
    pub(super) limits: &'a Limits,
    /// How it is held.
    pub(super) hold: Hold,
}

impl Rules<'_> {
    /// Refuses what a command may not hold.
    pub(super) fn judge(&self, cmd: &str) -> Result<(), ToolError> {
        let tool = self.tool;
        if cmd.trim().is_empty() {
            return Err(ToolError::tell("cmd is required"));
        }
        if cmd.contains('\0') {
            return Err(ToolError::tell("invalid cmd: it contains a NUL character"));
        }
        match self.language {
            Language::Shell => self.judge_shell(cmd),
            Language::Other => deny::refusal_in_text(cmd, self.deny_paths, self.deny_tokens)
                .map_or(Ok(()), |why| Err(ToolError::tell(format!("{tool} {why}")))),
        }
    }

    fn judge_shell(&self, cmd: &str) -> Result<(), ToolError> {
        let tool = self.tool;
        let line = plain::read(cmd);
        if let Some(why) = deny::refusal(cmd, &line, self.deny_paths, self.deny_tokens) {
            return Err(ToolError::tell(format!("{tool} {why}")));
        }
        if let Some(program) = deny::interactive(&line) {
            return Err(ToolError::tell(format!(
                "{tool}: {program} waits for a person at a terminal, and there is none: use a command that \
                 prints and ends (read_file for files)"
            )));
        }
        if line.is_background {
            return Err(ToolError::tell(format!(
                "{tool}: a command may not leave something running with &: take the & away and set \
                 run_in_background to true"
            )));
        }
        Ok(())
    }
}

/// What approval of a command covers besides its words: the folder it is run in, and the files that it names as they are.
pub(super) fn basis(roots: &Roots, rules: &Rules<'_>, cwd: Option<&str>, cmd: &str) -> Basis {
    let Ok(folder) = folder(roots, rules, cwd) else { return Basis::default() };
    let finder = Finder { tool: rules.tool, roots, deny: rules.deny_paths };
    let line = plain::read(cmd);
    let paths = line.words().map(|word| folder.path.join(&word.text)).filter(|path| path.is_file());
    let named = paths.take(MAX_NAMED).filter_map(|path| finder.existing(path.to_str()?).ok());
    Basis { reads: named.collect(), folder: Some(folder), ..Basis::default() }
}

/// Refuses a folder that is not the one which was looked at when the command was approved.
pub(super) fn stands_as_approved(
    scope: &Scope,
    tool: &str,
    program: &Program,
) -> Result<(), ToolError> {
    let looked_at = scope.approved.and_then(|approved| approved.folder);
    match looked_at {
        Some(folder) if program.folder.identity() != Some(folder) => Err(ToolError::tell(format!(
            "{tool} was not called: it was approved, but the folder is not as it was when somebody looked at it"
        ))),
        _ => Ok(()),
    }
}

impl Way<'_> {
    /// Makes a program of it, unless the command names something of the bot's own. Nothing is started or made:
    /// what is refused here is refused to a preview, too.
    pub(super) fn program(
        self,
        roots: &Roots,
        rules: &Rules<'_>,
        cmd: &str,
        argv: Vec<String>,
    ) -> Result<Program, ToolError> {
        let folder = folder(roots, rules, self.cwd)?;
        let mut environment = environment(self.own_env, self.injected, self.env)?;
        // The sandbox would refuse it, too, with fewer words.
        if let Some(word) = own::named(cmd, &folder.path, self.own_env, &roots.ours.closed()) {
            let tool = rules.tool;
            return Err(ToolError::tell(format!("{tool} command references denied path: {word}")));
        }
        if let Hold::Sandbox(boundary) = &self.hold {
            at_home_in_the_sandbox(&mut environment, roots, boundary);
        }
        Ok(Program {
            argv,
            folder,
            environment: environment.into_iter().collect(),
            limit: self.limit,
            life: if self.background { Life::Conversation } else { Life::Call },
            plan: self.hold.plan(roots, self.limits),
            note: None,
            tape: if self.background { Tape::ring() } else { Tape::head_and_tail() },
            is_spoken_with: false,
        })
    }
}

/// Gives a command the home and the folder for short-lived files that it can write in, and the programs that it can start.
pub(super) fn at_home_in_the_sandbox(
    environment: &mut Environment,
    roots: &Roots,
    boundary: &Boundary,
) {
    let Homes { home, tmp } = Homes::of(roots);
    for (name, folder) in [("HOME", home), ("TMPDIR", tmp)] {
        environment.insert(name.to_owned(), folder.to_string_lossy().into_owned());
    }
    if let Some(path) = environment.get("PATH") {
        let open = std::env::split_paths(path).filter(|folder| boundary.opens(folder));
        let open = std::env::join_paths(open).unwrap_or_default();
        environment.insert("PATH".to_owned(), open.to_string_lossy().into_owned());
    }
    // Sockets lie there.
    environment.remove("XDG_RUNTIME_DIR");
}

/// Notes in which folders a command may bring others' words into files, before it starts.
pub(super) fn noted(
    scope: &Scope,
    cmd: &str,
    program: &Program,
) -> Result<Option<OpenRun>, ToolError> {
    noted_in(scope, cmd, &program.folder.path, &program.writes())
}

/// The same of a text that goes to a command which runs already.
pub(super) fn noted_in(
    scope: &Scope,
    cmd: &str,
    folder: &Path,
    writes: &[PathBuf],
) -> Result<Option<OpenRun>, ToolError> {
    let run = note_command(cmd, folder, &scope.roots, writes, &scope.clock);
    run.map_err(|error| {
        ToolError::tell(format!("the command was not started, because it cannot be noted: {error}"))
    })
}

/// Puts the real folders in place of `file_cache_dir/` and `file_state_dir/`.
pub(super) fn without_aliases(roots: &Roots, cmd: &str) -> Result<String, ToolError> {
    let cmd = replaced(cmd, "file_cache_dir", Some(&roots.own))?;
    replaced(&cmd, "file_state_dir", roots.state.as_deref())
}

/// Finds a program the way a shell does.
pub(super) fn find_program(own_env: &Environment, name: &str) -> Option<PathBuf> {
    let path = own_env.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Makes the folder that a command is run in when there is no other.
pub(super) fn make_own(roots: &Roots) -> Result<(), ToolError> {
    let homes = || match roots.confinement.is_in_force() {
        true => Homes::of(roots).make(),
        false => Ok(()),
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(&roots.own)
        .and_then(|()| homes())
        .map_err(|error| ToolError::tell(format!("the cache folder cannot be created: {error}")))
}

/// Where it is run: `cwd`, else the workspace, else the conversation's own folder of the cache.
pub(super) fn folder(
    roots: &Roots,
    rules: &Rules<'_>,
    cwd: Option<&str>,
) -> Result<WorkFolder, ToolError> {
    let finder = Finder { tool: rules.tool, roots, deny: rules.deny_paths };
    let asked = cwd.map(str::trim).filter(|cwd| !cwd.is_empty());
    // An alias alone is an error for files; as a place to stand it means the folder itself.
    let home = match asked.map(|cwd| cwd.trim_end_matches('/')) {
        None => return Ok(WorkFolder::at(finder.home().to_owned())),
        Some("file_cache_dir") => return Ok(WorkFolder::at(roots.own.clone())),
        Some("file_state_dir") => "file_state_dir/.",
        Some(other) => other,
    };
    let located = finder.existing(if home.is_empty() { "/" } else { home })?;
    match located.open_folder() {
        Ok(opened) => Ok(WorkFolder { path: located.real(), opened: Some(opened) }),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(ToolError::tell(format!("invalid cwd: {home} is not a folder")))
        }
        Err(error) => Err(ToolError::tell(format!("invalid cwd: {home}: {error}"))),
    }
}

fn replaced(cmd: &str, alias: &str, folder: Option<&Path>) -> Result<String, ToolError> {
    let prefix = format!("{alias}/");
    let mut out = String::with_capacity(cmd.len());
    let mut rest = cmd;
    while let Some(at) = rest.find(&prefix) {
        let before = out.chars().next_back().filter(|_| at == 0).or(rest[..at].chars().next_back());
        out.push_str(&rest[..at]);
        let (found, after) = rest[at..].split_at(prefix.len());
        let inside_a_word =
            before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '$'));
        if inside_a_word {
            out.push_str(found)
        } else {
            out.push_str(&plain(folder, alias)?)
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// A folder as it can stand in any kind of quotes.
fn plain(folder: Option<&Path>, alias: &str) -> Result<String, ToolError> {
    let Some(folder) = folder else {
        return Err(ToolError::tell(format!("{alias} is closed here: use file_cache_dir/<path>")));
    };
    let text = folder.to_string_lossy();
    let safe = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.chars().all(safe) {
        return Err(ToolError::tell(format!(
            "{alias} cannot be used in cmd here, because its real path would need quotes: use cwd for it"
        )));
    }
    Ok(format!("{text}/"))
}
