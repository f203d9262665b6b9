//! The oEmbed proxy with the real client, against a provider that the test starts on loopback.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use content::oembed::{Format, ProxyError, ProxyRequest, proxy};
use frame::outbound::{FetchError, Refusal};
use serde_json::{Map, Value};
use server::outbound::{Client, Guard, OutboundSettings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use types::Environment;

/// A site that names its own endpoint, which knows XML only for one of its pages.
struct Provider {
    address: SocketAddr,
    /// The paths that were asked for.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                while !bytes.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                let answer = answer(&path);
                log.lock().unwrap().push(path);
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn answer(path: &str) -> String {
    let reply = |status: &str, kind: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
    };
    let page = |endpoint: &str| {
        let link = format!(
            "<link rel=\"alternate\" type=\"application/json+oembed\" href=\"{endpoint}\">"
        );
        let filler = "<p>words</p>".repeat(50_000);
        reply("200 OK", "text/html", &format!("<html><head>{link}</head><body>{filler}"))
    };
    match path {
        "/post" => page("/oembed?for=post&amp;format=json"),
        "/old" => page("/old-oembed"),
        "/inside" => page("http://10.0.0.1/oembed"),
        "/moved" => reply("302 Found\r\nLocation: http://169.254.169.254/", "text/html", ""),
        _ if path.starts_with("/oembed?for=post&") => reply(
            "200 OK",
            "application/json",
            r#"{"version":"1.0","type":"rich","title":"Post","width":600,
                "html":"<blockquote><a href='https://b.example/'>Post</a></blockquote><script>1</script><iframe src='https://b.example/embed'></iframe>"}"#,
        ),
        _ if path.starts_with("/old-oembed?") && path.ends_with("&format=json") => {
            reply("501 Not Implemented", "text/plain", "")
        }
        _ if path.starts_with("/old-oembed?") && path.ends_with("&format=xml") => reply(
            "200 OK",
            "text/xml",
            "<?xml version=\"1.0\"?><oembed><type>link</type><title>Old &amp; good</title></oembed>",
        ),
        _ => reply("404 Not Found", "text/html", ""),
    }
}

fn client(exempt: &[&str]) -> Client {
    let exempt = exempt.iter().map(|range| range.parse().unwrap()).collect();
    Client::new(Guard::new(&OutboundSettings { exempt }, Environment::Sandbox).unwrap())
}

async fn ask(client: &Client, url: String) -> Result<Map<String, Value>, ProxyError> {
    let request = ProxyRequest {
        url,
        format: Format::Json,
        maxwidth: Some(600),
        maxheight: None,
        discover: true,
    };
    proxy(&request, client, "SECRETSECR").await
}

#[tokio::test]
async fn a_page_that_names_its_endpoint_is_described() {
    let provider = Provider::start().await;
    let client = client(&["127.0.0.1"]);
    let described = ask(&client, provider.url("/post")).await.unwrap();
    assert_eq!(described["title"], "Post");
    let html = described["html"].as_str().unwrap();
    let quote = "<blockquote class=\"wp-embedded-content\" data-secret=\"SECRETSECR\">\
                 <a href=\"https://b.example/\">Post</a></blockquote><iframe ";
    assert!(html.starts_with(quote), "{html}");
    assert!(html.contains("sandbox=\"allow-scripts\""), "{html}");
    assert!(html.contains("src=\"https://b.example/embed#?secret=SECRETSECR\""), "{html}");
    assert!(!html.contains("<script"), "{html}");
    let asked = provider.take_asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(
        asked[1].starts_with("/oembed?for=post&maxwidth=600&maxheight=750&url=http%3A%2F%2F127"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_provider_without_json_is_asked_for_xml() {
    let provider = Provider::start().await;
    let described = ask(&client(&["127.0.0.1"]), provider.url("/old")).await.unwrap();
    let html = format!("<a href=\"{}\">Old &amp; good</a>", provider.url("/old"));
    assert_eq!(described["html"], html);
    assert_eq!(provider.take_asked().len(), 3);
}

#[tokio::test]
async fn what_leads_inside_is_refused() {
    let provider = Provider::start().await;
    let refused = |refusal: Refusal| Err(ProxyError::Fetch(FetchError::Refused(refusal)));
    let exempted = client(&["127.0.0.1"]);
    for path in ["/inside", "/moved"] {
        assert_eq!(ask(&exempted, provider.url(path)).await, refused(Refusal::Address), "{path}");
    }
    assert_eq!(ask(&exempted, provider.url("/nothing")).await, Err(ProxyError::Status(404)));
    provider.take_asked();

    let strict = client(&[]);
    assert_eq!(ask(&strict, provider.url("/post")).await, refused(Refusal::Port));
    let metadata = "http://169.254.169.254/".to_owned();
    assert_eq!(ask(&strict, metadata).await, refused(Refusal::Address));
    assert_eq!(provider.take_asked(), Vec::<String>::new());
}
