//! One sandbox for the whole run of a fuzz target.

use std::sync::OnceLock;

use server::Sandbox;
use tokio::runtime::Runtime;

pub struct Setup {
    pub runtime: Runtime,
    pub sandbox: Sandbox,
    _folder: tempfile::TempDir,
}

pub fn setup() -> &'static Setup {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    SETUP.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let runtime = Runtime::new().expect("a runtime");
        let guard = runtime.enter();
        let sandbox = Sandbox::new(folder.path()).expect("a sandbox");
        drop(guard);
        Setup { runtime, sandbox, _folder: folder }
    })
}
