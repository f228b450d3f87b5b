//! The two ways to a server.

use std::sync::Arc;

use crate::ask::{Ask, Era};
use crate::error::McpError;
use crate::http_link::HttpLink;
use crate::open_calls::Reply;
use crate::stdio_link::StdioLink;

pub(crate) enum Link {
    /// A program's standard streams.
    Stdio(StdioLink),
    /// An address.
    Http(Arc<HttpLink>),
}

impl Link {
    /// Asks, and waits for the answer as long as the caller does. Dropped, it calls the request off.
    pub(crate) async fn ask(&self, era: Era, ask: Ask) -> Reply {
        match self {
            Self::Stdio(link) => link.ask(era, ask).await,
            Self::Http(link) => link.ask(era, ask).await,
        }
    }

    /// Tells the server that the handshake is done.
    pub(crate) async fn begin(&self, era: Era) -> Result<(), McpError> {
        match self {
            Self::Stdio(link) => link.begin().await,
            Self::Http(link) => link.begin(era).await,
        }
    }

    /// Waits until the server is gone by itself, and says how it ended.
    pub(crate) async fn over(&self) -> String {
        match self {
            Self::Stdio(link) => link.over().await,
            Self::Http(_) => std::future::pending().await,
        }
    }

    /// Ends it; nothing of it is left when this returns.
    pub(crate) async fn end(&self) {
        match self {
            Self::Stdio(link) => link.end().await,
            Self::Http(link) => link.end().await,
        }
    }
}
