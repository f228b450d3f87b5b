//! Judges a certificate twice, as every connection judges it: by now, and by some days from now. What fails then and not
//! now expires in between.

use std::sync::{Arc, Mutex};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use selkie_channel_core::locked;

/// The two judgements of one handshake.
#[derive(Debug)]
pub struct Twice {
    trust: Arc<dyn ServerCertVerifier>,
    now: UnixTime,
    later: UnixTime,
    judged: Mutex<Option<Verdicts>>,
}

/// What they came to; `None` each where nothing is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// By now.
    pub now: Option<Error>,
    /// By then; nothing where the certificate is not taken even now.
    pub later: Option<Error>,
}

impl Twice {
    /// Judges as `trust` does, at these times.
    pub fn new(trust: Arc<dyn ServerCertVerifier>, now: UnixTime, later: UnixTime) -> Self {
        Self { trust, now, later, judged: Mutex::new(None) }
    }

    /// Tells what was judged; `None` when no certificate came.
    pub fn judged(&self) -> Option<Verdicts> {
        locked(&self.judged).clone()
    }
}

impl ServerCertVerifier for Twice {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let at = |time| {
            self.trust.verify_server_cert(end_entity, intermediates, server_name, ocsp, time)
        };
        let now = at(self.now);
        let later = now.as_ref().ok().and_then(|_| at(self.later).err());
        *locked(&self.judged) = Some(Verdicts { now: now.as_ref().err().cloned(), later });
        now
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust.supported_verify_schemes()
    }
}
