//! Serving https, and refusing to serve plain text where others could listen.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{Site, complaint, eventually};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A site with a certificate for `localhost`, which is returned too.
fn site_with_certificate() -> (Site, CertificateDer<'static>) {
    let site = Site::sqlite();
    let [certificate, key] = files(&site);
    let made = renew(&site);
    let site = site
        .set("server.tls.certificate", certificate.display())
        .set("server.tls.private_key", key.display());
    (site, made)
}

fn files(site: &Site) -> [PathBuf; 2] {
    [site.data().join("site.pem"), site.data().join("site.key")]
}

/// Writes another certificate, and its key after it.
fn renew(site: &Site) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed([String::from("localhost")]).unwrap();
    let [certificate, key] = files(site);
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

fn client(
    trusted: CertificateDer<'static>,
    address: &str,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    StreamOwned::new(connection, stream)
}

#[test]
fn https_is_served_with_the_certificate() {
    let (site, certificate) = site_with_certificate();
    let running = site.serve();
    let address = running.url.strip_prefix("https://").expect("the ready line says https");
    let mut stream = client(certificate, address);
    stream
        .write_all(b"GET /v1/errors HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    // Not every server says goodbye before it hangs up; the answer is whole nonetheless.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\nstrict-transport-security: max-age="), "{answer}");
    assert!(answer.contains("\"mandatory_field\""), "{answer}");
}

#[test]
fn a_renewed_certificate_is_used_without_a_restart() {
    let (site, first) = site_with_certificate();
    let running = site.serve();
    let address = running.url.strip_prefix("https://").unwrap();
    let is_served = |certificate: &CertificateDer<'static>| {
        let request = b"GET /healthz HTTP/1.0\r\n\r\n";
        client(certificate.clone(), address).write_all(request).is_ok()
    };
    let [_, key] = files(&site);
    fs::write(&key, "no key at all").unwrap();
    thread::sleep(Duration::from_secs(5));
    assert!(is_served(&first), "what does not fit changes nothing");
    let second = renew(&site);
    eventually("the new certificate is served", TIMEOUT, || is_served(&second));
    assert!(!is_served(&first));
}

#[test]
fn plain_text_gets_no_answer_where_https_is_served() {
    let (site, certificate) = site_with_certificate();
    let running = site.serve();
    let address = running.url.strip_prefix("https://").unwrap();
    let mut plain = TcpStream::connect(address).unwrap();
    plain.set_read_timeout(Some(TIMEOUT)).unwrap();
    plain.write_all(b"GET /v1/errors HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&answer));
    let mut stream = client(certificate, address);
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").unwrap();
}

#[test]
fn plain_text_is_for_loopback_only() {
    let site = Site::sqlite();
    let open = ["serve", "--environment", "sandbox", "--listen", "0.0.0.0:0"];
    let refused = complaint(&site.run(&open), 1);
    for part in ["0.0.0.0:0", "not a loopback address", "server.tls", "server.allow_plaintext"] {
        assert!(refused.contains(part), "no {part:?} in {refused}");
    }
    let site = site.set("server.allow_plaintext", true);
    let running = site.serve_with(&["--listen", "0.0.0.0:0"]);
    assert!(running.url.starts_with("http://0.0.0.0:"), "{}", running.url);
}

#[test]
fn a_certificate_that_cannot_be_used_is_refused_at_start() {
    let (site, _) = site_with_certificate();
    let serve = ["serve", "--environment", "sandbox", "--listen", "127.0.0.1:0"];
    let other = rcgen::generate_simple_self_signed([String::from("localhost")]).unwrap();
    fs::write(site.data().join("site.key"), other.signing_key.serialize_pem()).unwrap();
    assert!(complaint(&site.run(&serve), 1).contains("do not fit"));
    fs::write(site.data().join("site.key"), "no key").unwrap();
    assert!(complaint(&site.run(&serve), 1).contains("private key"));
    fs::remove_file(site.data().join("site.pem")).unwrap();
    assert!(complaint(&site.run(&serve), 1).contains("site.pem"));
}
