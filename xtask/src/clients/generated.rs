//! Clients that generators make of the documents: four programs that know nothing of how those were
//! made write code, which is compiled with the sessions that use it. And two linters.
//!
//! **Nothing is set up around an error of a document**: the generators run as their manuals say.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::openapi::{INTERFACES, build_binary, write_document};
use crate::tools;

/// Where the folder says what its clients were made of.
const STAMP: &str = "made.txt";

/// Makes and compiles the clients in the folder of their packages, unless they are there already.
pub(super) fn make(folder: &Path) -> Result<()> {
    write_documents(folder)?;
    let wanted = fingerprint(folder)?;
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(());
    }
    let packages = INTERFACES.iter().map(|interface| format!("{interface}_client"));
    let others = ["openapi-typescript", "hey-api", "orval", "js"].map(str::to_owned);
    for old in packages.chain(others) {
        let old = folder.join(old);
        if old.is_dir() {
            fs::remove_dir_all(&old).with_context(|| format!("cannot clear {}", old.display()))?;
        }
    }
    for interface in INTERFACES {
        let document = format!("{interface}.json");
        let types = format!("openapi-typescript/{interface}.ts");
        let mut generator = node(folder, "openapi-typescript");
        // What has a default may be left out of a request.
        generator.args([&document, "--output", &types, "--default-non-nullable", "false"]);
        tools::run(&mut generator)?;
        let functions = format!("hey-api/{interface}");
        tools::run(
            node(folder, "openapi-ts").args(["--input", &document, "--output", &functions]),
        )?;
        let package = format!("{interface}_client");
        let mut generator = python(folder, "openapi-python-client");
        generator.args(["generate", "--meta", "none", "--overwrite", "--path", &document]);
        generator.args(["--output-path", &package, "--config", "openapi-python-client.yaml"]);
        tools::run(&mut generator)?;
        tools::run(python(folder, "python").args(["-m", "compileall", "-q", &package]))?;
    }
    tools::run(node(folder, "orval").args(["--config", "orval.config.cjs"]))?;
    tools::run(&mut node(folder, "tsc"))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Two linters find no error. What they warn of is a matter of taste, or of paths that are what
/// existing clients know.
pub(super) fn lint(folder: &Path) -> Result<()> {
    let documents = write_documents(folder)?;
    let mut redocly = node(folder, "redocly");
    redocly.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    tools::run(redocly.args(["lint", "--format", "summary"]).args(&documents))?;
    let mut spectral = node(folder, "spectral");
    spectral.args(["lint", "--ruleset", "spectral.yaml", "--display-only-failures"]);
    tools::run(spectral.args(&documents))
}

/// Writes the documents that the binary prints, and returns the names of their files.
fn write_documents(folder: &Path) -> Result<Vec<String>> {
    let binary = build_binary()?;
    for interface in INTERFACES {
        write_document(&binary, interface, folder)?;
    }
    Ok(INTERFACES.iter().map(|interface| format!("{interface}.json")).collect())
}

/// Of all that the clients are made of: the documents, the sessions and the lists of packages.
fn fingerprint(folder: &Path) -> Result<String> {
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut hasher = DefaultHasher::new();
    for file in files {
        if file.path().is_file() && file.file_name() != STAMP {
            file.file_name().hash(&mut hasher);
            fs::read(file.path())?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish().to_string())
}

/// A program of the Node packages.
pub(super) fn node(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(folder.join("node_modules/.bin").join(name));
    command.current_dir(folder);
    command
}

/// A program of the Python packages.
pub(super) fn python(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(folder.join("venv/bin").join(name));
    command.current_dir(folder);
    command
}
