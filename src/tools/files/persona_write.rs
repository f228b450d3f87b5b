//! `persona_write`: writes who the bot is, in the words that its owner confirms.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::blocking::{on_disk, refused};
use super::whole::content;
use crate::args::typed;
use crate::paths::{Finder, Location, Roots};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "persona_write";
const IDENTITY: &str = "file_state_dir/persona/IDENTITY.md";
const SOUL: &str = "file_state_dir/persona/SOUL.md";
/// Characters of one thing that is said of the bot.
const MAX_LENGTH: usize = 500;
/// Sentences of a list.
const MAX: usize = 8;

/// The tool.
pub(crate) struct PersonaWrite;

#[derive(Deserialize, JsonSchema)]
struct Args {
    name: String,
    creature: Option<String>,
    vibe: Option<String>,
    /// One.
    emoji: Option<String>,
    /// At most 8 sentences.
    core_truths: Option<Vec<String>>,
    /// What it never does: at most 8 sentences.
    boundaries: Option<Vec<String>>,
    /// How it speaks.
    manner: Option<String>,
}

/// A file and what it is to hold.
struct Page {
    path: &'static str,
    text: String,
}

#[async_trait]
impl Handler for PersonaWrite {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Write who you are, from the next message on. When your owner asks you to, first ask with \
                          ask_user what you shall be called, what you are, how you speak, what you hold to and \
                          never do; then call this once. They confirm it."
                .to_owned(),
            group: "conversation",
            sources: &["S3"],
            doing: "writing down who it is",
            ..spec::<Args>(NAME, Class::Write, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let pages = pages(&typed(args)?)?;
        let roots = scope.roots.clone();
        on_disk(scope, move |_| {
            for Page { path, text } in &pages {
                let located = finder(&roots).defining(path)?;
                keep(&roots, path, &located)?;
                located.replace(text.as_bytes()).map_err(|e| refused(path, &e))?;
            }
            Ok(Output::ok("Written. It counts from the next message on."))
        })
        .await
    }

    fn changes(&self, roots: &Roots, args: &Value) -> Result<Vec<Location>, ToolError> {
        let pages = pages(&typed(args.clone())?)?;
        pages.iter().map(|page| finder(roots).defining(page.path)).collect()
    }

    fn asks(&self, _roots: &Roots, _args: &Value) -> Option<String> {
        Some("asks first: it says who the bot is from then on".to_owned())
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let pages = pages(&typed(args.clone()).ok()?).ok()?;
        let files: Vec<&str> = pages.iter().map(|page| page.path).collect();
        let text: Vec<&str> = pages.iter().map(|page| page.text.as_str()).collect();
        const SHOWN: &[&str] =
            &["name", "creature", "vibe", "emoji", "core_truths", "boundaries", "manner"];
        let head = format!("be this from now on, in {}", files.join(" and "));
        Some(Preview::of(head, SHOWN).with(text.join("\n")))
    }
}

fn finder(roots: &Roots) -> Finder<'_> {
    Finder { tool: NAME, roots, deny: &[] }
}

/// Keeps what a file held beside it: `SOUL.before.md`.
fn keep(roots: &Roots, path: &str, located: &Location) -> Result<(), ToolError> {
    let Some(old) = content(located)? else { return Ok(()) };
    let beside = path.replace(".md", ".before.md");
    let kept = finder(roots).defining(&beside)?;
    kept.replace(&old).map_err(|e| refused(&beside, &e))
}

/// Writes the files: the soul is left alone when nothing is said of it.
fn pages(args: &Args) -> Result<Vec<Page>, ToolError> {
    let lines = [
        ("Name", "name", Some(&args.name)),
        ("Creature", "creature", args.creature.as_ref()),
        ("Vibe", "vibe", args.vibe.as_ref()),
        ("Emoji", "emoji", args.emoji.as_ref()),
    ];
    let mut identity = String::from("# Identity\n\n");
    for (title, field, said) in lines {
        if let Some(said) = one(field, said)? {
            identity.push_str(&format!("- **{title}:** {said}\n"));
        }
    }
    if one("name", Some(&args.name))?.is_none() {
        return Err(ToolError::tell("name is required"));
    }
    let parts = [
        ("Core Truths", list("core_truths", args.core_truths.as_deref())?),
        ("Boundaries", list("boundaries", args.boundaries.as_deref())?),
        ("Vibe", one("manner", args.manner.as_ref())?.map(|said| format!("{said}\n"))),
    ];
    let soul: String = parts
        .into_iter()
        .filter_map(|(title, said)| said.map(|said| format!("\n## {title}\n\n{said}")))
        .collect();
    let mut pages = vec![Page { path: IDENTITY, text: identity }];
    if !soul.is_empty() {
        pages.push(Page { path: SOUL, text: format!("# Soul\n{soul}") });
    }
    Ok(pages)
}

/// Reads one thing that is said of the bot, as a line; `None` when nothing is.
fn one(field: &str, said: Option<&String>) -> Result<Option<String>, ToolError> {
    let line = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
    let line = line.unwrap_or_default();
    let long = line.chars().count();
    if long > MAX_LENGTH {
        return Err(ToolError::tell(format!(
            "{field} has {long} characters ({MAX_LENGTH} are the most)"
        )));
    }
    Ok(Some(line).filter(|line| !line.is_empty()))
}

fn list(field: &str, said: Option<&[String]>) -> Result<Option<String>, ToolError> {
    let said = said.unwrap_or_default();
    if said.len() > MAX {
        return Err(ToolError::tell(format!(
            "{field} has {} sentences ({MAX} are the most)",
            said.len()
        )));
    }
    let mut lines = String::new();
    for sentence in said {
        if let Some(line) = one(field, Some(sentence))? {
            lines.push_str(&format!("- {line}\n"));
        }
    }
    Ok(Some(lines).filter(|lines| !lines.is_empty()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;

    async fn call(scope: &Scope, args: Value) -> String {
        let called = PersonaWrite.call(scope, args).await;
        called.map_or_else(|e| e.to_string(), |o| o.text)
    }

    #[tokio::test]
    async fn it_writes_both_files_and_keeps_what_they_held() {
        let folders = Folders::new();
        folders.put("state/persona/SOUL.md", "Be kind.\n");
        let scope = folders.scope();
        let said = call(
            &scope,
            json!({
                "name": "Ina\n# Not a title", "creature": "a seal", "emoji": "🦭",
                "core_truths": ["Say what you know.", " "], "boundaries": ["Never invent."],
                "manner": "Plainly."
            }),
        )
        .await;
        assert_eq!(said, "Written. It counts from the next message on.");
        let read = |name: &str| {
            std::fs::read_to_string(folders.at(&format!("state/persona/{name}"))).unwrap()
        };
        assert_eq!(
            read("IDENTITY.md"),
            "# Identity\n\n- **Name:** Ina # Not a title\n- **Creature:** a seal\n- **Emoji:** 🦭\n"
        );
        assert_eq!(
            read("SOUL.md"),
            "# Soul\n\n## Core Truths\n\n- Say what you know.\n\n## Boundaries\n\n- Never invent.\n\n## Vibe\n\nPlainly.\n"
        );
        assert_eq!(read("SOUL.before.md"), "Be kind.\n");
        assert!(!folders.at("state/persona/IDENTITY.before.md").exists());
        assert_eq!(call(&scope, json!({"name": "Io"})).await, said);
        assert_eq!(read("IDENTITY.md"), "# Identity\n\n- **Name:** Io\n");
        assert!(read("SOUL.md").contains("Plainly."), "nothing was said of it");
    }

    #[tokio::test]
    async fn what_cannot_be_said_is_named() {
        let folders = Folders::new();
        let scope = folders.scope();
        let many: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        for (args, wanted) in [
            (json!({"name": " "}), "name is required"),
            (json!({"name": "x".repeat(501)}), "name has 501 characters (500 are the most)"),
            (
                json!({"name": "x", "boundaries": many}),
                "boundaries has 9 sentences (8 are the most)",
            ),
        ] {
            assert_eq!(call(&scope, args).await, wanted);
        }
        let closed = Scope { roots: Roots { state: None, ..scope.roots.clone() }, ..scope };
        let said = call(&closed, json!({"name": "x"})).await;
        assert!(said.starts_with("file_state_dir is closed here"), "{said}");
    }
}
