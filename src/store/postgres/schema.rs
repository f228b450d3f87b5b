//! Opens a database for the first time since the start: looks, takes it, and brings its tables to today's version,
//! forward only.

use super::inspect;
use super::owner;
use super::session::{Session, quoted};
use super::shared::ConnectionSettings;
use super::trouble::Trouble;
use crate::error::{Result, StoreError};
use crate::tables::TABLES;

/// The tables of a new database.
const TODAY: &str = include_str!("schema.sql");
/// What brings the tables of version n, counted from 1, to the next one; a released one is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0002_schedule.sql"),
    include_str!("migrations/0003_times.sql"),
    include_str!("migrations/0004_post.sql"),
    include_str!("migrations/0005_settled.sql"),
    include_str!("migrations/0007_begun.sql"),
    include_str!("migrations/0008_met.sql"),
    include_str!("migrations/0009_memory.sql"),
    include_str!("migrations/0010_cut.sql"),
    include_str!("migrations/0011_vector.sql"),
    include_str!("migrations/0012_summary.sql"),
    include_str!("migrations/0013_streamed.sql"),
    include_str!("migrations/0014_pairing.sql"),
    include_str!("migrations/0015_restored.sql"),
    include_str!("migrations/0016_used.sql"),
    include_str!("migrations/0017_called.sql"),
    include_str!("migrations/0018_beginning.sql"),
    include_str!("migrations/0019_copied.sql"),
    include_str!("migrations/0020_unsent.sql"),
    include_str!("migrations/0021_mute.sql"),
    include_str!("migrations/0022_own_form.sql"),
    include_str!("migrations/0023_choice.sql"),
    include_str!("migrations/0024_spoken.sql"),
    include_str!("migrations/0025_agents.sql"),
    include_str!("migrations/0026_agent.sql"),
    include_str!("migrations/0027_skills.sql"),
];

/// The version written today.
pub const NEWEST: i64 = MIGRATIONS.len() as i64 + 1;

/// A database that is ours now.
pub struct OpenedSchema {
    /// Connections of the first lanes.
    pub sessions: Vec<Session>,
    /// The last transaction of each lane.
    pub turns: Vec<i64>,
}

/// Opens the database.
///
/// # Errors
/// See [`super::Postgres::open`].
pub fn open(shared: &ConnectionSettings, writers: usize) -> Result<OpenedSchema> {
    take(shared, writers).map_err(|trouble| not_opened(shared, trouble))
}

/// Says why a database was not opened.
pub fn not_opened(shared: &ConnectionSettings, trouble: Trouble) -> StoreError {
    match trouble {
        // Wherever a connection is lost, it is as if there had been none.
        Trouble::Lost(why) => {
            StoreError::Away(format!("the database {} cannot be reached: {why}", shared.address))
        }
        Trouble::ReadOnly(why) => StoreError::Away(why),
        other => lacking(shared, other),
    }
}

fn take(shared: &ConnectionSettings, writers: usize) -> std::result::Result<OpenedSchema, Trouble> {
    let first = shared.connect()?;
    let second = shared.connect()?;
    inspect::no_pooler(&first, &second, &shared.address)?;
    if let Some(found) = version(&first)? {
        may_write(&first, shared)?;
        if found == NEWEST {
            is_whole(&first, shared)?;
        }
    }
    owner::lock(&first, &shared.owner)?;
    match version(&first)? {
        Some(found) if found > NEWEST => {
            return Err(Trouble::Failed(StoreError::newer(found, NEWEST)));
        }
        Some(NEWEST) => {}
        found => migrate(&first, found)?,
    }
    owner::take(&first, &shared.owner, writers)?;
    let turns = first.rows::<1>("SELECT turn FROM fence ORDER BY slot")?;
    let turns = turns.into_iter().map(|[turn]| turn.parse().unwrap_or_default()).collect();
    Ok(OpenedSchema { sessions: vec![first, second], turns })
}

/// Returns the version of the tables; `None` when there are none.
///
/// # Errors
/// As the server says.
pub fn version(session: &Session) -> std::result::Result<Option<i64>, Trouble> {
    let [there] = session.row("SELECT to_regclass('schema_version') IS NOT NULL")?;
    if there != "t" {
        return Ok(None);
    }
    let rows = session.rows::<1>("SELECT version FROM schema_version WHERE id = 1")?;
    let known = rows.into_iter().next().and_then(|[version]| version.parse().ok());
    let none = || {
        Trouble::Failed(StoreError::Damaged(
            "the table schema_version has no row that says of which version the tables are: restore a backup, or, when you \
             know the version, insert it as (id, version) = (1, …)"
                .to_owned(),
        ))
    };
    known.map(Some).ok_or_else(none)
}

/// Brings the tables to today's version in one transaction: a crash leaves what was there, or today's.
fn migrate(session: &Session, found: Option<i64>) -> std::result::Result<(), Trouble> {
    let steps = match found {
        None => TODAY.to_owned(),
        Some(found) => {
            let done = usize::try_from(found - 1).unwrap_or_default();
            MIGRATIONS.get(done..).unwrap_or_default().join("\n")
        }
    };
    let sql = format!(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL synchronous_commit = on;
         {steps};
         INSERT INTO schema_version (id, version) VALUES (1, {NEWEST})
             ON CONFLICT (id) DO UPDATE SET version = excluded.version;
         COMMIT"
    );
    if let Err(trouble) = session.run_long(&sql) {
        session.run("ROLLBACK")?;
        return Err(not_brought(found, trouble));
    }
    match found {
        None => tracing::info!(version = NEWEST, "the tables of the store were made"),
        Some(from) => {
            tracing::info!(from, version = NEWEST, "the store was brought to a new version")
        }
    }
    Ok(())
}

/// Says that tables are not of the version that is written there, where that is what stands in the way.
fn not_brought(found: Option<i64>, trouble: Trouble) -> Trouble {
    match (found, trouble) {
        (Some(found), Trouble::Failed(StoreError::Broken(says))) if is_another_shape(&says) => {
            Trouble::Failed(StoreError::Damaged(format!(
                "schema_version says that the tables are of version {found}, and they are not: {says}. Nothing was changed: \
                 restore a backup, or write the right version into schema_version"
            )))
        }
        (_, trouble) => trouble,
    }
}

/// Whether a table, column or index is there already, or is missing.
fn is_another_shape(says: &str) -> bool {
    ["(42P07)", "(42701)", "(42710)", "(42P01)", "(42703)"].iter().any(|code| says.ends_with(code))
}

/// Looks whether all tables are there.
///
/// # Errors
/// `Failed` with one that is missing.
pub fn is_whole(
    session: &Session,
    shared: &ConnectionSettings,
) -> std::result::Result<(), Trouble> {
    let tables: Vec<String> =
        TABLES.iter().map(|table| format!("({})", quoted(table.name))).collect();
    let sql = format!(
        "SELECT t.name FROM (VALUES {}) AS t (name) WHERE to_regclass(t.name) IS NULL LIMIT 1",
        tables.join(", ")
    );
    let Some([table]) = session.rows::<1>(&sql)?.into_iter().next() else { return Ok(()) };
    Err(Trouble::Failed(StoreError::Damaged(format!(
        "the table {table} is missing in {}: restore a backup",
        shared.address
    ))))
}

/// Looks whether the tables can be written to that every verb writes to.
///
/// # Errors
/// `Failed` with the right that is missing.
pub fn may_write(
    session: &Session,
    shared: &ConnectionSettings,
) -> std::result::Result<(), Trouble> {
    let tables: Vec<String> = TABLES.iter().map(|table| quoted(table.name)).collect();
    let sql = format!(
        "SELECT c.relname, r.needed FROM pg_class c
         CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS r (needed)
         WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'schema_version'::regclass)
             AND c.relname IN ({}) AND NOT has_table_privilege(c.oid, r.needed) ORDER BY 1, 2 LIMIT 1",
        tables.join(", ")
    );
    let missing = session.rows::<2>(&sql)?;
    let Some([table, right]) = missing.into_iter().next() else { return Ok(()) };
    let role = shared.address.role();
    let address = &shared.address;
    Err(Trouble::Failed(StoreError::Damaged(format!(
        "the role {role} has no right to {right} in the table {table} of {address}: as the owner of the tables, run GRANT \
         SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \"{role}\""
    ))))
}

/// Says which right is missing when it is one.
fn lacking(shared: &ConnectionSettings, trouble: Trouble) -> StoreError {
    let error = trouble.into_error();
    let StoreError::Broken(says) = &error else { return error };
    let role = shared.address.role();
    let database = shared.address.database();
    if says.ends_with("(42P07)") {
        return StoreError::Damaged(format!(
            "the database {database} has tables of another program where a store's belong; {says}. Make one for selkie \
             alone, CREATE DATABASE … OWNER \"{role}\" ENCODING 'UTF8' TEMPLATE template0, and name it in store.url"
        ));
    }
    if !says.ends_with("(42501)") {
        return error;
    }
    let grant = if says.contains("for schema") {
        format!("GRANT USAGE, CREATE ON SCHEMA public TO \"{role}\"")
    } else {
        format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO \"{role}\"")
    };
    StoreError::Damaged(format!(
        "the role {role} may not do in the database {database} what a store needs; {says}. As the owner, run {grant}"
    ))
}
