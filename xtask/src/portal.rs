//! `cargo xtask portal`: checks and builds the web application, whose files the binary embeds; and
//! the stage that walks through it in a browser, against a server of its own.
//!
//! **The versions are those of the committed lock file**, and no install script of a package runs.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};
use clap::Args;

use crate::clients;
use crate::openapi::{INTERFACES, build_binary, fresh_folder, write_document};
use crate::tools::{self, Skipped};

const SOURCE: &str = "web";
/// Where the pictures are that the documents show.
const PICTURES: &str = "docs/images";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Then take the pictures that the documents show
    #[arg(long)]
    screenshots: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    check_and_build()?;
    if options.screenshots {
        tools::Tool::Chromium.ensure()?;
        let pictures = tools::root().join(PICTURES);
        return browse("pictures", &[("PICTURES", pictures.as_os_str())]);
    }
    Ok(())
}

/// Stage: a walk through the portal in a browser.
pub(crate) fn walk() -> Result<()> {
    let folder = tools::root().join(SOURCE);
    install(&folder)?;
    if !is_built(&folder)? {
        script(&folder, "build")?;
    }
    types(true)?;
    let lighthouse = clients::lighthouse()?;
    browse("test", &[("LIGHTHOUSE", lighthouse.as_os_str())])
}

/// Whether the built files are there and no source is younger than they are: to build them again
/// is to build the binary again.
fn is_built(folder: &Path) -> Result<bool> {
    let Ok(built) = fs::metadata(folder.join("dist/index.html")) else { return Ok(false) };
    let sources = ["src", "public", "index.html", "package-lock.json", "vite.config.ts"];
    for source in sources {
        if youngest(&folder.join(source))? > built.modified()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// When the file, or any file below the folder, was changed last.
fn youngest(path: &Path) -> Result<SystemTime> {
    let known = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut found = known.modified()?;
    if known.is_dir() {
        for entry in fs::read_dir(path)? {
            found = found.max(youngest(&entry?.path())?);
        }
    }
    Ok(found)
}

/// Writes the types of what the portal reads, from the documents that the binary prints; or only
/// looks whether they are fresh.
pub(crate) fn types(check: bool) -> Result<()> {
    let binary = build_binary()?;
    let folder = fresh_folder("portal")?;
    let mut node = Command::new("node");
    node.current_dir(tools::root().join(SOURCE)).arg("scripts/types.mjs");
    for interface in INTERFACES {
        node.arg(write_document(&binary, interface, &folder)?);
    }
    tools::run(node.args(check.then_some("--check")))
}

/// Runs a script of the portal that opens a browser on a server of its own.
fn browse(name: &str, variables: &[(&str, &OsStr)]) -> Result<()> {
    let chromium = tools::find_chromium().ok_or(Skipped("Chromium is not installed"))?;
    let binary = build_binary()?;
    let mut npm = Command::new("npm");
    npm.current_dir(tools::root().join(SOURCE)).args(["run", "--silent", name]);
    npm.env("BOARDWALK", binary).env("CHROMIUM", chromium).envs(variables.iter().copied());
    tools::run(&mut npm)
}

/// Stage: the sources pass their lints, hold what their types promise, and the files are built.
pub(crate) fn check_and_build() -> Result<()> {
    let folder = tools::root().join(SOURCE);
    install(&folder)?;
    script(&folder, "lint")?;
    script(&folder, "check")?;
    script(&folder, "build")
}

/// Builds the files if there is Node, and tells whether there is; without them the binary says how
/// to get them.
pub(crate) fn build_if_possible() -> Result<bool> {
    if Command::new("npm").arg("--version").output().is_err() {
        return Ok(false);
    }
    let folder = tools::root().join(SOURCE);
    install(&folder)?;
    script(&folder, "build")?;
    Ok(true)
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
