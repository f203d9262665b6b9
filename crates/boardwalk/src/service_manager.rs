//! Tells the service manager how the server fares, as `sd_notify(3)` describes it: ready, alive,
//! stopping. **Nothing is sent unless the environment asks for it**, and nobody waits for it: a
//! datagram that cannot be sent is lost.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Where the service manager listens: a path, or a name after `@` that no file has.
const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";
/// After how many microseconds of silence the server counts as stuck.
const WATCHDOG_VARIABLE: &str = "WATCHDOG_USEC";
/// Whom the watchdog is about. A process that was started by the service inherits the variables.
const WATCHDOG_PROCESS_VARIABLE: &str = "WATCHDOG_PID";
/// Signs of life within the time that the watchdog waits; one may be late.
const SIGNS_OF_LIFE: u32 = 3;

#[derive(Debug)]
pub(crate) struct ServiceManager {
    socket: Option<UnixDatagram>,
    alive_every: Option<Duration>,
}

impl ServiceManager {
    pub(crate) fn from_environment() -> Self {
        let socket = std::env::var_os(SOCKET_VARIABLE).and_then(|name| connect(&name));
        let number = |name: &str| std::env::var_os(name)?.to_str()?.parse::<u64>().ok();
        let is_meant = number(WATCHDOG_PROCESS_VARIABLE)
            .is_none_or(|process| process == u64::from(std::process::id()));
        let patience = number(WATCHDOG_VARIABLE).filter(|micros| is_meant && *micros > 0);
        let alive_every = patience.map(|micros| Duration::from_micros(micros) / SIGNS_OF_LIFE);
        Self { socket, alive_every }
    }

    pub(crate) fn ready(&self) {
        self.send("READY=1");
    }

    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Gives signs of life for as long as it is polled. It shares its threads with requests, so
    /// that a server that answers none gives no sign either.
    pub(crate) async fn stay_alive(&self) -> Infallible {
        let Some(pause) = self.alive_every.filter(|_| self.socket.is_some()) else {
            return std::future::pending().await;
        };
        loop {
            self.send("WATCHDOG=1");
            tokio::time::sleep(pause).await;
        }
    }

    fn send(&self, state: &str) {
        if let Some(socket) = &self.socket {
            let _ = socket.send(state.as_bytes());
        }
    }
}

fn connect(name: &OsStr) -> Option<UnixDatagram> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => unnamed_by_files(name)?,
        None => SocketAddr::from_pathname(name).ok()?,
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    socket.connect_addr(&address).ok()?;
    Some(socket)
}

#[cfg(target_os = "linux")]
fn unnamed_by_files(name: &[u8]) -> Option<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name).ok()
}

#[cfg(not(target_os = "linux"))]
fn unnamed_by_files(_name: &[u8]) -> Option<SocketAddr> {
    None
}
