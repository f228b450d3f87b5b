//! The one TLS configuration of the process: ring, and the system's certificates, read at the first
//! handshake that needs them (reading them at start costs more than the whole start).

use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Reads the roots that are trusted.
pub type Roots = fn() -> RootCertStore;

/// Builds the configuration all clients share. `roots` is called once, at the first handshake.
///
/// # Errors
/// When ring offers no protocol version, which cannot happen with the versions built in.
pub fn client_config(roots: Roots) -> Result<Arc<ClientConfig>, Error> {
    config_by(verifier(roots)).map(Arc::new)
}

/// Builds a configuration in which `verifier` says whom to trust: with [`verifier`] all clients share what was read of
/// the system's certificates.
///
/// # Errors
/// As [`client_config`].
pub fn config_by(verifier: Arc<dyn ServerCertVerifier>) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    // No client of ours speaks HTTP/2; a server that chose it would not be understood.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Trusts whom `roots` vouch for; they are read at the first certificate.
pub fn verifier(roots: Roots) -> Arc<dyn ServerCertVerifier> {
    Arc::new(LazyVerifier { provider: provider(), roots, inner: OnceLock::new() })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// WebPKI, with its roots read when first needed. Checks exactly what WebPKI checks.
#[derive(Debug)]
struct LazyVerifier {
    provider: Arc<CryptoProvider>,
    roots: Roots,
    inner: OnceLock<Result<Arc<WebPkiServerVerifier>, String>>,
}

impl LazyVerifier {
    fn inner(&self) -> Result<&Arc<WebPkiServerVerifier>, Error> {
        self.inner
            .get_or_init(|| {
                let roots = Arc::new((self.roots)());
                WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&self.provider))
                    .build()
                    .map_err(|e| format!("no trusted certificates on this machine: {e}"))
            })
            .as_ref()
            .map_err(|e| Error::General(e.clone()))
    }
}

impl ServerCertVerifier for LazyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.inner()?.verify_server_cert(end_entity, intermediates, server_name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner()?.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner()?.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
