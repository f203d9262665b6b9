//! What the tests of the workspace share: databases of both engines, rows to put in them, server
//! processes, a mail server, an HTTP client and the conformance cases.
//!
//! Only tests and `xtask` use this crate; nothing here is part of the product. It never talks to a
//! database, a server or a network that it did not start itself, and it removes what it made, even
//! when a test panics or the test process is killed.
//!
//! Start with [`database::TestDatabase`], [`postgres::shared`], [`clickhouse::shared`] and
//! [`process::Server`]; [`http`]
//! talks to a server; [`conformance::onboarding`] and [`conformance::rest`] judge one, and
//! [`openapi`] holds its answers against its documents.

pub mod balancer;
pub mod clickhouse;
pub mod conformance;
pub mod database;
pub mod http;
pub mod openapi;
pub mod pooler;
pub mod postgres;
pub mod process;
pub mod rows;
pub mod smtp;
mod watchdog;
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

/// Ports that are never given to outgoing connections, as Linux is usually set up: one that is free
/// when it is chosen cannot be lost to a client before its server is up.
const LISTENING_PORTS: std::ops::Range<u16> = 16_384..32_768;
const PORTS_TRIED: usize = 1_000;

/// A port that nobody listens on at the moment. Chosen at random, so that two processes that ask
/// at once hardly get the same.
pub fn free_port() -> anyhow::Result<u16> {
    for _ in 0..PORTS_TRIED {
        let drawn = getrandom::u32()? % u32::from(LISTENING_PORTS.end - LISTENING_PORTS.start);
        let port = LISTENING_PORTS.start + u16::try_from(drawn)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no free port among {PORTS_TRIED} tried")
}
