//! Our own packages in `sdk/`: what they derive from the document of the onboarding interface, and
//! how they are compiled for the sessions that use them.
//!
//! **What is derived is committed**, so that a package can be built without a compiler of the
//! product, and a review shows what its users will see.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::generated::{node, python};
use crate::openapi::{build_binary, fresh_folder, write_document};
use crate::tools;

const GENERATOR: &str = "sdk/generate/main.mjs";
const INTERFACE: &str = "onboarding";

/// Writes the types and operations of both packages, or with `check` fails if they are stale.
pub(super) fn generate(check: bool) -> Result<()> {
    let document = write_document(&build_binary()?, INTERFACE, &fresh_folder("sdk")?)?;
    let mut generator = Command::new("node");
    generator.current_dir(tools::root()).arg(GENERATOR).arg(document);
    tools::run(generator.args(check.then_some("--check")))
}

/// Compiles and checks both packages, in the folders of what they need for that, and installs the
/// one that has to be.
pub(super) fn make(typescript: &Path, python_folder: &Path) -> Result<()> {
    tools::run(&mut node(typescript, "tsc"))?;
    tools::run(node(typescript, "tsc").args(["--project", "tsconfig.examples.json"]))?;
    tools::run(python(python_folder, "mypy").args(["src", "tests", "examples"]))?;
    let alone = ["--no-deps", "--no-index", "--no-build-isolation", "--force-reinstall"];
    let quietly = ["--quiet", "--disable-pip-version-check"];
    tools::run(python(python_folder, "pip").arg("install").args(alone).args(quietly).arg("."))
        .context("the Python package cannot be installed")
}
