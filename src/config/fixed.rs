//! What is wrong with `schedules`: each says when, what and where, and names what is there. What is over is noted.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::problem::Wrong;
use crate::settings::Settings;
use crate::unprompted::Targets;
use selkie_llm as llm;
use selkie_schedule::book::unknown_model;
use selkie_schedule::fixed::{FixedSchedule, Wrong as WrongKey};
use selkie_schedule::zone::Zone;

/// So many are taken.
const MAX: usize = 1_000;

/// Lists what is wrong.
pub fn problems(settings: &Settings, targets: &Targets<'_>) -> Vec<Wrong> {
    let all = &settings.schedules;
    let mut wrong = Vec::new();
    if all.is_empty() {
        return wrong;
    }
    if all.len() > MAX {
        wrong.push((path(&[]), format!("takes at most {MAX} schedules, not {}", all.len())));
        return wrong;
    }
    let nobody = targets.nobody();
    if targets.owners.is_empty() {
        wrong.extend(nobody.as_ref().map(|why| (path(&[]), format!("are {why}"))));
    }
    let prices = llm::price_list(&settings.llm);
    let mut ids = BTreeSet::new();
    for (index, schedule) in all.iter().enumerate() {
        let at = index.to_string();
        let FixedSchedule { id, model, to, .. } = schedule;
        if !id.is_empty() && !ids.insert(id) {
            let message = format!("takes a unique name: {id:?} is already another schedule's");
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
        let unheard = nobody.as_ref().filter(|_| to.is_none() && !targets.owners.is_empty());
        wrong.extend(unheard.map(|why| (path(&[&at]), format!("is {why}"))));
        let to = to.as_deref().and_then(|to| targets.fault(to));
        wrong.extend(to.map(|message| (path(&[&at, "to"]), message)));
    }
    wrong
}

/// Says which of them come due no more: nothing is wrong with them, they are over.
pub fn over(settings: &Settings, usual: Zone, now: DateTime<Utc>) -> Vec<String> {
    let all = settings.schedules.iter().enumerate();
    let over = all.filter(|(_, schedule)| {
        schedule.read(usual, now).is_ok_and(|fixed| fixed.next_after(now).is_none())
    });
    over.map(|(index, FixedSchedule { id, .. })| {
        format!("schedules[{index}] ({id}) will not come due: all its times are in the past")
    })
    .collect()
}

fn path(keys: &[&str]) -> Vec<String> {
    std::iter::once(&"schedules").chain(keys).map(|key| (*key).to_owned()).collect()
}
