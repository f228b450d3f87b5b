//! What is asked of one server: its list, page by page, and calls, until they have an answer or their time is over.

use std::sync::Arc;
use std::time::Duration;

use selkie_domain::span::Span;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until, timeout};

use crate::ask::Ask;
use crate::call::CallContext;
use crate::connection::Connection;
use crate::error::McpError;
use crate::link::Link;
use crate::listing::{Listing, ServerList};
use crate::outcome::{self, CallOutcome};
use crate::param_headers;
use crate::pins::PinnedList;
use crate::server::Server;

/// How often a server may have the same call made again before it answers.
const MAX_ROUNDS: usize = 10;

pub(crate) async fn list(server: &Arc<Server>) -> Result<ServerList, McpError> {
    let asked = || within_its_time(server, list_on);
    let listed = match asked().await {
        Err(McpError::SessionLost) => asked().await,
        listed => listed,
    };
    listed.map_err(|error| server.explain(error))
}

async fn list_on(connection: &Connection) -> Result<ServerList, McpError> {
    let peer = &connection.peer;
    let offer = PinnedList {
        protocol: peer.era.version().to_owned(),
        instructions: peer.instructions.clone(),
        tools: Vec::new(),
    };
    let list = ServerList { server: peer.server.clone(), offer, ..ServerList::default() };
    let has_headers = matches!(connection.link, Link::Http(_)) && !peer.is_legacy();
    let mut listing = Listing::new(list, has_headers);
    let mut params = json!({});
    loop {
        let page = connection.link.ask(peer.era, Ask::new("tools/list", params)).await?;
        match listing.page(&page)? {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok(listing.done()),
        }
    }
}

/// Calls a tool of a server. What is not waited for any more is called off.
pub(crate) async fn call(
    server: &Arc<Server>,
    tool: &str,
    arguments: &Map<String, Value>,
    of: &CallContext,
) -> Result<CallOutcome, McpError> {
    let CallContext { cancel, deadline, .. } = of;
    let call = async |connection: &Connection| call_on(connection, tool, arguments, of).await;
    // What is left of somebody's time is no round number.
    let left = deadline.saturating_duration_since(Instant::now()).as_secs().max(1);
    let called = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(McpError::Cancelled),
        // Only a server that keeps to the protocol has done nothing when its session is lost: whoever called decides
        // whether to call again.
        called = within_its_time(server, call) => called,
        () = sleep_until(*deadline) => Err(McpError::Late(Span(Duration::from_secs(left)))),
    };
    called.map_err(|error| server.explain(error))
}

/// Asks a server for as long as its settings say, once it has started.
async fn within_its_time<T>(
    server: &Arc<Server>,
    ask: impl AsyncFnOnce(&Connection) -> Result<T, McpError>,
) -> Result<T, McpError> {
    let connection = server.connection().await?;
    let most = server.way.settings.timeout;
    let asked = timeout(most.0, ask(&connection)).await.unwrap_or(Err(McpError::Late(most)));
    if matches!(asked, Err(McpError::SessionLost)) {
        server.retire(&connection);
    }
    asked
}

async fn call_on(
    connection: &Connection,
    tool: &str,
    arguments: &Map<String, Value>,
    of: &CallContext,
) -> Result<CallOutcome, McpError> {
    let mut more = of.answers.clone();
    for _ in 0..MAX_ROUNDS {
        let mut ask = Ask::new("tools/call", json!({ "name": tool, "arguments": arguments }));
        ask.params.extend(more);
        ask.progress = Some(Arc::clone(&of.progress));
        if let Link::Http(_) = &connection.link {
            ask.headers = param_headers::of_call(tool, of.schema.as_deref(), arguments);
        }
        let answer = connection.link.ask(connection.peer.era, ask).await?;
        match outcome::read(&answer, !connection.peer.is_legacy())? {
            // It only wants to be called once more.
            CallOutcome::Asks(asks) if asks.questions.is_empty() => {
                more = Map::new();
                more.insert("requestState".to_owned(), json!(asks.request_state));
            }
            outcome => return Ok(outcome),
        }
    }
    Err(McpError::Protocol("does not come to an answer".to_owned()))
}
