//! Which database the ledger lies in, as the config says it.

use secrecy::ExposeSecret as _;

#[cfg(feature = "postgres")]
use crate::postgres::Address;
use crate::server::Server;
use crate::settings::Settings;

/// Who opens a database: told to everybody else who wants it.
#[derive(Clone, Debug)]
pub struct Opener {
    /// The instance, different at each start.
    pub instance: String,
    /// The machine.
    pub host: String,
    /// The process there.
    pub pid: u32,
}

/// A database.
#[derive(Clone, Debug)]
pub enum Database {
    /// `selkie.db` in the state folder.
    Own,
    /// One that a server keeps.
    #[cfg(feature = "postgres")]
    Postgres(Box<Address>),
}

impl Database {
    /// Reads what the config says.
    ///
    /// # Errors
    /// What is wrong with `store.url`, without what stands there.
    pub fn read(settings: &Settings) -> Result<Self, String> {
        match &settings.url {
            None => Ok(Self::Own),
            Some(url) => remote(url.expose_secret(), settings),
        }
    }

    /// Lists the servers that connections to it are encrypted to.
    pub fn encrypted(&self) -> Vec<Server> {
        match self {
            Self::Own => Vec::new(),
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => address.encrypted(),
        }
    }
}

#[cfg(feature = "postgres")]
fn remote(url: &str, settings: &Settings) -> Result<Database, String> {
    let url = url.trim();
    if !crate::postgres::is_url(url) {
        let scheme = url.split_once("://").map_or("a text without ://", |(scheme, _)| scheme);
        return Err(format!(
            "takes postgres://user@host/database, not {scheme}; without it everything is kept in selkie.db"
        ));
    }
    Address::read(url, settings.password.as_ref())
        .map(|address| Database::Postgres(Box::new(address)))
}

#[cfg(not(feature = "postgres"))]
fn remote(_: &str, _: &Settings) -> Result<Database, String> {
    Err("cannot be used: this selkie was built without PostgreSQL (feature postgres)".to_owned())
}
