//! Mail as the operator sees it: the relay is checked, e-mails arrive, also when the server that
//! sends them is killed.

use std::time::Duration;

use testkit::smtp::Sink;

use crate::support::{Site, complaint, eventually};

const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn with_relay(site: Site, sink: &Sink) -> Site {
    site.set("mail.relay", "127.0.0.1")
        .set("mail.port", sink.port())
        .set("mail.security", "none")
        .set("mail.from", "Pier Shop <shop@pier.example>")
}

on_both_engines!(an_email_survives_the_death_of_its_server);

/// Kills the server while the relay has not taken the e-mail yet; the next server sends it.
fn an_email_survives_the_death_of_its_server(site: Site) {
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink);
    sink.hold(true);
    let running = site.serve();
    let queued = site.json(&["mail", "test", "--to", "reader@home.example"]);
    assert!(queued["jobId"].as_i64().is_some(), "{queued}");
    eventually("the e-mail is under way", PATIENCE, || sink.seen() == 1);
    assert_eq!(sink.got(), []);
    running.server.kill();
    // The connection of the dead server takes nothing with it.
    sink.refuse(&["451 the client is gone"]);
    sink.hold(false);
    let running = site.serve();
    let got = sink.wait_for(1, PATIENCE).unwrap();
    assert_eq!(got[0].to, ["reader@home.example"]);
    assert!(got[0].data.contains("Subject: Test e-mail\n"), "{}", got[0].data);
    let log = running.server.stderr();
    assert!(!log.contains("reader@"), "an address is in the log: {log}");
}

#[test]
fn the_doctor_asks_the_relay() {
    let site = Site::sqlite();
    site.iso("Any");
    let checked = site.json(&["doctor"]);
    assert!(checked.to_string().contains("off; set mail.relay"), "{checked}");
    let refused = site.run(&["mail", "test", "--to", "reader@home.example"]);
    assert!(complaint(&refused, 1).contains("mail.relay"));
    let sink = Sink::start().unwrap();
    let site = with_relay(site, &sink);
    let checked = site.json(&["doctor"]);
    assert!(checked.to_string().contains("takes mail from shop@pier.example"), "{checked}");
    let readers_cannot = |site: &Site| {
        site.json(&["doctor"]).to_string().contains("which their readers cannot open")
    };
    let mut site = site;
    for url in ["http://0.0.0.0:8081", "http://[::]:8081", "http://127.0.0.1", "http://localhost"] {
        site = site.set("site.url", url);
        assert!(readers_cannot(&site), "{url}");
    }
    let site = site.set("site.url", "https://shop.example");
    assert!(!readers_cannot(&site));
    let site = site.set("mail.port", 1);
    let output = site.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("cannot be reached"));
}
