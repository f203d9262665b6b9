//! The stages that let clients talk to the product: libraries of others, clients that generators
//! make of the OpenAPI documents, our own packages, and the test suite of the reference's makers.
//! Installs the packages below the target folder and runs `crates/boardwalk/tests/clients`.
//!
//! **The versions are those of the committed lock files**, and no install script of a package runs.

mod generated;
mod sdk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::openapi::{self, test_of};
use crate::tools;

/// Packages of others with the files that go beside them: a folder of the repository, and by its
/// name one of the target folder; and the module that runs it.
struct Kit {
    name: &'static str,
    source: &'static str,
    module: &'static str,
    needs: &'static [Packages],
}

/// Where packages come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packages {
    Node,
    Python,
}
use Packages::{Node, Python};

const CLIENTS: Kit = Kit {
    name: "clients",
    source: "conformance/clients",
    module: "sessions::",
    needs: &[Node, Python],
};
const SUITE: Kit =
    Kit { name: "suite", source: "conformance/suite", module: "suite::", needs: &[Node] };
const GENERATED: Kit = Kit {
    name: "generated",
    source: "conformance/generated",
    module: "generated::",
    needs: &[Node, Python],
};
const LIGHTHOUSE: Kit =
    Kit { name: "lighthouse", source: "conformance/lighthouse", module: "", needs: &[Node] };
const SDK_TYPESCRIPT: Kit =
    Kit { name: "sdk-typescript", source: "sdk/typescript", module: "sdk::", needs: &[Node] };
const SDK_PYTHON: Kit =
    Kit { name: "sdk-python", source: "sdk/python", module: "sdk::", needs: &[Python] };

/// What tools leave behind in a folder, which is no part of it.
const LEFTOVERS: [&str; 6] =
    ["node_modules", "dist", "build", "venv", "__pycache__", "boardwalk_sdk.egg-info"];

const NODE_LISTS: [&str; 2] = ["package.json", "package-lock.json"];
const PYTHON_LIST: &str = "requirements.txt";

/// Stage: every session of every client library passes, and of every generated client.
pub(crate) fn sessions() -> Result<()> {
    run(&CLIENTS)?;
    let folder = install(&GENERATED)?;
    generated::make(&folder)?;
    test(&GENERATED)
}

/// Stage: our own packages are up to date, compile, and do what they promise.
pub(crate) fn own_packages() -> Result<()> {
    sdk::generate(true)?;
    sdk::make(&install(&SDK_TYPESCRIPT)?, &install(&SDK_PYTHON)?)?;
    test(&SDK_TYPESCRIPT)
}

/// Writes what our own packages derive from the document of the onboarding interface, or with
/// `check` fails if that is stale.
pub(crate) fn own_packages_generate(check: bool) -> Result<()> {
    sdk::generate(check)
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
        tools::root().join(self.source)
    }

    /// The lists of packages; a change to one means a new installation.
    fn lists(&self) -> Result<String> {
        let node = NODE_LISTS.into_iter().filter(|_| self.needs.contains(&Node));
        let python = self.needs.contains(&Python).then_some(PYTHON_LIST);
        let mut all = String::new();
        for name in node.chain(python) {
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
    copy(&kit.source(), &folder)?;
    // Written last, so a half-finished installation is never taken for a whole one.
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lists) {
        return Ok(folder);
    }
    if kit.needs.contains(&Node) {
        install_node_packages(&folder)?;
    }
    if kit.needs.contains(&Python) {
        install_python_packages(&folder)?;
    }
    fs::write(&stamp, lists).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(folder)
}

/// Copies the files of a folder, and its folders as they are now: what is gone there goes here.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if LEFTOVERS.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if path.is_dir() {
            if target.is_dir() {
                fs::remove_dir_all(&target)
                    .with_context(|| format!("cannot clear {}", target.display()))?;
            }
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
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
        for kit in [CLIENTS, GENERATED, SUITE, SDK_TYPESCRIPT] {
            let lists = kit.lists().unwrap();
            assert!(!lists.contains("\"resolved\""), "a lock file says where packages came from");
            let package = fs::read_to_string(kit.source().join("package.json")).unwrap();
            assert!(!package.contains(['^', '~']), "{package}");
        }
        for kit in [CLIENTS, GENERATED, SDK_PYTHON] {
            let list = fs::read_to_string(kit.source().join(PYTHON_LIST)).unwrap();
            assert!(list.lines().all(|line| line.split("==").count() == 2), "{list}");
        }
    }
}
