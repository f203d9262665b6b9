//! Reports over connected stores: grouped, converted by given rates only, compared and sorted; and
//! alerts, each raised and ended once.

use onboarding::connections::alerts::{self, NewAlert};
use onboarding::idempotency::Idempotency;
use onboarding::rows::connection::{self, ConnectionRow};
use onboarding::rows::connection_alert::{self, AlertKind};
use onboarding::rows::portfolio::{self, DayRow};
use serde_json::{Value, json};

use crate::bodies::body_with;
use crate::support::{House, now};

on_both_engines!(
    sums_are_grouped_and_never_mixed,
    rates_convert_what_they_are_given_for,
    merchants_are_ranked_and_compared,
    days_are_replaced_where_they_differ,
    alerts_are_raised_and_ended_once,
    a_store_waits_for_its_owner_if_it_is_to_be_reviewed,
    a_new_key_for_reports_is_shown_once,
);

/// Hundredths of a cent.
const UNIT: i64 = 10_000;

fn connect(house: &House, more: Value) -> ConnectionRow {
    let mut params = json!({
        "url": "https://shop.example", "consumerKey": "ck_0123456789",
        "consumerSecret": "cs_0123456789",
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let id = house.ask("connection_create", params).done()["connectionId"].clone();
    let id = id.as_str().unwrap().to_owned();
    house
        .platform
        .store
        .read_blocking(move |conn| Ok(connection::find(conn, &id)?.unwrap()))
        .unwrap()
}

fn day(day: &str, currency: &str, orders: i64, net: i64) -> DayRow {
    DayRow {
        day: day.to_owned(),
        currency: currency.to_owned(),
        orders,
        items: 2 * orders,
        gross: 2 * net * UNIT,
        net: net * UNIT,
        refunds: orders * UNIT,
    }
}

fn put(house: &House, row: &ConnectionRow, days: &[DayRow]) {
    let (row, days) = (row.clone(), days.to_vec());
    let put = move |conn: &mut dyn db::Conn| portfolio::put_days(conn, &row, &days);
    assert!(house.platform.store.write_blocking(put).unwrap());
}

fn report(house: &House, more: Value) -> Value {
    let mut params = json!({ "from": "2026-11-01", "to": "2026-11-10" });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    house.ask("portfolio_get", params).done()
}

/// Group, currency, stores, orders and net sales.
fn lines(sums: &Value) -> Vec<String> {
    let line = |sum: &Value| {
        let text = |name: &str| sum[name].as_str().unwrap_or("-").to_owned();
        let count = |name: &str| sum[name].as_i64().unwrap();
        let (group, currency, net) = (text("group"), text("currency"), text("netSales"));
        format!("{group} {currency} {} {} {net}", count("stores"), count("orders"))
    };
    sums.as_array().unwrap().iter().map(line).collect()
}

/// Two merchants with three stores in two currencies, and a store of nobody.
fn stores(house: &House) -> (Value, Value, Vec<ConnectionRow>) {
    let onboard = |dba: &str, mcc: &str| {
        let changes = [("merchantData.dba", json!(dba)), ("storeData.mccCode", json!(mcc))];
        house.onboard(body_with("minimal-cknx", &changes)).unwrap()["data"].clone()
    };
    let (first, second) = (onboard("Seagull Diner", "5812"), onboard("Pier Books", "5942"));
    let rows = vec![
        connect(house, json!({ "storeId": first["storeId"] })),
        connect(house, json!({ "merchantId": first["merchantId"] })),
        connect(house, json!({ "merchantId": second["merchantId"] })),
        connect(house, json!({})),
    ];
    put(house, &rows[0], &[day("2026-10-25", "USD", 9, 50), day("2026-11-02", "USD", 2, 100)]);
    put(house, &rows[1], &[day("2026-11-02", "EUR", 1, 10), day("2026-11-06", "EUR", 1, 30)]);
    put(house, &rows[2], &[day("2026-10-31", "USD", 8, 200), day("2026-11-10", "USD", 7, 70)]);
    put(house, &rows[3], &[day("2026-11-05", "EUR", 3, 5), day("2026-11-11", "EUR", 9, 900)]);
    (first, second, rows)
}

fn sums_are_grouped_and_never_mixed(house: &House) {
    let (first, second, rows) = stores(house);
    let all = report(house, json!({}));
    assert_eq!(lines(&all["data"]), ["- USD 2 9 170.00", "- EUR 2 5 45.00"]);
    assert_eq!(all["totals"], all["data"]);
    assert_eq!((&all["rates"], &all["leftOut"]), (&json!([]), &json!([])));

    let (diner, books) = (first["merchantId"].as_str(), second["merchantId"].as_str());
    let (diner, books) = (diner.unwrap(), books.unwrap());
    let merchants = report(house, json!({ "groupBy": "merchant" }));
    let expected = [
        format!("{diner} USD 1 2 100.00"),
        format!("{books} USD 1 7 70.00"),
        format!("{diner} EUR 1 2 40.00"),
        String::from("- EUR 1 3 5.00"),
    ];
    assert_eq!(lines(&merchants["data"]), expected);
    assert_eq!(merchants["data"][0]["name"], "Seagull Diner");
    assert_eq!(merchants["data"][0]["grossSales"], "200.00");
    assert_eq!(merchants["data"][0]["refunds"], "2.00");

    let categories = report(house, json!({ "groupBy": "category" }));
    let expected = ["5812 USD 1 2 100.00", "5942 USD 1 7 70.00", "5812 EUR 1 2 40.00"];
    assert_eq!(lines(&categories["data"])[..3], expected);
    assert!(categories["data"][1]["name"].as_str().unwrap().contains("Book"), "{categories}");

    let mut named = rows[2].clone();
    named.country = String::from("CA");
    let update = move |conn: &mut dyn db::Conn| connection::update(conn, &named);
    house.platform.store.write_blocking(update).unwrap();
    let countries = report(house, json!({ "groupBy": "country" }));
    let expected = ["- USD 1 2 100.00", "CA USD 1 7 70.00", "- EUR 2 5 45.00"];
    assert_eq!(lines(&countries["data"]), expected);

    let by_store = report(house, json!({ "groupBy": "store" }));
    assert_eq!(by_store["data"][0]["group"], json!(rows[0].connection_id));
    assert_eq!(by_store["data"][0]["name"], "https://shop.example");
    let days = report(house, json!({ "groupBy": "day", "orderBy": "orders" }));
    let expected = [
        "2026-11-10 USD 1 7 70.00",
        "2026-11-02 USD 1 2 100.00",
        "2026-11-05 EUR 1 3 5.00",
        "2026-11-02 EUR 1 1 10.00",
        "2026-11-06 EUR 1 1 30.00",
    ];
    assert_eq!(lines(&days["data"]), expected);

    let other = house.caller_of_another_iso();
    let params = json!({ "from": "2026-11-01", "to": "2026-11-10", "groupBy": "merchant" });
    assert_eq!(house.get_as(&other, "portfolio_get", params).unwrap()["data"], json!([]));
}

fn rate(currency: &str, into: &str, from: &str, rate: &str) -> Value {
    json!({ "currency": currency, "into": into, "from": from, "rate": rate })
}

fn rates_convert_what_they_are_given_for(house: &House) {
    stores(house);
    let none = house.ask("rates_get", json!({})).done();
    assert_eq!(none, json!({ "version": 0, "rates": [] }));
    let converted = report(house, json!({ "currency": "USD" }));
    assert_eq!(lines(&converted["data"]), ["- USD 2 9 170.00"]);
    let left_out = json!([{ "currency": "EUR", "stores": 2, "orders": 5 }]);
    assert_eq!(converted["leftOut"], left_out);

    // From the middle of the period on; the other direction is another rate.
    let rates =
        [rate("EUR", "USD", "2026-11-06", "2"), rate("USD", "EUR", "2026-01-01", "0.333333")];
    let put = json!({ "rates": rates, "expectedVersion": 0 });
    let after = house.ask("rates_put", put.clone()).done();
    assert_eq!(after["version"], 1);
    assert_eq!(house.ask("rates_put", put).refused(), ["version_mismatch expectedVersion"]);
    let converted = report(house, json!({ "currency": "USD" }));
    assert_eq!(lines(&converted["data"]), ["- USD 3 10 230.00"]);
    let left_out = json!([{ "currency": "EUR", "stores": 2, "orders": 4 }]);
    assert_eq!(converted["leftOut"], left_out);
    assert_eq!(converted["rates"], json!([rates[0]]));
    assert_eq!(converted["totals"], converted["data"]);

    // Each day by the rate of that day, whatever the groups are.
    let more = [&rates[..], &[rate("EUR", "USD", "2026-11-01", "1.5")]].concat();
    house.ask("rates_put", json!({ "rates": more, "expectedVersion": 1 })).done();
    let converted = report(house, json!({ "currency": "USD" }));
    assert_eq!(lines(&converted["data"]), ["- USD 4 14 252.50"]);
    assert_eq!(converted["leftOut"], json!([]));
    let days = report(house, json!({ "currency": "USD", "groupBy": "day" }));
    let expected = [
        "2026-11-02 USD 2 3 115.00",
        "2026-11-05 USD 1 3 7.50",
        "2026-11-06 USD 1 1 60.00",
        "2026-11-10 USD 1 7 70.00",
    ];
    assert_eq!(lines(&days["data"]), expected);
    let euros = report(house, json!({ "currency": "EUR" }));
    assert_eq!(lines(&euros["data"]), ["- EUR 4 14 101.67"], "170 times 0.333333 is 56.67");

    let refused = |rates: Value| {
        house.ask("rates_put", json!({ "rates": rates, "expectedVersion": 2 })).refused()
    };
    let twice = [rate("EUR", "USD", "2026-11-01", "1"), rate("EUR", "USD", "2026-11-01", "2")];
    assert_eq!(refused(json!(twice)), ["invalid_value rates[1].from"]);
    let itself = [rate("EUR", "EUR", "2026-11-01", "1")];
    assert_eq!(refused(json!(itself)), ["invalid_value rates[0].into"]);
    for wrong in ["0", "-1", "1e9", "1,5", ""] {
        let rates = json!([rate("EUR", "USD", "2026-11-01", wrong)]);
        assert!(!refused(rates).is_empty(), "{wrong}");
    }
    let version = house.ask("rates_get", json!({})).done()["version"].clone();
    assert_eq!(version, 2, "what is refused changes nothing");
    let often: Vec<Value> = (1..=120)
        .map(|number| {
            let day = onboarding::connections::calendar::day_text(20_000 + number);
            rate("EUR", "USD", &day, "1.1")
        })
        .collect();
    house.ask("rates_put", json!({ "rates": often, "expectedVersion": 2 })).done();
    let params = json!({ "from": "2024-01-01", "to": "2026-11-10", "currency": "USD" });
    assert_eq!(house.ask("portfolio_get", params).refused(), ["invalid_value currency"]);
}

fn merchants_are_ranked_and_compared(house: &House) {
    let (first, second, _) = stores(house);
    let ranked = |by: &str| {
        let params = json!({ "groupBy": "merchant", "orderBy": by, "limit": 1, "currency": "USD" });
        report(house, params)
    };
    let net = ranked("netSales");
    assert_eq!(net["data"].as_array().unwrap().len(), 1);
    assert_eq!(net["data"][0]["group"], first["merchantId"]);
    assert_eq!((&net["data"][0]["growth"], &net["hasMore"]), (&Value::Null, &json!(true)));
    assert_eq!(ranked("orders")["data"][0]["group"], second["merchantId"]);
    assert_eq!(ranked("refunds")["data"][0]["group"], second["merchantId"]);
    let growth = ranked("growth");
    assert_eq!(growth["data"][0]["group"], first["merchantId"]);
    let compared = |sum: &Value| (sum["previousNetSales"].clone(), sum["growth"].clone());
    assert_eq!(compared(&growth["data"][0]), (json!("50.00"), json!("100.0")));
    let all = report(house, json!({ "groupBy": "merchant", "compare": true }));
    assert_eq!(compared(&all["data"][1]), (json!("200.00"), json!("-65.0")));
    assert_eq!(compared(&all["data"][2]), (json!("0.00"), Value::Null), "nothing before");
}

fn days_are_replaced_where_they_differ(house: &House) {
    let row = connect(house, json!({}));
    put(house, &row, &[day("2026-11-01", "USD", 1, 10), day("2026-11-03", "USD", 1, 30)]);
    // An older day changes all totals after it, a deleted one as well.
    put(house, &row, &[day("2026-11-01", "USD", 2, 20), day("2026-11-04", "USD", 1, 40)]);
    assert_eq!(lines(&report(house, json!({}))["data"]), ["- USD 1 3 60.00"]);
    let late = report(house, json!({ "from": "2026-11-02", "groupBy": "day" }));
    assert_eq!(lines(&late["data"]), ["2026-11-04 USD 1 1 40.00"]);
    assert_eq!(lines(&late["totals"]), ["- USD 1 1 40.00"]);
    put(house, &row, &[day("2026-11-04", "EUR", 1, 40)]);
    assert_eq!(lines(&report(house, json!({}))["data"]), ["- EUR 1 1 40.00"]);
    // Who does not hold the connection writes nothing.
    let stranger = ConnectionRow { lease: String::from("another"), ..row };
    let written = house
        .platform
        .store
        .write_blocking(move |conn| portfolio::put_days(conn, &stranger, &[]))
        .unwrap();
    assert!(!written);
    assert_eq!(lines(&report(house, json!({}))["data"]), ["- EUR 1 1 40.00"]);
}

fn alerts_are_raised_and_ended_once(house: &House) {
    let row = connect(house, json!({}));
    let list = |more: Value| house.ask("alert_list", more).done();
    assert_eq!(list(json!({}))["data"], json!([]));
    let alert = NewAlert {
        kind: AlertKind::NoOrders,
        message: String::from("No orders since 2026-11-10."),
        details: json!({ "lastOrderDay": "2026-11-10" }),
    };
    let raising = (row.clone(), alert.clone());
    let raise = move |conn: &mut dyn db::Conn| alerts::raise(conn, &raising.0, &raising.1, now());
    house.platform.store.write_blocking(raise).unwrap();
    // Of one kind, one is open: what is raised again is not stored.
    let again = (row.clone(), alert);
    let raise = move |conn: &mut dyn db::Conn| alerts::raise(conn, &again.0, &again.1, now());
    assert!(house.platform.store.write_blocking(raise).is_err());

    let open = list(json!({ "status": "open", "connectionId": row.connection_id }));
    assert_eq!(open["data"].as_array().unwrap().len(), 1, "{open}");
    let shown = &open["data"][0];
    assert_eq!(shown["kind"], "no_orders");
    assert_eq!(shown["store"], "https://shop.example");
    assert_eq!(shown["details"], json!({ "lastOrderDay": "2026-11-10" }));
    assert_eq!(list(json!({ "status": "ended" }))["data"], json!([]));

    let ending = row.clone();
    let end = move |conn: &mut dyn db::Conn| {
        for alert in connection_alert::open(conn, &ending)? {
            alerts::end(conn, &ending, &alert, now())?;
        }
        Ok(())
    };
    house.platform.store.write_blocking(end).unwrap();
    assert_eq!(list(json!({ "status": "open" }))["data"], json!([]));
    assert_eq!(list(json!({ "status": "ended" }))["data"][0]["alertId"], shown["alertId"]);
    let told: Vec<(String, Value)> = house.events();
    let told: Vec<_> = told.iter().filter(|(kind, _)| kind.contains("alert")).collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0].0, "connection.alert_raised");
    assert_eq!(told[1].0, "connection.alert_ended");
    for (_, event) in told {
        assert_eq!(event["id"], json!(row.connection_id));
        assert_eq!(event["alert"]["alertId"], shown["alertId"]);
    }
    let other = house.caller_of_another_iso();
    let all = house.get_as(&other, "alert_list", json!({})).unwrap();
    assert_eq!(all["data"], json!([]));
}

fn a_store_waits_for_its_owner_if_it_is_to_be_reviewed(house: &House) {
    let stored = |id: &str| {
        let id = id.to_owned();
        let find = move |conn: &mut dyn db::Conn| Ok(connection::find(conn, &id)?.unwrap());
        house.platform.store.read_blocking(find).unwrap()
    };
    assert!(!connect(house, json!({})).is_held);
    let row = connect(house, json!({ "review": true }));
    assert!(row.is_held);
    let id = row.connection_id.as_str();
    let patch = |more: Value| {
        let mut params = json!({ "connectionId": id });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.ask("connection_patch", params).done()
    };
    patch(json!({ "url": "https://shop.example/other" }));
    assert!(stored(id).is_held, "another URL is checked as well");
    assert_eq!(patch(json!({ "status": "active" }))["status"], "connecting");
    assert!(!stored(id).is_held);
}

/// Whoever repeats the request, or reads the database, does not see it.
fn a_new_key_for_reports_is_shown_once(house: &House) {
    let id = connect(house, json!({})).connection_id;
    let params = json!({ "connectionId": id, "replaceReportsKey": true });
    let path = "/v1/connections/{connectionId}";
    let key = Idempotency::new(&house.platform.vault, &house.iso_id, "once", path, &params);
    let mut cx = house.later(0);
    cx.request_options.idempotency = Some(key.clone());
    let done = house.call_in(&cx, "connection_patch", params).done();
    let secret = done["reportsKey"]["consumerSecret"].as_str().unwrap();
    let known = house.platform.idempotency_known(house.caller(), &key, cx.now);
    let known = format!("{:?}", house.runtime().block_on(known).unwrap());
    assert!(known.contains(&id) && !known.contains(secret), "{known}");
    let again = house.ask("connection_get", json!({ "connectionId": id })).done();
    assert_eq!(again["reportsKey"], Value::Null);
}
