//! What an error of the server means to whoever asked.

use std::error::Error as StdError;
use std::io;

use tokio_postgres::error::{Severity, SqlState};
use types::Error;

pub(super) fn failed(error: tokio_postgres::Error) -> Error {
    let public = match error.code() {
        Some(code) if *code == SqlState::UNIQUE_VIOLATION => Error::conflict("it exists already"),
        Some(code) if *code == SqlState::FOREIGN_KEY_VIOLATION => {
            Error::conflict("it belongs to something that does not exist")
        }
        Some(code) if *code == SqlState::DISK_FULL => Error::unavailable("the disk is full"),
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            Error::unavailable("the storage is read-only")
        }
        Some(code) if ["08", "53", "57"].iter().any(|class| code.code().starts_with(class)) => {
            Error::unavailable("the storage is not ready")
        }
        Some(code) if code.code().starts_with("40") || *code == SqlState::LOCK_NOT_AVAILABLE => {
            Error::unavailable("the storage is busy")
        }
        Some(code) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
            Error::unavailable("the database is damaged; restore a backup")
        }
        None if connection_lost(&error) => {
            Error::unavailable("the connection to the storage was lost")
        }
        _ => Error::internal("the storage failed"),
    };
    public.because(error)
}

/// Whether the connection failed, and not the statement. A server that ends a session says so
/// first.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().map_or_else(
        || connection_lost(error),
        |said| matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic)),
    )
}

fn connection_lost(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || matches!(error.source(), Some(source) if source.is::<io::Error>())
}
