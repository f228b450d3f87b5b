//! Whom one conversation knows: who speaks there, and the contacts who were met there. An owner alone knows everybody.

use super::task::Task;
use crate::people::contacts::{Fields, keys};
use crate::tools::ToolError;

/// Somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// What people call them.
    pub names: Vec<String>,
    /// By which ids they are reached, the preferred first.
    pub ids: Vec<String>,
}

impl Known {
    /// Whether a name, a user name or an id is theirs.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        let last = |id: &str| {
            id.rsplit(':').next().map(|last| last.trim_start_matches('@').to_lowercase())
        };
        let by_name = |own: &String| {
            let own = own.to_lowercase();
            own == name || own.split_whitespace().next() == Some(&name)
        };
        let by_id = |id: &String| *id == name || last(id).as_deref() == Some(&name);
        !name.is_empty() && (self.names.iter().any(by_name) || self.ids.iter().any(by_id))
    }
}

/// Lists whom the task's conversation knows.
pub(super) async fn known(task: &Task<'_>) -> Result<Vec<Known>, ToolError> {
    let mut all: Vec<Known> = Vec::new();
    for fields in task.contacts().await? {
        let ids = ids(task, &fields);
        let is_met = task.view.is_whole || ids.contains(&task.view.chat);
        // A group's own id reaches nobody in particular, but an item may name it.
        if is_met && !ids.is_empty() {
            all.push(Known { names: names(&fields), ids });
        }
    }
    for person in &task.by.asked.people {
        let id = person.id.as_str().to_owned();
        match all.iter_mut().find(|known| known.ids.contains(&id)) {
            Some(known) => known.names.push(person.name.clone()),
            None => all.push(Known { names: vec![person.name.clone()], ids: vec![id] }),
        }
    }
    Ok(all)
}

fn ids(task: &Task<'_>, fields: &Fields) -> Vec<String> {
    let mut ids = task.forms.ids(fields);
    let own = fields.id().to_owned();
    if !ids.contains(&own) {
        ids.insert(0, own);
    }
    ids
}

fn names(fields: &Fields) -> Vec<String> {
    let aliases = fields.texts("aliases");
    fields.text(keys::NICKNAME).into_iter().chain(aliases).collect()
}
