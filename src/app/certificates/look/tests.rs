//! Real servers with certificates of an authority of our own, and those who are no such thing.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;
use selkie_guard::network::Settings;

/// A day of November 2026, by which everything is judged.
fn november(day: u32) -> DateTime<Utc> {
    format!("2026-11-{day:02}T00:00:00Z").parse().unwrap()
}

/// An authority that vouches for servers.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) =
            (date_time_ymd(2020, 1, 1), date_time_ymd(2040, 1, 1));
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Trusts this authority alone.
    fn trust(&self) -> Arc<dyn ServerCertVerifier> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap()
    }

    /// What a server needs that is `name` until a day.
    fn server(&self, name: &str, until: (i32, u8, u8)) -> TlsAcceptor {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        let (year, month, day) = until;
        (params.not_before, params.not_after) =
            (date_time_ymd(2026, 10, 1), date_time_ymd(year, month, day));
        let key = KeyPair::generate().unwrap();
        let chain: Vec<CertificateDer<'static>> =
            vec![params.signed_by(&key, &self.0).unwrap().der().clone()];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key.into())
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Looks at what answers as `localhost`, with an answer before the handshake where it is a database.
async fn seen(
    of: Of,
    trust: Arc<dyn ServerCertVerifier>,
    acceptor: Option<TlsAcceptor>,
) -> CertificateState {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let place = Place {
        of: of.clone(),
        host: "localhost".to_owned(),
        address: Some([127, 0, 0, 1].into()),
        port,
    };
    let network = Settings { allow_private: vec!["localhost".to_owned()] };
    let ahead = Duration::from_secs(14 * 24 * 3600);
    let terms = Terms { trust, network: &network, now: november(23), ahead };
    let serves = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        if of == Of::Database {
            let mut asked = [0; 8];
            stream.read_exact(&mut asked).await.unwrap();
            assert_eq!(asked, SSL_REQUEST);
            stream.write_all(if acceptor.is_some() { b"S" } else { b"N" }).await.unwrap();
        }
        if let Some(acceptor) = acceptor {
            // Who looks hangs up as soon as it has seen enough.
            acceptor.accept(stream).await.ok();
        }
    };
    tokio::join!(look(&place, &terms), serves).0
}

const CHANNEL: Of = Of::Channel("bird");

#[tokio::test]
async fn what_expires_soon_is_told_with_its_day_and_what_does_not_is_well() {
    let authority = Authority::new("ours");
    let cases = [
        ((2026, 11, 28), CertificateState::Ends(Some(november(28)))),
        ((2027, 1, 22), CertificateState::Valid),
        ((2026, 11, 20), CertificateState::Ended(Some(november(20)))),
    ];
    for (until, wanted) in cases {
        for of in [CHANNEL, Of::Database] {
            let server = authority.server("localhost", until);
            assert_eq!(seen(of, authority.trust(), Some(server)).await, wanted, "{until:?}");
        }
    }
}

#[tokio::test]
async fn a_strangers_certificate_and_another_name_are_told_as_what_they_are() {
    let authority = Authority::new("ours");
    let stranger = seen(
        CHANNEL,
        Authority::new("another").trust(),
        Some(authority.server("localhost", (2027, 1, 1))),
    )
    .await;
    let named =
        seen(CHANNEL, authority.trust(), Some(authority.server("other.example", (2027, 1, 1))))
            .await;
    assert!(
        matches!(&stranger, CertificateState::Untrusted(why) if why.contains("UnknownIssuer")),
        "{stranger:?}"
    );
    assert!(
        matches!(&named, CertificateState::Untrusted(why) if why.contains("not valid for name")),
        "{named:?}"
    );
    let plain = seen(Of::Database, authority.trust(), None).await;
    assert_eq!(plain, CertificateState::Plain);
    // Somebody who hangs up shows nothing.
    let silent = seen(CHANNEL, authority.trust(), None).await;
    assert!(matches!(silent, CertificateState::Unknown(_)), "{silent:?}");
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_waited_for_so_long_and_a_private_address_is_not_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let place =
        |of| Place { of, host: "localhost".to_owned(), address: Some([127, 0, 0, 1].into()), port };
    let trust = Authority::new("another").trust();
    let network = Settings::default();
    let terms = Terms { trust, network: &network, now: november(23), ahead: Duration::ZERO };
    let silent = look(&place(Of::Database), &terms).await;
    assert_eq!(silent, CertificateState::Unknown("no answer within 8 s".to_owned()));
    let refused = look(&place(CHANNEL), &terms).await;
    assert!(
        matches!(&refused, CertificateState::Unknown(why) if why.contains("not allowed by guard")),
        "{refused:?}"
    );
}
