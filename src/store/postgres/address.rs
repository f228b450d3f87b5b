//! Where the database is and how it is reached: a URL, read once; its password is never shown.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::server::Server;

/// How long a server may take to answer the first time.
const CONNECT: Duration = Duration::from_secs(5);
/// How long sent bytes may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_secs(5);

/// Whether a text means a database of this engine.
pub fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Where a database is.
#[derive(Clone)]
pub struct Address {
    config: Config,
    shown: String,
    role: String,
    database: String,
}

impl Address {
    /// Reads `postgres://user@host:port/database?sslmode=…`; the password may stand there, or be given beside it.
    ///
    /// # Errors
    /// What is wrong, without the text.
    pub fn read(url: &str, password: Option<&SecretString>) -> Result<Self, String> {
        if !is_url(url) {
            return Err("is no URL of PostgreSQL: postgres://user@host/database".to_owned());
        }
        escaped(url)?;
        let (url, mode) = without_mode(url)?;
        let mut config: Config =
            url.parse().map_err(|e| format!("cannot be read: {}", told(&e)))?;
        match (password, config.get_password()) {
            (Some(_), Some(_)) => {
                return Err(
                    "has a password, and store.password is set, too: keep one of them".to_owned()
                );
            }
            (Some(password), None) => {
                config.password(password.expose_secret());
            }
            (None, _) => {}
        }
        if config.get_hosts().is_empty() {
            return Err("names no host: postgres://user@host/database".to_owned());
        }
        let Some(role) = config.get_user().filter(|role| !role.is_empty()) else {
            return Err("names no user: postgres://user@host/database".to_owned());
        };
        let role = role.to_owned();
        let database = config.get_dbname().unwrap_or(&role).to_owned();
        config.ssl_mode(mode.unwrap_or_else(|| usual(&config)));
        config.dbname(&database).application_name("selkie");
        config.connect_timeout(CONNECT).tcp_user_timeout(UNACKNOWLEDGED).keepalives_idle(IDLE);
        config.keepalives_interval(AGAIN).keepalives_retries(3);
        let shown = shown(&config, &role, &database);
        Ok(Self { config, shown, role, database })
    }

    /// Returns what a driver connects with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns who connects.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Lists the servers that connections are encrypted to.
    pub fn encrypted(&self) -> Vec<Server> {
        let config = &self.config;
        if config.get_ssl_mode() == SslMode::Disable {
            return Vec::new();
        }
        // A port each, or one for all: the driver takes nothing else.
        let ports = config.get_ports();
        let port = |at: usize| *ports.get(at).or_else(|| ports.first()).unwrap_or(&5432);
        let server = |(at, host): (usize, &Host)| match host {
            Host::Tcp(name) => {
                let address = config.get_hostaddrs().get(at).copied();
                Some(Server { name: name.clone(), address, port: port(at) })
            }
            Host::Unix(_) => None,
        };
        config.get_hosts().iter().enumerate().filter_map(server).collect()
    }

    /// Returns the database's name.
    pub fn database(&self) -> &str {
        &self.database
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Refuses what others would read in another way than the driver: then a piece of a password would be a place, and
/// be shown as one.
fn escaped(url: &str) -> Result<(), String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let in_place = authority.matches('@').count() <= 1 && !after.contains('@');
    if in_place && !rest.contains('#') {
        return Ok(());
    }
    Err("has a /, ?, # or @ in its user or password: write %2F, %3F, %23 or %40 there, or put the password into \
         store.password_file"
        .to_owned())
}

/// Takes `sslmode` out of a URL: the driver knows fewer words than there are.
fn without_mode(url: &str) -> Result<(String, Option<SslMode>), String> {
    let Some((before, query)) = url.split_once('?') else { return Ok((url.to_owned(), None)) };
    let mut mode = None;
    let mut rest = Vec::new();
    for pair in query.split('&') {
        let Some(word) = pair.strip_prefix("sslmode=") else {
            rest.push(pair);
            continue;
        };
        mode = Some(match word {
            "disable" => SslMode::Disable,
            "prefer" => SslMode::Prefer,
            // Who asks for encryption is always told who is at the other end.
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            _ => {
                return Err("has an sslmode that is none of disable, prefer, require, verify-full"
                    .to_owned());
            }
        });
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{before}{query}"), mode))
}

/// What does not leave the machine needs no encryption; everything else does.
fn usual(config: &Config) -> SslMode {
    let near = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
    };
    if config.get_hosts().iter().all(near) { SslMode::Disable } else { SslMode::Require }
}

fn shown(config: &Config, role: &str, database: &str) -> String {
    let host = |host: &Host| match host {
        Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let port = match config.get_ports() {
        [] | [5432] => String::new(),
        ports => format!(":{}", ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",")),
    };
    format!("postgres://{role}@{}{port}/{database}", hosts.join(","))
}

/// The driver names the option that it does not take, never a value.
fn told(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Address, String> {
        Address::read(url, None)
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = read("postgres://ann:Sesam%21@db.example:6432/life?sslmode=require").unwrap();
        assert_eq!(address.config().get_password(), Some(&b"Sesam!"[..]));
        let shown = format!("{address} {address:?} {:?}", address.config());
        assert!(shown.starts_with("postgres://ann@db.example:6432/life "), "{shown}");
        assert!(!shown.contains("Sesam"), "{shown}");
        for wrong in [
            "postgres://ann:Sesam@db/life?nonsense=Sesam",
            "mysql://ann:Sesam@db/life",
            "postgres://ann:Sesam@db:port/life",
            "postgres://ann:Sesam@db/x?sslmode=Sesam",
            "postgres://ann:Sesam@/life",
            "postgres://:Sesam@db/life",
        ] {
            let why = read(wrong).unwrap_err();
            assert!(!why.contains("Sesam"), "{why}");
        }
    }

    #[test]
    fn a_password_that_can_be_read_in_two_ways_is_refused() {
        for password in ["aB3/xY9", "pw?q9", "pw#q9", "cr@et", "a/b@c"] {
            let why = read(&format!("postgres://bob:{password}@db.example/life")).unwrap_err();
            assert!(why.contains("write %2F, %3F, %23 or %40"), "{why}");
            assert!(!why.contains(password), "{why}");
        }
        let address = read("postgres://bob:aB3%2Fx%40Y9@db.example/life").unwrap();
        assert_eq!(address.config().get_password(), Some(&b"aB3/x@Y9"[..]));
        assert!(read("postgres://db.example/life?user=bob").is_ok());
    }

    #[test]
    fn a_password_stands_in_one_place() {
        let secret = SecretString::from("Sesam");
        let beside = Address::read("postgres://ann@db/life", Some(&secret)).unwrap();
        assert_eq!(beside.config().get_password(), Some(&b"Sesam"[..]));
        let why = Address::read("postgres://ann:open@db/life", Some(&secret)).unwrap_err();
        assert!(why.contains("store.password is set, too"), "{why}");
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted() {
        for (url, mode) in [
            ("postgresql://ann@db.example", SslMode::Require),
            ("postgres://ann@127.0.0.1/life", SslMode::Disable),
            ("postgres://ann@[::1]/life", SslMode::Disable),
            ("postgres://ann@%2Frun%2Fpostgresql/life", SslMode::Disable),
            ("postgres://ann@localhost/life?sslmode=verify-full", SslMode::Require),
            ("postgres://ann@db/life?sslmode=disable&connect_timeout=3", SslMode::Disable),
        ] {
            assert_eq!(read(url).unwrap().config().get_ssl_mode(), mode, "{url}");
        }
        assert_eq!(read("postgres://ann@db").unwrap().database(), "ann");
    }
}
