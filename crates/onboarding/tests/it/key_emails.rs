//! E-mails about keys that end: to whom, how many, and that an ISO cannot make them say anything.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use db::background_job;
use db::filter::Page;
use frame::jobs::{JobCx, JobKind, Running};
use frame::outbound::{Fetch, FetchError, Fetching, Outbound, Refusal};
use frame::{Parts, Site, mail};
use onboarding::rows::iso_account;
use onboarding::{Caller, Cx};
use serde_json::{Value, json};
use types::Timestamp;
use vault::Aad;

use crate::support::{House, now};

on_both_engines!(
    an_email_says_nothing_that_the_iso_chose,
    a_short_life_is_worth_no_email,
    emails_of_a_day_are_bounded,
    a_moved_clock_sends_no_emails,
    a_contact_that_cannot_be_opened_harms_nobody_else,
);

const DAY: Duration = Duration::from_hours(24);

/// Nothing is reachable.
#[derive(Debug)]
struct NoNetwork;

impl Outbound for NoNetwork {
    fn fetch(&self, _: Fetch) -> Fetching<'_> {
        Box::pin(async { Err(FetchError::Refused(Refusal::Address)) })
    }
}

/// Takes e-mails, and is never asked to send one.
#[derive(Debug)]
struct TestInbox;

impl JobKind for TestInbox {
    fn name(&self) -> &'static str {
        mail::JOB
    }

    fn run<'a>(&'a self, _: &'a JobCx) -> Running<'a> {
        Box::pin(async { Ok(json!({})) })
    }
}

/// The house's site, which sends mail. It is there for as long as somebody holds it.
fn site_with_mail(house: &House) -> Arc<Site> {
    let parts = Parts {
        environment: house.platform.environment,
        store: house.platform.store.clone(),
        vault: Arc::clone(&house.platform.vault),
        clock: house.platform.clock,
        settings: frame::Settings::default(),
        outbound: Arc::new(NoNetwork),
        wrong_credentials_per_minute: 100,
        options: &[],
        shop_code_prefix: "",
    };
    let site = Site::new(parts, Vec::new()).unwrap().with_job(Box::new(TestInbox));
    let site = Arc::new(site);
    house.platform.attach_site(&site);
    let email = json!({ "isoId": house.iso_id, "email": "ada@pier.example", "expectedVersion": 1 });
    house.ask("iso_patch", email).done();
    site
}

/// A key that was made so many days ago.
fn made(house: &House, caller: &Caller, name: &str, (ago, life): (u64, i64)) -> String {
    let past =
        now().as_micros() - i64::try_from((DAY * u32::try_from(ago).unwrap()).as_micros()).unwrap();
    let cx =
        Cx { caller: Some(caller.clone()), now: Timestamp::from_micros(past), ..house.later(0) };
    let made = house.call_in(&cx, "key_create", json!({ "name": name, "expiresInDays": life }));
    made.done()["keyId"].as_str().unwrap().to_owned()
}

fn warned(house: &House) -> usize {
    house.runtime().block_on(house.platform.keys_warn()).unwrap()
}

/// The e-mails that wait, opened, the newest first.
fn emails(house: &House) -> Vec<Value> {
    let page = Page { offset: 0, limit: 100 };
    let list = move |conn: &mut dyn db::Conn| background_job::list(conn, mail::JOB, &[], page);
    let (jobs, _) = house.platform.store.read_blocking(list).unwrap();
    let opened = jobs.iter().map(|job| {
        let waiting: Value = serde_json::from_str(&job.arguments).unwrap();
        let sealed = BASE64.decode(waiting["sealed"].as_str().unwrap().as_bytes()).unwrap();
        let place = Aad { kind: "mail", id: waiting["id"].as_str().unwrap(), column: "message" };
        let plain = house.platform.vault.site_open(&place, &sealed).unwrap();
        serde_json::from_slice(plain.expose()).unwrap()
    });
    opened.collect()
}

fn an_email_says_nothing_that_the_iso_chose(house: &House) {
    let _site = site_with_mail(house);
    let name = "Cheap gold";
    let key_id = made(house, house.caller(), name, (25, 30));
    assert_eq!((warned(house), warned(house)), (1, 0));
    let sent = emails(house);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["to"], "ada@pier.example");
    let whole = sent[0].to_string();
    assert!(whole.contains(&key_id) && whole.contains("2026-11-20"), "{whole}");
    assert!(!whole.contains(name) && !whole.contains("First ISO"), "{whole}");
}

fn a_short_life_is_worth_no_email(house: &House) {
    let _site = site_with_mail(house);
    for life in [1, 7] {
        made(house, house.caller(), "Short", (0, life));
    }
    assert_eq!(warned(house), 2, "events tell of them");
    assert_eq!(emails(house), Vec::<Value>::new());
    made(house, house.caller(), "Longer", (1, 8));
    assert_eq!((warned(house), emails(house).len()), (1, 1));
}

fn emails_of_a_day_are_bounded(house: &House) {
    let _site = site_with_mail(house);
    for round in 0..3 {
        let keys: Vec<_> = (0..4).map(|_| made(house, house.caller(), "Again", (25, 30))).collect();
        assert_eq!(warned(house), keys.len(), "{round}");
        for key_id in keys {
            house.ask("key_revoke", json!({ "keyId": key_id })).done();
        }
    }
    assert_eq!(emails(house).len(), 5);
}

fn a_moved_clock_sends_no_emails(house: &House) {
    let _site = site_with_mail(house);
    made(house, house.caller(), "Rehearsed", (0, 30));
    house.ask("clock_advance", json!({ "advanceSeconds": 25 * 86_400 })).done();
    let told = || house.events().iter().filter(|(kind, _)| kind == "key.expiring").count();
    assert_eq!(told(), 1);
    assert_eq!((warned(house), told()), (0, 1));
    // Those that housekeeping finds by the moved clock are rehearsed as well.
    made(house, house.caller(), "Found later", (0, 31));
    assert_eq!((warned(house), told()), (1, 2));
    assert_eq!(emails(house), Vec::<Value>::new());
}

fn a_contact_that_cannot_be_opened_harms_nobody_else(house: &House) {
    let _site = site_with_mail(house);
    let broken = house.caller_of_another_iso();
    let iso_id = broken.iso_id().clone();
    let damage = move |conn: &mut dyn db::Conn| {
        let mut account = iso_account::get(conn, &iso_id)?;
        account.contact_sealed = Some(vec![1; 40]);
        iso_account::put(conn, &account, now())
    };
    house.platform.store.write_blocking(damage).unwrap();
    made(house, &broken, "Theirs", (26, 30));
    let own = made(house, house.caller(), "Ours", (25, 30));
    house.ask("clock_advance", json!({ "advanceSeconds": 1 })).done();
    let told = || {
        let events = house.events().into_iter().filter(|(kind, _)| kind == "key.expiring");
        events.map(|(_, data)| data["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(), [own], "a clock is the matter of its ISO alone");
    made(house, house.caller(), "Ours, too", (25, 30));
    assert_eq!((warned(house), told().len()), (2, 3));
    assert_eq!(emails(house).len(), 1, "of the key whose ISO can be written to");
}
