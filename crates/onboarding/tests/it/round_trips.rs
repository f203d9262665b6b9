//! How often an onboarding goes to a PostgreSQL server and back, once statements are prepared: for
//! the beginning, for all that it inserts, and for the commit.

use onboarding::idempotency::{Idempotency, Known};
use serde_json::json;
use testkit::postgres::shared;
use testkit::wire::Wire;

use crate::bodies::{body, put};
use crate::support::{House, now};

const ONBOARDINGS: usize = 5;
const EACH: usize = 3;
/// The key is looked up in one more, whose transaction is ended in another that nobody waits for.
const EACH_WITH_KEY: usize = EACH + 2;

fn house() -> (Wire, House) {
    let url = shared().create_database().unwrap();
    let wire = Wire::to(shared().port()).unwrap();
    let name = url.rsplit('/').next().unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", wire.port());
    let house = House::on_postgres_at(&url, 1);
    (wire, house)
}

fn onboard(house: &House, name: &str, key: Option<&str>) {
    let mut body = body("full-cknx");
    put(&mut body, "merchantData.dba", json!(name));
    put(&mut body, "storeData.dba", json!(name));
    let mut cx = house.later(0);
    if let Some(key) = key {
        let vault = &house.platform.vault;
        let request = Idempotency::new(vault, &house.iso_id, key, "/v1/onboardmerchant", &body);
        let known = house.platform.idempotency_known(house.caller(), &request, now());
        assert!(matches!(house.runtime().block_on(known), Ok(Known::Nothing)));
        cx.request_options.idempotency = Some(request);
    }
    house.call_in(&cx, "onboard_merchant", body).done();
}

fn check(keys: bool, each: usize) {
    let (wire, house) = house();
    let key = |number: usize| keys.then(|| format!("key {number}"));
    // Every reader prepares its statements.
    for number in 0..20 {
        onboard(&house, &format!("Before {number}"), key(number).as_deref());
    }
    let before = wire.round_trips();
    for number in 0..ONBOARDINGS {
        onboard(&house, &format!("Counted {number}"), key(100 + number).as_deref());
    }
    let taken = wire.round_trips() - before;
    assert!(taken <= each * ONBOARDINGS, "{taken} round trips for {ONBOARDINGS} onboardings");
}

#[test]
fn an_onboarding_takes_three() {
    check(false, EACH);
}

#[test]
fn an_onboarding_with_an_idempotency_key_waits_for_four() {
    check(true, EACH_WITH_KEY);
}
