//! The words of `boardwalk privacy`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Privacy {
    /// Print everything that is kept about a person, as JSON
    Export {
        /// E-mail address of the person
        email: String,
    },
    /// Erase a person's data; orders remain as figures. This cannot be undone
    Erase {
        /// E-mail address of the person
        email: String,
    },
}
