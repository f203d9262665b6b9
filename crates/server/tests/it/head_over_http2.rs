//! HEAD over HTTP/2 has no body, whichever interface it is for. Over HTTP/1 the library that writes
//! responses leaves bodies out by itself; here it would send them.

use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::harness::Sandbox;

/// Lists that are packed, records, an index that was packed before, refusals, files and pages.
const PATHS: &[&str] = &[
    "/wp-json/",
    "/wp-json/wp/v2",
    "/wp-json/wp/v2/posts",
    "/wp-json/wp/v2/types",
    "/wp-json/wp/v2/nothing",
    "/wp-json/wp/v2/posts?_jsonp=what()",
    "/?rest_route=/wp/v2/posts",
    "/v1/errors",
    "/v1/merchants",
    "/",
];

#[test]
fn head_over_http2_has_no_body() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let guard = runtime.enter();
    let sandbox = Sandbox::new(folder.path()).unwrap();
    drop(guard);
    runtime.block_on(async {
        let stream = TokioIo::new(sandbox.connect());
        let (mut client, connection) =
            http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        for path in PATHS {
            for codings in ["gzip, br, zstd", "identity"] {
                let mut ask = async |method: &str| {
                    let request = Request::builder()
                        .method(method)
                        .uri(format!("http://sandbox{path}"))
                        .header("accept-encoding", codings)
                        .body(Empty::<Bytes>::new())
                        .unwrap();
                    let (head, body) = client.send_request(request).await.unwrap().into_parts();
                    let body = body.collect().await.unwrap_or_else(|error| {
                        panic!("{method} {path} ({codings}): {error}");
                    });
                    Response::from_parts(head, body.to_bytes())
                };
                let (get, head) = (ask("GET").await, ask("HEAD").await);
                assert!(!get.body().is_empty(), "{path}");
                assert!(head.body().is_empty(), "{path} ({codings}): {:?}", head.body());
                assert_eq!(head.status(), get.status(), "{path}");
                let [of_head, of_get] = [&head, &get].map(|one| one.headers().get("content-type"));
                assert_eq!(of_head, of_get, "{path} ({codings})");
            }
        }
    });
}
