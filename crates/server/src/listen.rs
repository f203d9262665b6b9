//! Accepts connections within limits and hands their requests to whatever responds to them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

use crate::patience::Patience;
use crate::shared::Shared;
use crate::tls::CHALLENGE_PROTOCOL;

/// Hyper's own bound on the head of a request; ours is lower and answers in the published shape.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How many header fields more than ours hyper's bound allows. It makes room for all of them with
/// each request, so there are not many more.
const HEADER_FIELDS_MORE: usize = 28;
/// More fields do not fit into a head: none is shorter than `a:` and the end of its line.
const HEADER_FIELDS_MAX: usize = HEAD_BYTES_MAX / 4;
const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// After a failed accept (such as too many open files) wait a moment instead of spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection that is turned away may take to read the answer.
const TURN_AWAY_MAX: Duration = Duration::from_secs(1);

/// What responds to the requests of a connection.
pub(crate) trait Interface:
    Service<Request, Response = Response<Body>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Interface for S where
    S: Service<Request, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// The other end of the connection.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// Told when the connection is to be closed at once, without an answer.
    pub(crate) hang_up: Arc<Notify>,
}

/// Serves connections until told to stop, then for a moment longer, telling clients to hang up, and
/// waits for those under way.
pub(crate) async fn run(
    listener: TcpListener,
    interface: impl Interface,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(shared.settings.limits.connections.get()));
    let builder = builder(&shared);
    let drain = shared.settings.drain();
    let stopped = async {
        let _ = stop.changed().await;
        tokio::time::sleep(drain).await;
    };
    let mut stopped = std::pin::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
        };
        let (stream, peer) = match accepted {
            Ok(connection) => connection,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            tokio::spawn(turn_away(stream));
            continue;
        };
        let _ = stream.set_nodelay(true);
        let tls = tls.clone();
        let connection = Connection {
            shared: Arc::clone(&shared),
            builder: builder.clone(),
            interface: interface.clone(),
            peer,
            watcher: graceful.watcher(),
        };
        tokio::spawn(async move {
            match tls {
                None => connection.serve(stream).await,
                Some(tls) => {
                    let handshake = tokio::time::timeout(TLS_HANDSHAKE_MAX, tls.accept(stream));
                    // Who only asked for the proof of a name has it by now.
                    if let Ok(Ok(stream)) = handshake.await
                        && stream.get_ref().1.alpn_protocol() != Some(CHALLENGE_PROTOCOL)
                    {
                        connection.serve(stream).await;
                    }
                }
            }
            drop(permit);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

fn builder(shared: &Shared) -> auto::Builder<TokioExecutor> {
    let limits = &shared.settings.limits;
    let read = Duration::from_millis(limits.read_ms);
    let header_fields = limits.header_fields.saturating_add(HEADER_FIELDS_MORE);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(read)
        // A client that has sent everything may close its side and still wants the answer.
        .half_close(true)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(header_fields.min(HEADER_FIELDS_MAX));
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
    interface: impl Interface,
) {
    // Dropping this would tell the connection to stop.
    let graceful = GracefulShutdown::new();
    let (builder, watcher) = (builder(shared), graceful.watcher());
    let shared = Arc::clone(shared);
    Connection { shared, builder, interface, peer, watcher }.serve(stream).await;
}

/// A connection and what is needed to serve it.
struct Connection<I> {
    shared: Arc<Shared>,
    builder: auto::Builder<TokioExecutor>,
    interface: I,
    peer: SocketAddr,
    watcher: Watcher,
}

impl<I: Interface> Connection<I> {
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self { shared, builder, interface, peer, watcher } = self;
        let head_time_max = Duration::from_millis(shared.settings.limits.read_ms);
        let began = Arc::new(AtomicBool::new(false));
        let has_begun = Arc::clone(&began);
        let hang_up = Arc::new(Notify::new());
        let peer = Peer { address: peer, hang_up: Arc::clone(&hang_up) };
        let service = hyper::service::service_fn(move |request: hyper::Request<_>| {
            began.store(true, Ordering::Relaxed);
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(peer.clone());
            let (mut interface, shared) = (interface.clone(), Arc::clone(&shared));
            async move {
                let hangs_up = request.version() < Version::HTTP_2;
                let mut answer = interface.call(request).await?;
                if hangs_up && shared.is_stopping() {
                    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(answer)
            }
        });
        let served =
            builder.serve_connection(TokioIo::new(Patience::new(stream)), service).into_owned();
        // Hyper limits the time for the head of a request only once it has seen which version of
        // HTTP the client speaks; one that never says so would hold its place for ever.
        let silence = async {
            tokio::time::sleep(head_time_max).await;
            if has_begun.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            ended = watcher.watch(served) => if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            },
            () = hang_up.notified() => {}
            () = silence => tracing::debug!("a connection sent no request in time"),
        }
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
        // Closing with unread bytes would make the system throw the answer away.
        let mut unread = [0; 1024];
        while stream.read(&mut unread).await.is_ok_and(|count| count > 0) {}
    };
    let _ = tokio::time::timeout(TURN_AWAY_MAX, polite).await;
}
