//! `cargo xtask build`: the binary to install, with the portal in it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::{portal, tools};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How to build: release runs fast, dev builds sooner
    #[arg(long, default_value = "release")]
    profile: String,
    /// Leave the portal out, which needs no Node
    #[arg(long)]
    without_portal: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    println!("{}", with_portal(&options.profile, options.without_portal)?.display());
    Ok(())
}

/// Builds the binary to install, and tells where it is.
pub(crate) fn with_portal(profile: &str, without_portal: bool) -> Result<PathBuf> {
    if !without_portal && !portal::build_if_possible()? {
        bail!("npm is not installed; install Node 20, or build with --without-portal");
    }
    binary(profile)
}

/// Builds the binary, and tells where it is.
pub(crate) fn binary(profile: &str) -> Result<PathBuf> {
    let build = ["build", "--locked", "--package", "boardwalk", "--profile", profile];
    tools::run(tools::cargo().args(build))?;
    Ok(tools::target_dir()?.join(folder(profile)).join("boardwalk"))
}

/// Cargo's folder for a profile; the development profile's is older than profiles' names.
fn folder(profile: &str) -> &str {
    match profile {
        "dev" | "test" => "debug",
        "bench" => "release",
        named => named,
    }
}
