//! `cargo xtask …`: the chores of this repository, as one program that needs nothing but Rust.
//!
//! One file per verb: [`mod@test`] is what continuous integration runs, [`demo`] shows the product,
//! [`mod@bench`] measures it, [`generate`] writes derived files, [`tidy`] checks the rules no
//! compiler knows. **Nothing here is part of the product.** Start with [`Chore`].

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program prints to the terminal"
)]

mod bench;
mod build;
mod chaos;
mod clients;
mod demo;
mod generate;
mod openapi;
mod package;
mod portal;
mod reports;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

#[derive(Parser, Debug)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Development tasks of this repository"
)]
struct CommandLine {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand, Debug)]
enum Chore {
    /// Check everything, as continuous integration does
    Test(test::Options),
    /// Disturb a server in every way, and compare what it acknowledged with what is there
    Chaos(chaos::Options),
    /// Build the binary to install, with the portal in it
    Build(build::Options),
    /// Build what operators install: a Debian package, a tarball, a container image
    Package(package::Options),
    /// Build Boardwalk and run it with demo data
    Demo(demo::Options),
    /// Write the files that are derived from others
    Generate {
        what: Generated,
        /// Write nothing; fail if a file is stale
        #[arg(long)]
        check: bool,
    },
    /// Measure the product, beside the least that its database could need for the same
    Bench(bench::Options),
    /// Check and build the web application that the binary embeds
    Portal(portal::Options),
    /// Check layering, sizes and forbidden words (`cargo test -p xtask` does, too)
    Tidy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Generated {
    /// The tables of postal codes, merchant categories and calling codes, from data/
    Reference,
    /// The `OpenAPI` documents in docs/, from what the binary prints
    Openapi,
    /// The types of what the portal reads, from the `OpenAPI` documents
    Portal,
    /// The types and operations of the packages in sdk/, from the `OpenAPI` document
    Sdk,
}

fn main() -> ExitCode {
    match run(CommandLine::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain of causes says it; a backtrace of this program would only hide it.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Test(options) => test::run(&options),
        Chore::Chaos(options) => chaos::run(&options),
        Chore::Build(options) => build::run(&options),
        Chore::Package(options) => package::run(&options),
        Chore::Demo(options) => demo::run(&options),
        Chore::Generate { what: Generated::Reference, check } => generate::reference(check),
        Chore::Generate { what: Generated::Openapi, check } => openapi::documents(check),
        Chore::Generate { what: Generated::Portal, check } => portal::types(check),
        Chore::Generate { what: Generated::Sdk, check } => clients::own_packages_generate(check),
        Chore::Bench(options) => bench::run(&options),
        Chore::Portal(options) => portal::run(&options),
        Chore::Tidy => tidy::run(),
    }
}
