//! Looks at a database of a server, takes nothing and makes nothing.

use rustls::ClientConfig;

use super::address::Address;
use super::metrics::Metrics;
use super::schema;
use super::session::{Session, quoted};
use super::shared::ConnectionSettings;
use super::tls::Tls;
use super::trouble::Trouble;
use crate::database::Opener;
use crate::error::{Result, StoreError};
use crate::restored::RestoreOrigin;
use crate::tables::TABLES;

/// What was found of a database that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseReport {
    /// The server's version, in its words.
    pub server: String,
    /// The version of the tables; `None` when there are none yet.
    pub version: Option<i64>,
    /// A table that is none of selkie's, if there is one.
    pub foreign: Option<String>,
    /// The version that this selkie writes: the next start brings the tables to it.
    pub newest: i64,
    /// What it was restored from, while nobody has let it go on; looked at in tables of this version alone.
    pub restored: Option<RestoreOrigin>,
}

/// Connects and looks. It blocks: not for a thread of a runtime.
///
/// # Errors
/// As at a start: `Away`, `Newer`, `Damaged` with the right that is missing.
pub fn examine(address: Address, who: Opener, tls: &ClientConfig) -> Result<DatabaseReport> {
    let shared = ConnectionSettings::new(address, Tls::new(tls), who, Metrics::new(1));
    let session = shared.connect().map_err(|trouble| schema::not_opened(&shared, trouble))?;
    let looked = looked(&session, &shared);
    session.close();
    looked.map_err(|trouble| schema::not_opened(&shared, trouble))
}

fn looked(
    session: &Session,
    shared: &ConnectionSettings,
) -> std::result::Result<DatabaseReport, Trouble> {
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
    let foreign = foreign(session)?;
    let restored = match version {
        Some(schema::NEWEST) => restored(session)?,
        _ => None,
    };
    Ok(DatabaseReport { server, version, foreign, newest: schema::NEWEST, restored })
}

fn restored(session: &Session) -> std::result::Result<Option<RestoreOrigin>, Trouble> {
    let [text] = session.row("SELECT coalesce((SELECT restored FROM meta WHERE id = 1), '')")?;
    RestoreOrigin::stored((!text.is_empty()).then_some(text)).map_err(Trouble::Failed)
}

/// Returns a table of another program that stands where the tables are, or would be made.
fn foreign(session: &Session) -> std::result::Result<Option<String>, Trouble> {
    // The fence, the owner and the version stand beside the tables that a copy goes through.
    let ours = TABLES.iter().map(|table| table.name).chain(["fence", "owner", "schema_version"]);
    let ours: Vec<String> = ours.map(quoted).collect();
    let sql = format!(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
             AND relnamespace = to_regnamespace(current_schema()::text) AND relname NOT IN ({}) ORDER BY 1 LIMIT 1",
        ours.join(", ")
    );
    Ok(session.rows::<1>(&sql)?.into_iter().next().map(|[name]| name))
}

/// Looks whether the tables can be made.
fn may_make(session: &Session, shared: &ConnectionSettings) -> std::result::Result<(), Trouble> {
    let asks = "SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)";
    let [may] = session.row(asks)?;
    if may == "t" {
        return Ok(());
    }
    let role = shared.address.role();
    let address = &shared.address;
    Err(Trouble::Failed(StoreError::Damaged(format!(
        "the role {role} may make no tables in {address}: as its owner, run GRANT USAGE, CREATE ON SCHEMA public TO \"{role}\""
    ))))
}
