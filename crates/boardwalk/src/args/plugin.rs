//! What can be typed after `boardwalk plugin`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Pack a plugin or theme folder into an archive
    Pack {
        /// Folder with plugin.json or theme.json
        folder: PathBuf,
        /// Output file [default: NAME-VERSION.zip in the current folder]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Sign the archive with the key in this file
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Validate an archive as a site would, and describe it
    Check {
        /// Archive
        file: PathBuf,
    },
    /// Create a signing key and print its public key for `admin.trusted_keys`
    Key {
        /// Output file; keep it private
        file: PathBuf,
    },
}
