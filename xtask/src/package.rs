//! `cargo xtask package`: what operators install. A Debian package, a tarball, a container image
//! and a compose file, all of them from one [`Product`]: the binary, what it says of itself (man
//! pages, completions, configuration), and the files in `packaging/`.
//!
//! Everything is written here and not by a packaging tool (ADR 25), so that it is made anywhere and
//! the trial runs within the tests. Start with [`run`] and [`trial::stage`].

mod deb;
mod image;
mod tree;
pub(crate) mod trial;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use flate2::Compression;
use types::Timestamp;

use self::tree::{PLAIN, PROGRAM, Tree, gzip};
use crate::{build, openapi, tools};

const SHELLS: [&str; 3] = ["bash", "fish", "zsh"];
const DOCUMENTS: [&str; 5] =
    ["LICENSE", "NOTICE", "CHANGELOG.md", "monitoring/alerts.yml", "monitoring/grafana.json"];
/// The moment that everything in a package is from, if somebody says so; else that of the commit.
const EPOCH_VARIABLE: &str = "SOURCE_DATE_EPOCH";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How to build the binary
    #[arg(long, default_value = "release")]
    profile: String,
    /// Leave the portal out, which needs no Node
    #[arg(long)]
    without_portal: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = build::with_portal(&options.profile, options.without_portal)?;
    let folder = openapi::fresh_folder("package")?;
    let made = Product::collect(&binary, &folder, Compression::best())?.pack(&binary, &folder)?;
    for path in made {
        println!("{}", path.display());
    }
    Ok(())
}

/// Everything that goes into packages.
struct Product {
    version: String,
    binary: Vec<u8>,
    unit: String,
    config: String,
    compose: String,
    /// Compressed, by file name.
    man_pages: Vec<(String, Vec<u8>)>,
    /// By shell.
    completions: Vec<(&'static str, String)>,
    /// By path.
    documents: Vec<(String, String)>,
    epoch_s: u64,
    compression: Compression,
}

impl Product {
    /// Asks the binary for what it knows, and reads the rest from the repository.
    fn collect(binary: &Path, scratch: &Path, compression: Compression) -> Result<Self> {
        let version = env!("CARGO_PKG_VERSION");
        let root = tools::root();
        let read = |path: &str| {
            fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))
        };
        let ask = |words: &[&str]| tools::read(boardwalk(binary).args(words));
        let documents = DOCUMENTS.into_iter().map(|path| Ok((path.to_owned(), read(path)?)));
        let completions =
            SHELLS.into_iter().map(|shell| Ok((shell, ask(&["completions", shell])?)));
        Ok(Self {
            version: version.to_owned(),
            unit: read("packaging/boardwalk.service")?,
            config: ask(&["config", "print", "--commented"])?,
            compose: read("packaging/compose.yaml")?.replace("{version}", version),
            man_pages: man_pages(binary, &scratch.join("man"), compression)?,
            completions: completions.collect::<Result<_>>()?,
            documents: documents.collect::<Result<_>>()?,
            binary: fs::read(binary)
                .with_context(|| format!("cannot read {}", binary.display()))?,
            epoch_s: epoch(),
            compression,
        })
    }

    /// Writes all packages into the folder, and tells their paths.
    fn pack(&self, binary: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
        let (version, arch) = (&self.version, env::consts::ARCH);
        let name = format!("boardwalk-{version}-{arch}-linux");
        let deb = format!("boardwalk_{version}_{}.deb", deb::architecture()?);
        let tarball = gzip(&self.files().below(&name).tar(self.epoch_s)?, self.compression)?;
        let packages = [
            (deb, deb::pack(self)?),
            (format!("{name}.tar.gz"), tarball),
            (format!("boardwalk-{version}-image.tar"), image::pack(self, binary)?),
            (String::from("compose.yaml"), self.compose.clone().into_bytes()),
        ];
        let write = |(name, content): (String, Vec<u8>)| {
            let path = folder.join(name);
            let written = fs::write(&path, content);
            written.with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        packages.into_iter().map(write).collect()
    }

    /// The tarball's content.
    fn files(&self) -> Tree {
        let mut tree = Tree::default();
        tree.file("bin/boardwalk", PROGRAM, self.binary.clone());
        tree.file("boardwalk.service", PLAIN, self.unit.clone());
        tree.file("boardwalk.toml", PLAIN, self.config.clone());
        tree.file("compose.yaml", PLAIN, self.compose.clone());
        for (name, page) in &self.man_pages {
            tree.file(&format!("share/man/man1/{name}.gz"), PLAIN, page.clone());
        }
        for (shell, script) in &self.completions {
            tree.file(&format!("share/completions/boardwalk.{shell}"), PLAIN, script.clone());
        }
        for (path, text) in &self.documents {
            tree.file(path, PLAIN, text.clone());
        }
        tree
    }
}

/// The binary, without settings of this machine.
fn boardwalk(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("BOARDWALK_") {
            command.env_remove(&name);
        }
    }
    command
}

fn man_pages(binary: &Path, folder: &Path, level: Compression) -> Result<Vec<(String, Vec<u8>)>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    tools::run(boardwalk(binary).arg("man").arg(folder))?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        pages.push((name, gzip(&fs::read(entry.path())?, level)?));
    }
    fs::remove_dir_all(folder)?;
    pages.sort();
    Ok(pages)
}

fn epoch() -> u64 {
    let told = env::var_os(EPOCH_VARIABLE).and_then(|text| text.to_str()?.parse().ok());
    let commit = || {
        let mut git = Command::new("git");
        git.current_dir(tools::root()).args(["log", "-1", "--format=%ct"]);
        tools::read(&mut git).ok()?.trim().parse().ok()
    };
    told.or_else(commit).unwrap_or(0)
}

/// Seconds since 1970 as a date and time.
fn moment(epoch_s: u64) -> Result<String> {
    let micros = i64::try_from(epoch_s)?.saturating_mul(1_000_000);
    Ok(Timestamp::from_micros(micros).to_string())
}
