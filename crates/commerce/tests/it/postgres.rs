//! The promises on PostgreSQL: a database of each test's own in the shared cluster.

use serde_json::{Value, json};
use testkit::postgres::shared;
use testkit::wire::Wire;

use self::suite::support::{ADMIN, TestShop};

#[path = "suite.rs"]
mod suite;

/// What the shop calls it.
const ENGINE: &str = "PostgreSQL";
const DATABASE: fn() -> Option<String> = || Some(shared().create_database().unwrap());

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

/// Round trips of an order with two lines and a new buyer, with those that tell who asks.
const ROUND_TRIPS_OF_ORDER: usize = 32;

/// Whatever is asked for each order of a page would be asked a hundred times.
#[test]
fn an_order_takes_few_round_trips_and_a_long_page_of_them_as_many_as_a_short_one() {
    let url = shared().create_database().unwrap();
    let wire = Wire::to(shared().port()).unwrap();
    let name = url.rsplit('/').next().unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", wire.port());
    let shop = TestShop::on(Some(url));
    let product = |name: &str| {
        let body = json!({ "name": name, "regular_price": "25" });
        shop.ask("POST", "/wc/v3/products", ADMIN, &body).json["id"].clone()
    };
    let lines = [product("Mittens"), product("Scarf")].map(|id| json!({ "product_id": id }));
    // The least of several: each session prepares its statements once.
    let least = |ask: &dyn Fn(usize)| {
        let counted = |number: usize| {
            let before = wire.round_trips();
            ask(number);
            wire.round_trips() - before
        };
        (0..30).map(counted).min().unwrap()
    };
    let made = least(&|number| {
        let billing = json!({ "email": format!("buyer-{number}@example.com") });
        let body = json!({ "status": "processing", "billing": billing, "line_items": lines });
        assert_eq!(shop.ask("POST", "/wc/v3/orders", ADMIN, &body).status, 201);
    });
    assert!(made <= ROUND_TRIPS_OF_ORDER, "{made} round trips");
    let page_of = |count: usize| {
        least(&|_| {
            let page = shop.get(&format!("/wc/v3/orders?per_page={count}"), ADMIN);
            assert_eq!(page.each("id").len(), count);
        })
    };
    // The end of a read is sent after its answer, and may be counted with the next one.
    let (long, short) = (page_of(20), page_of(5));
    assert!(long <= short + 1, "{long} round trips for 20 orders, {short} for 5");
}
