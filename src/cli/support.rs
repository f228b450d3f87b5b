//! `selkie support-bundle`: one file for whoever helps, without secrets and without anybody's words.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::built;
use super::outcome::{Failure, Outcome};
use super::print;
use selkie_app::Binary;
use selkie_app::backup::engine;
use selkie_app::build::{AppConfig, ConfigChoice, plan_of_sound, sources};
use selkie_app::client::RunningDaemon;
use selkie_app::lifecycle;
use selkie_app::running_config::{ConfigTarget, NAME_IT, meant};
use selkie_config::{read, show};
use selkie_ops::doctor::examine;
use selkie_ops::support::{Piece, end_of_log, without_names, without_words, write};
use selkie_store::snapshot;

/// How long the daemon may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// `selkie support-bundle`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie support-bundle selkie-support.tar.gz
  selkie support-bundle selkie-support.tar.gz --log /var/log/selkie.log

The bundle contains no secrets and nothing that people or the bot have said. It does contain ids of people and chats and paths of \
this machine. Look through it before you send it: tar xzf selkie-support.tar.gz

Exit codes: 0 the bundle was written · 1 it could not be written · 2 the command line or the config is wrong")]
pub struct SupportArgs {
    /// The file to write
    pub file: PathBuf,
    /// selkie's log file: the end of it goes into the bundle, with secrets replaced; ids and paths stay
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Print what is in it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Makes the bundle, and says what is in it.
pub fn support(binary: &Binary, chosen: &ConfigChoice, args: &SupportArgs) -> Outcome {
    let runtime = lifecycle::runtime()?;
    let chosen = &runtime.block_on(meant_by(binary, chosen))?;
    // What of a config with mistakes is sound hides its secrets; one that cannot be read at all hides none.
    let config = plan_of_sound(binary, chosen)?;
    let findings = runtime.block_on(examine(binary, chosen));
    let status = runtime.block_on(status(&config));
    let log = args.log.as_ref().map(|log| end_of_log(&binary.here.join(log))).transpose()?;
    let clean = &config.redactor;
    let mut pieces = vec![
        Piece::of("versions.json", "versions, and what is built in", &versions(binary), clean)?,
        Piece::of(
            "config.json",
            "the config in effect, secrets as [set]",
            &shown(binary, chosen)?,
            clean,
        )?,
        Piece::of("doctor.json", "what `selkie doctor` finds", &findings, clean)?,
        Piece::of("status.json", "how the daemon is doing", &without_names(status), clean)?,
        Piece::of("store.json", "version and row counts of the store", &stored(&config), clean)?,
    ];
    pieces.extend(log.map(|log| Piece::text("log.txt", "the end of the log", &log, clean)));
    let to = binary.here.join(&args.file);
    write(&to, args.force, &pieces)?;
    if args.json {
        return Ok(print::json(&json!({ "file": to, "holds": pieces }))?);
    }
    let row = |piece: &Piece| {
        vec![piece.name.to_owned(), format!("{} bytes", piece.bytes), piece.what.to_owned()]
    };
    let rows: Vec<Vec<String>> = pieces.iter().map(row).collect();
    Ok(print::prose(&format!(
        "{} contains:\n{}It contains no secrets and no messages, but ids of people and chats, and paths of this machine. Look through \
         it before you send it.\n",
        to.display(),
        print::table(&rows, print::width())
    ))?)
}

/// Chooses the config of the daemon that runs, where no other was named or found.
async fn meant_by(binary: &Binary, chosen: &ConfigChoice) -> Result<ConfigChoice, Failure> {
    match meant(binary, chosen).await {
        ConfigTarget::Chosen => Ok(chosen.clone()),
        ConfigTarget::Daemons { chosen, message } => {
            print::told(&format!("selkie: {message}"));
            Ok(chosen)
        }
        ConfigTarget::Unknown(says) => Err(Failure::Failed(anyhow::anyhow!("{says}: {NAME_IT}"))),
    }
}

fn versions(binary: &Binary) -> Value {
    let system = rustix::system::uname();
    json!({
        "selkie": built::version(binary).lines().collect::<Vec<_>>(),
        "schema": snapshot::NEWEST,
        "system": system.sysname().to_string_lossy(),
        "release": system.release().to_string_lossy(),
        "machine": system.machine().to_string_lossy(),
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
        "service": binary.env.contains_key("INVOCATION_ID"),
    })
}

fn shown(binary: &Binary, chosen: &ConfigChoice) -> Result<Value, Failure> {
    let reading = read(&sources(binary, chosen), &binary.kits)?;
    let lines = serde_json::to_value(show::lines(&reading)).map_err(anyhow::Error::from)?;
    Ok(without_words(lines))
}

/// How the daemon stands, or that none runs.
async fn status(config: &AppConfig) -> Value {
    let asked = async {
        match RunningDaemon::find(&config.tls, &config.folders.state).await? {
            Some(daemon) => daemon.status().await,
            None => Ok(json!({ "runs": false })),
        }
    };
    match timeout(TIMEOUT, asked).await {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => json!({ "runs": true, "trouble": format!("{error:#}") }),
        Err(_) => json!({ "runs": true, "trouble": "it has not answered for 10 s" }),
    }
}

/// What the store holds, as numbers; why it cannot be read is worth as much.
fn stored(config: &AppConfig) -> Value {
    let counted = || -> anyhow::Result<Value> {
        if config.mistakes.as_ref().is_some_and(|mistakes| mistakes.concern("store")) {
            anyhow::bail!("the config has mistakes: see doctor.json");
        }
        let source = config.source().map_err(anyhow::Error::msg)?;
        let engine = engine(&source.database);
        let found = snapshot::look(source)?;
        let rows: serde_json::Map<String, Value> =
            found.tables.iter().map(|table| (table.table.to_owned(), json!(table.rows))).collect();
        Ok(json!({ "engine": engine, "version": found.version, "rows": rows }))
    };
    counted().unwrap_or_else(|error| json!({ "trouble": format!("{error:#}") }))
}
