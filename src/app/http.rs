//! The HTTP clients: one TLS configuration, one user agent, deadlines from the start.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::client::danger::ServerCertVerifier;
use rustls::{ClientConfig, RootCertStore};
use selkie_channel_core::tls;

/// How we name ourselves to servers.
pub const USER_AGENT: &str = concat!("selkie/", env!("CARGO_PKG_VERSION"));

const CONNECT: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);

/// Builds the one TLS configuration. The system's certificates are read at the first handshake.
///
/// # Errors
/// When ring offers no protocol version, which cannot happen with the versions built in.
pub fn tls() -> Result<Arc<ClientConfig>, rustls::Error> {
    tls_by(trust())
}

/// Builds it on what says whom to trust.
///
/// # Errors
/// As [`tls()`].
pub fn tls_by(trust: Arc<dyn ServerCertVerifier>) -> Result<Arc<ClientConfig>, rustls::Error> {
    tls::config_by(trust).map(Arc::new)
}

/// Trusts whom this machine trusts.
pub fn trust() -> Arc<dyn ServerCertVerifier> {
    tls::verifier(roots)
}

/// Builds the client for models. Calls set their own deadlines. It follows no redirect: that would carry keys and
/// what people said to whomever the answer names.
///
/// # Errors
/// When the library refuses the TLS configuration.
pub fn client(tls: &Arc<ClientConfig>) -> reqwest::Result<Client> {
    builder(tls).redirect(Policy::none()).referer(false).build()
}

/// Begins a client; the tools' own puts its guard on top.
#[expect(clippy::disallowed_methods, reason = "the one home of HTTP clients")]
pub fn builder(tls: &Arc<ClientConfig>) -> ClientBuilder {
    Client::builder()
        .tls_backend_preconfigured(ClientConfig::clone(tls))
        .user_agent(USER_AGENT)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
}

/// Builds a client of the daemon's control socket.
///
/// # Errors
/// When the library refuses the TLS configuration.
#[expect(clippy::disallowed_methods, reason = "the one home of HTTP clients")]
pub fn socket_client(tls: &Arc<ClientConfig>, socket: &Path) -> reqwest::Result<Client> {
    Client::builder()
        .tls_backend_preconfigured(ClientConfig::clone(tls))
        .user_agent(USER_AGENT)
        .unix_socket(socket)
        .connect_timeout(CONNECT)
        .build()
}

fn roots() -> RootCertStore {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a certificate store cannot be read");
    }
    store.add_parsable_certificates(found.certs);
    store
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_a_model_is_told_goes_nowhere_else() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = elsewhere.local_addr().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let answers = async {
            for status in [301, 302, 303, 307, 308] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await.unwrap();
                let head = format!(
                    "HTTP/1.1 {status} Moved\r\nlocation: http://localhost:{}/\r\ncontent-length: 0\r\n\
                     connection: close\r\n\r\n",
                    there.port()
                );
                stream.write_all(head.as_bytes()).await.unwrap();
            }
        };
        let client = client(&tls().unwrap()).unwrap();
        let asks = async {
            for status in [301, 302, 303, 307, 308] {
                let asked = client.post(format!("http://{here}/")).body("words").send().await;
                assert_eq!(asked.unwrap().status(), status);
            }
        };
        tokio::join!(answers, asks);
        let came = tokio::time::timeout(std::time::Duration::ZERO, elsewhere.accept()).await;
        assert!(came.is_err(), "somebody else was asked");
    }
}
