//! Finds out in which era a server is spoken with, and what it says of itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::sleep;

use crate::ask::{Ask, Era, LEGACY, MODERN, client_info};
use crate::error::McpError;
use crate::link::Link;
use crate::listing::instructions;
use crate::open_calls::Answered;
use crate::text::short;

/// A program that says nothing for so long is asked in the older way, too: some leave unanswered what they do not know.
const PROBE: Duration = Duration::from_secs(10);
/// How long a program that has answered in the newer way after all may take to refuse the older one.
const SECOND: Duration = Duration::from_secs(2);
/// The protocol's numbers for refusals that only servers of the newer era know.
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Who answers, and how it is spoken with.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) era: Era,
    /// Its own name and version.
    pub(crate) server: String,
    pub(crate) instructions: Option<String>,
    /// It tells when its list of tools changes.
    pub(crate) tells_of_changes: bool,
}

impl Peer {
    /// Whether it is of the older era.
    pub(crate) fn is_legacy(&self) -> bool {
        matches!(self.era, Era::Legacy(_))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovery {
    supported_versions: Vec<String>,
    #[serde(default)]
    capabilities: Capabilities,
    instructions: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: DiscoveryMeta,
}

#[derive(Default, Deserialize)]
struct DiscoveryMeta {
    #[serde(default, rename = "io.modelcontextprotocol/serverInfo")]
    server: Implementation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    #[serde(default)]
    capabilities: Capabilities,
    instructions: Option<String>,
    #[serde(default)]
    server_info: Implementation,
}

#[derive(Default, Deserialize)]
struct Capabilities {
    #[serde(default)]
    tools: ToolCapability,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCapability {
    #[serde(default)]
    list_changed: bool,
}

#[derive(Default, Deserialize)]
struct Implementation {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

impl Implementation {
    fn shown(&self) -> String {
        short(format!("{} {}", self.name, self.version).trim(), 200)
    }
}

/// Shakes hands with a server. One that is known to be of the older era is asked in no other way.
///
/// # Errors
/// It is no server that we could speak with.
pub(crate) async fn shake(link: &Link, is_legacy: bool) -> Result<Peer, McpError> {
    if is_legacy {
        return initialize(link).await;
    }
    let discover = link.ask(Era::Modern, Ask::new("server/discover", json!({})));
    tokio::pin!(discover);
    let silence = async {
        match link {
            Link::Stdio(_) => sleep(PROBE).await,
            Link::Http(_) => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        answer = &mut discover => answer,
        () = silence => return ask_both(link, discover).await,
    };
    let answer = match answer {
        // It was asked for what it takes, and may have thought otherwise.
        Err(McpError::Refused { code: UNSUPPORTED_VERSION, versions, .. })
            if versions.iter().any(|version| version == MODERN) =>
        {
            link.ask(Era::Modern, Ask::new("server/discover", json!({}))).await
        }
        answer => answer,
    };
    match modern(answer)? {
        Some(peer) => Ok(peer),
        None => initialize(link).await,
    }
}

/// Asks in the older way, too, and takes the way that is answered.
async fn ask_both(
    link: &Link,
    mut discover: impl Future<Output = Answered> + Unpin,
) -> Result<Peer, McpError> {
    let initialize = initialize(link);
    tokio::pin!(initialize);
    let answer = tokio::select! {
        peer = &mut initialize => return peer,
        answer = &mut discover => answer,
    };
    let Ok(Some(peer)) = modern(answer) else { return initialize.await };
    // Whoever takes both speaks the older way from here on.
    match tokio::time::timeout(SECOND, initialize).await {
        Ok(Ok(legacy)) => Ok(legacy),
        Ok(Err(_)) | Err(_) => Ok(peer),
    }
}

/// Reads what a server makes of a request of the newer era; `None` where it is of the older one.
fn modern(answer: Answered) -> Result<Option<Peer>, McpError> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(McpError::Refused { code: UNSUPPORTED_VERSION, versions, .. }) => {
            return older(&versions);
        }
        Err(error @ McpError::Refused { code: HEADER_MISMATCH | MISSING_CAPABILITY, .. }) => {
            return Err(error);
        }
        Err(McpError::Refused { .. } | McpError::Status { status: 400..=499, .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let Ok(found) = serde_json::from_str::<Discovery>(answer.get()) else { return Ok(None) };
    if !found.supported_versions.iter().any(|version| version == MODERN) {
        return older(&found.supported_versions);
    }
    Ok(Some(Peer {
        era: Era::Modern,
        server: found.meta.server.shown(),
        instructions: instructions(found.instructions),
        tells_of_changes: found.capabilities.tools.list_changed,
    }))
}

fn older(versions: &[String]) -> Result<Option<Peer>, McpError> {
    match versions.iter().any(|version| LEGACY.contains(&version.as_str())) {
        true => Ok(None),
        false => {
            let versions = short(&versions.join(", "), 200);
            Err(McpError::Protocol(format!(
                "speaks no version of the protocol that selkie does ({versions})"
            )))
        }
    }
}

async fn initialize(link: &Link) -> Result<Peer, McpError> {
    let newest = LEGACY[0];
    let params = json!({
        "protocolVersion": newest,
        "capabilities": {},
        "clientInfo": client_info(),
    });
    let answer = link.ask(Era::Legacy(newest), Ask::new("initialize", params)).await?;
    let found: Initialized = serde_json::from_str(answer.get())
        .map_err(|error| McpError::Protocol(format!("sent no answer to the handshake: {error}")))?;
    let Some(version) = LEGACY.iter().find(|version| **version == found.protocol_version) else {
        let version = short(&found.protocol_version, 100);
        return Err(McpError::Protocol(format!(
            "speaks the version {version} of the protocol, which selkie does not"
        )));
    };
    let era = Era::Legacy(version);
    link.begin(era).await?;
    Ok(Peer {
        era,
        server: found.server_info.shown(),
        instructions: instructions(found.instructions),
        tells_of_changes: found.capabilities.tools.list_changed,
    })
}
