//! Looks at a database of a server, takes nothing and makes nothing.

use rustls::ClientConfig;

use super::address::Address;
use super::metrics::Metrics;
use super::schema;
use super::session::Session;
use super::shared::Shared;
use super::tls::Tls;
use super::trouble::Trouble;
use crate::store::database::Opener;
use crate::store::error::{Result, StoreError};

/// What was found of a database that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The server's version, in its words.
    pub server: String,
    /// The version of the tables; `None` when there are none yet.
    pub version: Option<i64>,
    /// The version that this selkie writes: the next start brings the tables to it.
    pub newest: i64,
}

/// Connects and looks. It blocks: not for a thread of a runtime.
///
/// # Errors
/// As at a start: `Away`, `Newer`, `Damaged` with the right that is missing.
pub fn examine(address: Address, who: Opener, tls: &ClientConfig) -> Result<Examined> {
    let shared = Shared::new(address, Tls::new(tls), who, Metrics::new(1));
    let session = shared.connect().map_err(|trouble| schema::not_opened(&shared, trouble))?;
    let looked = looked(&session, &shared);
    session.close();
    looked.map_err(|trouble| schema::not_opened(&shared, trouble))
}

fn looked(session: &Session, shared: &Shared) -> std::result::Result<Examined, Trouble> {
    let [server] = session.row("SELECT current_setting('server_version')")?;
    let version = schema::version(session)?;
    match version {
        Some(found) if found > schema::NEWEST => {
            return Err(Trouble::Failed(StoreError::newer(found, schema::NEWEST)));
        }
        Some(found) => {
            schema::may_write(session, shared)?;
            if found == schema::NEWEST {
                schema::is_whole(session, shared)?;
            }
        }
        None => may_make(session, shared)?,
    }
    Ok(Examined { server, version, newest: schema::NEWEST })
}

/// Looks whether the tables can be made.
fn may_make(session: &Session, shared: &Shared) -> std::result::Result<(), Trouble> {
    let asks = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)";
    let [may] = session.row(asks)?;
    if may == "t" {
        return Ok(());
    }
    let (role, address) = (shared.address.role(), &shared.address);
    Err(Trouble::Failed(StoreError::Damaged(format!(
        "the role {role} may make no tables in {address}: as its owner, run GRANT USAGE, CREATE ON SCHEMA public TO \"{role}\""
    ))))
}
