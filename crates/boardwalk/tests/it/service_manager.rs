//! What a service manager hears of a server: ready, alive, stopping.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use testkit::process::Server;

use crate::support::Site;

const HEARD_WITHIN: Duration = Duration::from_secs(20);
const EXIT_WITHIN: Duration = Duration::from_secs(20);

fn hear(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 64];
    let length = socket.recv(&mut bytes).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[test]
fn systemd_hears_that_the_server_is_ready_alive_and_stopping() {
    let site = Site::sqlite();
    let folder = testkit::temp_dir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(HEARD_WITHIN)).unwrap();

    let anywhere = ["--listen", "127.0.0.1:0", "--listen-production", "127.0.0.1:0"];
    let serve = ["serve", "--admin-listen", "127.0.0.1:0"];
    let mut command = site.command(&[&serve[..], &anywhere].concat());
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "300000").env_remove("WATCHDOG_PID");
    let server = Server::start_command(command, &["sandbox", "production"]).unwrap();

    let mut heard = vec![hear(&socket)];
    while heard.len() < 5 || !heard.iter().any(|state| state == "READY=1") {
        heard.push(hear(&socket));
    }
    let count = |wanted: &str| heard.iter().filter(|state| *state == wanted).count();
    assert_eq!((count("READY=1"), count("WATCHDOG=1")), (1, heard.len() - 1), "{heard:?}");
    assert!(server.terminate(EXIT_WITHIN).unwrap().success());
    let last = std::iter::from_fn(|| Some(hear(&socket))).find(|state| state != "WATCHDOG=1");
    assert_eq!(last.as_deref(), Some("STOPPING=1"));
}
