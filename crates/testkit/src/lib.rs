//! What the tests of the workspace share: databases of both engines, rows to put in them, server
//! processes, a mail server, an HTTP client and the conformance cases.
//!
//! Only tests and `xtask` use this crate; nothing here is part of the product. It never talks to a
//! database, a server or a network that it did not start itself, and it removes what it made, even
//! when a test panics or the test process is killed.
//!
//! Start with [`database::TestDatabase`], [`postgres::shared`] and [`process::Server`]; [`http`]
//! talks to a server; [`conformance::onboarding`] and [`conformance::rest`] judge one, and
//! [`openapi`] holds its answers against its documents.

pub mod balancer;
pub mod conformance;
pub mod database;
pub mod http;
pub mod openapi;
pub mod pooler;
pub mod postgres;
pub mod process;
pub mod rows;
pub mod smtp;
pub mod wire;

use std::net::{Ipv4Addr, TcpListener};

use anyhow::Context as _;

/// A new empty folder, removed when the value is dropped.
pub fn temp_dir() -> anyhow::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix("boardwalk-test-")
        .tempdir()
        .context("cannot create a temporary folder")
}

/// A port that nobody listens on at the moment.
pub fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}
