//! What others wrote against the interface, run against ours: client libraries in [`sessions`],
//! clients that generators made of our documents in [`generated`], and in [`suite`] the tests that
//! the reference's makers publish for their own REST interface. And our own packages in [`sdk`].
//!
//! Not part of `cargo test`, because the packages must be installed first: `cargo xtask test --only
//! clients,sdk,suite` does that and runs this.
#![cfg(test)]

mod generated;
#[path = "../it/rest_site.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod rest_site;
mod sdk;
mod sessions;
mod suite;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod support;

use std::path::{Path, PathBuf};

/// Where `cargo xtask test` puts the packages of a stage, with a copy of its files.
fn folder(stage: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..").join(stage);
    let is_installed = folder.join("installed.txt").is_file();
    assert!(is_installed, "run `cargo xtask test --only {stage}`, which installs the packages");
    folder.canonicalize().unwrap()
}
