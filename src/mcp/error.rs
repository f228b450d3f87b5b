//! Why a server was not asked, or what came of it, in words for the model.

use std::time::Duration;

use selkie_domain::count::counted;
use selkie_domain::span::Span;

use crate::login::{LoginError, behind};

/// Why there is no answer of a server.
#[derive(Clone, Debug, thiserror::Error)]
pub enum McpError {
    /// The config names no such server.
    #[error("there is no MCP server {0}")]
    Unknown(String),
    /// Its settings cannot be followed.
    #[error("the MCP server cannot be asked: {0}")]
    Settings(String),
    /// Its program cannot be started, or it is no server.
    #[error("the MCP server cannot be started: {0}")]
    NotStarted(String),
    /// It has failed a moment ago, and is not tried again yet.
    #[error("the MCP server has failed and is tried again in {}: {why}", in_words(.left))]
    Resting {
        /// Why it failed.
        why: String,
        /// How long it rests yet.
        left: Duration,
    },
    /// Its program ended, or the connection did, in the middle of a call.
    #[error("the MCP server {0}: whether it did what was asked is not known")]
    Gone(String),
    /// It had no answer in time.
    #[error("the MCP server did not answer within {}: whether it did what was asked is not known", .0.in_words())]
    Late(Span),
    /// The caller called it off.
    #[error("the call was stopped: whether the MCP server did what was asked is not known")]
    Cancelled,
    /// It refuses the request.
    #[error("the MCP server refuses the request: {message} ({code})")]
    Refused {
        /// The protocol's number.
        code: i64,
        /// Its own words, cleaned and cut.
        message: String,
        /// The versions of the protocol that it takes instead, where that is why.
        versions: Vec<String>,
    },
    /// It answered a request with this status.
    #[error("the MCP server answered with HTTP status {status}{}", behind(.words))]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it says, cleaned.
        words: String,
    },
    /// It wants somebody to sign in.
    #[error(
        "the MCP server wants somebody to sign in (HTTP status {status}): an owner can run `selkie mcp login {server}`"
    )]
    SignIn {
        /// The server's name in the config.
        server: String,
        /// 401 or 403.
        status: u16,
        /// Its `WWW-Authenticate`.
        challenge: String,
    },
    /// Whoever signed in may not do this.
    #[error(
        "the MCP server wants more rights for this: an owner can run `selkie mcp login {server} --scope \"{scopes}\"`"
    )]
    Scope {
        /// The server's name in the config.
        server: String,
        /// What is missing, one behind the other.
        scopes: String,
    },
    /// The token for it cannot be used or renewed, or nobody could sign in.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// It has forgotten the session: by the protocol, the request was not carried out.
    #[error(
        "the MCP server has forgotten its session with selkie, and should have done nothing: the next call begins another one"
    )]
    SessionLost,
    /// No connection came about; the request was not carried out.
    #[error("the MCP server cannot be reached: {0}")]
    Unreachable(String),
    /// What it wrote is nothing that the protocol knows.
    #[error("the MCP server {0}")]
    Protocol(String),
    /// The daemon is stopping.
    #[error("the MCP server was not asked: selkie is stopping")]
    Stopping,
}

fn in_words(left: &Duration) -> String {
    counted(left.as_secs_f64().ceil() as u64, ["second", "seconds"])
}
