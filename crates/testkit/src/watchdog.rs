//! A small shell process that stops servers and removes their folder once the test process is gone.
//!
//! The shell reads from a pipe whose other end only the test process holds. The pipe closes when
//! the value is dropped, when the process ends, and when it is killed; then the shell cleans up.
//! Statics are never dropped, and a killed process runs no destructors, so `Drop` alone is not
//! enough.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

const SCRIPT: &str = r#"folder=$1; shift
cat >/dev/null
"$@" >/dev/null 2>&1 </dev/null
cd / && rm -rf -- "$folder""#;

#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// From now on `folder` belongs to the watchdog, which runs `stop` before it removes it.
    pub(crate) fn start(folder: &Path, stop: &Command) -> Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "watchdog"])
            .arg(folder)
            .arg(stop.get_program())
            .args(stop.get_args())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Its own group: an interrupt from the terminal must not end it before its work.
            .process_group(0)
            .spawn()
            .context("cannot start `sh`")?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // The stop command has a time limit of its own, so this ends.
        let _ = self.shell.wait();
    }
}
