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
    let boundary = boundary(content_type)?;
    let mut variables = Variables::default();
    let mut files = Vec::new();
    for part in parts(body, &boundary)?.into_iter().filter_map(Part::read) {
        let Some(file_name) = part.file_name else {
            variables.add(&part.field, String::from_utf8_lossy(part.body).into_owned());
            continue;
        };
        if files.len() < FILES_MAX {
            files.push(File {
                field: part.field,
                file_name: base_name(&file_name).to_owned(),
                content_type: part.content_type,
                bytes: part.body.to_vec(),
            });
        }
    }
    Some((variables.finish(), files))
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

/// The parts between the marks. The last mark may be missing.
fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<&'a [u8]>> {
    let first = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut rest = match body.strip_prefix(first.as_bytes()) {
        Some(rest) => rest,
        None => split_once(body, between.as_bytes())?.1,
    };
    let mut parts = Vec::new();
    while parts.len() < PARTS_MAX && !rest.starts_with(b"--") {
        let after_line = split_once(rest, b"\r\n").map(|(_, after)| after);
        let Some(after_line) = after_line else { break };
        let (part, after) =
            split_once(after_line, between.as_bytes()).unwrap_or((after_line, b"--"));
        parts.push(part);
        rest = after;
    }
    Some(parts)
}

fn split_once<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let position = bytes.windows(mark.len()).position(|window| window == mark)?;
    let (before, from_mark) = bytes.split_at_checked(position)?;
    Some((before, from_mark.strip_prefix(mark)?))
}

struct Part<'a> {
    field: String,
    file_name: Option<String>,
    content_type: Option<String>,
    body: &'a [u8],
}

impl<'a> Part<'a> {
    fn read(part: &'a [u8]) -> Option<Self> {
        let (head, body) = match part.strip_prefix(b"\r\n") {
            Some(_) => return None,
            None => split_once(part, b"\r\n\r\n")?,
        };
        if head.len() > HEAD_BYTES_MAX {
            return None;
        }
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
        Some(Self {
            field: parameter(parameters, "name")?,
            file_name: parameter(parameters, "filename"),
            content_type: header("content-type"),
            body,
        })
    }
}

fn base_name(file_name: &str) -> &str {
    file_name.rsplit(['/', '\\']).next().unwrap_or_default()
}
