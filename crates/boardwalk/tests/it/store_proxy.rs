//! What stands between a connected store and us: it drops, delays, cuts off, refuses, repeats and
//! lies, as it is told to.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long what is held back is held back, at most.
const HELD_MS: u64 = 400;

/// What a proxy does to requests and answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Manner {
    Fine,
    /// One answer in four is dropped, late, cut off, refused or no data at all.
    Random,
    Always(u16),
    Page,
    /// Answers with this text in them fail.
    Poisoned(String),
    /// What lists below this path answer fails if it has the record at this place.
    Hole(&'static str, u64),
    /// Says that it took what it got, and delivers it later, twice and in another order.
    Shuffled,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    pub(crate) at: Instant,
    bytes: Vec<u8>,
}

impl Passed {
    /// Its first line and the fields.
    pub(crate) fn head(&self) -> String {
        let end = find(&self.bytes, b"\r\n\r\n").unwrap_or(self.bytes.len());
        String::from_utf8_lossy(&self.bytes[..end]).into_owned()
    }

    /// The same with another body.
    pub(crate) fn with_body(&self, body: &str) -> Self {
        let length = |line: &&str| !line.to_lowercase().starts_with("content-length:");
        let head = self.head();
        let kept = head.lines().filter(length).collect::<Vec<_>>().join("\r\n");
        let text = format!("{kept}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        Self { at: self.at, bytes: text.into_bytes() }
    }

    /// Sends it once more; the first line of the answer.
    pub(crate) fn send_again(&self, target: &str) -> String {
        let answer = exchange(&self.bytes, authority(target)).unwrap();
        String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
    }
}

#[derive(Default)]
struct State {
    target: Mutex<String>,
    manner: Mutex<Option<Manner>>,
    passed: Mutex<Vec<Passed>>,
    spoiled: AtomicU64,
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    state: Arc<State>,
}

impl Proxy {
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::<State>::default();
        let proxy = Self { url, state: Arc::clone(&state) };
        proxy.aim(target);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let state = Arc::clone(&state);
                thread::spawn(move || {
                    let _ = forward(stream, number, &state);
                });
            }
        });
        proxy
    }

    /// Leads to another server from now on.
    pub(crate) fn aim(&self, target: &str) {
        *self.state.target.lock().unwrap() = authority(target).to_owned();
    }

    pub(crate) fn set(&self, manner: Manner) {
        *self.state.manner.lock().unwrap() = Some(manner);
    }

    /// Answers that were not those of the server.
    pub(crate) fn spoiled(&self) -> u64 {
        self.state.spoiled.load(Ordering::Relaxed)
    }

    /// Everything that came so far.
    pub(crate) fn passed(&self) -> Vec<Passed> {
        self.state.passed.lock().unwrap().clone()
    }
}

fn authority(url: &str) -> &str {
    url.trim_start_matches("http://")
}

fn exchange(request: &[u8], target: &str) -> std::io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(target)?;
    server.write_all(request)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

fn forward(mut client: TcpStream, number: usize, state: &Arc<State>) -> std::io::Result<()> {
    let bytes = read_request(&mut client)?;
    let passed = Passed { at: Instant::now(), bytes: bytes.clone() };
    let head = passed.head();
    state.passed.lock().unwrap().push(passed);
    let manner = state.manner.lock().unwrap().clone().unwrap_or(Manner::Fine);
    let spoil = |answer: Vec<u8>| {
        state.spoiled.fetch_add(1, Ordering::Relaxed);
        answer
    };
    if manner == Manner::Shuffled {
        for time in [1, 2] {
            let (state, bytes) = (Arc::clone(state), bytes.clone());
            let wait = (u64::try_from(number).unwrap() * time).wrapping_mul(7919) % HELD_MS;
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(wait));
                let target = state.target.lock().unwrap().clone();
                let _ = exchange(&bytes, &target);
            });
        }
        return client.write_all(&spoil(answer_of(200, "")));
    }
    let target = state.target.lock().unwrap().clone();
    let answer = exchange(&bytes, &target)?;
    let sent = match manner {
        Manner::Always(status) => spoil(refusal(status, 60)),
        Manner::Page => spoil(page()),
        Manner::Poisoned(word) if find(&answer, word.as_bytes()).is_some() => {
            spoil(refusal(500, 0))
        }
        Manner::Hole(path, place) if covers(&head, path, place) => spoil(refusal(500, 0)),
        Manner::Fine | Manner::Poisoned(_) | Manner::Hole(..) | Manner::Shuffled => answer,
        // The remainders are spread, so that no request of three attempts always fails.
        Manner::Random => match (number * 7919) % 24 {
            0 => return Ok(()),
            5 => {
                thread::sleep(Duration::from_millis(400));
                answer
            }
            10 => spoil(half(&answer)),
            14 => spoil(refusal(429, 1)),
            18 => spoil(refusal(500, 0)),
            22 => spoil(page()),
            _ => answer,
        },
    };
    client.write_all(&sent)
}

/// Whether a request lists what is at this place, of all records and not of those that changed.
fn covers(head: &str, path: &str, place: u64) -> bool {
    let line = head.lines().next().unwrap_or_default();
    let Some((_, query)) = line.split_once(&format!("{path}?")) else { return false };
    let query = query.split(' ').next().unwrap_or_default();
    let number = |name: &str| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.and_then(|text| text.parse::<u64>().ok())
    };
    let Some((offset, count)) = number("offset").zip(number("per_page")) else { return false };
    query.contains("order=asc")
        && !query.contains("modified_after")
        && (offset..offset + count).contains(&place)
}

/// The request, which asks the server to close after its answer.
fn read_request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = client.read(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..count]);
        let Some(end) = find(&bytes, b"\r\n\r\n") else {
            if count == 0 {
                return Ok(bytes);
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let kept = text.lines().filter(|l| !l.to_lowercase().starts_with("connection:"));
            let mut request = kept.collect::<Vec<_>>().join("\r\n").into_bytes();
            request.extend_from_slice(b"\r\nConnection: close\r\n\r\n");
            request.extend_from_slice(&bytes[end + 4..]);
            return Ok(request);
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn answer_of(status: u16, more: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\
         {more}Connection: close\r\n\r\n{{}}"
    )
    .into_bytes()
}

fn refusal(status: u16, retry_after: u32) -> Vec<u8> {
    let more = match status {
        429 => format!("Retry-After: {retry_after}\r\n"),
        301 => String::from("Location: https://moved.example/wp-json/\r\n"),
        _ => String::new(),
    };
    answer_of(status, &more)
}

fn page() -> Vec<u8> {
    let text = "<html><body>Under maintenance</body></html>";
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )
    .into_bytes()
}

/// The beginning of the body, as if it were all.
fn half(answer: &[u8]) -> Vec<u8> {
    let Some(end) = find(answer, b"\r\n\r\n") else { return answer.to_vec() };
    let body = &answer[end + 4..];
    let body = &body[..body.len() / 2];
    let mut sent = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    sent.extend_from_slice(body);
    sent
}
