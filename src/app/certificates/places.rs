//! Where certificates are shown that selkie depends on.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use selkie_channel_core::Channel;
use tokio::time::timeout;

use selkie_store::database::Database;
use selkie_store::settings::Settings;

/// How long a platform may take to tell where it reaches the bot.
const TELLS: Duration = Duration::from_secs(8);
/// An address that is longer is none.
const MAX_LENGTH: usize = 2_000;
/// More addresses than any platform has for one bot.
const MAX: usize = 8;

/// A place where a certificate is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What is reached there.
    pub of: Of,
    /// The name that the certificate has to hold.
    pub host: String,
    /// Where that is, where it is not for the name to say.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
}

/// What is reached somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// The bot, by the platform of the channel with this name. Where that is, the platform has told.
    Channel(&'static str),
    /// The database.
    Database,
}

impl Place {
    /// What the names of all troubles at it begin with.
    pub fn key(&self) -> String {
        format!("certificate:{}:{}:", self.host, self.port)
    }
}

/// Asks a channel where its platform reaches the bot.
///
/// # Errors
/// When the platform does not tell.
pub async fn of_channel(channel: &Channel) -> Result<Vec<Place>, String> {
    let Some(receiver) = &channel.receiver else { return Ok(Vec::new()) };
    let told = timeout(TELLS, receiver.reached_at()).await;
    let urls = told.map_err(|_| format!("no answer within {} s", TELLS.as_secs()))??;
    Ok(urls.iter().take(MAX).filter_map(|url| place(channel.name, url)).collect())
}

/// Lists the servers that connections to the database are encrypted to.
pub fn of_store(settings: &Settings) -> Vec<Place> {
    let servers = Database::read(settings).map(|database| database.encrypted());
    let place = |server: selkie_store::server::Server| Place {
        of: Of::Database,
        host: server.name,
        address: server.address,
        port: server.port,
    };
    servers.unwrap_or_default().into_iter().map(place).collect()
}

/// Reads an address that a platform has told: whoever is reached without TLS shows no certificate.
fn place(channel: &'static str, url: &str) -> Option<Place> {
    let url = Url::parse(url).ok().filter(|_| url.len() <= MAX_LENGTH)?;
    if url.scheme() != "https" {
        return None;
    }
    let host = url.host_str()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = url.port_or_known_default()?;
    Some(Place { of: Of::Channel(channel), host: bare.to_owned(), address: None, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_told_is_taken_apart_and_nothing_but_https_is_one() {
        let of =
            |url: &str| place("bird", url).map(|place| format!("{} {}", place.host, place.port));
        assert_eq!(of("https://bot.example/hook?x=1").as_deref(), Some("bot.example 443"));
        assert_eq!(of("https://[::1]:8443/").as_deref(), Some("::1 8443"));
        let long = format!("https://bot.example/{}", "x".repeat(MAX_LENGTH));
        for none in
            ["http://bot.example", "ftp://bot.example", "bot.example", "https://", "", &long]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_database_that_is_reached_by_tls_shows_one_for_each_server() {
        let of = |url: &str| {
            let settings = Settings { url: Some(url.to_owned().into()), ..Settings::default() };
            let places = of_store(&settings).into_iter();
            places.map(|place| format!("{} {}", place.host, place.port)).collect::<Vec<_>>()
        };
        assert_eq!(of("postgres://ann@db.example/life"), ["db.example 5432"]);
        assert_eq!(
            of("postgres://ann@a.example:1,b.example:2/life"),
            ["a.example 1", "b.example 2"]
        );
        assert_eq!(of("postgres://ann@127.0.0.1/life"), Vec::<String>::new());
        assert_eq!(of("postgres://ann@%2Frun%2Fpg/life"), Vec::<String>::new());
        assert_eq!(of_store(&Settings::default()), []);
    }
}
