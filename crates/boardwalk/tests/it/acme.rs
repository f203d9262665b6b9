//! Certificates that the server gets and renews itself, from a real authority on loopback: Pebble,
//! with the name service of its package.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use serde_json::json;
use tempfile::TempDir;
use testkit::http;

use crate::support::{Running, Site, complaint, eventually};

const NAME: &str = "shop.boardwalk.test";
const TIMEOUT: Duration = Duration::from_secs(20);
/// Of an order with its proof, on a busy machine; also of the waits after an unreachable authority.
const ISSUED_WITHIN: Duration = Duration::from_secs(150);
/// Two thirds of it must be longer than a restart takes on a busy machine.
const SHORT_VALIDITY_SECONDS: u64 = 90;
const LONG_VALIDITY_SECONDS: u64 = 86_400;

fn free_port() -> u16 {
    testkit::free_port().unwrap()
}

/// A program that ends with the test.
struct Program(Child);

impl Program {
    fn start(name: &str, folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(name);
        command.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        let child = command.spawn();
        let missing = "install it: `cargo xtask test --only tools`";
        Self(child.unwrap_or_else(|error| panic!("cannot start {name} ({error}); {missing}")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An authority: where it is, whom it believes, and what it believes of others.
struct Authority {
    folder: TempDir,
    port: u16,
    management: u16,
    /// Where it looks for the servers that claim a name.
    checked_port: u16,
    own: CertificateDer<'static>,
    programs: Vec<Program>,
}

impl Authority {
    /// One that does not run yet.
    fn new(checked_port: u16) -> Self {
        let folder = testkit::temp_dir().unwrap();
        let own = rcgen::generate_simple_self_signed([String::from("localhost")]).unwrap();
        fs::write(folder.path().join("own.pem"), own.cert.pem()).unwrap();
        fs::write(folder.path().join("own.key"), own.signing_key.serialize_pem()).unwrap();
        let own = own.cert.der().clone();
        let (port, management) = (free_port(), free_port());
        Self { folder, port, management, checked_port, own, programs: Vec::new() }
    }

    /// Starts it; every name leads to loopback.
    fn start(&mut self, validity_seconds: u64) {
        let folder = self.folder.path();
        let at = |port: u16| format!("127.0.0.1:{port}");
        let config = json!({ "pebble": {
            "listenAddress": at(self.port), "managementListenAddress": at(self.management),
            "certificate": "own.pem", "privateKey": "own.key",
            "httpPort": free_port(), "tlsPort": self.checked_port,
            "certificateValidityPeriod": validity_seconds,
        } });
        fs::write(folder.join("config.json"), config.to_string()).unwrap();
        let (names, management) = (at(free_port()), at(free_port()));
        let others = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""];
        let own = ["-dns01", &names, "-management", &management, "-defaultIPv4", "127.0.0.1"];
        let all = [&others[..], &own].concat();
        self.programs.push(Program::start("pebble-challtestsrv", folder, &all));
        let all = ["-config", "config.json", "-dnsserver", &names];
        self.programs.push(Program::start("pebble", folder, &all));
        // It opens its doors one after the other.
        for port in [self.management, self.port] {
            eventually("the authority listens", TIMEOUT, || TcpStream::connect(at(port)).is_ok());
        }
    }

    fn stop(&mut self) {
        self.programs.clear();
    }

    /// A site that gets its certificate here.
    fn site(&self) -> Site {
        Site::sqlite()
            .set("server.tls.acme.domains", format!("[{NAME:?}]"))
            .set("server.tls.acme.contact", "ada@boardwalk.test")
            .set("server.tls.acme.terms_agreed", true)
            .set("server.tls.acme.directory", format!("https://localhost:{}/dir", self.port))
            .set("server.tls.acme.ca_root", self.folder.path().join("own.pem").display())
    }

    /// The root of what it issues, which is another one after each start.
    fn root(&self) -> CertificateDer<'static> {
        let config = trusting(self.own.clone());
        let (_, answer) = ask(config, "localhost", self.management, "/roots/0").expect("a root");
        CertificateDer::from_pem_slice(answer.as_bytes()).expect("PEM in the answer")
    }
}

fn trusting(root: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    builder().with_root_certificates(roots).with_no_client_auth()
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap()
}

/// The certificate that is served and the answer, if the handshake succeeds.
fn ask(
    config: ClientConfig,
    name: &str,
    port: u16,
    path: &str,
) -> Option<(CertificateDer<'static>, String)> {
    let server_name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), server_name).unwrap();
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let request = format!("GET {path} HTTP/1.0\r\nHost: {name}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // Not every server says goodbye before it hangs up; the answer is whole nonetheless.
    let _ = stream.read_to_end(&mut answer);
    let served = stream.conn.peer_certificates()?.first()?.clone().into_owned();
    Some((served, String::from_utf8_lossy(&answer).into_owned()))
}

/// The certificate that a client who believes in this root gets.
fn served(root: &CertificateDer<'static>, port: u16) -> Option<CertificateDer<'static>> {
    let (certificate, answer) = ask(trusting(root.clone()), NAME, port, "/healthz")?;
    answer.contains("alive").then_some(certificate)
}

fn serve_at(site: &Site, port: u16) -> Running {
    site.serve_with(&["--listen", &format!("127.0.0.1:{port}")])
}

fn metric(running: &Running, name: &str) -> Option<f64> {
    let text = http::get(&running.admin_url(), "/metrics", &[]).unwrap().text();
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

const ISSUED: &str = "boardwalk_certificate_renewals_total{outcome=\"issued\"}";
const EXPIRY: &str = "boardwalk_certificate_expiry_timestamp_seconds";

/// Whether a file is there and only its owner can read it.
fn is_private(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o777 == 0o600)
}

#[test]
fn a_certificate_is_issued_and_kept_and_renewed() {
    let port = free_port();
    let mut authority = Authority::new(port);
    authority.start(SHORT_VALIDITY_SECONDS);
    let (root, site) = (authority.root(), authority.site());
    let running = serve_at(&site, port);
    assert!(running.url.starts_with("https://"), "{}", running.url);
    eventually("issued", ISSUED_WITHIN, || served(&root, port).is_some());
    let first = served(&root, port).expect("issued");
    // It is served before it is kept.
    for file in ["account.json", "certificate.json"] {
        let path = site.data().join("certificates").join(file);
        eventually(file, TIMEOUT, || is_private(&path));
    }
    assert!(metric(&running, EXPIRY).is_some_and(|expires| expires > 1_700_000_000.0));
    running.server.terminate(TIMEOUT).unwrap();

    let running = serve_at(&site, port);
    assert_eq!(served(&root, port).as_ref(), Some(&first), "the kept one is used at once");
    assert_eq!(metric(&running, ISSUED), Some(0.0), "and nothing was ordered");
    eventually("renewed", ISSUED_WITHIN, || {
        served(&root, port).is_some_and(|certificate| certificate != first)
    });
    assert!(metric(&running, ISSUED).is_some_and(|issued| issued >= 1.0));
    assert_eq!(metric(&running, "boardwalk_certificate_renewal_succeeded"), Some(1.0));
}

#[test]
fn the_server_answers_while_the_authority_is_away() {
    let port = free_port();
    let mut authority = Authority::new(port);
    let site = authority.site();
    let running = serve_at(&site, port);
    let (_, answer) = ask(believing(), NAME, port, "/healthz").expect("a handshake");
    assert!(answer.contains("alive"), "{answer}");
    assert_eq!(metric(&running, EXPIRY), Some(0.0));
    let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
    plain.set_read_timeout(Some(TIMEOUT)).unwrap();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&answer));
    eventually("the log says why", TIMEOUT, || {
        running.server.stderr().contains("the certificate authority cannot be reached")
    });

    authority.start(LONG_VALIDITY_SECONDS);
    let root = authority.root();
    eventually("issued", ISSUED_WITHIN, || served(&root, port).is_some());
    let mut asking = trusting(root.clone());
    asking.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    assert!(ask(asking, NAME, port, "/healthz").is_none(), "no proof is asked for any more");
    running.server.terminate(TIMEOUT).unwrap();

    // With the authority away, and another one in its place later that knows no account.
    authority.stop();
    let running = serve_at(&site, port);
    assert!(served(&root, port).is_some(), "the kept certificate needs nobody");
    running.server.terminate(TIMEOUT).unwrap();
    fs::remove_file(site.data().join("certificates/certificate.json")).unwrap();
    authority.start(LONG_VALIDITY_SECONDS);
    let root = authority.root();
    let _running = serve_at(&site, port);
    eventually("issued to a new account", ISSUED_WITHIN, || served(&root, port).is_some());
}

#[test]
fn a_name_that_leads_elsewhere_is_refused_and_told() {
    let port = free_port();
    let mut authority = Authority::new(free_port());
    authority.start(LONG_VALIDITY_SECONDS);
    let site = authority.site();
    let running = serve_at(&site, port);
    let told = ["the certificate authority did not find this server", NAME, "trying again"];
    eventually("the log says why", ISSUED_WITHIN, || {
        let log = running.server.stderr();
        log.lines().any(|line| told.iter().all(|part| line.contains(part)))
    });
    assert!(ask(believing(), NAME, port, "/healthz").is_some(), "it answers all the same");
    assert_eq!(metric(&running, "boardwalk_certificate_renewal_succeeded"), Some(0.0));
    let findings = String::from_utf8(site.run(&["doctor"]).stdout).unwrap();
    assert!(findings.contains("none issued yet"), "{findings}");
}

#[test]
fn settings_that_contradict_are_refused() {
    let serve = ["serve", "--environment", "sandbox", "--listen", "127.0.0.1:0"];
    let acme = || Site::sqlite().set("server.tls.acme.domains", format!("[{NAME:?}]"));
    let said = complaint(&acme().run(&serve), 1);
    assert!(said.contains("terms_agreed is false"), "{said}");
    let both = acme()
        .set("server.tls.acme.terms_agreed", true)
        .set("server.tls.certificate", "/etc/chain.pem")
        .set("server.tls.private_key", "/etc/key.pem");
    let said = complaint(&both.run(&serve), 1);
    assert!(said.contains("both files and server.tls.acme"), "{said}");
    let printed = String::from_utf8(both.run(&["config", "print"]).stdout).unwrap();
    for part in ["[server.tls.acme]", NAME, "https://acme-v02.api.letsencrypt.org/directory"] {
        assert!(printed.contains(part), "no {part:?} in {printed}");
    }
}

/// Accepts whatever is served, to see that there is something.
fn believing() -> ClientConfig {
    let verifier = Arc::new(Believer);
    builder().dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
}

#[derive(Debug)]
struct Believer;

impl ServerCertVerifier for Believer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::aws_lc_rs::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
