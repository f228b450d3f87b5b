//! `selkie store copy|unseal`: moves a whole life to another database.

mod target;

use std::path::Path;

use anyhow::Context as _;
use secrecy::SecretString;

use super::args::Store;
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::no_state;
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice, plan};
use selkie_app::ledger;
use selkie_app::lifecycle;
use selkie_app::telemetry;
use selkie_store::Ledger as _;
use selkie_store::copy::{TableCopy, copy, refuse_sealed, unseal};
use selkie_store::sql::SqlLedger;
use target::{Place, Target};

/// Copies or unseals.
pub fn store(binary: &Binary, chosen: &ConfigChoice, what: Store) -> Outcome {
    let config = plan(binary, chosen)?;
    telemetry::start(
        config.settings.logging.quieter(),
        &config.redactor,
        telemetry::colour(&binary.env),
    );
    if !config.has_state() {
        return Err(Failure::Failed(anyhow::anyhow!(no_state(&config))));
    }
    config.prepare()?;
    let runtime = lifecycle::runtime()?;
    match what {
        Store::Copy { to, password_file, verbose } => {
            let mistyped = |why: String| Failure::Usage(format!("{MADE}: {why}"));
            let password = password_file.map(|file| password(&binary.here.join(file))).transpose();
            let password = password.map_err(|why| mistyped(format!("{why:#}")))?;
            let place = Place::read(&config, &binary.here, &to, password).map_err(mistyped)?;
            Ok(runtime.block_on(copied(&config, place, verbose))?)
        }
        Store::Unseal => Ok(runtime.block_on(unsealed(&config))?),
    }
}

async fn copied(config: &AppConfig, place: Place, verbose: bool) -> anyhow::Result<()> {
    let instance = AppConfig::instance();
    let named = config.ledger_for(&instance);
    // The state folder is locked once: by the copy where that is made in it.
    let source = match place.is_in_the_state_folder() {
        true => ledger::open_without_folder(named),
        false => ledger::open_whatever(named),
    };
    let source = source.context("the store to copy cannot be opened")?;
    let moved = moved(config, &source, &place, &instance).await;
    source.close().await;
    print::prose(&told(&moved?, &place, verbose))?;
    Ok(())
}

/// What could not be.
const MADE: &str = "the copy cannot be made";

async fn moved(
    config: &AppConfig,
    source: &SqlLedger,
    place: &Place,
    instance: &str,
) -> anyhow::Result<Vec<TableCopy>> {
    // Before anything is made.
    refuse_sealed(source).await?;
    let target = Target::open(config, place, instance).await.context(MADE)?;
    let copied = copy(source, &target.ledger, &place.name(), config.now()).await;
    target.close(copied.is_ok()).await;
    Ok(copied?)
}

async fn unsealed(config: &AppConfig) -> anyhow::Result<()> {
    let ledger = ledger::open_whatever(config.ledger_for(&AppConfig::instance()))?;
    let was = unseal(&ledger).await;
    ledger.close().await;
    print::prose(match was? {
        true => "the store can be used again; leave its copy unused\n",
        false => "the store is not sealed: there was nothing to do\n",
    })?;
    Ok(())
}

fn password(file: &Path) -> anyhow::Result<SecretString> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the password in {} cannot be read", file.display()))?;
    Ok(SecretString::from(text.trim()))
}

fn told(copied: &[TableCopy], place: &Place, verbose: bool) -> String {
    let rows: Vec<Vec<String>> =
        copied.iter().map(|c| vec![c.table.to_owned(), c.rows.to_string()]).collect();
    let all: u64 = copied.iter().map(|c| c.rows).sum();
    format!(
        "{}{all} rows of {} tables are in {} now. The store they came from is sealed.\nTo use the copy: {}.\nTo go on with the old \
         store: run `selkie store unseal`, and leave the copy unused.\n",
        if verbose { print::table(&rows, print::width()) } else { String::new() },
        rows.len(),
        place.name(),
        place.to_use_it()
    )
}
