//! `notebook_edit`: replaces, inserts or deletes one cell of a Jupyter notebook.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::DenyList;
use super::blocking::on_disk;
use super::notebook::{Notebook, text_of};
use super::whole::Whole;
use crate::args::typed;
use crate::paths::{Location, Roots};
use crate::preview::marked;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "notebook_edit";

/// The tool.
pub(crate) struct NotebookEdit(pub(crate) DenyList);

#[derive(Deserialize, JsonSchema)]
struct Args {
    notebook_path: String,
    /// From 0; insert goes before it. Not used with `cell_id`.
    #[schemars(range(min = 0))]
    cell_number: Option<u64>,
    /// Insert goes after it.
    cell_id: Option<String>,
    /// For replace and insert.
    #[schemars(length(min = 0))]
    new_source: Option<String>,
    /// Required for insert.
    cell_type: Option<CellType>,
    /// Default: replace.
    edit_mode: Option<Mode>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Replace,
    Insert,
    Delete,
}

impl CellType {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

#[async_trait]
impl Handler for NotebookEdit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description:
                "Change one cell of a Jupyter notebook. read_file shows the cells' numbers and ids."
                    .to_owned(),
            group: "files",
            sources: &["S2"],
            doing: "changing files",
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let roots = scope.roots.clone();
        let denied = self.0.clone();
        on_disk(scope, move |_| {
            let file = Whole::of(&denied.finder(NAME, &roots), &args.notebook_path)?;
            let shown = file.shown();
            let book = Notebook::read(&file.content)
                .map_err(|why| ToolError::tell(format!("{shown}: {why}")))?;
            let (new, said) = edit(&book, &args).map_err(ToolError::Tell)?;
            file.replace(&new)?;
            Ok(Output::ok(format!("{said} of {shown}")))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let args: Args = typed(args.clone())?;
        Ok(vec![self.0.finder(NAME, roots).writable(&args.notebook_path)?])
    }

    fn preview(&self, roots: &Roots, args: &Value) -> Option<Preview> {
        let args: Args = typed(args.clone()).ok()?;
        let path = &args.notebook_path;
        let shown = Whole::of(&self.0.finder(NAME, roots), path)
            .map_err(|error| error.to_string())
            .and_then(|file| {
                let book = Notebook::read(&file.content).map_err(|error| error.to_string())?;
                would(&book, &args)
            });
        Some(shown.unwrap_or_else(|why| {
            Preview::of(format!("change {path}, which would fail: {why}"), &["notebook_path"])
        }))
    }
}

/// The cell before and after, for a person.
fn would(book: &Notebook<'_>, args: &Args) -> Result<Preview, String> {
    // What cannot be done is said as the call itself would say it.
    edit(book, args)?;
    let path = &args.notebook_path;
    let new = marked('+', args.new_source.as_deref().unwrap_or_default());
    let old = |at: usize| marked('-', &text_of(book.cells[at].get("source")));
    let said = |what: String, body: String| {
        let shows = &["notebook_path", "edit_mode", "new_source"];
        Preview::of(format!("change {path}: {what}"), shows).with(body.trim_end_matches('\n'))
    };
    Ok(match args.edit_mode.unwrap_or(Mode::Replace) {
        Mode::Insert => said(format!("insert cell {}", place(book, args)?), new),
        Mode::Delete => {
            let at = existing(book, args)?;
            Preview::of(format!("change {path}: delete cell {at}"), &["notebook_path", "edit_mode"])
                .with(old(at).trim_end_matches('\n'))
        }
        Mode::Replace => {
            let at = existing(book, args)?;
            said(format!("replace cell {at}"), old(at) + &new)
        }
    })
}

fn edit(book: &Notebook<'_>, args: &Args) -> Result<(Vec<u8>, String), String> {
    let source = || args.new_source.as_deref().ok_or("new_source is required");
    match args.edit_mode.unwrap_or(Mode::Replace) {
        Mode::Replace => {
            let at = existing(book, args)?;
            let new = book.replaced(at, source()?, args.cell_type.map(CellType::name));
            Ok((new, format!("replaced cell {at}")))
        }
        Mode::Insert => {
            let kind = args.cell_type.ok_or("cell_type is required")?;
            let source = source()?;
            let at = place(book, args)?;
            let new = book.inserted(at, source, kind.name(), &fresh_id(book, source));
            Ok((new, format!("inserted cell {at}")))
        }
        Mode::Delete => {
            let at = existing(book, args)?;
            Ok((book.deleted(at), format!("deleted cell {at}")))
        }
    }
}

/// The cell that is named.
fn existing(book: &Notebook<'_>, args: &Args) -> Result<usize, String> {
    if let Some(id) = given_id(args) {
        return by_id(book, id);
    }
    let number = args.cell_number.ok_or("cell_id or cell_number is required")?;
    let at = usize::try_from(number).ok().filter(|at| *at < book.cells.len());
    at.ok_or_else(|| no_cell(book, &number.to_string()))
}

/// Where a new cell goes: after the one of an id, before the one of a number, else at the start.
fn place(book: &Notebook<'_>, args: &Args) -> Result<usize, String> {
    if let Some(id) = given_id(args) {
        return Ok(by_id(book, id)? + 1);
    }
    let number = args.cell_number.unwrap_or(0);
    let at = usize::try_from(number).ok().filter(|at| *at <= book.cells.len());
    at.ok_or_else(|| no_cell(book, &number.to_string()))
}

fn given_id(args: &Args) -> Option<&str> {
    args.cell_id.as_deref().filter(|id| !id.is_empty())
}

fn by_id(book: &Notebook<'_>, id: &str) -> Result<usize, String> {
    book.by_id(id).ok_or_else(|| no_cell(book, &format!("with the id {id}")))
}

fn no_cell(book: &Notebook<'_>, named: &str) -> String {
    match book.cells.len() {
        0 => format!("there is no cell {named}: the notebook has no cells"),
        1 => format!("there is no cell {named}: the notebook has one cell, 0"),
        many => {
            format!("there is no cell {named}: the notebook has {many} cells, 0 to {}", many - 1)
        }
    }
}

/// An id that no cell has: from the source, and a number when that is taken.
fn fresh_id(book: &Notebook<'_>, source: &str) -> String {
    let mut number = book.cells.len();
    loop {
        let hash = Sha256::digest(format!("{number}\n{source}"));
        let id: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        if book.by_id(&id).is_none() {
            return id;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    #[tokio::test]
    async fn it_edits_cells_and_refuses() {
        let folders = Folders::new();
        let cells =
            json!([{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# T"]}]);
        let book = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
        folders.put("work/n.ipynb", serde_json::to_string_pretty(&book).unwrap());
        folders.put("work/three.ipynb", "{\"nbformat\": 3}");
        let tool = NotebookEdit(DenyList::default());
        let scope = folders.scope();
        let mut said = Vec::new();
        for args in [
            json!({"cell_id": "a", "new_source": "x = 1\ny", "cell_type": "code", "edit_mode": "insert"}),
            json!({"new_source": "first", "cell_type": "markdown", "edit_mode": "insert"}),
            json!({"cell_number": 3, "new_source": "last", "cell_type": "markdown", "edit_mode": "insert"}),
            json!({"cell_number": 1, "new_source": "# Title"}),
            json!({"cell_number": 0, "edit_mode": "delete"}),
            json!({"cell_number": 9, "edit_mode": "delete"}),
            json!({"cell_id": "b", "edit_mode": "delete"}),
            json!({"edit_mode": "delete"}),
            json!({"cell_number": 0}),
            json!({"cell_number": 0, "new_source": "x", "edit_mode": "insert"}),
            json!({"cell_number": 0, "new_source": "x", "notebook_path": "three.ipynb"}),
            json!({"cell_number": 0, "new_source": "x", "notebook_path": "none.ipynb"}),
        ] {
            let mut args = args;
            if args.get("notebook_path").is_none() {
                args["notebook_path"] = json!("n.ipynb");
            }
            said.push(tool.call(&scope, args).await.map_or_else(|e| e.to_string(), |o| o.text));
        }
        said.push(folders.get("work/n.ipynb"));
        insta::assert_snapshot!(said.join("\n"), @r##"
inserted cell 1 of n.ipynb
inserted cell 0 of n.ipynb
inserted cell 3 of n.ipynb
replaced cell 1 of n.ipynb
deleted cell 0 of n.ipynb
there is no cell 9: the notebook has 3 cells, 0 to 2
there is no cell with the id b: the notebook has 3 cells, 0 to 2
cell_id or cell_number is required
new_source is required
cell_type is required
three.ipynb: nbformat 3: only notebooks of format 4 are supported
no such file: none.ipynb
{
  "cells": [
    {
      "cell_type": "markdown",
      "id": "a",
      "metadata": {},
      "source": [
        "# Title"
      ]
    },
    {
      "cell_type": "code",
      "execution_count": null,
      "outputs": [],
      "id": "f2d2fd9a",
      "metadata": {},
      "source": [
        "x = 1\n",
        "y"
      ]
    },
    {
      "cell_type": "markdown",
      "id": "48f829fa",
      "metadata": {},
      "source": [
        "last"
      ]
    }
  ],
  "metadata": {},
  "nbformat": 4,
  "nbformat_minor": 5
}
"##);
    }
}
