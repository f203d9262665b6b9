//! Keep-alive connections that send one request again and again, served by one thread.
//!
//! **Any other status than the expected one ends the benchmark**: a fast refusal is no result.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::statistics::{float, percentile};

/// A server that answers nobody for so long is broken.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Read at once from a connection.
const READ_BYTES: usize = 256 << 10;
/// More than the headers of any answer.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// What the clients saw in a phase.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Sorted.
    latencies: Vec<Duration>,
    elapsed: Duration,
    /// Of one answer; all have as many.
    pub(super) body_bytes: usize,
}

impl Outcome {
    pub(super) fn count(&self) -> usize {
        self.latencies.len()
    }

    pub(super) fn rate(&self) -> f64 {
        float(self.count()) / self.elapsed.as_secs_f64()
    }

    pub(super) fn latency(&self, per_mille: usize) -> Duration {
        percentile(&self.latencies, per_mille)
    }
}

#[derive(Debug)]
pub(super) struct Clients {
    address: SocketAddr,
    count: usize,
    request: Vec<u8>,
    status: u16,
    buffer: Vec<u8>,
}

impl Clients {
    pub(super) fn new(authority: &str, request: &[u8], status: u16, count: usize) -> Result<Self> {
        let address: SocketAddr = authority.parse().context("the server has no address")?;
        let (request, buffer) = (request.to_vec(), vec![0; READ_BYTES]);
        Ok(Self { address, count, request, status, buffer })
    }

    /// New connections for every phase: a server closes those that are silent for long.
    fn connect(&self, poll: &Poll) -> Result<Vec<Connection>> {
        let mut connections = Vec::new();
        for index in 0..self.count {
            let stream = std::net::TcpStream::connect(self.address).context("cannot connect")?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
            connections.push(Connection { stream, sent: None, head: Vec::new(), rest: None });
        }
        Ok(connections)
    }

    /// Each connection sends its next request as soon as it has its answer.
    pub(super) fn run(&mut self, time: Duration) -> Result<Outcome> {
        let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(self.count));
        let mut connections = self.connect(&poll)?;
        let started = Instant::now();
        let mut outcome = Outcome { latencies: Vec::new(), elapsed: time, body_bytes: 0 };
        for connection in &mut connections {
            connection.send(&self.request)?;
        }
        let mut under_way = connections.len();
        while under_way > 0 {
            poll.poll(&mut events, Some(SILENCE_MAX))?;
            ensure!(!events.is_empty(), "no response within {SILENCE_MAX:?}");
            for event in &events {
                let Token(index) = event.token();
                let connection = connections.get_mut(index).context("client not found")?;
                let Some(answer) = connection.receive(&mut self.buffer, self.status)? else {
                    continue;
                };
                outcome.latencies.push(answer.latency);
                outcome.body_bytes = answer.body_bytes;
                if started.elapsed() < time {
                    connection.send(&self.request)?;
                } else {
                    under_way -= 1;
                }
            }
        }
        outcome.elapsed = started.elapsed();
        outcome.latencies.sort_unstable();
        Ok(outcome)
    }
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    sent: Option<Instant>,
    /// Of the answer under way, with what came along.
    head: Vec<u8>,
    /// Once the head is read: bytes of the body in all, and those that have not come yet.
    rest: Option<(usize, usize)>,
}

struct Answer {
    latency: Duration,
    body_bytes: usize,
}

impl Connection {
    fn send(&mut self, request: &[u8]) -> Result<()> {
        assert!(self.sent.is_none(), "a client sends one request at a time");
        // One request always fits into the empty buffer of a connection.
        let written = self.stream.write(request).context("cannot send")?;
        ensure!(written == request.len(), "only part of the request was sent");
        self.sent = Some(Instant::now());
        self.head.clear();
        self.rest = None;
        Ok(())
    }

    /// Reads what has come; gives the answer once it is complete.
    fn receive(&mut self, buffer: &mut [u8], status: u16) -> Result<Option<Answer>> {
        loop {
            let count = match self.stream.read(buffer) {
                Ok(0) => bail!("the server closed a connection"),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error).context("cannot receive"),
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            if let Some((_, missing)) = &mut self.rest {
                *missing = missing.saturating_sub(count);
            } else {
                self.head.extend_from_slice(bytes);
                self.rest = read_head(&self.head, status)?;
                ensure!(
                    self.rest.is_some() || self.head.len() < HEAD_BYTES_MAX,
                    "a response without an end of headers"
                );
            }
            if let Some((body_bytes, 0)) = self.rest {
                let sent = self.sent.take().context("a response without a request")?;
                return Ok(Some(Answer { latency: sent.elapsed(), body_bytes }));
            }
        }
    }
}

/// The length of the body and what is missing of it, once the head is complete.
fn read_head(bytes: &[u8], status: u16) -> Result<Option<(usize, usize)>> {
    let end = bytes.windows(HEAD_END.len()).position(|window| window == HEAD_END);
    let Some(end) = end else { return Ok(None) };
    let head = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?;
    let expected = format!("HTTP/1.1 {status} ");
    if !head.starts_with(&expected) {
        bail!("unexpected response, not {status}: {}", String::from_utf8_lossy(bytes));
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    // 304 has no body, and none is announced.
    let length = length.transpose()?.unwrap_or_default();
    let received = bytes.len() - end - HEAD_END.len();
    Ok(Some((length, length.saturating_sub(received))))
}
