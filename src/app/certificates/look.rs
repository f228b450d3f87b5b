//! One look at a certificate: a handshake, and nothing is said afterwards.
//!
//! Whoever answers there may be anybody: the time is bounded here, what a handshake may bring (a message, the length of a
//! chain, the signatures to check) by the library that every connection of ours is made with.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, Error};
use selkie_channel_core::tls;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::places::{Of, Place};
use super::twice::{Twice, Verdicts};
use selkie_guard::network;

/// How long all of it may take; shorter than the look of `selkie doctor`, so that its words are told.
const LIMIT: Duration = Duration::from_secs(8);
/// How long one address may take to be connected to.
const CONNECT: Duration = Duration::from_secs(3);
/// So many addresses of a name are tried.
const MAX: usize = 4;
/// Asks a PostgreSQL server to encrypt, before anything else is said.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// By what a certificate is judged.
pub struct Terms<'a> {
    /// Who is trusted.
    pub trust: Arc<dyn ServerCertVerifier>,
    /// Which addresses may be reached where somebody else has named the host.
    pub network: &'a network::Settings,
    /// The time.
    pub now: DateTime<Utc>,
    /// It has to be valid for so long.
    pub ahead: Duration,
}

/// How a certificate stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateState {
    /// It is valid, and will be.
    Valid,
    /// It is valid and expires too soon: then, where that is known.
    Ends(Option<DateTime<Utc>>),
    /// It has expired: then.
    Ended(Option<DateTime<Utc>>),
    /// It is not taken for another reason.
    Untrusted(String),
    /// Nothing is encrypted there.
    Plain,
    /// It could not be looked at, and why.
    Unknown(String),
}

/// Looks.
pub async fn look(place: &Place, terms: &Terms<'_>) -> CertificateState {
    match timeout(LIMIT, shown(place, terms)).await {
        Ok(looked) => looked.unwrap_or_else(CertificateState::Unknown),
        Err(_) => CertificateState::Unknown(format!("no answer within {} s", LIMIT.as_secs())),
    }
}

async fn shown(place: &Place, terms: &Terms<'_>) -> Result<CertificateState, String> {
    let name = ServerName::try_from(place.host.clone()).map_err(|error| error.to_string())?;
    let mut stream = connected(place, terms).await?;
    if place.of == Of::Database && !encrypts(&mut stream).await? {
        return Ok(CertificateState::Plain);
    }
    let later =
        terms.now.checked_add_signed(chrono::TimeDelta::from_std(terms.ahead).unwrap_or_default());
    let now = unix(terms.now);
    let later = unix(later.unwrap_or(terms.now));
    let twice = Arc::new(Twice::new(Arc::clone(&terms.trust), now, later));
    let mut config = tls::config_by(Arc::clone(&twice) as _).map_err(|error| error.to_string())?;
    if place.of == Of::Database {
        config.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    let shaken = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    match (twice.judged(), shaken) {
        (Some(judged), shaken) if judged.now.is_some() || shaken.is_ok() => Ok(found(&judged)),
        // Who shows a certificate and cannot prove that it is theirs has shown none.
        (_, Err(error)) => Err(format!("no handshake: {error}")),
        (_, Ok(_)) => Err("no certificate was shown".to_owned()),
    }
}

/// Connects to an address that may be reached.
async fn connected(place: &Place, terms: &Terms<'_>) -> Result<TcpStream, String> {
    let addresses: Vec<SocketAddr> = match place.address {
        Some(address) => vec![SocketAddr::new(address, place.port)],
        None => {
            let found = lookup_host((place.host.as_str(), place.port)).await;
            found.map_err(|error| format!("its name leads nowhere: {error}"))?.collect()
        }
    };
    if matches!(place.of, Of::Channel(_)) {
        // The platform has told the host, and the connection is made to the judged address.
        addresses.iter().try_for_each(|it| terms.network.address(&place.host, it.ip()))?;
    }
    let mut why = "its name leads nowhere".to_owned();
    for address in addresses.into_iter().take(MAX) {
        match timeout(CONNECT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => why = format!("{address}: {error}"),
            Err(_) => why = format!("{address} does not answer"),
        }
    }
    Err(why)
}

/// Asks a database server to encrypt; `false` when it does not.
async fn encrypts(stream: &mut TcpStream) -> Result<bool, String> {
    let asked = async {
        stream.write_all(&SSL_REQUEST).await?;
        stream.read_u8().await
    };
    match asked.await {
        Ok(b'S') => Ok(true),
        Ok(b'N') => Ok(false),
        Ok(_) => Err("no PostgreSQL answers there".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn found(judged: &Verdicts) -> CertificateState {
    match (&judged.now, &judged.later) {
        (None, None) => CertificateState::Valid,
        (None, Some(later)) => CertificateState::Ends(not_after(later)),
        (Some(Error::InvalidCertificate(CertificateError::Expired)), _) => {
            CertificateState::Ended(None)
        }
        (Some(now @ Error::InvalidCertificate(CertificateError::ExpiredContext { .. })), _) => {
            CertificateState::Ended(not_after(now))
        }
        (Some(now), _) => CertificateState::Untrusted(now.to_string()),
    }
}

/// The end of a certificate that has expired by the time it was judged for.
fn not_after(error: &Error) -> Option<DateTime<Utc>> {
    match error {
        Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. }) => {
            DateTime::from_timestamp(i64::try_from(not_after.as_secs()).ok()?, 0)
        }
        _ => None,
    }
}

fn unix(at: DateTime<Utc>) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(at.timestamp()).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
