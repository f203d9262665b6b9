//! Whom the server programs run as. `PostgreSQL` refuses to run as root, so root lends it another
//! account; everybody else runs it as they are.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Accounts to lend, best first: the one the package made, else the one every system has.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

#[derive(Clone, Copy, Debug)]
pub(super) enum Account {
    /// The account that runs the tests.
    Own,
    /// An account without rights, used because the tests run as root.
    Other { uid: u32, gid: u32 },
}

impl Account {
    pub(super) fn choose() -> Result<Self> {
        if id(&["-u"])? != 0 {
            return Ok(Self::Own);
        }
        for name in CANDIDATES {
            if let (Ok(uid), Ok(gid)) = (id(&["-u", name]), id(&["-g", name])) {
                return Ok(Self::Other { uid, gid });
            }
        }
        bail!("PostgreSQL does not run as root and there is no account `postgres` or `nobody`")
    }

    /// A command that will run as this account, in a folder that it may enter.
    pub(super) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = match self {
            Self::Own => Command::new(program),
            Self::Other { uid, gid } => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}"));
                command.arg("--clear-groups").arg(program);
                command
            }
        };
        command.current_dir(folder);
        command
    }
}

fn id(arguments: &[&str]) -> Result<u32> {
    let output = Command::new("id").args(arguments).output().context("cannot run `id`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().with_context(|| format!("`id {}` gave no number", arguments.join(" ")))
}
