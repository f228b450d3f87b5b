//! What is asked of one server: its list, page by page, and calls, until they have an answer or their time is over.

use std::sync::Arc;
use std::time::Duration;

use selkie_domain::span::Span;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::ask::Ask;
use crate::call::CallContext;
use crate::connection::{Connection, InUse};
use crate::error::McpError;
use crate::link::Link;
use crate::listing::{Listing, ServerList};
use crate::outcome::{self, CallAnswer, CallOutcome};
use crate::param_headers;
use crate::server::{START, Server};

/// How often a server may have the same call made again before it answers.
const MAX_ROUNDS: usize = 10;

/// Until when somebody waits, and how long that is.
struct Patience {
    until: Instant,
    span: Span,
    cancel: CancellationToken,
}

/// A call of a tool.
struct ToolCall<'a> {
    tool: &'a str,
    arguments: Map<String, Value>,
    of: &'a CallContext,
}

/// Lists what a server offers.
///
/// # Errors
/// Why it has not.
pub(crate) async fn list(server: &Arc<Server>) -> Result<ServerList, McpError> {
    let cancel = CancellationToken::new();
    for is_last in [false, true] {
        let starts = Patience::new(START, None, &cancel);
        let connection = starts.bear(server.connection()).await;
        let connection = connection.map_err(|error| server.explain(error))?;
        let patience = Patience::new(server.settings.timeout.0, None, &cancel);
        match list_on(&connection, &patience).await {
            Err(McpError::SessionLost) if !is_last => server.retire(&connection),
            done => return done.map_err(|error| server.explain(error)),
        }
    }
    Err(McpError::SessionLost)
}

async fn list_on(connection: &Connection, patience: &Patience) -> Result<ServerList, McpError> {
    let peer = &connection.peer;
    let list = ServerList {
        server: peer.server.clone(),
        protocol: peer.era.version(),
        instructions: peer.instructions.clone(),
        tells_of_changes: peer.tells_of_changes,
        ..ServerList::default()
    };
    let has_headers = matches!(connection.link, Link::Http(_)) && !peer.is_legacy();
    let mut listing = Listing::new(list, has_headers);
    let mut params = json!({});
    loop {
        let page = connection.link.ask(peer.era, Ask::new("tools/list", params));
        let page = patience.bear(page).await?;
        match listing.page(&page)? {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return Ok(listing.done()),
        }
    }
}

/// Calls a tool of a server.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn call(
    server: &Arc<Server>,
    tool: &str,
    arguments: Map<String, Value>,
    of: &CallContext,
) -> Result<CallOutcome, McpError> {
    let call = ToolCall { tool, arguments, of };
    let starts = Patience::new(START, Some(of.deadline), &of.cancel);
    let connection = starts.bear(server.connection()).await;
    let connection: InUse = connection.map_err(|error| server.explain(error))?;
    let most = server.settings.timeout.0;
    let patience = Patience::new(most, Some(of.deadline), &of.cancel);
    let done = call_on(&connection, &call, &patience).await;
    // Only a server that keeps to the protocol has done nothing: whoever called decides whether to call again.
    if matches!(done, Err(McpError::SessionLost)) {
        server.retire(&connection);
    }
    done.map_err(|error| server.explain(error))
}

async fn call_on(
    connection: &Connection,
    call: &ToolCall<'_>,
    patience: &Patience,
) -> Result<CallOutcome, McpError> {
    let mut state = None;
    for _ in 0..MAX_ROUNDS {
        let ask = call.ask(connection, state.take());
        let answer: Box<RawValue> =
            patience.bear(connection.link.ask(connection.peer.era, ask)).await?;
        let can_ask = !connection.peer.is_legacy();
        match outcome::read(&answer, can_ask)? {
            CallAnswer::Done(result) => return Ok(CallOutcome::Done(result)),
            // It only wants to be called once more.
            CallAnswer::Asks(asks) if asks.questions.is_empty() => state = asks.request_state,
            CallAnswer::Asks(asks) => return Ok(CallOutcome::Asks(asks)),
        }
    }
    Err(McpError::Protocol("does not come to an answer".to_owned()))
}

impl ToolCall<'_> {
    fn ask(&self, connection: &Connection, state: Option<String>) -> Ask {
        let Self { tool, arguments, of } = self;
        let mut ask = Ask::new("tools/call", json!({ "name": tool, "arguments": arguments }));
        match (state, &of.answers) {
            (Some(state), _) => {
                ask.params.insert("requestState".to_owned(), json!(state));
            }
            (None, Some(answers)) => answers.put_into(&mut ask.params),
            (None, None) => {}
        }
        ask.tool = Some((*tool).to_owned());
        ask.progress = Some(Arc::clone(&of.progress));
        if let (Link::Http(_), Some(schema)) = (&connection.link, &of.schema) {
            ask.headers = param_headers::of_call(schema, arguments);
        }
        ask
    }
}

impl Patience {
    fn new(most: Duration, deadline: Option<Instant>, cancel: &CancellationToken) -> Self {
        let now = Instant::now();
        let until = deadline.map_or(now + most, |deadline| deadline.min(now + most));
        let span = until.saturating_duration_since(now);
        // What is left of somebody's time is no round number.
        let span = if span == most { span } else { Duration::from_secs(span.as_secs().max(1)) };
        Self { until, span: Span(span), cancel: cancel.clone() }
    }

    /// Waits for something, but not for longer. What is not waited for any more is called off.
    async fn bear<T>(
        &self,
        what: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(McpError::Cancelled),
            done = what => done,
            () = sleep_until(self.until) => Err(McpError::Late(self.span)),
        }
    }
}
