//! The rows of onboarding, on both engines: each comes back as it was put in, and queries find what
//! they should.

mod bulk;
mod connections;
mod isos;
mod lifecycle;
mod nouns;
mod platform;
mod support;
