//! Accepts connections within limits and hands their requests to a router.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::Shared;

/// Hyper's own bound on the head of a request; ours is lower and answers in the published shape.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADER_FIELDS_MAX: usize = 256;
const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// After a failed accept (such as too many open files) wait a moment instead of spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The address at the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Serves connections until told to stop, then waits for those under way.
pub(crate) async fn run(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(shared.settings.limits.connections));
    let builder = builder(&shared);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        let (stream, peer) = match accepted {
            Ok(connection) => connection,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tokio::spawn(turn_away(stream));
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (builder, router, tls) = (builder.clone(), router.clone(), tls.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            match tls {
                None => serve_connection(builder, stream, peer, router, watcher).await,
                Some(tls) => {
                    let handshake = tokio::time::timeout(TLS_HANDSHAKE_MAX, tls.accept(stream));
                    if let Ok(Ok(stream)) = handshake.await {
                        serve_connection(builder, stream, peer, router, watcher).await;
                    }
                }
            }
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

fn builder(shared: &Shared) -> auto::Builder<TokioExecutor> {
    let read = Duration::from_millis(shared.settings.limits.read_ms);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(read)
        // A client that has sent everything may close its side and still wants the answer.
        .half_close(true)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADER_FIELDS_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .max_concurrent_streams(128)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

/// Serves one connection that nobody will ask to stop.
pub(crate) async fn serve_stream(
    shared: &Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
) {
    // Dropping this would tell the connection to stop.
    let graceful = GracefulShutdown::new();
    serve_connection(builder(shared), stream, peer, router, graceful.watcher()).await;
}

async fn serve_connection(
    builder: auto::Builder<TokioExecutor>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(Peer(peer));
        let mut router = router.clone();
        async move { tower_service::Service::call(&mut router, request).await }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(error = %error, "a connection ended early");
    }
}

/// Says no in the published shape to a connection over the limit.
async fn turn_away(mut stream: TcpStream) {
    const BODY: &str = "{\"message\":\"Request failure\",\"errors\":[{\"code\":\"unavailable\",\
        \"message\":\"Too many connections; try again.\",\"param\":\"\"}]}";
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
         Cache-Control: no-store\r\nRetry-After: 1\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let polite = async {
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), polite).await;
}
