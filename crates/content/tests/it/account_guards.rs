//! What keeps others out of an account: codes that cannot be guessed, and links to an address that
//! the account has left.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use db::background_job::claim_due;
use frame::auth::second_factor::{self, CodeShown, STEP_SECONDS, Taken, Waiting, code_at};
use frame::jobs::{JobCx, JobKind, Running};
use frame::mail::{self, Message};
use serde_json::{Value, json};
use site_rows::login_token::{self, LoginTokenRow};
use types::{Role, Timestamp};

use crate::support::{ADMIN, TestSite, now};

const DAY: Duration = Duration::from_hours(24);
const LEASE: Duration = Duration::from_mins(1);

/// Stands for a relay; nothing is sent.
#[derive(Debug)]
struct Relay;

impl JobKind for Relay {
    fn name(&self) -> &'static str {
        mail::JOB
    }

    fn run<'a>(&'a self, _: &'a JobCx) -> Running<'a> {
        Box::pin(async { Ok(Value::Null) })
    }
}

fn site() -> TestSite {
    TestSite::furnished(|site| site.with_job(Box::new(Relay)))
}

/// The e-mails that wait and were not looked at before.
fn emails(site: &TestSite) -> Vec<Message> {
    let jobs = site.write(|conn| claim_due(conn, mail::JOB, now(), 50, LEASE));
    let cx = |job| JobCx::new(Arc::clone(&site.site), job, LEASE);
    jobs.into_iter().map(|job| mail::message_of(&cx(job)).unwrap()).collect()
}

fn code(secret: &[u8], at: Timestamp) -> String {
    code_at(secret, at.as_micros() / 1_000_000 / STEP_SECONDS)
}

/// Turns the second factor on, and returns its secret and a recovery code.
fn factor(site: &TestSite, user_id: i64) -> (Vec<u8>, String) {
    let vault = Arc::clone(&site.site);
    site.write(move |conn| {
        let secret = second_factor::begin(conn, vault.vault(), user_id)?.unwrap();
        let secret = BASE32_NOPAD.decode(secret.expose().as_bytes()).unwrap();
        let shown = (user_id, &*code(&secret, now()));
        let codes = second_factor::confirm(conn, vault.vault(), shown, now())?.unwrap();
        Ok((secret, codes[0].clone()))
    })
}

#[test]
fn a_step_ends_with_too_many_wrong_codes() {
    let mut site = site();
    let ada = site.user("ada", Role::ShopManager);
    let (_, recovery) = factor(&site, ada);
    let waiting = Waiting { target: String::from("/docs/"), keep: false };
    let step = || site.run(site.site.ask_for_code(ada, &waiting, now())).unwrap().unwrap();
    let token = step();
    let show = |code: &str| site.run(site.site.show_code(token.expose(), code, now())).unwrap();
    for number in 0..5 {
        assert!(matches!(show("nonsense"), CodeShown::Wrong), "{number}");
    }
    let after = show(&recovery);
    assert!(matches!(after, CodeShown::Stale), "the password is asked for again: {after:?}");
}

#[test]
fn codes_of_a_day_cannot_be_guessed() {
    let mut site = site();
    let ada = site.user("ada", Role::ShopManager);
    let (secret, recovery) = factor(&site, ada);
    let take = |code: &str, at: Timestamp| {
        let (of, code) = (Arc::clone(&site.site), code.to_owned());
        site.write(move |conn| second_factor::take(conn, &of, (ada, &code), at))
    };
    let later = now().plus(Duration::from_mins(1));
    let right = code(&secret, later);
    let wrong = if right == "000000" { "000001" } else { "000000" };
    for number in 0..20 {
        assert_eq!(emails(&site), [], "{number}");
        assert_eq!(take(wrong, now()), Taken::Wrong, "{number}");
    }
    let told = emails(&site);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&*told[0].to, &*told[0].subject),
        ("ada@example.test", "Too many wrong codes for your account",)
    );
    assert_eq!(take(&right, later), Taken::Refused, "not even looked at");
    assert_eq!(take("abcd-efgh-2345-mnop", later), Taken::Wrong);
    assert_eq!(take(&recovery, later), Taken::Right, "which nobody guesses");
    assert_eq!(emails(&site), [], "told once");

    let tomorrow = later.plus(DAY);
    assert_eq!(take(&code(&secret, tomorrow), tomorrow), Taken::Right);
}

#[test]
fn links_to_an_address_end_with_it() {
    let mut site = site();
    let ada = site.user("ada", Role::ShopManager);
    let path = format!("/wp/v2/users/{ada}");
    let has_link = |email: &str, hash: &[u8]| {
        let row = LoginTokenRow {
            token_hash: hash.to_vec(),
            kind: String::from("password_reset"),
            state: String::from("pending"),
            user_id: ada,
            session_hash: None,
            detail: String::from("{}"),
            created: now(),
            expires: now().plus(DAY),
        };
        site.write(move |conn| login_token::insert(conn, &row));
        let answer = site.ask("POST", &path, ADMIN, &json!({ "email": email }));
        assert_eq!(answer.status, 200, "{}", answer.json);
        let hash = hash.to_vec();
        site.read(move |conn| login_token::get(conn, &hash)).is_some()
    };
    assert!(has_link("ada@example.test", b"one"), "the same address");
    assert_eq!(emails(&site), []);
    assert!(!has_link("eve@example.test", b"two"));
    let told = emails(&site);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&*told[0].to, &*told[0].subject),
        ("ada@example.test", "Your e-mail address was changed",)
    );
}
