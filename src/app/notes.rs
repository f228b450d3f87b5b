//! What is right in a config and still may not be what its writer wants.

use selkie_channel_core::Channel;

use crate::build::AppConfig;
use selkie_config::fixed;
use selkie_domain::facts::Trust;
use selkie_sandbox::{Boundary, Mode};
use selkie_store::sqlite;
use selkie_store::value::Value;

/// Says it, a sentence each.
pub fn notes(plan: &AppConfig) -> Vec<String> {
    let mut notes = plan.notes.clone();
    let is_owned = !plan.settings.owners.is_empty() || was_paired(plan);
    if plan.channels.is_empty() {
        notes.push(
            "no channel is configured: `selkie run` has nothing to listen to, and ends".to_owned(),
        );
    } else if !is_owned
        && plan.channels.iter().any(|c| c.receiver.is_some())
        && plan.channels.iter().filter(|c| c.receiver.is_some()).all(|c| c.allow.is_empty())
    {
        notes.push(
            "the bot would answer only people who were paired: owners and all allow lists are empty. Run selkie pair \
             to become its owner, or write to the bot: it tells you your id for owners"
                .to_owned(),
        );
    }
    let lets_in = plan.channels.iter().any(|c| c.receiver.is_some() && !c.allow.is_empty());
    if !is_owned && lets_in {
        notes.push(
            "owners is empty: only owners who were paired can approve anything, so calls that need approval are \
             refused. Run selkie pair to become an owner, or write to the bot: it tells you your id for owners"
                .to_owned(),
        );
    }
    notes.extend(fixed::over(&plan.settings, plan.zone, plan.now()));
    if plan.settings.workspace.shared && plan.settings.workspace.dir.is_none() {
        notes.push("workspace.shared does nothing without workspace.dir".to_owned());
    }
    notes.extend(unheld(plan));
    notes.extend(without_folder(&plan.settings.skills.folders));
    for (key, places) in [("places", &plan.settings.places), ("groups", &plan.settings.groups)] {
        for place in places.keys().filter(|place| !is_heard(plan, place)) {
            notes.push(format!(
                "{key}.{place} is on no channel's allow list: only owners are answered there"
            ));
        }
    }
    if let Some(dir) = plan.settings.workspace.dir.as_ref().filter(|dir| !dir.exists()) {
        notes.push(format!(
            "workspace.dir {} does not exist yet: selkie will create it",
            dir.display()
        ));
    }
    notes
}

/// Folders of skills that are not there.
fn without_folder(folders: &[std::path::PathBuf]) -> impl Iterator<Item = String> {
    let missing = folders.iter().enumerate().filter(|(_, folder)| !folder.is_dir());
    missing.map(|(index, folder)| {
        let folder = folder.display();
        format!(
            "skills.folders.{index} is {folder}, which is no folder: no skill is looked for there"
        )
    })
}

/// Why commands in the workspace run without the sandbox, or not at all.
fn unheld(plan: &AppConfig) -> Option<String> {
    let sandbox = &plan.settings.sandbox;
    let workspace = plan.settings.workspace.dir.clone().into_iter().collect();
    let mut closed = plan.ours.all();
    closed.push(plan.folders.cache.clone());
    let error = Boundary::new(sandbox, workspace, closed, true).err()?;
    let effect = match sandbox.mode {
        Mode::Off => return None,
        Mode::Auto => "owners' commands run without the sandbox, and nobody else's run",
        Mode::Required => "commands do not run",
    };
    Some(format!(
        "{effect}: {error}. Choose another workspace.dir, or take that folder out of sandbox.write"
    ))
}

/// Whether others than owners are answered in a place, or it is an owner's own private chat. A topic is heard with its chat.
fn is_heard(plan: &AppConfig, place: &str) -> bool {
    let on_list = |channel: &Channel| {
        let chat = channel.address.parse(place).map(|topic| channel.address.place(&topic));
        channel.allow.is_everyone()
            || channel.allow.names(place)
            || chat.is_some_and(|chat| channel.allow.names(chat.key()))
    };
    plan.settings.owners.iter().any(|owner| owner == place) || plan.channels.iter().any(on_list)
}

/// Whether somebody became an owner by a code, as far as the state folder tells: a database elsewhere is not asked.
fn was_paired(plan: &AppConfig) -> bool {
    let database = plan.folders.state.join("selkie.db");
    if plan.settings.store.url.is_some() || !database.exists() {
        return false;
    }
    let owner = "SELECT 1 FROM paired WHERE trust = ?1";
    // What cannot be read now is told where it is needed.
    sqlite::read_beside(&database, |tx| tx.exists(owner, &[Value::from(Trust::Owner.name())]))
        .unwrap_or(false)
}
