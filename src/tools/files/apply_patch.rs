//! `apply_patch`: changes several files with one patch, all of them or none.

use std::path::PathBuf;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::DenyList;
use super::blocking::{on_disk, refused};
use super::hunk::{Change, Hunk};
use super::hunk_parse::parse;
use super::{fit, whole};
use crate::args::typed;
use crate::paths::{Finder, Location, Roots, StagedContent};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

const NAME: &str = "apply_patch";

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("patch_apply")];

/// The tool.
pub(crate) struct ApplyPatch(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// A unified diff, or `*** Begin Patch` … `*** End Patch` with `*** Add File:`, `*** Update File:` (`*** Move to:`,
    /// `@@ line before`), `*** Delete File:`.
    patch: String,
}

#[async_trait]
impl Handler for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Change files with a patch, all of it or none. Context lines must be exact and in one \
                          place; line numbers are hints. For one small change use edit_file."
                .to_owned(),
            group: "files",
            sources: &["S0", "S4"],
            doing: "changing files",
            also: Also::called(ALSO),
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { patch } = typed(args)?;
        let roots = scope.roots.clone();
        let denied = self.0.clone();
        on_disk(scope, move |_| {
            let (desk, said) = Desk::patched_by(&patch, denied.finder(NAME, &roots))?;
            desk.write()?;
            Ok(Output::ok(said.join("\n")))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let Args { patch } = typed(args.clone())?;
        let finder = self.0.finder(NAME, roots);
        let changes = parse(&patch).map_err(|why| ToolError::tell(why.to_string()))?;
        changes.iter().flat_map(Change::paths).map(|path| finder.writable(path)).collect()
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let Args { patch } = typed(args.clone()).ok()?;
        Some(match Desk::patched_by(&patch, self.0.finder(NAME, roots)) {
            Ok((_, said)) => Preview::of("apply a patch, which gives", &["patch"])
                .with(format!("{}\n\n{patch}", said.join("\n"))),
            Err(why) => Preview::of("apply a patch, which would fail", &["patch"])
                .with(format!("{why}\n\n{patch}")),
        })
    }
}

/// The files of a patch in memory.
struct Desk<'a> {
    finder: Finder<'a>,
    files: Vec<PatchedFile>,
}

/// A file: what it holds on the disk, and what it will hold.
struct PatchedFile {
    located: Location,
    real: PathBuf,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    /// The file it was moved from gives it its mode.
    like: Option<Location>,
}

impl<'a> Desk<'a> {
    /// Applies a patch in memory, and says what it changes.
    fn patched_by(patch: &str, finder: Finder<'a>) -> Result<(Self, Vec<String>), ToolError> {
        let changes = parse(patch).map_err(|why| ToolError::tell(why.to_string()))?;
        let mut desk = Self { finder, files: Vec::new() };
        let said: Result<Vec<String>, ToolError> = changes.iter().map(|c| desk.change(c)).collect();
        let said = said.map_err(|e| ToolError::tell(format!("{e}\nNothing was changed.")))?;
        Ok((desk, said))
    }

    /// Makes a change in memory and says what it is.
    fn change(&mut self, change: &Change) -> Result<String, ToolError> {
        let at = self.held(change.path())?;
        let shown = self.files[at].located.shown();
        match change {
            Change::Add { content, .. } => {
                if self.files[at].after.is_some() {
                    return Err(ToolError::tell(format!("{shown} is there already: update it")));
                }
                self.files[at].after = Some(content.clone().into_bytes());
                Ok(format!("added {shown}"))
            }
            Change::Delete { hunks, .. } => {
                self.patched(at, &shown, hunks)?;
                self.files[at].after = None;
                Ok(format!("deleted {shown}"))
            }
            Change::Update { to, hunks, .. } => {
                let new = self.patched(at, &shown, hunks)?;
                let count =
                    if hunks.len() == 1 { "1 hunk" } else { &format!("{} hunks", hunks.len()) };
                let Some(to) = to else {
                    self.files[at].after = Some(new.into_bytes());
                    return Ok(format!("updated {shown} ({count})"));
                };
                let to = self.moved(at, to, new)?;
                Ok(format!("moved {shown} to {to} ({count})"))
            }
        }
    }

    fn moved(&mut self, from: usize, to: &str, new: String) -> Result<String, ToolError> {
        let at = self.held(to)?;
        let shown = self.files[at].located.shown();
        if at != from && self.files[at].after.is_some() {
            return Err(ToolError::tell(format!(
                "{shown} is there already: nothing is moved over it"
            )));
        }
        self.files[from].after = None;
        let like = self.files[from].located.clone();
        self.files[at].like = Some(like);
        self.files[at].after = Some(new.into_bytes());
        Ok(shown)
    }

    fn patched(&self, at: usize, shown: &str, hunks: &[Hunk]) -> Result<String, ToolError> {
        let Some(bytes) = &self.files[at].after else {
            return Err(ToolError::tell(format!("no such file: {shown}")));
        };
        let text = std::str::from_utf8(bytes).map_err(|_| {
            ToolError::tell(format!("{shown} is not UTF-8 text: it cannot be patched"))
        })?;
        fit::apply(text, hunks).map_err(|why| ToolError::tell(format!("{shown}: {why}")))
    }

    /// Reads a file once; a patch may speak of it several times.
    fn held(&mut self, path: &str) -> Result<usize, ToolError> {
        let located = self.finder.writable(path)?;
        let real = located.real();
        if let Some(at) = self.files.iter().position(|f| f.real == real) {
            return Ok(at);
        }
        let before = whole::content(&located)?;
        let after = before.clone();
        self.files.push(PatchedFile { located, real, before, after, like: None });
        Ok(self.files.len() - 1)
    }

    /// Writes everything beside its place, and only then puts it there; what fails is undone.
    fn write(&self) -> Result<(), ToolError> {
        let changed: Vec<&PatchedFile> =
            self.files.iter().filter(|f| f.before != f.after).collect();
        let mut staged: Vec<Option<StagedContent>> = Vec::new();
        for file in &changed {
            let new = file.after.as_deref().map(|a| file.located.stage(a, file.like.as_ref()));
            let new = new.transpose().map_err(|e| refused(&file.located.shown(), &e));
            staged.push(new.map_err(|e| ToolError::tell(format!("{e}\nNothing was changed.")))?);
            whole::unchanged(&file.located, file.before.as_deref())?;
        }
        for (at, (file, new)) in changed.iter().zip(staged).enumerate() {
            let done = match new {
                Some(new) => new.commit(),
                None => file.located.remove(),
            };
            if let Err(error) = done {
                let why = refused(&file.located.shown(), &error);
                return Err(undone(&why, &changed[..at]));
            }
        }
        Ok(())
    }
}

/// Puts back what was changed before something failed.
fn undone(why: &ToolError, changed: &[&PatchedFile]) -> ToolError {
    let back = |file: &&&PatchedFile| match &file.before {
        Some(before) => file.located.replace(before).is_err(),
        None => file.located.remove().is_err(),
    };
    let stuck: Vec<String> = changed.iter().filter(back).map(|f| f.located.shown()).collect();
    ToolError::tell(match stuck.as_slice() {
        [] => format!("{why}\nNothing was changed."),
        stuck => format!(
            "{why}\nThese files are changed and could not be put back: {}",
            stuck.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests;
