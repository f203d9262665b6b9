//! A data folder on a small disk of its own, which can be full: a file system in memory, whose size
//! only root can change.

use std::path::{Path, PathBuf};
use std::process::Command;

/// More than any run needs; only what is used takes memory.
const ROOMY: &str = "size=4g,mode=0700";

const FILL_ATTEMPTS_MAX: u64 = 50;
const SPARE_KIB: u64 = 16;

pub(crate) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Puts the folder, which must be empty, on a disk of its own. Nothing where that is not allowed.
    pub(crate) fn under(folder: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", ROOMY, "tmpfs"]).arg(folder);
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self { folder: folder.to_owned() })
    }

    /// Leaves hardly more room than is used now. More may be used meanwhile, and then it is tried
    /// again with more.
    pub(crate) fn fill(&self) {
        let is_full = (0..FILL_ATTEMPTS_MAX).any(|attempt| {
            let output =
                Command::new("df").args(["--output=used", "-k"]).arg(&self.folder).output();
            let printed = String::from_utf8(output.unwrap().stdout).unwrap();
            let used: u64 = printed.lines().nth(1).unwrap().trim().parse().unwrap();
            self.remount(&format!("size={}k", used + attempt * SPARE_KIB))
        });
        assert!(is_full, "the disk cannot be made small");
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        assert!(self.remount(ROOMY), "the disk cannot be made large");
    }

    fn remount(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{options}")]).arg(&self.folder);
        mount.output().unwrap().status.success()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Also while something still has a file open: the rest goes when that is closed.
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).output();
    }
}
