//! The promises on PostgreSQL: a database of each test's own in the shared cluster.

use serde_json::{Value, json};

use self::suite::support::{ADMIN, TestShop};

#[path = "suite.rs"]
mod suite;

/// What the shop calls it.
const ENGINE: &str = "PostgreSQL";
const DATABASE: fn() -> Option<String> =
    || Some(testkit::postgres::shared().create_database().unwrap());

/// Ends the connection while a product is committed.
const LOSE_PRODUCTS: &str = "
    CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON products DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.name = 'Lost') EXECUTE FUNCTION lose()";

/// An item of which nobody knows whether it is stored says so, and is not tried again; those behind
/// it are not begun.
#[test]
fn a_lost_commit_is_told_item_by_item() {
    let shop = TestShop::new();
    shop.write(|conn| conn.script(LOSE_PRODUCTS));
    let lost = shop.ask("POST", "/wc/v3/products", ADMIN, &json!({ "name": "Lost" }));
    assert_eq!(lost.refusal(), (503, "rest_may_be_stored"));
    assert_eq!(lost.header("retry-after"), "", "sent again, it could be stored twice");

    let names = ["Kept", "Lost", "Behind it"];
    let create: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let answer = shop.ask("POST", "/wc/v3/products/batch", ADMIN, &json!({ "create": create }));
    let told = |index: usize| answer.json["create"][index]["error"]["code"].clone();
    // They share a transaction or not, as time has it; none is told to be stored that is not.
    assert_eq!(told(1), "rest_may_be_stored", "{}", answer.json);
    assert!([json!("rest_may_be_stored"), json!("rest_batch_not_begun")].contains(&told(2)));
    let stored = shop.get("/wc/v3/products", ADMIN);
    let is_stored = |name: &str| stored.each("name").contains(&json!(name));
    assert_eq!(is_stored("Kept"), told(0).is_null(), "{}", answer.json);
    assert!(!is_stored("Lost") && !is_stored("Behind it"), "{}", stored.json);
}
