//! The look at the store: whether it can be opened, is whole, and of which version it is. Nothing is taken and nothing
//! is brought up to date.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::finding::Finding;
use super::look::Look;
use super::running::{Status, held};
use selkie_app::build::AppConfig;
#[cfg(feature = "postgres")]
use selkie_app::ledger;
use selkie_domain::count::sized;
use selkie_store::database::Database;
use selkie_store::sqlite::{self, holder};

const WHAT: &str = "store";
/// So long a file is looked through.
const TIMEOUT: Duration = Duration::from_secs(6);

/// Looks at the file, or at the server's database.
pub fn look(plan: &Arc<AppConfig>, status: &Status) -> Look {
    let plan = Arc::clone(plan);
    let runs = status.is_up();
    Look::here(WHAT, move || match Database::read(&plan.settings.store) {
        Ok(Database::Own) => own(&plan.folders.state, runs),
        #[cfg(feature = "postgres")]
        Ok(Database::Postgres(address)) => remote(*address, &plan, runs),
        Err(why) => vec![Finding::error(WHAT, format!("store.url {why}"), "correct it")],
    })
}

fn own(state: &Path, runs: bool) -> Vec<Finding> {
    let file = state.join("selkie.db");
    let lock = state.join("selkie.lock");
    if runs {
        // Who has it open answers for it.
        let message = "the running selkie has it open; stop selkie to check all of it";
        return vec![Finding::fine(WHAT, message)];
    }
    if let Some(who) = holder(&lock) {
        let message = format!("{who} holds it and does not answer at its socket");
        let advice = "stop that process, or name another folder with --state";
        return vec![Finding::error(WHAT, message, advice)];
    }
    if !file.exists() {
        let message = format!("there is none yet: selkie run creates {}", file.display());
        return vec![Finding::fine(WHAT, message)];
    }
    match sqlite::examine(&file, TIMEOUT) {
        Ok(found) => {
            let whole = if found.is_through {
                "is whole"
            } else {
                "shows no damage as far as there was time to check"
            };
            let message = format!(
                "{} {whole} ({}{})",
                file.display(),
                sized(found.bytes),
                steps(found.version, found.newest)
            );
            let held = found.restored.as_ref().map(|restored| held(WHAT, restored));
            held.into_iter().chain([Finding::fine(WHAT, message)]).collect()
        }
        Err(error) => {
            vec![Finding::error(WHAT, error.to_string(), "do so before selkie is started")]
        }
    }
}

fn steps(version: i64, newest: i64) -> String {
    match version == newest {
        true => format!(", version {version}"),
        false => format!(", version {version}: the next start copies it and brings it to {newest}"),
    }
}

#[cfg(feature = "postgres")]
fn remote(address: selkie_store::postgres::Address, plan: &AppConfig, runs: bool) -> Vec<Finding> {
    let who = ledger::opener(&AppConfig::instance());
    match selkie_store::postgres::examine(address, who, &plan.tls) {
        Ok(found) => {
            let tables = match found.version {
                Some(version) => steps(version, found.newest),
                None => ", no tables yet: selkie run makes them".to_owned(),
            };
            let message = format!("PostgreSQL {} can be used{tables}", found.server);
            // A daemon that runs says it itself.
            let held = found.restored.filter(|_| !runs).map(|restored| held(WHAT, &restored));
            held.into_iter().chain([Finding::fine(WHAT, message)]).collect()
        }
        Err(error) => vec![Finding::error(
            WHAT,
            error.to_string(),
            "check store.url, store.password_file and the server; the message says what is wrong",
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_file_that_is_none_of_ours_is_an_error_and_no_file_is_fine() {
        let state = tempfile::tempdir().unwrap();
        let own = |runs| own(state.path(), runs).swap_remove(0);
        let found = own(false);
        assert!(found.level == Level::Fine && found.message.contains("none yet"), "{found:?}");
        std::fs::write(state.path().join("selkie.db"), "no database").unwrap();
        assert_eq!(own(false).level, Level::Error);
        assert_eq!(own(true).level, Level::Fine);
    }
}
