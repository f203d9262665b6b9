//! E-mails against a mail server on loopback: what arrives, and what becomes of those that are
//! refused.

use std::sync::Arc;

use db::background_job::{self, JobState};
use db::{Conn, Database, Location};
use frame::mail::{Email, Sender};
use frame::pages::{Address, Link};
use onboarding::Platform;
use testkit::smtp::Sink;
use types::{Clock, Environment};
use vault::MasterKey;

use super::*;
use crate::{Settings, make_site};

const LEASE: Duration = Duration::from_secs(30);

fn settings(sink: &Sink) -> MailSettings {
    MailSettings {
        relay: Some(String::from("127.0.0.1")),
        port: Some(sink.port()),
        security: Security::None,
        user: Some(String::from("pier")),
        password: Some(Secret::new(String::from("hunter2"))),
        from: Some(String::from("Pier Shop <shop@pier.example>")),
    }
}

fn make(mail: MailSettings) -> (Arc<frame::Site>, tempfile::TempDir) {
    let folder = testkit::temp_dir().unwrap();
    let store =
        Database::open(&Location::File(folder.path().join("sandbox.db")), schema::MIGRATIONS)
            .unwrap();
    let master = MasterKey::generate().unwrap();
    let choices = onboarding::Settings::default();
    let platform = Platform::new(Environment::Sandbox, store, &master, choices, Clock::System);
    let settings = Settings { mail, ..Settings::default() };
    let site = make_site(
        &Arc::new(platform.unwrap()),
        &settings,
        frame::Settings::default(),
        &crate::Reports::default(),
    )
    .unwrap();
    (site, folder)
}

fn queue(site: &Arc<frame::Site>, to: &'static str) -> Result<i64> {
    let (of_site, now) = (Arc::clone(site), site.clock().now());
    site.store().write_blocking(move |conn| {
        let sender = Sender { site_name: "Pier Shop", home: "https://pier.example" };
        let paragraphs = [String::from("Your export is ready.")];
        let href = Address::new("https://pier.example/get?key=s3cret");
        let link = Some(Link { text: "Download", href });
        let email = Email { to, subject: "Ready: Über", paragraphs: &paragraphs, link };
        mail::enqueue(&of_site, conn, sender, &email, now)
    })
}

/// Claims the job as a worker would, and runs it once.
fn run_once(site: &Arc<frame::Site>) -> Result<serde_json::Value, Halt> {
    let now = site.clock().now();
    let claim =
        move |conn: &mut dyn Conn| background_job::claim_due(conn, mail::JOB, now, 1, LEASE);
    let claimed = site.store().write_blocking(claim).unwrap().remove(0);
    let cx = JobCx::new(Arc::clone(site), claimed, LEASE);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(site.job_kind(mail::JOB).unwrap().run(&cx))
}

#[test]
fn an_email_arrives_with_all_its_parts() {
    let sink = Sink::start().unwrap();
    let (site, folder) = make(settings(&sink));
    let job_id = queue(&site, "reader@home.example").unwrap();
    let row = site.store().read_blocking(move |conn| background_job::get(conn, job_id)).unwrap();
    let row = row.unwrap();
    assert_eq!(row.state, JobState::Queued);
    assert!(!row.arguments.contains("s3cret") && !row.arguments.contains("reader"));
    run_once(&site).unwrap();
    let got = sink.got();
    assert_eq!(got.len(), 1);
    let mail = &got[0];
    assert_eq!(
        (mail.from.as_str(), &mail.to[..]),
        ("shop@pier.example", &["reader@home.example".to_owned()][..])
    );
    // The name and the password, each after a zero byte.
    assert_eq!(mail.login.as_deref(), Some("AUTH PLAIN AHBpZXIAaHVudGVyMg=="));
    for part in [
        "From: \"Pier Shop\" <shop@pier.example>\n",
        "To: reader@home.example\n",
        "Subject: Ready: =?utf-8?b?w5xiZXI=?=\n",
        "Content-Type: multipart/alternative;",
        "Content-Type: text/plain; charset=utf-8\n",
        "Content-Type: text/html; charset=utf-8\n",
        "Your export is ready.\n",
        "Message-ID: <",
    ] {
        assert!(mail.data.contains(part), "{part} is missing in\n{}", mail.data);
    }
    drop(folder);
}

#[test]
fn refusals_are_told_apart() {
    let sink = Sink::start().unwrap();
    let (site, _folder) = make(settings(&sink));
    for (answer, is_final, message) in [
        ("451 later", false, "the mail relay answers 451"),
        ("550 no reader@home.example here", true, "the mail relay answers 550"),
        ("535 who are you", false, "the mail relay refuses the login (535)"),
    ] {
        queue(&site, "reader@home.example").unwrap();
        sink.refuse(&[answer]);
        let error = match run_once(&site) {
            Err(Halt::Failed(error)) if is_final => error,
            Err(Halt::Retry(error)) if !is_final => error,
            other => panic!("{answer}: {other:?}"),
        };
        assert!(error.report().starts_with(message), "{}", error.report());
        assert!(!error.report().contains("reader@"), "an address would go to the log");
    }
    assert_eq!(sink.got(), []);
}

#[test]
fn without_a_relay_there_is_no_mail() {
    let (site, _folder) = make(MailSettings::default());
    assert!(!mail::is_on(&site));
    let refused = queue(&site, "reader@home.example").unwrap_err();
    assert!(refused.to_string().contains("mail.relay"), "{refused}");
    assert_eq!(check(&MailSettings::default()).unwrap(), None);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let sink = Sink::start().unwrap();
    let good = settings(&sink);
    let far = Some(String::from("smtp.example"));
    for (bad, part) in [
        (MailSettings { from: None, ..good.clone() }, "mail.from"),
        (MailSettings { from: Some("nobody".to_owned()), ..good.clone() }, "mail.from"),
        (MailSettings { password: None, ..good.clone() }, "mail.password"),
        (MailSettings { relay: far, ..good.clone() }, "plain text"),
    ] {
        let error = Mail::new(&bad).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(check(&good).unwrap().unwrap().contains("shop@pier.example"));
    // Nobody listens where nobody may.
    let error = check(&MailSettings { port: Some(1), ..good }).unwrap_err();
    assert!(error.to_string().contains("mail.port"), "{error}");
}

#[test]
fn the_password_is_never_printed() {
    let settings = settings(&Sink::start().unwrap());
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert!(!serde_json::to_string(&settings).unwrap().contains("hunter2"));
}

#[test]
fn a_plugin_reminds_of_unpaid_orders_once_and_leaves_people_in_peace() {
    use admin::plugins::emails;
    use admin::rows::package::{self, PackageKind, PackageRow};
    use shop_rows::order::{self, Order, OrderRow};

    let sink = Sink::start().unwrap();
    let (site, _folder) = make(settings(&sink));
    let now = site.clock().now();
    let hours_ago =
        |hours: i64| types::Timestamp::from_micros(now.as_micros() - hours * 60 * 60 * 1_000_000);
    let row = |hours: i64, email: &str, status: &str| OrderRow {
        status: status.to_owned(),
        billing_email: email.to_owned(),
        created: hours_ago(hours),
        ..OrderRow::default()
    };
    let rows = [
        row(1, "young@home.example", "pending"),
        row(30, "late@home.example", "pending"),
        row(31, "Late@home.example", "pending"),
        row(30, "paid@home.example", "processing"),
        row(24 * 40, "old@home.example", "pending"),
        row(30, "nobody", "pending"),
    ];
    let plugin = |settings: &str| PackageRow {
        kind: PackageKind::Plugin,
        slug: String::from("letters"),
        manifest: include_str!("../../../admin/bundled/letters/plugin.json").to_owned(),
        is_active: true,
        settings: settings.to_owned(),
        made: String::from("{}"),
        ..PackageRow::default()
    };
    site.store()
        .write_blocking(move |conn| {
            rows.iter().try_for_each(|row| {
                order::insert(conn, &Order { row: row.clone(), items: Vec::new() }).map(drop)
            })
        })
        .unwrap();
    let remind = |settings: &'static str, at: types::Timestamp| {
        let of_site = Arc::clone(&site);
        let row = plugin(settings);
        let step = move |conn: &mut dyn Conn| {
            package::put(conn, &row)?;
            emails::remind(&of_site, conn, at)
        };
        site.store().write_blocking(step).unwrap()
    };
    assert_eq!(remind("{}", now), 0, "it has no sender yet");
    assert_eq!(remind(r#"{"sender":"Pier","reminder":false}"#, now), 0, "it is switched off");
    assert_eq!(remind(r#"{"sender":"Pier"}"#, now), 1, "one person, two orders");
    assert_eq!(remind(r#"{"sender":"Pier"}"#, now), 0, "once");
    run_once(&site).unwrap();
    let mail = sink.got().remove(0);
    assert_eq!(mail.to[0].to_lowercase(), "late@home.example");
    assert!(mail.data.contains("From: Pier <shop@pier.example>"), "{}", mail.data);
    assert!(mail.data.contains("is not paid yet"), "{}", mail.data);
    let in_two_days = now.plus(Duration::from_hours(48));
    assert_eq!(remind(r#"{"sender":"Pier"}"#, in_two_days), 1, "the young order is late by now");
    let daily = r#"{"sender":"Pier","rhythm":"daily"}"#;
    assert_eq!(remind(daily, in_two_days), 1, "and the other one, a day later");
}
