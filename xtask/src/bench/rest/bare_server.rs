//! The least that an axum server can do: it says hello, or sends bytes that it has in memory.
//!
//! It runs as a process of its own, which is this very program started once more, so that it has
//! processors, runtime and connections like the product.

use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

/// More than any answer that is compared.
const BYTES_MAX: usize = 8 << 20;
static BYTES: [u8; BYTES_MAX] = [b'x'; BYTES_MAX];

/// Serves until it is killed. The first line it prints is its address.
pub(crate) fn serve() -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let router = Router::new().route("/", get(|| async { "Hello, world!" })).route(
            "/bytes/{count}",
            get(|Path(count): Path<usize>| async move {
                Bytes::from_static(BYTES.get(..count).unwrap_or(&BYTES))
            }),
        );
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?);
        let listener = listener.tap_io(|stream| {
            // A connection that will not hear of it is only slower.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    })
}

/// The other process; killed on drop.
#[derive(Debug)]
pub(crate) struct BareServer {
    process: Child,
    authority: String,
}

impl BareServer {
    pub(crate) fn start() -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("--bare-server")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the bare server")?;
        let stdout = process.stdout.take().context("the bare server has no output")?;
        // Made before anything can fail, so that the process never outlives this function's error.
        let mut server = Self { process, authority: String::new() };
        BufReader::new(stdout).read_line(&mut server.authority)?;
        server.authority = server.authority.trim().to_owned();
        Ok(server)
    }

    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn request(&self, path: &str) -> Vec<u8> {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bench\r\n\r\n", self.authority)
            .into_bytes()
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nothing left to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
