//! Finds out in which era a server is spoken with, and what it says of itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::ask::{Ask, Era, LEGACY, MODERN, client_info};
use crate::error::McpError;
use crate::link::Link;
use crate::open_calls::Reply;
use crate::text::{begin, short};

/// A program that says nothing for so long is asked in the older way: some leave unanswered what they do not know.
const PROBE: Duration = Duration::from_secs(10);
/// The protocol's numbers for refusals that only servers of the newer era know.
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;
/// Bytes of what a server says of itself, and of that to every model that uses it.
const MAX_HELLO: usize = 256 * 1024;
const MAX_INSTRUCTIONS: usize = 32 * 1024;

/// Who answers, and how it is spoken with.
pub(crate) struct Peer {
    pub(crate) era: Era,
    /// Its own name and version.
    pub(crate) server: String,
    pub(crate) instructions: String,
    /// It tells when its list of tools changes.
    pub(crate) tells_of_changes: bool,
}

/// What a server says of itself, in either era.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hello {
    supported_versions: Vec<String>,
    protocol_version: String,
    capabilities: Value,
    instructions: Option<String>,
    server_info: Value,
    #[serde(rename = "_meta")]
    meta: Value,
}

impl Hello {
    fn peer(self, era: Era) -> Peer {
        let info = match era {
            Era::Modern => &self.meta["io.modelcontextprotocol/serverInfo"],
            Era::Legacy(_) => &self.server_info,
        };
        let word = |key: &str| info[key].as_str().unwrap_or_default();
        let text = self.instructions.filter(|text| !text.trim().is_empty()).unwrap_or_default();
        Peer {
            era,
            server: short(&format!("{} {}", word("name"), word("version")), 200),
            instructions: begin(&text, MAX_INSTRUCTIONS).to_owned(),
            tells_of_changes: self.capabilities["tools"]["listChanged"] == true,
        }
    }
}

impl Peer {
    pub(crate) fn is_legacy(&self) -> bool {
        matches!(self.era, Era::Legacy(_))
    }
}

/// Shakes hands with a server. One that is known to be of the older era is asked in no other way.
pub(crate) async fn shake(link: &Link, is_legacy: bool) -> Result<Peer, McpError> {
    if is_legacy {
        return initialize(link).await;
    }
    let mut answer = discover(link).await;
    if matches!(&answer, Some(Err(McpError::Refused { code: UNSUPPORTED_VERSION, versions, .. })) if names(versions, &[MODERN]))
    {
        // It takes what it was asked in after all.
        answer = discover(link).await;
    }
    match answer.map(modern).transpose()?.flatten() {
        Some(peer) => Ok(peer),
        None => initialize(link).await,
    }
}

/// Asks in the newer way; `None` where a program is silent.
async fn discover(link: &Link) -> Option<Reply> {
    let asked = link.ask(Era::Modern, Ask::new("server/discover", json!({})));
    match link {
        Link::Stdio(_) => timeout(PROBE, asked).await.ok(),
        Link::Http(_) => Some(asked.await),
    }
}

/// Reads what a server makes of a request of the newer era; `None` where it is of the older one.
fn modern(answer: Reply) -> Result<Option<Peer>, McpError> {
    let hello: Hello = match answer {
        Ok(answer) => read(&answer).unwrap_or_default(),
        Err(McpError::Refused { code: UNSUPPORTED_VERSION, versions, .. }) => {
            Hello { supported_versions: versions, ..Hello::default() }
        }
        Err(error @ McpError::Refused { code: HEADER_MISMATCH | MISSING_CAPABILITY, .. }) => {
            return Err(error);
        }
        Err(McpError::Refused { .. } | McpError::Status { status: 400..=499, .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let versions = &hello.supported_versions;
    if names(versions, &[MODERN]) {
        return Ok(Some(hello.peer(Era::Modern)));
    }
    match versions.is_empty() || names(versions, &LEGACY) {
        true => Ok(None),
        false => Err(unknown_version(&versions.join(", "))),
    }
}

fn read(answer: &RawValue) -> Option<Hello> {
    let text = Some(answer.get()).filter(|text| text.len() <= MAX_HELLO)?;
    serde_json::from_str(text).ok()
}

fn names(versions: &[String], known: &[&str]) -> bool {
    versions.iter().any(|version| known.contains(&version.as_str()))
}

async fn initialize(link: &Link) -> Result<Peer, McpError> {
    let newest = LEGACY[0];
    let info = client_info();
    let params = json!({ "protocolVersion": newest, "capabilities": {}, "clientInfo": info });
    let answer = link.ask(Era::Legacy(newest), Ask::new("initialize", params)).await?;
    let none = || McpError::Protocol("sent no answer to the handshake".to_owned());
    let hello = read(&answer).ok_or_else(none)?;
    let version = LEGACY.iter().find(|version| **version == hello.protocol_version);
    let era = Era::Legacy(version.ok_or_else(|| unknown_version(&hello.protocol_version))?);
    link.begin(era).await?;
    Ok(hello.peer(era))
}

fn unknown_version(versions: &str) -> McpError {
    let versions = short(versions, 200);
    McpError::Protocol(format!("speaks the protocol in no version that selkie does ({versions})"))
}
