//! A way to a server of this machine on which round trips are counted.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result};

/// A port that leads to another one.
#[derive(Debug)]
pub struct Wire {
    port: u16,
    round_trips: Arc<AtomicUsize>,
}

impl Wire {
    /// A way to the server on that port, until the process ends.
    pub fn to(server: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let port = listener.local_addr()?.port();
        let round_trips = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&round_trips);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                // A client that finds no server sees its connection end.
                let _ = connect(client, server, counted);
            }
        });
        Ok(Self { port, round_trips })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// How often somebody began to say something after the server had spoken.
    pub fn round_trips(&self) -> usize {
        self.round_trips.load(Ordering::SeqCst)
    }
}

fn connect(client: TcpStream, server: u16, counted: Arc<AtomicUsize>) -> io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut to_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    let server_spoke = Arc::new(AtomicBool::new(true));
    let spoke = Arc::clone(&server_spoke);
    thread::spawn(move || {
        copy(client, &mut to_server, || {
            if spoke.swap(false, Ordering::SeqCst) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
    });
    thread::spawn(move || {
        copy(server, &mut to_client, || server_spoke.store(true, Ordering::SeqCst));
    });
    Ok(())
}

fn copy(mut from: TcpStream, to: &mut TcpStream, mut each: impl FnMut()) {
    let mut part = vec![0; 64 << 10];
    while let Ok(count) = from.read(&mut part)
        && count > 0
    {
        each();
        if to.write_all(part.get(..count).unwrap_or_default()).is_err() {
            break;
        }
    }
    // Who has come to the end, or cannot go on, ends both.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
