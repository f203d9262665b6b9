//! `cargo xtask demo`: from a fresh clone to a running Boardwalk with something in it.
//!
//! Builds the binary and becomes `boardwalk demo` on a data folder below the target folder, so
//! that `cargo clean` forgets the demo too. **This process is replaced by the server**: Ctrl-C and
//! the exit status are the server's own.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use crate::{build, portal, tools};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How to build: demo is soon there, release shows the true speed
    #[arg(long, default_value = "demo")]
    profile: String,
    /// Handed to `boardwalk demo`, for example: -- --listen 127.0.0.1:9000
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = thread::scope(|scope| {
        // The portal mostly waits for its packages; nearly all of the binary needs nothing of it.
        let early = scope.spawn(|| build::binary(&options.profile));
        let has_portal = portal::build_if_possible();
        early.join().map_err(|_| anyhow!("the build stopped"))??;
        if !has_portal? {
            eprintln!("npm is not installed: this build does not include the portal");
        }
        build::binary(&options.profile)
    })?;
    let mut demo = Command::new(&binary);
    demo.arg("demo");
    if !names_data_folder(&options.arguments) {
        demo.arg("--data").arg(tools::target_dir()?.join("demo-data"));
    }
    let never_returned = demo.args(&options.arguments).exec();
    Err(never_returned).with_context(|| format!("cannot start {}", binary.display()))
}

fn names_data_folder(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "--data" || argument.starts_with("--data="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_folder_is_left_to_whoever_names_one() {
        let check = |line: &str, expected: bool| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(names_data_folder(&arguments), expected, "{line}");
        };
        check("--listen 127.0.0.1:9000", false);
        check("--data somewhere", true);
        check("--json --data=somewhere", true);
        check("--database sqlite", false);
    }
}
