//! What is wrong with `schedules`: each says when, what and where, and names what is there.

use std::collections::BTreeSet;

use chrono::DateTime;
use selkie_channel_core::ChannelKit;

use crate::config::settings::Settings;
use crate::llm;
use crate::schedule::book::unknown_model;
use crate::schedule::fixed::{FixedSchedule, Wrong as WrongKey};
use crate::schedule::zone::Zone;

/// A key's path and what is wrong with its value.
pub type Wrong = (Vec<String>, String);

/// So many are taken.
const MOST: usize = 1_000;

/// Lists what is wrong; `judge` says it of a text that is to name a conversation.
pub fn problems(
    settings: &Settings,
    kits: &[ChannelKit],
    judge: &dyn Fn(&str) -> Option<String>,
) -> Vec<Wrong> {
    let all = &settings.schedules;
    let mut wrong = Vec::new();
    if all.is_empty() {
        return wrong;
    }
    if all.len() > MOST {
        wrong.push((path(&[]), format!("takes at most {MOST} schedules, not {}", all.len())));
        return wrong;
    }
    if settings.owners.is_empty() && !kits.is_empty() {
        let message = "are the first owner's, and `owners` is empty: write your id there";
        wrong.push((path(&[]), message.to_owned()));
    }
    let prices = llm::price_list(&settings.llm);
    let mut ids = BTreeSet::new();
    for (index, schedule) in all.iter().enumerate() {
        let at = index.to_string();
        let FixedSchedule { id, model, to, .. } = schedule;
        if !id.is_empty() && !ids.insert(id) {
            let message = format!("takes a name of its own: {id:?} is another schedule's, too");
            wrong.push((path(&[&at, "id"]), message));
        }
        let usual = settings.timezone.unwrap_or(Zone::UTC);
        if let Err(found) = schedule.read(usual, DateTime::UNIX_EPOCH) {
            wrong.extend(found.into_iter().map(|WrongKey { key, message }| match key {
                "" => (path(&[&at]), message),
                key => (path(&[&at, key]), message),
            }));
        }
        let model = model.as_deref().and_then(|model| unknown_model(model, &prices));
        wrong.extend(model.map(|message| (path(&[&at, "model"]), message)));
        let to = to.as_deref().and_then(judge);
        wrong.extend(to.map(|message| (path(&[&at, "to"]), message)));
    }
    wrong
}

fn path(keys: &[&str]) -> Vec<String> {
    std::iter::once(&"schedules").chain(keys).map(|key| (*key).to_owned()).collect()
}
