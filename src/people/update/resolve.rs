//! Who is meant by the names in an item: found among those whom the conversation knows, by a model only where several
//! have the same name.

use serde::Deserialize;
use serde_json::json;

use super::contract::RESOLVE;
use super::known::known;
use super::task::Task;
use crate::todo::{Entry, plain, references};
use crate::visibility::VisiblePerson;
use selkie_domain::taint::Taint;
use selkie_tools::ToolError;

/// Somebody is named and nobody of that name is known.
const RAW: &str = "reference_unresolved_write_raw";
/// So many candidates are told.
const MAX_TOLD: usize = 8;
/// What people call themselves. In capitals it may be something else: the US market.
const SELF: [&str; 14] = [
    "i", "me", "my", "myself", "we", "us", "our", "ich", "mich", "mir", "我", "我们", "本人", "私",
];

/// A content with its people named.
pub(super) struct ResolvedText {
    pub content: String,
    pub warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Answer {
    Ok {
        rewritten_content: String,
        #[serde(default)]
        warnings: Vec<String>,
    },
    MissingReferenceId {},
}

/// Names the people of a content.
pub(super) async fn resolve(
    task: &Task<'_>,
    content: &str,
    people: &[String],
) -> Result<ResolvedText, ToolError> {
    let known = known(task).await?;
    let mut resolved = ResolvedText { content: content.to_owned(), warnings: Vec::new() };
    let mut unclear: Vec<&str> = Vec::new();
    for name in
        people.iter().map(|name| name.trim()).filter(|name| !name.is_empty() && !is_self(name))
    {
        let is_named =
            |content: &str| references(content).iter().any(|r| r.name.eq_ignore_ascii_case(name));
        let called: Vec<&VisiblePerson> =
            known.iter().filter(|known| known.is_called(name)).collect();
        match called.as_slice() {
            _ if is_named(&resolved.content) => {}
            [] => resolved.warnings.push(format!("{RAW}: nobody called {name:?} is known here")),
            [one] if link(&mut resolved.content, name, one) => {}
            [_] => resolved.warnings.push(format!(
                "{RAW}: {name:?} is not in the content: write the name there, where it belongs"
            )),
            _ => unclear.push(name),
        }
    }
    check(task, &resolved.content, &known)?;
    if !unclear.is_empty() {
        ask(task, &mut resolved, &unclear, &known).await?;
    }
    Ok(resolved)
}

/// Puts an id behind a name, where it stands in the content; whether it does.
fn link(content: &mut String, name: &str, known: &VisiblePerson) -> bool {
    let Some(id) = known.ids.first() else { return false };
    let bare = name.trim_start_matches('@');
    if bare.contains(['[', ']', '(', ')']) {
        return false;
    }
    let Some(range) = find(content, name).or_else(|| find(content, bare)) else { return false };
    content.replace_range(range, &format!("[{bare}]({id})"));
    true
}

/// Finds a name that stands by itself, outside of what is named already.
fn find(content: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let named: Vec<std::ops::Range<usize>> = references(content)
        .iter()
        .filter_map(|r| {
            let whole = format!("[{}]({})", r.name, r.id);
            content.find(&whole).map(|at| at..at + whole.len())
        })
        .collect();
    let is_word = |c: Option<char>| name.is_ascii() && c.is_some_and(char::is_alphanumeric);
    content.char_indices().map(|(at, _)| at).find_map(|at| {
        let end = at + name.len();
        let found = content.get(at..end)?;
        let fits = found.to_lowercase() == name.to_lowercase()
            && !is_word(content[..at].chars().next_back())
            && !is_word(content[end..].chars().next())
            && !named.iter().any(|named| named.start < end && at < named.end);
        fits.then_some(at..end)
    })
}

/// Every id in a content is one, and reaches somebody whom the conversation knows.
fn check(task: &Task<'_>, content: &str, known: &[VisiblePerson]) -> Result<(), ToolError> {
    for reference in references(content) {
        let id = reference.id;
        if known.iter().any(|known| known.ids.iter().any(|own| own == id)) || id == task.view.chat {
            continue;
        }
        return Err(ToolError::tell(match task.forms.is_reference(id) {
            true => {
                format!("reference id is not reachable: {id} (nobody who is known here has it)")
            }
            false => {
                format!("invalid reference id: {id} (write the name alone: who is known is found)")
            }
        }));
    }
    Ok(())
}

async fn ask(
    task: &Task<'_>,
    resolved: &mut ResolvedText,
    unclear: &[&str],
    known: &[VisiblePerson],
) -> Result<(), ToolError> {
    let called = |known: &&VisiblePerson| unclear.iter().any(|name| known.is_called(name));
    let candidates: Vec<&VisiblePerson> = known.iter().filter(called).collect();
    let allowed: Vec<&String> = candidates.iter().flat_map(|known| &known.ids).collect();
    let contact = |known: &&VisiblePerson| {
        json!({ "name": known.names.first(), "aliases": known.names.get(1..).unwrap_or_default(),
                "reachable_ids": known.ids, "preferred_id": known.ids.first() })
    };
    let asked = json!({
        "input": { "content": resolved.content, "people": unclear },
        "input_raw": task.by.asked.text,
        "runtime": { "chat_id": task.view.chat, "now_utc": task.minute().to_rfc3339() },
        "contacts": candidates.iter().map(contact).collect::<Vec<_>>(),
        "allowed_ids": allowed,
    });
    let is_valid = |answer: &Answer| match answer {
        Answer::Ok { rewritten_content, .. } => fits(rewritten_content, resolved, &allowed),
        Answer::MissingReferenceId { .. } => Ok(()),
    };
    match RESOLVE.ask(task, &asked, is_valid).await? {
        Answer::Ok { rewritten_content, warnings } => {
            resolved.content = rewritten_content;
            resolved.warnings.extend(
                warnings.into_iter().take(3).map(|warning| warning.chars().take(200).collect()),
            );
        }
        Answer::MissingReferenceId { .. } => {
            let text = several(unclear, &candidates);
            return Err(ToolError::Quote { text, level: Taint::Raw });
        }
    }
    Ok(())
}

/// Tells who may be meant, and how to say it.
fn several(unclear: &[&str], candidates: &[&VisiblePerson]) -> String {
    let who = unclear.join(", ");
    let lines = candidates.iter().take(MAX_TOLD).map(|known| format!("\n- {}", known.reference()));
    let lines: String = lines.collect();
    let more = candidates.len().saturating_sub(MAX_TOLD);
    let more = if more > 0 { format!("\n(and {more} more)") } else { String::new() };
    format!(
        "missing_reference_id: several people are called {who}, and nothing was written. Who is meant? Write one of these \
         instead of the name:{lines}{more}"
    )
}

/// A rewritten content says the same, and names nobody else.
fn fits(rewritten: &str, resolved: &ResolvedText, allowed: &[&String]) -> Result<(), String> {
    let folded = |content: &str| {
        plain(content).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
    };
    Entry::content(rewritten).map_err(|why| why.to_string())?;
    let before = references(&resolved.content);
    let is_allowed =
        |id: &str| allowed.iter().any(|own| *own == id) || before.iter().any(|r| r.id == id);
    if let Some(other) = references(rewritten).iter().find(|r| !is_allowed(r.id)) {
        return Err(format!("{} is none of the allowed ids", other.id));
    }
    match folded(rewritten) == folded(&resolved.content) {
        true => Ok(()),
        false => Err("it changes more than the names".to_owned()),
    }
}

fn is_self(name: &str) -> bool {
    let is_loud = name.len() > 1 && name.chars().all(char::is_uppercase);
    !is_loud && SELF.contains(&name.to_lowercase().as_str())
}
