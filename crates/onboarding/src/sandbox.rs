//! Failures on demand, in the sandbox only: by a header, and by values that are legal elsewhere.
//!
//! **Production ignores all of it**: [`Scenario::read`], [`magic`] and the other triggers do
//! nothing there, and it has none of the routes below [`ROOT`].

pub mod catcher;
pub mod clock;
pub mod devices;
pub mod reset;
pub(crate) mod triggers;

pub use crate::simulation::Scenario;
pub use triggers::{Magic, magic};

/// Below this path are the routes that production does not have.
pub const ROOT: &str = "/v1/sandbox/";
