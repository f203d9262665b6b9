//! Forms with files (`multipart/form-data`): fields by the bracket rules of [`super::form`], files
//! beside them. Broken parts are dropped; a body that has no part at all is no form.

use serde_json::{Map, Value};

use super::form::Variables;

/// Parts beyond these are dropped.
pub const PARTS_MAX: usize = 1020;
/// Files beyond these are dropped.
pub const FILES_MAX: usize = 20;
/// The head of one part, in bytes. A part with more is dropped.
pub const HEAD_BYTES_MAX: usize = 8 * 1024;
/// The mark between parts, in bytes.
pub const BOUNDARY_BYTES_MAX: usize = 200;

/// A file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub field: String,
    /// Without any directory.
    pub file_name: String,
    /// As the client says.
    pub content_type: Option<String>,
    pub bytes: Vec<u8>,
}

/// Reads a form with files. Nothing when the content type or the body is something else.
pub fn decode(content_type: &str, body: &[u8]) -> Option<(Map<String, Value>, Vec<File>)> {
    let mut splitter = Splitter::new(content_type)?;
    let mut form = InMemory::default();
    let Ok(()) = splitter.feed(body, &mut form);
    let Ok(()) = splitter.finish(&mut form);
    splitter.has_parts().then(|| (form.variables.finish(), form.files))
}

/// Collects a form in memory.
#[derive(Default)]
struct InMemory {
    variables: Variables,
    files: Vec<File>,
    part: Option<(PartHead, Vec<u8>)>,
}

impl PartSink for InMemory {
    type Error = std::convert::Infallible;

    fn begin(&mut self, head: PartHead) -> Result<(), Self::Error> {
        self.part = Some((head, Vec::new()));
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        if let Some((_, body)) = &mut self.part {
            body.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Self::Error> {
        let Some((head, bytes)) = self.part.take() else { return Ok(()) };
        let Some(file_name) = head.file_name else {
            self.variables.add(&head.field, String::from_utf8_lossy(&bytes).into_owned());
            return Ok(());
        };
        if self.files.len() < FILES_MAX {
            let (field, content_type) = (head.field, head.content_type);
            self.files.push(File { field, file_name, content_type, bytes });
        }
        Ok(())
    }
}

fn boundary(content_type: &str) -> Option<String> {
    let (media_type, parameters) = content_type.split_once(';')?;
    if !media_type.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(parameters, "boundary")?;
    let fits = !boundary.is_empty() && boundary.len() <= BOUNDARY_BYTES_MAX;
    fits.then_some(boundary)
}

/// One of `a=b; c="d"`. In quotes, a backslash protects a quote or a backslash.
fn parameter(parameters: &str, wanted: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches([';', ' ', '\t']);
        let (name, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => plain(after),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}

fn plain(text: &str) -> (String, &str) {
    let (value, after) = text.split_once(';').unwrap_or((text, ""));
    (value.trim().to_owned(), after)
}

fn unquote(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return (value, quoted.get(position + 1..).unwrap_or_default()),
            '\\' => match characters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, protected)) => value.push(protected),
                None => value.push('\\'),
            },
            other => value.push(other),
        }
    }
    (value, "")
}

/// What is done with the parts of a form as they come.
pub trait PartSink {
    type Error;

    fn begin(&mut self, head: PartHead) -> Result<(), Self::Error>;

    /// A piece of the part that began last.
    fn data(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    fn end(&mut self) -> Result<(), Self::Error>;
}

/// Takes a form apart while it is received. **It holds no more than the head of a part**, or a mark
/// that may have begun.
#[derive(Debug)]
pub struct Splitter {
    /// With the line end before it.
    mark: Vec<u8>,
    buffer: Vec<u8>,
    state: State,
    parts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was read yet: the first mark needs no line end before it.
    Start,
    Preamble,
    /// On the line of a mark.
    Mark,
    Head,
    Body,
    /// In a part that is broken.
    Skipped,
    Done,
}

impl Splitter {
    /// Nothing when the content type is of something else.
    pub fn new(content_type: &str) -> Option<Self> {
        let mark = format!("\r\n--{}", boundary(content_type)?).into_bytes();
        Some(Self { mark, buffer: Vec::new(), state: State::Start, parts: 0 })
    }

    /// Whether a mark was found at all.
    pub fn has_parts(&self) -> bool {
        !matches!(self.state, State::Start | State::Preamble)
    }

    /// Takes the next bytes.
    pub fn feed<S: PartSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        self.buffer.extend_from_slice(bytes);
        while self.step(sink)? {}
        Ok(())
    }

    /// Says that nothing follows. The last mark may be missing.
    pub fn finish<S: PartSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        if self.state == State::Start {
            self.state = State::Preamble;
            while self.step(sink)? {}
        }
        if self.state == State::Body {
            sink.data(&std::mem::take(&mut self.buffer))?;
            sink.end()?;
            self.state = State::Done;
        }
        Ok(())
    }

    /// Whether something was read that may be followed by more.
    fn step<S: PartSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        match self.state {
            State::Start => Ok(self.start()),
            State::Preamble | State::Skipped => Ok(self.skip_to_mark()),
            State::Mark => Ok(self.read_mark()),
            State::Head => self.read_head(sink),
            State::Body => self.read_body(sink),
            State::Done => {
                self.buffer.clear();
                Ok(false)
            }
        }
    }

    fn start(&mut self) -> bool {
        let first = self.mark.get(2..).unwrap_or_default();
        if self.buffer.len() < first.len() && first.starts_with(&self.buffer) {
            return false;
        }
        if self.buffer.starts_with(first) {
            let length = first.len();
            self.drop_first(length);
            self.state = State::Mark;
        } else {
            self.state = State::Preamble;
        }
        true
    }

    fn skip_to_mark(&mut self) -> bool {
        let found = position(&self.buffer, &self.mark);
        if let Some(place) = found {
            self.drop_first(place + self.mark.len());
            self.state = State::Mark;
        } else {
            self.drop_first(self.settled());
        }
        found.is_some()
    }

    /// A second hyphen pair ends the form; else the rest of the line means nothing.
    fn read_mark(&mut self) -> bool {
        if self.buffer.starts_with(b"--") || self.parts == PARTS_MAX {
            self.state = State::Done;
            return true;
        }
        match position(&self.buffer, b"\r\n") {
            Some(place) => {
                self.drop_first(place + 2);
                self.parts += 1;
                self.state = State::Head;
                true
            }
            None if self.buffer.len() > HEAD_BYTES_MAX => {
                self.state = State::Done;
                true
            }
            None => false,
        }
    }

    fn read_head<S: PartSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        let blank = position(&self.buffer, b"\r\n\r\n");
        let mark = position(&self.buffer, &self.mark);
        let is_headless = self.buffer.starts_with(b"\r\n");
        match blank {
            _ if is_headless => self.state = State::Skipped,
            Some(place) if mark.is_none_or(|mark| place + 4 <= mark) && place <= HEAD_BYTES_MAX => {
                let head = self.buffer.get(..place).and_then(PartHead::read);
                self.drop_first(place + if head.is_some() { 4 } else { 0 });
                self.state = if head.is_some() { State::Body } else { State::Skipped };
                if let Some(head) = head {
                    sink.begin(head)?;
                }
            }
            None if mark.is_none() && self.buffer.len() <= HEAD_BYTES_MAX => return Ok(false),
            _ => self.state = State::Skipped,
        }
        Ok(true)
    }

    fn read_body<S: PartSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        let found = position(&self.buffer, &self.mark);
        let length = found.unwrap_or_else(|| self.settled());
        sink.data(self.buffer.get(..length).unwrap_or_default())?;
        if found.is_none() {
            self.drop_first(length);
            return Ok(false);
        }
        sink.end()?;
        self.drop_first(length + self.mark.len());
        self.state = State::Mark;
        Ok(true)
    }

    /// How much of the buffer cannot be the beginning of a mark.
    fn settled(&self) -> usize {
        self.buffer.len().saturating_sub(self.mark.len() - 1)
    }

    fn drop_first(&mut self, length: usize) {
        self.buffer.drain(..length.min(self.buffer.len()));
    }
}

/// Where the mark, which begins with a line end, begins.
fn position(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let first = *mark.first()?;
    let mut from = 0;
    while let Some(rest) = bytes.get(from..).filter(|rest| rest.len() >= mark.len()) {
        let place = rest.iter().position(|byte| *byte == first)?;
        if rest.get(place..).is_some_and(|rest| rest.starts_with(mark)) {
            return Some(from + place);
        }
        from += place + 1;
    }
    None
}

/// What the head of a part says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartHead {
    pub field: String,
    /// Of a file, without any directory.
    pub file_name: Option<String>,
    /// As the client says.
    pub content_type: Option<String>,
}

impl PartHead {
    fn read(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let header = |wanted: &str| {
            let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
            let mut named = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
            named.next().map(|(_, value)| value.trim().to_owned())
        };
        let disposition = header("content-disposition")?;
        let (kind, parameters) = disposition.split_once(';')?;
        if !kind.trim().eq_ignore_ascii_case("form-data") {
            return None;
        }
        let file_name = parameter(parameters, "filename");
        Some(Self {
            field: parameter(parameters, "name")?,
            file_name: file_name.map(|name| base_name(&name).to_owned()),
            content_type: header("content-type"),
        })
    }
}

/// The name of the file that a `Content-Disposition` header speaks of, without any directory.
pub fn disposition_file_name(header: &str) -> Option<String> {
    let (kind, parameters) = header.split_once(';')?;
    let is_attachment = kind.trim().eq_ignore_ascii_case("attachment");
    let name = parameter(parameters, "filename").filter(|_| is_attachment)?;
    Some(base_name(&name).to_owned()).filter(|name| !name.is_empty())
}

fn base_name(file_name: &str) -> &str {
    file_name.rsplit(['/', '\\']).next().unwrap_or_default()
}
