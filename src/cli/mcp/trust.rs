//! `selkie mcp trust`: shows an owner everything that a server offers, and keeps the yes.

use super::super::confirm::{agreed, unasked};
use super::super::outcome::{Failure, Outcome};
use super::super::print;
use super::super::request::reloaded;
use selkie_app::build::AppConfig;
use selkie_app::lifecycle;
use selkie_guard::visible::one_line;
use selkie_mcp::pins::PinFolder;
use selkie_mcp::review::{differing, whole};
use selkie_mcp::{McpError, ServerList};
use selkie_sandbox::Mode;

/// Shows what a server offers now, and keeps what is agreed to.
pub(super) fn trust(plan: &AppConfig, name: &str, yes: Option<&str>) -> Outcome {
    let offered = offered(plan, name)?;
    let now = &offered.offer;
    let pins = PinFolder::of(&plan.folders.state);
    // What cannot be read was never agreed to.
    let before = pins.agreed(name).ok().flatten();
    let hash = now.hash();
    if before.as_ref().is_some_and(|before| before.differences(now).is_empty()) {
        pins.agree(name, now)?;
        return Ok(print::prose(&format!(
            "{name} offers what you agreed to, hash {}.\n",
            short(&hash)
        ))?);
    }
    let text = match &before {
        Some(before) => differing(name, before, now),
        None => whole(name, now),
    };
    print::out(&plan.redactor.clean(&text))?;
    print::out(&left_out(&offered))?;
    print::out(&format!("\nhash {hash}\n"))?;
    match yes {
        Some(given) if hash.starts_with(given) && given.len() >= SHORT => {}
        Some(given) => {
            return Err(Failure::Failed(anyhow::anyhow!(
                "{name} offers something else than {given:?}: nothing was agreed to"
            )));
        }
        None => agreed(&format!("Agree to what {name} offers?"), || {
            let otherwise =
                format!("look at it, then run selkie mcp trust {name} --yes {}", short(&hash));
            unasked("selkie mcp trust", &otherwise)
        })?,
    }
    pins.agree(name, now)?;
    Ok(print::prose(&told(plan, name)?)?)
}

/// What may keep a program from starting.
const HINT: &str = "in the sandbox it reads the system's programs and what its command line names by a whole path: open more \
    with sandbox.read, or take this server out of it with `sandbox: off` beside its command";

/// Characters of a hash that name it.
const SHORT: usize = 12;

fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

fn offered(plan: &AppConfig, name: &str) -> anyhow::Result<ServerList> {
    lifecycle::runtime()?.block_on(async {
        let list = plan.mcp.connections.list(name).await;
        plan.mcp.connections.end().await;
        list.map_err(|error| with_hint(plan, name, error))
    })
}

/// Says of a server that does not start what may keep it from that.
pub(super) fn with_hint(plan: &AppConfig, name: &str, error: McpError) -> anyhow::Error {
    let is_held = plan.sandbox.of(true, |_| false).is_in_force();
    let settings = plan.settings.mcp.servers.get(name);
    let is_held = is_held && settings.is_some_and(|s| s.sandbox != Some(Mode::Off));
    match error {
        McpError::NotStarted(_) if is_held => anyhow::anyhow!("{error}\n{HINT}"),
        error => error.into(),
    }
}

/// Names what cannot be a tool here, whatever an owner says.
fn left_out(list: &ServerList) -> String {
    let mut text = String::new();
    for tool in &list.unlisted {
        text.push_str(&format!("\nleft out: {}: {}", one_line(&tool.name), one_line(&tool.why)));
    }
    let more = list.unlisted_count.saturating_sub(list.unlisted.len());
    if more > 0 {
        text.push_str(&format!("\nleft out: {more} more"));
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Has the daemon use it, and says what became of that.
fn told(plan: &AppConfig, name: &str) -> anyhow::Result<String> {
    Ok(match reloaded(plan)? {
        None => format!(
            "Agreed. The tools of {name} are there from the next start on: selkie tools list\n"
        ),
        Some(Ok(_)) => format!("Agreed. The running selkie has the tools of {name} now.\n"),
        Some(Err(why)) => format!("Agreed, but the running selkie did not reload: {why}\n"),
    })
}
