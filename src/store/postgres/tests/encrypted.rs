//! A server that encrypts, on a port of this machine: who it says that it is counts.

use std::net::TcpListener;
use std::sync::OnceLock;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use selkie_test_postgres::Server;

use super::super::{Address, Postgres};
use super::owner;
use crate::error::Result;

static AUTHORITY: OnceLock<CertificateDer<'static>> = OnceLock::new();

#[test]
fn a_server_under_another_name_and_one_that_nobody_vouches_for_are_refused() {
    let port = free_port();
    let server = Server::start(&format!("-c listen_addresses=127.0.0.1 -c port={port}"));
    let url = server.database();
    let name = url.rsplit('/').next().unwrap();
    let (certificate, key) = certificate_for("localhost");
    server.keep("server.crt", &certificate);
    server.keep("server.key", &key);
    server.stop();
    server.start_again("-c ssl=on");
    let at = |host: &str| format!("postgres://selkie@{host}:{port}/{name}?sslmode=require");
    let why = refusal(open(&at("127.0.0.1"), trusting));
    assert!(why.contains("not valid for name"), "{why}");
    for strangers in [RootCertStore::empty, others] {
        let why = refusal(open(&at("localhost"), strangers));
        assert!(why.contains("SSL_CERT_FILE"), "{why}");
    }
    let store = open(&at("localhost"), trusting).unwrap();
    let encrypted = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
                     WHERE a.client_port > 0";
    assert_eq!(server.psql("postgres", encrypted), "t");
    drop(store);
}

fn trusting() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(AUTHORITY.get().expect("made before").clone()).expect("a certificate");
    roots
}

/// Trusts an authority that has signed nothing here.
fn others() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(authority("another").der().clone()).expect("a certificate");
    roots
}

fn open(url: &str, roots: fn() -> RootCertStore) -> Result<Postgres> {
    let tls = selkie_channel_core::tls::client_config(roots).unwrap();
    Postgres::open(Address::read(url, None).unwrap(), owner("one"), &tls)
}

fn refusal(opened: Result<Postgres>) -> String {
    opened.map(drop).unwrap_err().to_string()
}

/// A certificate and its key, from an authority of our own.
fn certificate_for(name: &str) -> (String, String) {
    let authority = authority("ours");
    AUTHORITY.set(authority.der().clone()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let signed = params.signed_by(&key, &authority).unwrap();
    (signed.pem(), key.serialize_pem())
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
