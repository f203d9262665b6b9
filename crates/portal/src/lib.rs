//! The portal: the built web application of `web/`, inside of the binary. **It uses the public
//! interfaces only**, so nothing here knows a route, a user or a record; this is a table of files.
//!
//! It stands above the server, which hands the files out without knowing them: a file that changes
//! compiles this crate and the binary again, and nothing else. `cargo xtask portal` builds them.

use server::Portal;

/// The files; none in a binary that was built without them.
pub static PORTAL: Portal = Portal(include!(concat!(env!("OUT_DIR"), "/assets.rs")));
