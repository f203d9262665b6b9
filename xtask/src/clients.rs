//! The stages that let what others wrote talk to the product: client libraries, clients that
//! generators make of the OpenAPI documents, and the test suite of the reference's makers. Installs
//! the packages below the target folder and runs `crates/boardwalk/tests/clients`.
//!
//! **The versions are those of the committed lock files**, and no install script of a package runs.

mod generated;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::openapi::{self, test_of};
use crate::tools;

/// Packages of others with the files that go beside them: a folder of `conformance`, and of the
/// target folder, by the name of its stage and of the module that runs it.
struct Kit {
    name: &'static str,
    module: &'static str,
    has_python: bool,
}

const CLIENTS: Kit = Kit { name: "clients", module: "sessions::", has_python: true };
const SUITE: Kit = Kit { name: "suite", module: "suite::", has_python: false };

const GENERATED: Kit = Kit { name: "generated", module: "generated::", has_python: true };
const LIGHTHOUSE: Kit = Kit { name: "lighthouse", module: "", has_python: false };

const NODE_LISTS: [&str; 2] = ["package.json", "package-lock.json"];
const PYTHON_LIST: &str = "requirements.txt";

/// Stage: every session of every client library passes, and of every generated client.
pub(crate) fn sessions() -> Result<()> {
    run(&CLIENTS)?;
    let folder = install(&GENERATED)?;
    generated::make(&folder)?;
    test(&GENERATED)
}

/// Linters of others find no error in the documents.
pub(crate) fn lint_documents() -> Result<()> {
    generated::lint(&install(&GENERATED)?)
}

/// Installs what marks the shop's pages, and tells where.
pub(crate) fn lighthouse() -> Result<PathBuf> {
    install(&LIGHTHOUSE)
}

/// Stage: the tests that the reference's makers publish pass.
pub(crate) fn suite() -> Result<()> {
    run(&SUITE)
}

fn run(kit: &Kit) -> Result<()> {
    install(kit)?;
    test(kit)
}

fn test(kit: &Kit) -> Result<()> {
    tools::run(tools::cargo().args(test_of(openapi::CLIENTS)).args(["--", kit.module]))
}

impl Kit {
    fn source(&self) -> PathBuf {
        tools::root().join("conformance").join(self.name)
    }

    /// The lists of packages; a change to one means a new installation.
    fn lists(&self) -> Result<String> {
        let python = self.has_python.then_some(PYTHON_LIST);
        let mut all = String::new();
        for name in NODE_LISTS.into_iter().chain(python) {
            let path = self.source().join(name);
            let text = fs::read_to_string(&path);
            all += &text.with_context(|| format!("cannot read {}", path.display()))?;
        }
        Ok(all)
    }
}

/// Copies the files next to their packages, and installs those unless they are there already.
/// Returns the folder of both.
fn install(kit: &Kit) -> Result<PathBuf> {
    let folder = tools::target_dir()?.join(kit.name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let lists = kit.lists()?;
    for entry in fs::read_dir(kit.source())? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, folder.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    // Written last, so a half-finished installation is never taken for a whole one.
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lists) {
        return Ok(folder);
    }
    install_node_packages(&folder)?;
    if kit.has_python {
        install_python_packages(&folder)?;
    }
    fs::write(&stamp, lists).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

fn install_node_packages(folder: &Path) -> Result<()> {
    let quietly = ["--ignore-scripts", "--no-audit", "--no-fund"];
    // Not `npm ci`: it refuses a lock file that leaves out other platforms' optional packages.
    tools::run(Command::new("npm").current_dir(folder).arg("install").args(quietly))
        .context("the Node packages could not be installed: is the package registry reachable?")
}

fn install_python_packages(folder: &Path) -> Result<()> {
    let venv: PathBuf = folder.join("venv");
    tools::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
    tools::run(Command::new(venv.join("bin/pip")).args(pip).arg(folder.join(PYTHON_LIST)))
        .context("the Python packages could not be installed: is the package index reachable?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact_and_name_no_registry() {
        for kit in [CLIENTS, GENERATED, SUITE] {
            let lists = kit.lists().unwrap();
            assert!(!lists.contains("\"resolved\""), "a lock file says where packages came from");
            let package = fs::read_to_string(kit.source().join("package.json")).unwrap();
            assert!(!package.contains(['^', '~']), "{package}");
        }
        for kit in [CLIENTS, GENERATED] {
            let list = fs::read_to_string(kit.source().join(PYTHON_LIST)).unwrap();
            assert!(list.lines().all(|line| line.split("==").count() == 2), "{list}");
        }
    }
}
