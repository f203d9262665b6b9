//! A mail server that keeps what it is sent, for tests of whoever sends mail.
//!
//! It speaks plain SMTP on loopback, takes every login, and does what a test asks of it: refuse
//! with a line of its choice, or let an e-mail hang before it is taken. **Mail never leaves it.**

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// How long one read or write may take.
const TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Lines of one e-mail.
const LINES_MAX: usize = 100_000;

/// An e-mail as it came over the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    pub from: String,
    pub to: Vec<String>,
    /// Header and body, lines ended by a line feed.
    pub data: String,
    /// The login as it was sent, if there was one: `AUTH PLAIN …`.
    pub login: Option<String>,
}

/// A running sink. Its threads end with the process.
#[derive(Clone, Debug)]
pub struct Sink {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    got: Vec<Mail>,
    /// Answers to the next e-mails instead of taking them.
    refusals: VecDeque<String>,
    is_held: bool,
    /// E-mails that were sent completely, taken or not.
    seen: usize,
}

impl Sink {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen for mail")?;
        let sink = Self { address: listener.local_addr()?, state: Arc::default() };
        let served = sink.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sink = served.clone();
                // A client that goes away in the middle is the test's own doing.
                thread::spawn(move || drop(sink.serve(stream)));
            }
        });
        Ok(sink)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Answers the next e-mails, one each, with these lines instead of taking them.
    pub fn refuse(&self, answers: &[&str]) {
        self.state().refusals.extend(answers.iter().map(|line| (*line).to_owned()));
    }

    /// Whether e-mails hang after they were sent, before they are taken.
    pub fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
    }

    /// The e-mails that were taken.
    pub fn got(&self) -> Vec<Mail> {
        self.state().got.clone()
    }

    /// E-mails that were sent completely, taken or not.
    pub fn seen(&self) -> usize {
        self.state().seen
    }

    /// Waits until that many e-mails were taken, and returns them.
    pub fn wait_for(&self, count: usize, limit: Duration) -> Result<Vec<Mail>> {
        let deadline = Instant::now() + limit;
        loop {
            let got = self.got();
            if got.len() >= count {
                return Ok(got);
            }
            if Instant::now() >= deadline {
                bail!("only {} of {count} e-mails arrived within {limit:?}", got.len());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut writer = stream.try_clone()?;
        let mut lines = BufReader::new(stream).lines();
        let mut say = |line: &str| writer.write_all(format!("{line}\r\n").as_bytes());
        say("220 sink.example")?;
        let mut mail = Mail::default();
        while let Some(line) = lines.next() {
            let line = line?;
            let command = line.to_ascii_uppercase();
            if command.starts_with("EHLO") {
                say("250-sink.example\r\n250 AUTH PLAIN LOGIN")?;
            } else if command.starts_with("AUTH") {
                mail.login = Some(line);
                say("235 welcome")?;
            } else if command.starts_with("MAIL FROM:") {
                mail.from = address(&line);
                say("250 ok")?;
            } else if command.starts_with("RCPT TO:") {
                mail.to.push(address(&line));
                say("250 ok")?;
            } else if command == "DATA" {
                say("354 go on")?;
                mail.data = read_data(&mut lines)?;
                say(&self.take(std::mem::take(&mut mail)))?;
            } else if command == "QUIT" {
                say("221 bye")?;
                return Ok(());
            } else {
                say("250 ok")?;
            }
        }
        Ok(())
    }

    /// Takes an e-mail or not; says which.
    fn take(&self, mail: Mail) -> String {
        self.state().seen += 1;
        while self.state().is_held {
            thread::sleep(POLL_INTERVAL);
        }
        let mut state = self.state();
        if let Some(refusal) = state.refusals.pop_front() {
            return refusal;
        }
        state.got.push(mail);
        "250 taken".to_owned()
    }
}

/// What stands between the angle brackets.
fn address(line: &str) -> String {
    let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or_else(|| line.to_owned(), |(address, _)| address.to_owned())
}

fn read_data(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Result<String> {
    let mut data = String::new();
    for line in lines.take(LINES_MAX) {
        let line = line?;
        if line == "." {
            return Ok(data);
        }
        data.push_str(line.strip_prefix('.').unwrap_or(&line));
        data.push('\n');
    }
    bail!("an e-mail without an end")
}
