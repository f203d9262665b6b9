//! Receives a file that is sent as the body of a request, or as a part of a form, into a temporary
//! one. **No more than a few fields of a form are held in memory.**

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::{Mutex, PoisonError};

use contract::rest::form::Variables;
use contract::rest::multipart::{PartHead, PartSink, Splitter};
use md5::{Digest as _, Md5};
use serde_json::{Map, Value};
use types::{Error, Result};

use super::storage::{FileStorage, Temporary, unavailable};

/// Bytes of all fields of a form besides its files.
const FIELD_BYTES_MAX: usize = 256 * 1024;

/// What was received.
#[derive(Debug)]
pub struct Upload {
    /// None when a form has no file, or somebody took it.
    file: Mutex<Option<UploadedFile>>,
    /// The fields of a form.
    pub fields: Map<String, Value>,
    /// Whether the body was a form.
    pub is_form: bool,
}

impl Upload {
    /// The file, for whoever asks first.
    pub fn take_file(&self) -> Option<UploadedFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A file that was received.
#[derive(Debug)]
pub struct UploadedFile {
    /// The field of the form; empty for a file that is the whole body.
    pub field: String,
    /// As the form calls it, without any directory.
    pub name: String,
    pub content: Temporary,
    pub bytes: u64,
    /// In hexadecimal.
    pub md5: String,
}

/// Takes a body as it comes.
#[derive(Debug)]
pub struct Receiver {
    splitter: Option<Splitter>,
    parts: Parts,
}

impl Receiver {
    /// Blocks, as everything here does.
    pub fn new(storage: &dyn FileStorage, content_type: &str) -> Result<Self> {
        let mut parts = Parts {
            content: Some(storage.temporary()?),
            file: None,
            received: None,
            fields: Variables::default(),
            field: None,
            field_bytes: 0,
        };
        let splitter = Splitter::new(content_type);
        if splitter.is_none() {
            parts.begin_file(String::new(), String::new())?;
        }
        Ok(Self { splitter, parts })
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.splitter {
            Some(splitter) => splitter.feed(bytes, &mut self.parts),
            None => self.parts.data(bytes),
        }
    }

    pub fn finish(mut self) -> Result<Upload> {
        match &mut self.splitter {
            Some(splitter) => splitter.finish(&mut self.parts)?,
            None => self.parts.end()?,
        }
        let is_form = self.splitter.is_some();
        let Parts { received, fields, .. } = self.parts;
        Ok(Upload { file: Mutex::new(received), fields: fields.finish(), is_form })
    }
}

/// The file that is being written.
struct Writing {
    field: String,
    name: String,
    out: BufWriter<File>,
    bytes: u64,
    md5: Md5,
}

impl std::fmt::Debug for Writing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writing").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

struct Parts {
    /// Where the first file goes; further ones are passed over.
    content: Option<Temporary>,
    file: Option<Writing>,
    received: Option<UploadedFile>,
    fields: Variables,
    field: Option<(String, Vec<u8>)>,
    field_bytes: usize,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Parts").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Parts {
    fn begin_file(&mut self, field: String, name: String) -> Result<()> {
        if let Some(content) = &self.content {
            let out = BufWriter::new(content.create()?);
            self.file = Some(Writing { field, name, out, bytes: 0, md5: Md5::new() });
        }
        Ok(())
    }
}

impl PartSink for Parts {
    type Error = Error;

    fn begin(&mut self, head: PartHead) -> Result<()> {
        if let Some(name) = head.file_name {
            return self.begin_file(head.field, name);
        }
        self.field = Some((head.field, Vec::new()));
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.md5.update(bytes);
            file.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            file.out.write_all(bytes).map_err(unavailable)?;
        } else if let Some((_, value)) = &mut self.field {
            self.field_bytes += bytes.len();
            if self.field_bytes > FIELD_BYTES_MAX {
                return Err(Error::invalid("the fields of the form are too long"));
            }
            value.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if let Some(mut file) = self.file.take() {
            file.out.flush().map_err(unavailable)?;
            let md5 = data_encoding::HEXLOWER.encode(&file.md5.finalize());
            let (field, name, bytes) = (file.field, file.name, file.bytes);
            if let Some(content) = self.content.take() {
                self.received = Some(UploadedFile { field, name, content, bytes, md5 });
            }
        } else if let Some((name, value)) = self.field.take() {
            self.fields.add(&name, String::from_utf8_lossy(&value).into_owned());
        }
        Ok(())
    }
}
