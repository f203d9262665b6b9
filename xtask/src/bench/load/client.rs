//! One connection: it sends a request, and knows when the answer is complete.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

/// More than any answer to an onboarding.
const ANSWER_BYTES_MAX: usize = 8 << 10;

/// What has come of an answer.
#[derive(Debug)]
pub(super) enum Answer {
    Incomplete,
    /// The onboarding is stored; so long after it was due.
    Served(Duration),
    TryAgain,
}

#[derive(Debug)]
pub(super) struct Client {
    stream: TcpStream,
    answer: Box<[u8; ANSWER_BYTES_MAX]>,
    received: usize,
    /// When the request under way was due; none is under way without it.
    due: Option<Instant>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr, token: Token, registry: &Registry) -> Result<Self> {
        let stream = std::net::TcpStream::connect(address).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        registry.register(&mut stream, token, Interest::READABLE)?;
        Ok(Self { stream, answer: Box::new([0; ANSWER_BYTES_MAX]), received: 0, due: None })
    }

    pub(super) fn send(&mut self, request: &[u8], due: Instant) -> Result<()> {
        assert!(self.due.is_none(), "a client sends one request at a time");
        // One request always fits into the empty buffer of a connection.
        let written = self.stream.write(request).context("cannot send")?;
        ensure!(written == request.len(), "only part of the request was sent");
        self.received = 0;
        self.due = Some(due);
        Ok(())
    }

    /// Reads what has come. An answer other than 200 and 503 is an error.
    pub(super) fn receive(&mut self) -> Result<Answer> {
        let free = self.answer.get_mut(self.received..).unwrap_or_default();
        match self.stream.read(free) {
            Ok(0) => bail!("the server closed a connection"),
            Ok(count) => self.received += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Answer::Incomplete),
            Err(error) => return Err(error).context("cannot receive"),
        }
        let answer = self.answer.get(..self.received).unwrap_or_default();
        if !is_complete(answer)? {
            return Ok(Answer::Incomplete);
        }
        let due = self.due.take().context("a response without a request")?;
        if answer.starts_with(b"HTTP/1.1 200 ") {
            return Ok(Answer::Served(due.elapsed()));
        }
        let text = String::from_utf8_lossy(answer);
        ensure!(answer.starts_with(b"HTTP/1.1 503 "), "the server rejected an onboarding: {text}");
        Ok(Answer::TryAgain)
    }
}

fn is_complete(answer: &[u8]) -> Result<bool> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(head_length) = answer.windows(END.len()).position(|bytes| bytes == END) else {
        return Ok(false);
    };
    let head = std::str::from_utf8(answer.get(..head_length).unwrap_or_default())?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let length = length.context("the response has no length")??;
    Ok(answer.len() >= head_length + END.len() + length)
}
