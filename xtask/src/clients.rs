//! The stage that lets client libraries of others talk to the product: installs them below the
//! target folder and runs the sessions of `conformance/clients` against servers of their own.
//!
//! **The versions are those of the committed lock files**, and no install script of a package runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::tools;

/// Where the scripts and the lists of packages are, below the workspace's root.
const SOURCE: &str = "conformance/clients";
/// The lists of packages; a change to one means a new installation.
const LISTS: &[&str] = &["package.json", "package-lock.json", "requirements.txt"];

/// Stage: every session of every client library passes.
pub(crate) fn sessions() -> Result<()> {
    install()?;
    // The whole workspace, for the reason that the build of the binary gives.
    let test = ["test", "--workspace", "--locked", "--test", "clients"];
    tools::run(tools::cargo().args(test))
}

/// Copies the scripts next to their libraries, and installs those unless they are there already.
fn install() -> Result<()> {
    let source = tools::root().join(SOURCE);
    let folder = tools::target_dir()?.join("clients");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lists = read_lists(&source)?;
    for entry in fs::read_dir(&source)? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, folder.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    // Written last, so a half-finished installation is never taken for a whole one.
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lists) {
        return Ok(());
    }
    install_node_packages(&folder)?;
    install_python_packages(&folder)?;
    fs::write(&stamp, lists).with_context(|| format!("cannot write {}", stamp.display()))
}

fn read_lists(source: &Path) -> Result<String> {
    let mut all = String::new();
    for name in LISTS {
        let path = source.join(name);
        let text = fs::read_to_string(&path);
        all += &text.with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(all)
}

fn install_node_packages(folder: &Path) -> Result<()> {
    let quietly = ["--ignore-scripts", "--no-audit", "--no-fund"];
    tools::run(Command::new("npm").current_dir(folder).arg("ci").args(quietly))
        .context("the Node packages could not be installed: is the package registry reachable?")
}

fn install_python_packages(folder: &Path) -> Result<()> {
    let venv: PathBuf = folder.join("venv");
    tools::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
    tools::run(Command::new(venv.join("bin/pip")).args(pip).arg(folder.join("requirements.txt")))
        .context("the Python packages could not be installed: is the package index reachable?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact_and_name_no_registry() {
        let lists = read_lists(&tools::root().join(SOURCE)).unwrap();
        assert!(!lists.contains("\"resolved\""), "the lock file says where packages came from");
        let requirements =
            fs::read_to_string(tools::root().join(SOURCE).join("requirements.txt")).unwrap();
        assert!(requirements.lines().all(|line| line.split("==").count() == 2), "{requirements}");
        let package = fs::read_to_string(tools::root().join(SOURCE).join("package.json")).unwrap();
        assert!(!package.contains(['^', '~']), "{package}");
    }
}
