//! One sandbox for the whole run of a fuzz target.

#[path = "../../crates/server/tests/it/harness.rs"]
#[expect(dead_code, reason = "each target feeds bytes in its own way")]
mod harness;

use std::sync::OnceLock;

use harness::Sandbox;
use tokio::runtime::Runtime;

pub(crate) struct Setup {
    pub(crate) runtime: Runtime,
    pub(crate) sandbox: Sandbox,
    _folder: tempfile::TempDir,
}

pub(crate) fn setup() -> &'static Setup {
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
