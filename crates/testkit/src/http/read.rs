//! An answer from bytes, with a limit on each of its parts.

use std::io::{BufRead, Read as _};

use anyhow::{Context as _, Result, bail, ensure};

use super::Response;

const HEAD_MAX_BYTES: usize = 64 << 10;
const BODY_MAX_BYTES: usize = 64 << 20;

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    KeepOpen,
    Close,
}

pub(super) fn response(reader: &mut impl BufRead, method: &str) -> Result<(Response, After)> {
    let mut budget_bytes = HEAD_MAX_BYTES;
    loop {
        let (status, headers) = head(reader, &mut budget_bytes)?;
        // An interim answer, such as `100 Continue`, is not what the caller waits for.
        if (100..200).contains(&status) {
            continue;
        }
        let mut response = Response { status, headers, body: Vec::new() };
        let after = body(reader, method, &mut response).with_context(|| {
            let read = response.body.len();
            format!("response {status} ended after {read} bytes of its body")
        })?;
        return Ok((response, after));
    }
}

type Head = (u16, Vec<(String, String)>);

fn head(reader: &mut impl BufRead, budget_bytes: &mut usize) -> Result<Head> {
    let first = line(reader, budget_bytes).context("no response from the server")?;
    let status = first
        .strip_prefix("HTTP/1.1 ")
        .or_else(|| first.strip_prefix("HTTP/1.0 "))
        .and_then(|rest| rest.get(..3))
        .and_then(|digits| digits.parse().ok())
        .with_context(|| format!("the response is not HTTP: {first:?}"))?;
    let mut headers = Vec::new();
    loop {
        let text = line(reader, budget_bytes).context("the response ended within its headers")?;
        if text.is_empty() {
            return Ok((status, headers));
        }
        let (name, value) =
            text.split_once(':').with_context(|| format!("{text:?} is not a header"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn body(reader: &mut impl BufRead, method: &str, response: &mut Response) -> Result<After> {
    let closes = response
        .header("Connection")
        .is_some_and(|value| value.to_ascii_lowercase().contains("close"));
    let after = if closes { After::Close } else { After::KeepOpen };
    if method == "HEAD" || response.status == 204 || response.status == 304 {
        return Ok(after);
    }
    if response.header("Transfer-Encoding").is_some_and(|value| value.contains("chunked")) {
        chunks(reader, &mut response.body)?;
        return Ok(after);
    }
    if let Some(length) = response.header("Content-Length") {
        let length = length.parse().with_context(|| format!("{length:?} is not a length"))?;
        exactly(reader, length, &mut response.body)?;
        return Ok(after);
    }
    let limit = u64::try_from(BODY_MAX_BYTES)?;
    reader.take(limit).read_to_end(&mut response.body)?;
    Ok(After::Close)
}

fn chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let mut budget_bytes = HEAD_MAX_BYTES;
        let text = line(reader, &mut budget_bytes)?;
        let digits = text.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16)
            .with_context(|| format!("{text:?} is not a chunk length"))?;
        if length == 0 {
            while !line(reader, &mut budget_bytes)?.is_empty() {}
            return Ok(());
        }
        exactly(reader, length, body)?;
        ensure!(line(reader, &mut budget_bytes)?.is_empty(), "a chunk exceeds its length");
    }
}

fn exactly(reader: &mut impl BufRead, length: usize, body: &mut Vec<u8>) -> Result<()> {
    let total = body.len().saturating_add(length);
    ensure!(total <= BODY_MAX_BYTES, "the body is longer than {BODY_MAX_BYTES} bytes");
    reader.take(u64::try_from(length)?).read_to_end(body)?;
    ensure!(body.len() == total, "the connection was closed");
    Ok(())
}

/// The next line without its end.
fn line(reader: &mut impl BufRead, budget_bytes: &mut usize) -> Result<String> {
    let mut bytes = Vec::new();
    reader.take(u64::try_from(*budget_bytes)?).read_until(b'\n', &mut bytes)?;
    *budget_bytes -= bytes.len();
    if bytes.pop() != Some(b'\n') {
        if *budget_bytes == 0 {
            bail!("the headers are longer than {HEAD_MAX_BYTES} bytes");
        }
        bail!("the connection was closed");
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
