//! What can be wrong before the daemon runs and while it does: looked at from outside, nothing is changed.

mod auth_profiles;
mod certificates;
mod channels;
mod clock;
mod configured;
mod finding;
mod look;
mod machine;
mod memory;
mod models;
mod permissions;
mod running;
mod sandbox;
mod stored;
mod todos;

use std::sync::Arc;

use selkie_channel_core::Redactor;

use clock::Times;
use look::Look;
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_guard::visible::one_line;

pub use finding::{Finding, Level};

/// The service's usual name.
const SERVICE: &str = "selkie";

/// Looks at everything; the worst comes first.
pub async fn examine(binary: &Binary, chosen: &ConfigChoice) -> Vec<Finding> {
    let configured = configured::meant(binary, chosen).await;
    let configured::CheckedConfig { plan, mut findings, is_known } = configured;
    let mut looks = machine::looks(binary);
    let plan = plan.map(Arc::new);
    let mut times = Times::default();
    if let Some(plan) = &plan {
        let status = running::status(plan).await;
        // What a config with mistakes says of the zone is not in force before they are corrected.
        let config = plan.mistakes.is_none().then_some(plan.zone);
        times = Times { running: status.zone(), config };
        let zone = status.zone().unwrap_or(plan.zone);
        let restart = running::restart(&binary.env, SERVICE);
        findings.extend(running::findings(&status, zone, &restart));
        if is_known {
            looks.extend(of_plan(binary, plan, &status));
            looks.push(permissions::look(plan));
        }
    }
    let looked = look::all(looks).await;
    findings.extend(clock::findings(times, looked.iter().filter_map(|l| l.ahead)));
    findings.extend(looked.into_iter().flat_map(|looked| looked.findings));
    findings.sort_by_key(|finding| finding.level);
    let redactor = plan.map(|plan| plan.redactor.clone()).unwrap_or_default();
    findings.into_iter().map(|finding| cleaned(&redactor, finding)).collect()
}

/// Looks at one channel of a plan alone, as who sets it up asks.
pub async fn of_channel(binary: &Binary, plan: &AppConfig, name: &str) -> Vec<Finding> {
    let of = |finding: &Finding| finding.what == "channel" && finding.name == name;
    let looked = look::all(channels::looks(binary, plan, false)).await;
    let findings = looked.into_iter().flat_map(|looked| looked.findings);
    findings.filter(of).map(|finding| cleaned(&plan.redactor, finding)).collect()
}

/// Asks the models of a plan one short question each.
pub async fn of_models(plan: &AppConfig) -> Vec<Finding> {
    let looked = look::all(models::looks(plan)).await;
    let findings = looked.into_iter().flat_map(|looked| looked.findings);
    findings.map(|finding| cleaned(&plan.redactor, finding)).collect()
}

fn cleaned(redactor: &Redactor, finding: Finding) -> Finding {
    let clean = |text: &str| one_line(&redactor.clean(text));
    Finding { message: clean(&finding.message), advice: clean(&finding.advice), ..finding }
}

/// The looks that need a config.
fn of_plan(binary: &Binary, plan: &Arc<AppConfig>, status: &running::Status) -> Vec<Look> {
    let is_sound =
        |section: &str| plan.mistakes.as_ref().is_none_or(|mistakes| !mistakes.concern(section));
    let mut looks = channels::looks(binary, plan, status.is_up());
    if is_sound("llm") {
        looks.extend(models::looks(plan));
    }
    looks.extend(certificates::looks(plan, status.zone().unwrap_or(plan.zone)));
    if is_sound("store") {
        looks.push(stored::look(plan, status));
    }
    looks.extend(auth_profiles::looks(plan));
    looks.push(todos::look(&plan.folders.state, plan.clock()));
    looks.push(memory::look(&plan.folders.state));
    looks.push(sandbox::look(plan));
    let folders = [("state", &plan.folders.state), ("cache", &plan.folders.cache)];
    looks.extend(folders.map(|(name, path)| machine::disk(name, path)));
    looks
}
