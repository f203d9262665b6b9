//! A small S3-compatible service of the test's own: it checks the signature of every request, keeps
//! objects in memory, and can be told to be full or to damage what it stores.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

pub(crate) const BUCKET: &str = "kept";
pub(crate) const ACCESS_KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const MODIFIED: &str = "Tue, 17 Nov 2026 04:00:00 GMT";

/// What is wrong with the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Error {
    #[default]
    None,
    /// Nothing more can be stored.
    Full,
    /// What is stored is not what was sent.
    Damages,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) objects: BTreeMap<String, Vec<u8>>,
    /// Parts that are not complete yet, by upload.
    pub(crate) uploads: BTreeMap<String, BTreeMap<u32, Vec<u8>>>,
    pub(crate) error: Error,
    /// Uploads in parts that were completed.
    pub(crate) in_parts: usize,
    /// Requests whose signature was wrong.
    pub(crate) unsigned: usize,
    /// Objects that were stored damaged, and those that were deleted.
    pub(crate) damaged: usize,
    pub(crate) deleted: Vec<String>,
}

/// A service on loopback.
#[derive(Clone)]
pub(crate) struct TestBucket {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl TestBucket {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bucket = Self { url, state: Arc::default() };
        let own = bucket.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                thread::spawn(move || own.serve(stream));
            }
        });
        bucket
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The names of the objects, without what comes before the last slash.
    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.state();
        state.objects.keys().map(|key| key.rsplit('/').next().unwrap().to_owned()).collect()
    }

    fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream) {
            let answer = if request.is_signed() {
                self.answer(&request)
            } else {
                self.state().unsigned += 1;
                Answer::new(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>")
            };
            let mut head = format!("HTTP/1.1 {} Answer\r\n", answer.status);
            let body = if request.method == "HEAD" { &[][..] } else { &answer.body };
            let length = answer.length.unwrap_or(answer.body.len());
            let _ = write!(head, "Content-Length: {length}\r\nLast-Modified: {MODIFIED}\r\n");
            let _ = write!(head, "ETag: \"tag\"\r\n");
            if let Some(range) = answer.range {
                let _ = write!(head, "Content-Range: {range}\r\n");
            }
            head.push_str("\r\n");
            let out = stream.get_mut();
            if out.write_all(head.as_bytes()).and_then(|()| out.write_all(body)).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        let mut state = self.state();
        let key = request.path.strip_prefix(&format!("/{BUCKET}")).unwrap_or_default();
        let key = key.trim_start_matches('/').to_owned();
        let upload = request.parameter("uploadId");
        match (request.method.as_str(), upload) {
            ("PUT" | "POST", _) if state.error == Error::Full => {
                Answer::new(507, "<Error><Code>InsufficientStorage</Code></Error>")
            }
            ("POST", None) if request.parameter("uploads").is_some() => {
                let id = format!("upload-{}", state.uploads.len());
                state.uploads.insert(id.clone(), BTreeMap::new());
                let id = format!("<UploadId>{id}</UploadId>");
                Answer::xml("InitiateMultipartUploadResult", &id)
            }
            ("PUT", Some(upload)) => {
                let number = request.parameter("partNumber").unwrap().parse().unwrap();
                let parts = state.uploads.get_mut(&upload).unwrap();
                parts.insert(number, request.body.clone());
                Answer::new(200, "")
            }
            ("POST", Some(upload)) => {
                let parts = state.uploads.remove(&upload).unwrap();
                state.in_parts += 1;
                state.store(key, parts.into_values().flatten().collect());
                Answer::xml("CompleteMultipartUploadResult", "<ETag>\"tag\"</ETag>")
            }
            ("DELETE", Some(upload)) => {
                state.uploads.remove(&upload);
                Answer::new(204, "")
            }
            ("PUT", None)
                if request.header("if-none-match") == Some("*")
                    && state.objects.contains_key(&key) =>
            {
                Answer::new(412, "<Error><Code>PreconditionFailed</Code></Error>")
            }
            ("PUT", None) => {
                state.store(key, request.body.clone());
                Answer::new(200, "")
            }
            ("DELETE", None) => {
                state.objects.remove(&key);
                state.deleted.push(key);
                Answer::new(204, "")
            }
            ("GET", None) if request.parameter("list-type").is_some() => {
                state.list(&request.parameter("prefix").unwrap_or_default())
            }
            ("GET" | "HEAD", None) => match state.objects.get(&key) {
                Some(object) => Answer::of_object(request, object),
                None => Answer::new(404, "<Error><Code>NoSuchKey</Code></Error>"),
            },
            _ => Answer::new(405, "<Error><Code>MethodNotAllowed</Code></Error>"),
        }
    }
}

impl State {
    fn store(&mut self, key: String, mut content: Vec<u8>) {
        if self.error == Error::Damages {
            let middle = content.len() / 2;
            content[middle] ^= 1;
            self.damaged += 1;
        }
        self.objects.insert(key, content);
    }

    fn list(&self, prefix: &str) -> Answer {
        let mut contents = String::new();
        for (key, object) in self.objects.iter().filter(|(key, _)| key.starts_with(prefix)) {
            let size = object.len();
            let _ = write!(
                contents,
                "<Contents><Key>{key}</Key><Size>{size}</Size>\
                 <LastModified>2026-11-17T04:00:00.000Z</LastModified></Contents>"
            );
        }
        Answer::xml("ListBucketResult", &contents)
    }
}

struct Answer {
    status: u16,
    body: Vec<u8>,
    /// Where it is not that of the body.
    length: Option<usize>,
    range: Option<String>,
}

impl Answer {
    fn new(status: u16, body: &str) -> Self {
        Self { status, body: body.as_bytes().to_vec(), length: None, range: None }
    }

    fn xml(name: &str, content: &str) -> Self {
        Self::new(200, &format!("<?xml version=\"1.0\"?><{name}>{content}</{name}>"))
    }

    fn of_object(request: &Request, object: &[u8]) -> Self {
        if request.method == "HEAD" {
            return Self { length: Some(object.len()), ..Self::new(200, "") };
        }
        let Some(range) = request.header("range") else {
            return Self { body: object.to_vec(), ..Self::new(200, "") };
        };
        let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
        let range = Some(format!("bytes {from}-{to}/{}", object.len()));
        Self { body: object[from..=to].to_vec(), range, ..Self::new(206, "") }
    }
}

struct Request {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let (method, target) = line.split_once(' ')?;
        let target = target.split(' ').next()?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter(|part| !part.is_empty()).map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (name.to_owned(), value.to_owned())
        });
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.collect(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).ok().filter(|count| *count > 0)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            request.headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").unwrap_or("0").parse().unwrap();
        request.body = vec![0; length];
        stream.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.replace("%2F", "/"))
    }

    /// Whether the request has the signature, version 4, of who knows the secret, over itself and
    /// its body.
    fn is_signed(&self) -> bool {
        let authorization = self.header("authorization").unwrap_or_default();
        let part = |name: &str| {
            let (_, rest) = authorization.split_once(&format!("{name}="))?;
            rest.split(',').next().map(str::to_owned)
        };
        let (Some(credential), Some(names), Some(signature)) =
            (part("Credential"), part("SignedHeaders"), part("Signature"))
        else {
            return false;
        };
        let Some((ACCESS_KEY, scope)) = credential.split_once('/') else { return false };
        let body = HEXLOWER.encode(&Sha256::digest(&self.body));
        if self.header("x-amz-content-sha256") != Some(&body) {
            return false;
        }
        let mut headers = String::new();
        for name in names.split(';') {
            headers.extend([name, ":", self.header(name).unwrap_or_default(), "\n"]);
        }
        let mut query = self.query.clone();
        query.sort();
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let canonical = format!(
            "{}\n{}\n{}\n{headers}\n{names}\n{body}",
            self.method,
            self.path,
            query.join("&")
        );
        let canonical = HEXLOWER.encode(&Sha256::digest(canonical));
        let date = self.header("x-amz-date").unwrap_or_default();
        let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{canonical}");
        let secret = format!("AWS4{SECRET_KEY}").into_bytes();
        let key = scope.split('/').fold(secret, |key, part| sign(&key, part));
        HEXLOWER.encode(&sign(&key, &to_sign)) == signature
    }
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}
