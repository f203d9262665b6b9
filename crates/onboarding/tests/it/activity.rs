//! What was done to a merchant, its stores and its TPNs, as people read it.

use db::{Conn, Engine, Row, Sql, Val};
use onboarding::keys::{KEY_LIFE_DEFAULT, KeyLife};
use onboarding::rows::audit::{self, AuditFilter};
use serde_json::{Value, json};
use types::{MerchantId, Result, Scope, ScopeSet};

use crate::bodies::body_with;
use crate::support::{House, authenticate, now};

on_both_engines!(
    a_merchant_has_the_entries_of_its_stores_and_tpns,
    values_are_for_those_who_may_read_the_objects,
    people_search_in_their_own_words,
);

fn onboard(house: &House) -> Value {
    let named = [("merchantData.email", json!("old@harbor.example"))];
    house.onboard(body_with("full-tsys", &named)).unwrap()["data"].clone()
}

/// A merchant of which something was done to every part, and another one.
fn busy(house: &House) -> Value {
    let made = onboard(house);
    let other = onboard(house);
    for (second, name, params) in [
        (
            1,
            "merchant_patch",
            json!({ "merchantId": made["merchantId"], "expectedVersion": 1,
            "dba": "Harbor Grill", "email": "new@harbor.example" }),
        ),
        (
            2,
            "store_patch",
            json!({ "storeId": made["storeId"], "expectedVersion": 1,
            "metadata": { "floor": "2" } }),
        ),
        (3, "tpn_deactivate", json!({ "tpn": made["tpn"], "reason": "Repair" })),
        (4, "merchant_suspend", json!({ "merchantId": made["merchantId"] })),
        (5, "merchant_suspend", json!({ "merchantId": other["merchantId"] })),
    ] {
        house.call_in(&house.later(second), name, params).done();
    }
    made
}

fn list(house: &House, made: &Value, more: Value) -> Vec<Value> {
    let mut params = json!({ "merchantId": made["merchantId"] });
    let Value::Object(more) = more else { panic!("{more} is no object") };
    params.as_object_mut().unwrap().extend(more);
    let page = house.ask("merchant_audit", params).done();
    page["data"].as_array().unwrap().clone()
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().map(|entry| entry["action"].as_str().unwrap()).collect()
}

fn a_merchant_has_the_entries_of_its_stores_and_tpns(house: &House) {
    let made = busy(house);
    let all = list(house, &made, json!({}));
    let expected = [
        "merchant.suspend",
        "tpn.deactivate",
        "store.update",
        "merchant.update",
        "merchant.onboard",
    ];
    assert_eq!(actions(&all), expected);
    let [suspended, deactivated, stored, renamed, onboarded] = &all[..] else { unreachable!() };
    assert_eq!(suspended["values"], json!({ "status": { "from": "active", "to": "suspended" } }));
    assert_eq!(
        (&deactivated["objectId"], &deactivated["reason"]),
        (&made["tpn"], &json!("Repair"))
    );
    assert_eq!(stored["values"]["metadata"]["to"], json!({ "floor": "2" }));
    let email = json!({ "from": "old@harbor.example", "to": "new@harbor.example" });
    assert_eq!(renamed["values"]["email"], email);
    assert_eq!(renamed["values"]["dba"]["to"], "Harbor Grill");
    assert_eq!(renamed["changes"]["email"], "***", "the log itself has no personal data");
    assert_eq!(onboarded["values"], json!({}));
    for (entry, summary) in [(suspended, "Merchant suspended"), (stored, "Store changed")] {
        assert_eq!((&entry["summary"], &entry["actorName"]), (&json!(summary), &json!("all")));
    }
    let first = list(house, &made, json!({ "limit": 2 }));
    assert_eq!(first, all[..2]);
    let rest = list(house, &made, json!({ "cursor": first[1]["sequence"] }));
    assert_eq!(rest, all[2..]);
    let early = json!({ "from": "2026-11-15T08:00:01Z", "until": "2026-11-15T08:00:03Z" });
    assert_eq!(actions(&list(house, &made, early)), ["store.update", "merchant.update"]);
    let other = house.caller_of_another_iso();
    let theirs = json!({ "merchantId": made["merchantId"] });
    assert_eq!(house.get_as(&other, "merchant_audit", theirs), None);
}

fn values_are_for_those_who_may_read_the_objects(house: &House) {
    let made = busy(house);
    let scopes = ScopeSet::Only(vec![Scope::AuditRead, Scope::StoresRead]);
    let life = KeyLife::For(KEY_LIFE_DEFAULT);
    let key = house.platform.key_create(&house.iso_id, "auditor", scopes, life).unwrap();
    let auditor =
        authenticate(house.runtime(), &house.platform, &key, Scope::AuditRead, now()).unwrap();
    let params = json!({ "merchantId": made["merchantId"] });
    let page = house.get_as(&auditor, "merchant_audit", params).unwrap();
    assert!(!page.to_string().contains("harbor.example"), "{page}");
    assert_eq!(page["data"][2]["values"]["metadata"]["to"], json!({ "floor": "2" }));
    assert_eq!(page["data"][0]["values"]["status"]["to"], "suspended", "the log itself says so");
}

fn people_search_in_their_own_words(house: &House) {
    let made = busy(house);
    let store = made["storeId"].as_str().unwrap().to_lowercase();
    for (text, expected) in [
        ("SUSPENDED", &["merchant.suspend"][..]),
        ("Merchant onboarded", &["merchant.onboard"]),
        ("email", &["merchant.update"]),
        (store.as_str(), &["store.update"]),
        ("nobody", &[]),
        ("%", &[]),
    ] {
        assert_eq!(actions(&list(house, &made, json!({ "search": text }))), expected, "{text}");
        let anywhere = house.ask("audit_list", json!({ "search": text })).done();
        let found = anywhere["data"].as_array().unwrap().len();
        assert!(found >= expected.len(), "{text}");
    }
    let life = KeyLife::For(KEY_LIFE_DEFAULT);
    let key = house.platform.key_create(&house.iso_id, "Till robot", ScopeSet::Full, life).unwrap();
    let robot =
        authenticate(house.runtime(), &house.platform, &key, Scope::MerchantsWrite, now()).unwrap();
    let resume = json!({ "merchantId": made["merchantId"] });
    house.call_as(&robot, "merchant_resume", resume).result.unwrap();
    let found = list(house, &made, json!({ "search": "till rob" }));
    assert_eq!(
        (actions(&found), &found[0]["actorName"]),
        (vec!["merchant.resume"], &json!("Till robot"))
    );
}

/// Asks the engine how it would answer instead of asking for the answer.
struct Explaining<'c> {
    inner: &'c mut dyn Conn,
    steps: Vec<String>,
}

impl Conn for Explaining<'_> {
    fn engine(&self) -> Engine {
        self.inner.engine()
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        self.inner.execute(sql, params)
    }

    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.inner.query(sql, params, each)
    }

    fn script(&mut self, text: &str) -> Result<()> {
        self.inner.script(text)
    }

    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        _: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let steps = &mut self.steps;
        self.inner.query_text(&format!("EXPLAIN QUERY PLAN {text}"), params, &mut |row| {
            steps.push(row.text(3)?.unwrap_or_default());
            Ok(())
        })
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.inner.prepare(sql)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>> {
        work(self).map(|_| None)
    }
}

#[test]
fn a_merchants_entries_are_found_by_an_index() {
    let house = House::new();
    let iso_id = house.iso_id.clone();
    let steps = house.platform.store.read_blocking(move |conn| {
        let mut explaining = Explaining { inner: conn, steps: Vec::new() };
        let filter = AuditFilter {
            iso_id: Some(iso_id.clone()),
            merchant_id: Some(MerchantId::new("M")),
            before_seq: Some(1_000),
            ..AuditFilter::default()
        };
        audit::list(&mut explaining, &filter, 20)?;
        Ok(explaining.steps)
    });
    let steps = steps.unwrap();
    for index in ["audit_by_object (object_id=?", "stores_by_merchant", "tpns_by_merchant"] {
        assert!(steps.iter().any(|step| step.contains(index)), "{index}: {steps:#?}");
    }
    assert!(!steps.iter().any(|step| step.starts_with("SCAN audit")), "{steps:#?}");
}
