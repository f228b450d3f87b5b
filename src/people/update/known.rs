//! Whom one conversation knows: the people whom it has met, and who asks. An owner alone knows everybody.

use super::task::Task;
use crate::visibility::{Visibility, VisiblePerson};
use selkie_tools::ToolError;

/// Lists whom the task's conversation knows.
pub(super) async fn known(task: &Task<'_>) -> Result<Vec<VisiblePerson>, ToolError> {
    let met = task.met().await?;
    let circle = Visibility { is_whole: task.view.is_whole, chat: task.view.chat.clone(), met };
    let mut all = circle.known(task.forms, &task.shelves().await?);
    for person in &task.by.asked.people {
        let id = person.id.as_str().to_owned();
        match all.iter_mut().find(|known| known.ids.contains(&id)) {
            Some(known) => known.names.push(person.name.clone()),
            None => all.push(VisiblePerson {
                names: vec![person.name.clone()],
                ids: vec![id],
                last: None,
            }),
        }
    }
    Ok(all)
}
