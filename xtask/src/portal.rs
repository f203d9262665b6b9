//! `cargo xtask portal`: checks and builds the web application, whose files the binary embeds.
//!
//! **The versions are those of the committed lock file**, and no install script of a package runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::tools;

const SOURCE: &str = "web";

/// Stage: the sources hold what their types promise, and the files are built.
pub(crate) fn check_and_build() -> Result<()> {
    let folder = tools::root().join(SOURCE);
    install(&folder)?;
    script(&folder, "check")?;
    script(&folder, "build")
}

/// The files are built, if there is Node; without it the binary says how to get them.
pub(crate) fn build_if_possible() -> Result<()> {
    if Command::new("npm").arg("--version").output().is_err() {
        eprintln!("npm is not installed: this build has no portal");
        return Ok(());
    }
    let folder = tools::root().join(SOURCE);
    install(&folder)?;
    script(&folder, "build")
}

fn install(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let wanted =
        fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    // Written last, so a half-finished installation is never taken for a whole one.
    let stamp = folder.join("node_modules/installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let quietly = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    tools::run(Command::new("npm").current_dir(folder).args(quietly))
        .context("the Node packages could not be installed: is the package registry reachable?")?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

fn script(folder: &Path, name: &str) -> Result<()> {
    tools::run(Command::new("npm").current_dir(folder).args(["run", "--silent", name]))
}
