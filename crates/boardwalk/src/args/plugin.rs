//! What can be typed after `boardwalk plugin`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Make an archive of a folder with a plugin or a theme
    Pack {
        /// The folder with plugin.json or theme.json
        folder: PathBuf,
        /// Where the archive goes [default: NAME-VERSION.zip in the current folder]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Sign the archive with the key in this file
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Read an archive as a site would, and say what it is
    Check {
        /// The archive
        file: PathBuf,
    },
    /// Make a key to sign with, and print its public part for `admin.trusted_keys`
    Key {
        /// Where the key goes; whoever has this file can sign
        file: PathBuf,
    },
}
