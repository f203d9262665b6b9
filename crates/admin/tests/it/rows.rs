//! The rows of administration, on both engines: each comes back as it was put in.

mod notes;
mod packages;
mod presence;
