//! One connection: opened, told how to behave, with the statements that it has prepared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use super::address::Address;
use super::metrics::Metrics;
use super::statement::Name;
use super::tls::Tls;
use super::trouble::{Trouble, says};
use crate::error::StoreError;

/// How long the whole of connecting may take.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long an answer is waited for: longer than the server itself lets a statement take.
pub const TIMEOUT: Duration = Duration::from_secs(20);
const FAREWELL: Duration = Duration::from_secs(1);

/// What every connection is told. A statement that the hot path waits for has an index of its own, and a plan that was
/// made while a table was small must use it, too: hence no plans that read tables through where an index would do.
/// Two selkies of one database wait for each other's locks no longer than people wait for an answer.
const MANNERS: &str = "SET client_min_messages = warning; SET lock_timeout = '10s'; SET statement_timeout = '15s'; \
     SET idle_in_transaction_session_timeout = '60s'; SET default_transaction_isolation = 'read committed'; \
     SET default_transaction_deferrable = off; SET jit = off; SET enable_seqscan = off; \
     SET plan_cache_mode = force_generic_plan; SET timezone = 'UTC'; SET bytea_output = 'hex'";

/// A connection to the database.
pub struct Session {
    /// Moves the bytes, while this connection's thread waits for something.
    pub runtime: Runtime,
    /// The driver's handle.
    pub client: Client,
    /// The statements it has prepared.
    pub statements: HashMap<Name, PreparedStatement>,
    /// Which of the server's processes serves it, and since when: no other one ever has both.
    pub server: ServerProcess,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// What carries bytes to and fro, until the client is dropped or the server goes.
    carrier: JoinHandle<()>,
}

/// A prepared statement.
#[derive(Clone)]
pub struct PreparedStatement {
    /// The driver's handle.
    pub statement: Statement,
    /// It changes nothing.
    pub only_reads: bool,
}

/// One of the server's processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    pid: String,
    began: String,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// `Lost` when nobody answers or who answers does not let us in.
    pub fn open(
        address: &Address,
        tls: &Tls,
        metrics: Arc<Metrics>,
        patience: Duration,
    ) -> Result<Self, Trouble> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|e| Trouble::Lost(format!("no room for a connection: {e}")))?;
        let (client, connection) = runtime.block_on(async {
            let connecting = address.config().connect(tls.clone());
            match tokio::time::timeout(CONNECTING, connecting).await {
                Ok(connected) => connected.map_err(|e| refused(&e, address)),
                Err(_) => Err(Trouble::Lost("nobody answers".to_owned())),
            }
        })?;
        let carrier = runtime.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = says(&error), "a connection to the database has ended");
            }
        });
        let server = ServerProcess { pid: String::new(), began: String::new() };
        let mut session = Self {
            runtime,
            client,
            statements: HashMap::new(),
            server,
            metrics,
            patience,
            carrier,
        };
        session.run(MANNERS)?;
        let process =
            "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let [pid, began] = session.row(process)?;
        session.server = ServerProcess { pid, began };
        Ok(session)
    }

    /// Says good-bye.
    pub fn close(self) {
        let Self { runtime, client, carrier, .. } = self;
        drop(client);
        // Who does not hear it notices that the connection is closed.
        drop(runtime.block_on(async { tokio::time::timeout(FAREWELL, carrier).await }));
    }

    /// Runs statements that have no parameters.
    ///
    /// # Errors
    /// As the server says; `Lost` when it says nothing.
    pub fn run(&self, sql: &str) -> Result<(), Trouble> {
        self.answer(self.client.batch_execute(sql))
    }

    /// Runs statements that may take as long as they take.
    ///
    /// # Errors
    /// As the server says.
    pub fn run_long(&self, sql: &str) -> Result<(), Trouble> {
        self.runtime.block_on(self.client.batch_execute(sql)).map_err(|e| Trouble::of(&e))
    }

    /// Reads all rows of a statement without parameters as texts; what is null is empty.
    ///
    /// # Errors
    /// As the server says; `Lost` when it says nothing.
    pub fn rows<const N: usize>(&self, sql: &str) -> Result<Vec<[String; N]>, Trouble> {
        let answer = self.answer(self.client.simple_query(sql))?;
        let row = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => Some(std::array::from_fn(|column| {
                row.try_get(column).ok().flatten().unwrap_or_default().to_owned()
            })),
            _ => None,
        };
        Ok(answer.into_iter().filter_map(row).collect())
    }

    /// Reads the one row that a statement without parameters answers.
    ///
    /// # Errors
    /// As the server says; `Lost` when there is none.
    pub fn row<const N: usize>(&self, sql: &str) -> Result<[String; N], Trouble> {
        let none = || Trouble::Lost("the database does not answer what it was asked".to_owned());
        self.rows(sql)?.into_iter().next().ok_or_else(none)
    }

    fn answer<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Trouble> {
        let within = async { tokio::time::timeout(self.patience, asked).await };
        match self.runtime.block_on(within) {
            Ok(answer) => answer.map_err(|e| Trouble::of(&e)),
            Err(_) => Err(Trouble::silent(self.patience)),
        }
    }

    /// Ends another of our own server processes that may still be at work for us: nobody listens to it any more.
    ///
    /// # Errors
    /// As the server says.
    pub fn end(&self, server: &ServerProcess) -> Result<(), Trouble> {
        let ServerProcess { pid, began } = server;
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = {} AND backend_start = {}",
            quoted(pid),
            quoted(began)
        );
        self.rows::<1>(&sql).map(drop)
    }
}

/// Writes a text as a constant.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "''"))
}

/// Says why nobody is let in, and what the owner of the database can do.
fn refused(error: &tokio_postgres::Error, address: &Address) -> Trouble {
    use tokio_postgres::error::SqlState;
    let says = says(error);
    let role = address.role();
    let database = address.database();
    match error.code() {
        // These stay as they are until somebody changes them: nobody waits for that.
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            shut_out(address, &says)
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => shut_out(
            address,
            &format!(
                "{says}: as its owner, run GRANT CONNECT ON DATABASE \"{database}\" TO \"{role}\""
            ),
        ),
        Some(&SqlState::INVALID_CATALOG_NAME) => Trouble::Lost(format!(
            "{says}: make it with CREATE DATABASE \"{database}\" OWNER \"{role}\" ENCODING 'UTF8' TEMPLATE template0"
        )),
        None if is_not_vouched_for(&says) => Trouble::Lost(unknown_issuer(&says)),
        None if says.contains("CaUsedAsEndEntity") => Trouble::Lost(an_authoritys_own()),
        // The driver itself misses it: the server has asked for one.
        None if says.ends_with("password missing") => shut_out(
            address,
            &format!(
                "it asks for a password for {role}, and none is set: name its file in store.password_file; for a copy's \
                 place, in --password-file"
            ),
        ),
        _ => Trouble::Lost(says),
    }
}

fn shut_out(address: &Address, why: &str) -> Trouble {
    Trouble::Failed(StoreError::Damaged(format!("the database {address} rejects the login: {why}")))
}

/// Whether nobody whom this machine trusts has signed the server's certificate, or it trusts nobody at all.
fn is_not_vouched_for(says: &str) -> bool {
    says.ends_with("UnknownIssuer") || says.contains("no trusted certificates")
}

/// Says what is wrong with a certificate that `openssl req -x509` makes unless it is told otherwise.
fn an_authoritys_own() -> String {
    "the server's certificate is that of an authority (CA:TRUE) and not a server's. Make one for the server that the \
     authority signs, or a self-signed one with basicConstraints=CA:FALSE"
        .to_owned()
}

/// Says how an authority is made known that the server's certificate comes from.
fn unknown_issuer(says: &str) -> String {
    format!(
        "{says}: this machine does not trust the authority that signed the server's certificate. Add its certificate to \
         the system's (update-ca-certificates), or set the variable SSL_CERT_FILE to a file that holds it and all others \
         that selkie needs"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_authority_is_told_with_what_to_set() {
        let told = unknown_issuer(
            "error performing TLS handshake: invalid peer certificate: UnknownIssuer",
        );
        assert!(
            told.contains("update-ca-certificates") && told.contains("SSL_CERT_FILE"),
            "{told}"
        );
    }
}
