//! What an operator may choose about the media library.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The media library: how large files may be, and how much work pictures may make.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MediaSettings {
    /// Bytes of a file that is uploaded.
    pub file_bytes: u64,
    /// Bytes of all files together; 0 for no limit.
    pub quota_bytes: u64,
    /// Bytes of a picture once it is decoded: width times height times 3 or 4, mostly.
    pub picture_bytes: u64,
    /// Pictures that are worked on at once.
    pub workers: usize,
}

impl Default for MediaSettings {
    fn default() -> Self {
        Self {
            file_bytes: 64 * 1024 * 1024,
            quota_bytes: 0,
            picture_bytes: 128 * 1024 * 1024,
            workers: 2,
        }
    }
}
