//! `selkie store copy|unseal`: moves a whole life to another database.

use std::path::Path;

use anyhow::{Context as _, bail};
use secrecy::SecretString;

use super::args::Store;
use super::outcome::Outcome;
use super::print;
use crate::daemon::build::{AppConfig, Chosen, plan};
use crate::daemon::{Binary, ledger, lifecycle, telemetry};
use crate::store::Ledger as _;
use crate::store::copy::{Copied, copy, seal};
use crate::store::database::Database;
use crate::store::open;
use crate::store::settings::Settings;
use crate::store::sql::SqlLedger;

/// Copies or unseals.
pub fn store(binary: &Binary, chosen: &Chosen, what: Store) -> Outcome {
    let config = plan(binary, chosen)?;
    telemetry::start(
        config.settings.logging.quieter(),
        &config.redactor,
        telemetry::colour(&binary.env),
    );
    config.prepare()?;
    let runtime = lifecycle::runtime()?;
    match what {
        Store::Copy { to, password_file } => {
            let password =
                password_file.map(|file| password(&binary.here.join(file))).transpose()?;
            Ok(runtime.block_on(copied(&config, &binary.here, &to, password))?)
        }
        Store::Unseal => Ok(runtime.block_on(unsealed(&config))?),
    }
}

async fn copied(
    config: &AppConfig,
    here: &Path,
    to: &str,
    password: Option<SecretString>,
) -> anyhow::Result<()> {
    let instance = AppConfig::instance();
    let source = ledger::open_whatever(config.ledger_for(&instance)).context("from")?;
    let target = target(config, here, to, password, &instance).context("to")?;
    let Target { ledger: target, name } = target;
    let copied = copy(&source, &target, &name, config.now()).await;
    source.close().await;
    target.close().await;
    print::out(&table(&copied?, &name))?;
    Ok(())
}

async fn unsealed(config: &AppConfig) -> anyhow::Result<()> {
    let ledger = ledger::open_whatever(config.ledger_for(&AppConfig::instance()))?;
    let unsealed = seal(&ledger, None).await;
    ledger.close().await;
    unsealed?;
    print::out("the store can be used again\n")?;
    Ok(())
}

/// Where to.
struct Target {
    ledger: SqlLedger,
    /// As it is told, without a password.
    name: String,
}

fn target(
    config: &AppConfig,
    here: &Path,
    to: &str,
    password: Option<SecretString>,
    instance: &str,
) -> anyhow::Result<Target> {
    if !to.contains("://") {
        let file = here.join(to);
        if file.exists() {
            bail!("{} is there already: name a file that does not exist yet", file.display());
        }
        let name = file.display().to_string();
        return Ok(Target { ledger: open::own(&file)?, name });
    }
    let url = Some(SecretString::from(to));
    let settings = Settings { url, password, ..Settings::default() };
    match Database::read(&settings).map_err(|why| anyhow::anyhow!("it {why}"))? {
        Database::Own => bail!("it names no database"),
        #[cfg(feature = "postgres")]
        Database::Postgres(address) => {
            let name = address.to_string();
            let opener = ledger::opener(instance);
            let ledger = open::remote(*address, opener, &config.tls, None)?;
            Ok(Target { ledger, name })
        }
    }
}

fn password(file: &Path) -> anyhow::Result<SecretString> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the password in {} cannot be read", file.display()))?;
    Ok(SecretString::from(text.trim()))
}

fn table(copied: &[Copied], name: &str) -> String {
    let rows: Vec<Vec<String>> =
        copied.iter().map(|c| vec![c.table.to_owned(), c.rows.to_string()]).collect();
    let all: u64 = copied.iter().map(|c| c.rows).sum();
    format!(
        "{}{all} rows are in {name} now. The store they came from is sealed: set store.url to use the copy, or run \
         `selkie store unseal` to go on with the old one\n",
        print::table(&rows)
    )
}
