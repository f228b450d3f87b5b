//! Why nobody is signed in.

/// Why nobody is signed in.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoginError {
    /// Its section in the config does not allow it.
    #[error("{0}")]
    Settings(String),
    /// An address that must not be asked.
    #[error("{what} {address:?} is not used: {why}")]
    Address {
        /// Whose address.
        what: &'static str,
        /// The address.
        address: String,
        /// Why not.
        why: String,
    },
    /// There is no answer, or none that can be used.
    #[error("{what}: {why}")]
    Answer {
        /// Who was asked.
        what: &'static str,
        /// Why it is none.
        why: String,
    },
    /// The metadata of another resource.
    #[error("the resource's metadata is that of {named:?}, not of {wanted}: nothing of it is used")]
    Resource {
        /// The resource that it names.
        named: String,
        /// The server's address.
        wanted: String,
    },
    /// The metadata of another authorization server, or an answer of another.
    #[error("{what} names the issuer {named:?}, not {wanted:?}: nothing of it is used")]
    Issuer {
        /// What names it.
        what: &'static str,
        /// Whom.
        named: String,
        /// Who was asked.
        wanted: String,
    },
    /// What keeps a code from being used by somebody else is missing.
    #[error(
        "the authorization server {0} does not offer PKCE with S256: selkie signs in nowhere without it"
    )]
    Pkce(String),
    /// It knows us not.
    #[error(
        "the authorization server {issuer} registers nobody by itself: register selkie there by hand, with the redirect \
         address http://127.0.0.1/callback, and write oauth.client_id into mcp.servers.{server}"
    )]
    Unregistered {
        /// The authorization server.
        issuer: String,
        /// The server in the config.
        server: String,
    },
    /// What the browser brought back is no answer to what was asked.
    #[error("the answer of the browser is not used: {0}")]
    Redirect(String),
    /// The authorization server says no.
    #[error("{what} refuses: {code}{}", behind(.words))]
    Refused {
        /// Who.
        what: &'static str,
        /// Its word for it, such as `access_denied`.
        code: String,
        /// More of its words, cleaned and cut.
        words: String,
    },
    /// Nobody has answered in the browser.
    #[error("nobody has signed in within {0} minutes")]
    Late(u64),
    /// The tokens cannot be read or kept.
    #[error("the file of tokens {path} cannot be {what}: {why}")]
    File {
        /// The file.
        path: String,
        /// `read`, `written`.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// What was granted is over.
    #[error("the sign-in at the MCP server is over: an owner can run `selkie mcp login {0}`")]
    Over(String),
}

fn behind(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}
