//! `selkie webhooks`: what other services may call, and a call to try one.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Subcommand;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::outcome::{Failure, Outcome};
use super::print;
use super::request::quiet;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::{Binary, http, lifecycle};
use selkie_config::problem::one_of;
use selkie_guard::visible::one_line;
use selkie_hooks::{Action, Endpoint, Sample, sample};

/// The largest payload, and more than a daemon answers.
const MAX: u64 = 1024 * 1024;
/// How long the daemon may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// `selkie webhooks`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie webhooks list
  selkie webhooks test deploy
  selkie webhooks test github --payload pull_request.json

`test` signs a call as the service would, and sends it to the running daemon: the webhook does what it always does. Hooks are \
written into the config (webhooks.hooks).

Exit codes: 0 done, taken · 1 not taken · 2 the command line or the config is wrong")]
pub enum Webhooks {
    /// List the webhooks of the config
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Call a webhook as its service would, and print what the running daemon answers
    Test {
        /// Its name in the config
        name: String,
        /// A file with what to send [default: a made-up payload]
        #[arg(long, value_name = "FILE")]
        payload: Option<PathBuf>,
    },
}

/// Lists hooks, or calls one.
pub fn webhooks(binary: &Binary, chosen: &ConfigChoice, what: Webhooks) -> Outcome {
    let plan = quiet(binary, chosen)?;
    match what {
        Webhooks::List { json } => list(&plan, json),
        Webhooks::Test { name, payload } => {
            test(&plan, &name, payload.map(|file| binary.here.join(file)))
        }
    }
}

fn list(plan: &AppConfig, json: bool) -> Outcome {
    let all = plan.settings.webhooks.endpoints();
    if json {
        let rows: Vec<Value> = all.iter().map(|hook| row(hook)).collect();
        return Ok(print::json(&rows)?);
    }
    if all.is_empty() {
        return Ok(print::prose(
            "There are no webhooks: write them into the config (webhooks.hooks; see selkie config example).\n",
        )?);
    }
    let listen = plan.settings.webhooks.listen.as_deref().unwrap_or("nowhere");
    let lines: String = all.iter().map(|hook| line(hook)).collect();
    Ok(print::out(&print::hanging(
        &format!("They are taken at {listen}.\n{lines}"),
        print::width(),
    ))?)
}

fn row(hook: &Endpoint) -> Value {
    let (prompt, words) = match &hook.action {
        Action::Prompt(prompt) => (Some(prompt.clone()), None),
        Action::Words(words) => (None, Some(words.to_string())),
    };
    json!({
        "name": hook.name,
        "path": hook.path,
        "hmac": hook.form,
        "events": hook.events,
        "prompt": prompt,
        "words": words,
        "to": hook.to,
        "tools": hook.tools,
    })
}

fn line(hook: &Endpoint) -> String {
    let does = match &hook.action {
        Action::Prompt(prompt) => format!("asks “{}”", one_line(prompt)),
        Action::Words(words) => format!("says “{}”", one_line(&words.to_string())),
    };
    let to = hook.to.as_deref().map_or_else(String::new, |to| format!(" · to {to}"));
    let list = |what: &str, of: &[String]| match of {
        [] => String::new(),
        of => format!(" · {what} {}", of.join(", ")),
    };
    let events = list("on", &hook.events);
    let tools = list("with", &hook.tools);
    let form = json!(hook.form);
    let form = form.as_str().unwrap_or_default();
    format!("{} · POST {} · {form}{events} · {does}{tools}{to}\n", hook.name, hook.path)
}

fn test(plan: &AppConfig, name: &str, payload: Option<PathBuf>) -> Outcome {
    let all = plan.settings.webhooks.endpoints();
    let Some(hook) = all.iter().find(|hook| hook.name == name) else {
        let names: Vec<String> = all.iter().map(|hook| hook.name.clone()).collect();
        return Err(Failure::Usage(format!(
            "takes the name of a webhook ({}), not {name:?}",
            one_of(&names)
        )));
    };
    let payload = payload.map(|file| read(&file)).transpose()?;
    let address = plan.settings.webhooks.address().map_err(Failure::Usage)?;
    // One that is every address leads to this machine.
    let Some(address) = address.filter(|address| address.port() != 0) else {
        let says = "webhooks.listen names no port: write one, such as 127.0.0.1:8787";
        return Err(Failure::Usage(says.to_owned()));
    };
    let id = uuid::Uuid::now_v7().simple().to_string();
    let call = sample(hook, payload, &id, plan.now());
    lifecycle::runtime()?.block_on(send(plan, address, hook, call))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let told = |why: String| Failure::Usage(format!("--payload {}: {why}", file.display()));
    let length = file.metadata().map_err(|error| told(error.to_string()))?.len();
    if length > MAX {
        return Err(told("is larger than 1 MiB, and so refused by every webhook".to_owned()));
    }
    std::fs::read(file).map_err(|error| told(error.to_string()))
}

/// Sends a call, and prints what is answered.
async fn send(plan: &AppConfig, address: SocketAddr, hook: &Endpoint, call: Sample) -> Outcome {
    let client = http::client(&plan.tls)?;
    let request = client.post(format!("http://{address}{}", hook.path)).timeout(TIMEOUT);
    let request =
        call.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
    let answered = request.body(call.body).send().await.map_err(reqwest::Error::without_url);
    let mut answer = answered.with_context(|| {
        format!("nothing answers at {address}: start selkie (selkie run), which listens there")
    })?;
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        body.extend_from_slice(&part);
        if body.len() as u64 > MAX {
            return Err(anyhow!("what answers at {address} is not selkie").into());
        }
    }
    let says: Value = serde_json::from_slice(&body).unwrap_or_default();
    print::prose(&format!("{} {}\n", status.as_u16(), told(status, &says)))?;
    if status.is_success() { Ok(()) } else { Err(Failure::Told) }
}

fn told(status: StatusCode, says: &Value) -> String {
    let task = says["task"].as_i64();
    let why = says["error"].as_str().or_else(|| says["ignored"].as_str()).map(one_line);
    match (status.as_u16(), task, why) {
        (202, Some(task), _) => {
            format!("taken: task {task} (selkie trace {task} shows what came of it)")
        }
        (200, Some(task), _) => format!("taken before: task {task}"),
        (401, ..) => "the daemon knows another secret: selkie reload".to_owned(),
        (404, ..) => "the daemon does not know this webhook: selkie reload".to_owned(),
        (_, _, Some(why)) => why,
        _ => "what answers is not selkie, or another version".to_owned(),
    }
}
