//! The client against servers on loopback that misbehave in one way each, and against a name
//! service that lies.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use types::Environment;

use super::connect::{Resolve, Resolving};
use super::*;

const LOOPBACK: &[&str] = &["127.0.0.1"];
const PATIENCE: Duration = Duration::from_secs(5);

fn guard(exempt: &[&str]) -> Guard {
    let exempt = exempt.iter().map(|range| range.parse().unwrap()).collect();
    Guard::new(&OutboundSettings { exempt }, Environment::Sandbox).unwrap()
}

fn client(exempt: &[&str]) -> Client {
    let roots = Trust::Roots(RootCertStore::empty());
    Client::with(Connector::new(guard(exempt), Box::new(SystemResolver), roots))
}

/// Gives its answers in turn, the last one for ever.
#[derive(Debug, Clone)]
struct FakeResolver {
    answers: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    asked: Arc<AtomicUsize>,
}

impl FakeResolver {
    fn new(answers: &[&[&str]]) -> Self {
        let parse = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        let answers = Arc::new(Mutex::new(answers.iter().map(parse).collect()));
        Self { answers, asked: Arc::new(AtomicUsize::new(0)) }
    }

    fn client(&self, exempt: &[&str], roots: RootCertStore) -> Client {
        let resolver = Box::new(self.clone());
        Client::with(Connector::new(guard(exempt), resolver, Trust::Roots(roots)))
    }
}

impl Resolve for FakeResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async { answer.ok_or_else(|| std::io::Error::other("no answer")) })
    }
}

/// A server on loopback, with the requests that it got.
struct Provider {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    /// Answers each request with the raw text that `answer` makes of its path.
    async fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::listen(None, answer).await
    }

    async fn listen(
        tls: Option<TlsAcceptor>,
        answer: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log, tls) = (Arc::clone(&answer), Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &*answer, &log).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &*answer, &log).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: &(dyn Fn(&str) -> String + Send + Sync),
    log: &Mutex<Vec<String>>,
) {
    let mut bytes = Vec::new();
    let text = loop {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            break text;
        }
    };
    let path = text.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(text);
    let answer = answer(&path);
    if answer.is_empty() {
        // Says nothing, and keeps the line open.
        std::future::pending::<()>().await;
    }
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn moved(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

fn get(url: Url) -> Fetch {
    Fetch::get(url, 1_000, PATIENCE)
}

#[tokio::test]
async fn an_exempt_host_answers() {
    let provider = Provider::start(|_| ok("hello")).await;
    let mut request = get(provider.url("/a b?c=d#e"));
    request.headers.push(("Accept".to_owned(), "text/html".to_owned()));
    let fetched = client(LOOPBACK).fetch(request).await.unwrap();
    assert_eq!((fetched.status, fetched.body.as_slice()), (200, b"hello".as_slice()));
    assert_eq!(fetched.header("content-type"), Some("text/plain"));
    let sent = provider.requests().remove(0);
    assert!(sent.starts_with("GET /a%20b?c=d HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: {}\r\n", provider.address)), "{sent}");
    assert!(sent.contains("accept-encoding: identity\r\n"), "{sent}");
    assert!(sent.contains("accept: text/html\r\n"), "{sent}");
}

#[tokio::test]
async fn a_private_host_is_never_connected_to() {
    let provider = Provider::start(|_| ok("secret")).await;
    let port = provider.address.port();
    let check = async |client: Client, url: String, expected: Refusal| {
        let result = client.fetch(get(Url::parse(&url).unwrap())).await;
        assert_eq!(result, Err(FetchError::Refused(expected)), "{url}");
    };
    check(client(&[]), format!("http://127.0.0.1:{port}/"), Refusal::Port).await;
    check(client(&["10.9.9.9"]), format!("http://127.0.0.1:{port}/"), Refusal::Address).await;
    check(client(&["10.9.9.9"]), format!("http://localhost:{port}/"), Refusal::Address).await;
    check(client(&[]), "http://169.254.169.254/".to_owned(), Refusal::Address).await;
    check(client(&[]), "http://[::1]/".to_owned(), Refusal::Address).await;
    assert!(provider.requests().is_empty());
}

#[tokio::test]
async fn redirects_are_checked_like_the_first_address() {
    let provider = Provider::start(|path| match path {
        "/relative" => moved(302, "next"),
        "/next" => ok("there"),
        "/private" => moved(302, "http://10.0.0.1/"),
        "/metadata" => moved(301, "http://169.254.169.254/"),
        "/file" => moved(302, "file:///etc/passwd"),
        "/user" => moved(307, "http://a:b@127.0.0.1/"),
        "/malformed" => moved(302, "http://[/"),
        "/nowhere" => "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        _ => moved(302, "/loop"),
    })
    .await;
    let client = client(LOOPBACK);
    let fetch = async |path: &str| client.fetch(get(provider.url(path))).await;
    let fetched = fetch("/relative").await.unwrap();
    assert_eq!(fetched.body, b"there");
    assert_eq!(fetched.final_url, provider.url("/next"));
    assert_eq!(fetch("/nowhere").await.unwrap().status, 302);
    let refused = |refusal: Refusal| Err(FetchError::Refused(refusal));
    assert_eq!(fetch("/private").await, refused(Refusal::Address));
    assert_eq!(fetch("/metadata").await, refused(Refusal::Address));
    assert_eq!(fetch("/file").await, refused(Refusal::Scheme));
    assert_eq!(fetch("/user").await, refused(Refusal::UserInfo));
    assert_eq!(fetch("/malformed").await, Err(FetchError::BadAnswer));

    let before = provider.requests().len();
    assert_eq!(fetch("/loop").await, Err(FetchError::TooManyRedirects));
    assert_eq!(provider.requests().len() - before, 1 + REDIRECTS_MAX);

    let mut plain = get(provider.url("/relative"));
    plain.max_redirects = 0;
    assert_eq!(client.fetch(plain).await.unwrap().status, 302);
}

#[tokio::test]
async fn bodies_and_secrets_stay_where_they_belong() {
    let other = Provider::start(|_| ok("other")).await;
    let target = other.url("/x").to_string();
    let provider = Provider::start(move |path| match path {
        "/see-other" => moved(303, &target),
        _ => moved(307, &target),
    })
    .await;
    let client = client(LOOPBACK);
    for path in ["/see-other", "/again"] {
        let mut request = get(provider.url(path));
        request.method = Method::Post;
        request.body = b"{}".to_vec();
        request.headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        request.headers.push(("X-Signature".to_owned(), "hush".to_owned()));
        assert_eq!(client.fetch(request).await.unwrap().body, b"other");
    }
    let first = provider.requests();
    assert!(first.iter().all(|sent| sent.contains("x-signature: hush") && sent.ends_with("{}")));
    let [see_other, again] = other.requests().try_into().unwrap();
    assert!(see_other.starts_with("GET /x ") && see_other.ends_with("\r\n\r\n"), "{see_other}");
    assert!(again.starts_with("POST /x ") && again.ends_with("{}"), "{again}");
    assert!(!see_other.contains("hush") && !again.contains("hush"));
}

#[tokio::test]
async fn answers_are_bounded_and_must_be_proper() {
    let provider = Provider::start(|path| match path {
        "/long" => ok(&"x".repeat(1_001)),
        "/fits" => ok(&"x".repeat(1_000)),
        "/chunks" => {
            let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1_000)).repeat(100);
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}")
        }
        "/head" => format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(2 * HEAD_BYTES_MAX)),
        "/fields" => format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(1_000)),
        "/packed" => "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nxx".to_owned(),
        "/short" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nxx".to_owned(),
        "/garbage" => "SSH-2.0-OpenSSH_9.9\r\n\r\n".to_owned(),
        _ => String::new(),
    })
    .await;
    let client = client(LOOPBACK);
    let fetch = async |path: &str, overlong: Overlong| {
        let mut request = get(provider.url(path));
        request.overlong = overlong;
        request.timeout = Duration::from_secs(if path == "/silent" { 1 } else { 5 });
        client.fetch(request).await.map(|fetched| fetched.body.len())
    };
    assert_eq!(fetch("/fits", Overlong::Refuse).await, Ok(1_000));
    for path in ["/long", "/chunks"] {
        assert_eq!(fetch(path, Overlong::Refuse).await, Err(FetchError::TooLarge), "{path}");
        assert_eq!(fetch(path, Overlong::Cut).await, Ok(1_000), "{path}");
    }
    for path in ["/head", "/fields", "/packed", "/short", "/garbage"] {
        assert_eq!(fetch(path, Overlong::Refuse).await, Err(FetchError::BadAnswer), "{path}");
    }
    assert_eq!(fetch("/silent", Overlong::Refuse).await, Err(FetchError::TimedOut));
}

#[tokio::test]
async fn requests_cannot_be_split_or_take_over_the_connection() {
    let client = client(LOOPBACK);
    let check = async |name: &str, value: &str| {
        let mut request = get(Url::parse("http://127.0.0.1:1/").unwrap());
        request.headers.push((name.to_owned(), value.to_owned()));
        assert_eq!(client.fetch(request).await, Err(FetchError::InvalidRequest), "{name}");
    };
    check("x", "a\r\nb: c").await;
    check("x y", "a").await;
    check("Host", "elsewhere.example").await;
    check("Content-Length", "7").await;
    check("Transfer-Encoding", "chunked").await;
}

#[tokio::test]
async fn hosts_that_are_not_there_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let deleted = Url::parse(&format!("http://{address}/")).unwrap();
    assert_eq!(client(LOOPBACK).fetch(get(deleted)).await, Err(FetchError::Unreachable));
    let nobody = FakeResolver::new(&[]).client(&[], RootCertStore::empty());
    let url = Url::parse("http://nobody.example/").unwrap();
    assert_eq!(nobody.fetch(get(url)).await, Err(FetchError::NoSuchHost));
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_checked_address_used() {
    let provider = Provider::start(|_| ok("pinned")).await;
    // The second answer would lead inside; nobody may ask for it.
    let resolver = FakeResolver::new(&[&["127.0.0.1"], &["10.0.0.1"]]);
    let client = resolver.client(LOOPBACK, RootCertStore::empty());
    let port = provider.address.port();
    let url = Url::parse(&format!("http://rebind.example:{port}/")).unwrap();
    assert_eq!(client.fetch(get(url.clone())).await.unwrap().body, b"pinned");
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    let sent = provider.requests().remove(0);
    assert!(sent.contains(&format!("host: rebind.example:{port}\r\n")), "{sent}");
    // A new request asks anew, and is judged anew.
    let refused = Err(FetchError::Refused(Refusal::Address));
    assert_eq!(client.fetch(get(url)).await, refused);
}

#[tokio::test]
async fn a_redirect_to_the_same_name_is_looked_up_and_judged_anew() {
    let provider = Provider::start(|_| moved(302, "/again")).await;
    let resolver = FakeResolver::new(&[&["127.0.0.1"], &["127.0.0.1", "192.168.0.1"]]);
    let client = resolver.client(LOOPBACK, RootCertStore::empty());
    let port = provider.address.port();
    let url = Url::parse(&format!("http://rebind.example:{port}/")).unwrap();
    let refused = Err(FetchError::Refused(Refusal::Address));
    assert_eq!(client.fetch(get(url)).await, refused);
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn mixed_answers_of_the_name_service_are_refused() {
    let check = async |addresses: &[&str]| {
        let client = FakeResolver::new(&[addresses]).client(LOOPBACK, RootCertStore::empty());
        let url = Url::parse("http://mixed.example/").unwrap();
        let refused = Err(FetchError::Refused(Refusal::Address));
        assert_eq!(client.fetch(get(url)).await, refused, "{addresses:?}");
    };
    check(&["127.0.0.1", "10.0.0.1"]).await;
    check(&["8.8.8.8", "::1"]).await;
    check(&["2606:4700:4700::1111", "fe80::1"]).await;
    check(&["::ffff:169.254.169.254"]).await;
}

/// A certificate for `name`, with the roots that vouch for it.
fn certificate(name: &str) -> (TlsAcceptor, RootCertStore) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), roots)
}

#[tokio::test]
async fn tls_goes_by_the_name_and_not_by_the_address() {
    let (tls, roots) = certificate("secure.example");
    let plain = Provider::start(|_| ok("plain")).await;
    let down = plain.url("/").to_string();
    let provider = Provider::listen(Some(tls), move |path| match path {
        "/down" => moved(307, &down),
        _ => ok("safe"),
    })
    .await;
    let port = provider.address.port();
    let resolver = FakeResolver::new(&[&["127.0.0.1"]]);
    let fetch = async |roots: &RootCertStore, host: &str, path: &str, secret: bool| {
        let url = Url::parse(&format!("https://{host}:{port}{path}")).unwrap();
        let mut request = get(url);
        if secret {
            request.headers.push(("Authorization".to_owned(), "hush".to_owned()));
        }
        let client = resolver.client(LOOPBACK, roots.clone());
        client.fetch(request).await.map(|fetched| fetched.body)
    };
    assert_eq!(fetch(&roots, "secure.example", "/", false).await, Ok(b"safe".to_vec()));
    assert_eq!(fetch(&roots, "other.example", "/", false).await, Err(FetchError::Tls));
    assert_eq!(fetch(&roots, "127.0.0.1", "/", false).await, Err(FetchError::Tls));
    let (_, strangers) = certificate("secure.example");
    assert_eq!(fetch(&strangers, "secure.example", "/", false).await, Err(FetchError::Tls));
    // Nothing to lose may go down to plain text; a secret may not.
    assert_eq!(fetch(&roots, "secure.example", "/down", false).await, Ok(b"plain".to_vec()));
    let downgrade = Err(FetchError::Refused(Refusal::Downgrade));
    assert_eq!(fetch(&roots, "secure.example", "/down", true).await, downgrade);
}
