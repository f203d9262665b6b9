//! What is kept of an export: what was asked for, and what was written.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How long a file can be downloaded.
pub(super) const KEPT: Duration = Duration::from_hours(7 * 24);

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ExportRequest {
    pub(super) report: String,
    /// Parameters of the report.
    pub(super) args: Map<String, Value>,
    pub(super) user_id: i64,
    /// Whether the user is told by mail where the file is.
    pub(super) email: bool,
    /// Address of the site as the user knows it.
    pub(super) home: String,
}

/// The file that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenFile {
    pub(super) rows: i64,
    pub(super) parts: i64,
    pub(super) bytes: usize,
}
