//! The one error. It has two readers: the caller reads the message, the operator reads the cause.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the reader of an error should do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Change the request or the command.
    Invalid,
    /// Name something that exists.
    NotFound,
    /// Something of that name, or a newer version, is there already.
    Conflict,
    /// Try again later: storage is busy, full, read-only or shutting down.
    Unavailable,
    /// Look before trying again: the storage was lost while it was asked to keep a change, and the
    /// change may be there.
    Uncertain,
    /// Tell the operator: this should not happen.
    Internal,
}

/// A failure with a public message and a private cause.
///
/// **`Display` prints the message alone.** The cause may hold SQL or file names and is for the log
/// only; the log prints it with [`Error::report`].
pub struct Error {
    kind: Kind,
    message: Cow<'static, str>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    pub fn conflict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    pub fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Internal, message)
    }

    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The message with all its causes, for the log and for the terminal; never for a client.
    pub fn report(&self) -> String {
        let mut text = self.message.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}: {}", self.kind, self.report())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.cause {
            Some(cause) => Some(cause.as_ref()),
            None => None,
        }
    }
}
