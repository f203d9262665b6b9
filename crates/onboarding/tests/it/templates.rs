//! Templates in versions, and the layers that parameters come in.

use serde_json::{Value, json};

use crate::bodies::body_with;
use crate::support::House;

on_both_engines!(templates_have_versions, parameters_come_in_layers, retired_templates_stay);

fn parameters(house: &House, tpn: &Value, name: &str) -> (Value, Value) {
    let shown = house.ask("tpn_parameters_get", json!({ "tpn": tpn })).done();
    (shown["parameters"][name].clone(), shown["sources"][name].clone())
}

fn onboard(house: &House, template: &str) -> Value {
    let changes = [("tpnData.tpnAssignTemplate", json!(template))];
    house.onboard(body_with("full-cknx", &changes)).unwrap()["data"]["tpn"].clone()
}

fn create(house: &House, name: &str, parameters: Value) {
    house.ask("template_create", json!({ "name": name, "parameters": parameters })).done();
}

fn templates_have_versions(house: &House) {
    create(house, "RETAIL01", json!({ "tipEnabled": true }));
    let again = house.ask("template_create", json!({ "name": "RETAIL01" }));
    assert_eq!(again.refused(), ["already_exists name"]);
    let first = onboard(house, "RETAIL01");
    let patch = |version: Value, parameters: Value| {
        house.ask(
            "template_patch",
            json!({
                "name": "RETAIL01", "expectedVersion": version, "parameters": parameters,
            }),
        )
    };
    let wanted = json!({ "tipEnabled": true, "taxEnabled": true });
    assert_eq!(patch(Value::Null, wanted.clone()).refused(), ["version_missing expectedVersion"]);
    assert_eq!(patch(json!(1), wanted.clone()).done()["version"], 2);
    assert_eq!(patch(json!(1), wanted.clone()).refused(), ["version_mismatch expectedVersion"]);
    assert_eq!(patch(json!(2), wanted).done()["version"], 2, "nothing differs");
    for (wrong, error) in [
        (json!({ "tip": true }), "unknown_field parameters.tip"),
        (json!({ "tipPercentMax": 0 }), "invalid_format parameters.tipPercentMax"),
        (json!({ "language": "tlh" }), "invalid_value parameters.language"),
        (
            json!({ "tipPercents": [10, 30], "tipPercentMax": 20 }),
            "conflicting_field parameters.tipPercents",
        ),
    ] {
        assert_eq!(patch(json!(2), wrong).refused(), [error]);
    }
    assert_eq!(parameters(house, &first, "taxEnabled"), (json!(false), json!("default")));
    let second = onboard(house, "RETAIL01");
    assert_eq!(parameters(house, &second, "taxEnabled"), (json!(true), json!("template")));
    let past = house.ask("template_get", json!({ "name": "RETAIL01", "version": 1 })).done();
    assert_eq!(past["parameters"], json!({ "tipEnabled": true }));
    let deleted = json!({ "name": "RETAIL01", "version": 3 });
    assert!(house.ask("template_get", deleted).is_not_found());
    let moving = json!({ "tpn": first, "tpnAssignTemplate": "RETAIL01", "expectedVersion": 1 });
    assert_eq!(house.ask("tpn_patch", moving).done()["templateVersion"], 2);
    assert_eq!(parameters(house, &first, "taxEnabled"), (json!(true), json!("template")));
    let back = json!({ "tpn": first, "templateVersion": 1, "expectedVersion": 2 });
    assert_eq!(house.ask("tpn_patch", back).done()["templateVersion"], 1);
    let nowhere = json!({ "tpn": first, "templateVersion": 9, "expectedVersion": 3 });
    assert_eq!(house.ask("tpn_patch", nowhere).refused(), ["invalid_value templateVersion"]);
}

fn parameters_come_in_layers(house: &House) {
    create(house, "LAYERS", json!({ "taxBasisPoints": 300 }));
    let tpn = onboard(house, "LAYERS");
    assert_eq!(parameters(house, &tpn, "taxName"), (json!("Sales tax"), json!("default")));
    let set = |version: i64, parameters: Value| {
        let params = json!({ "expectedVersion": version, "parameters": parameters });
        house.ask("defaults_put", params)
    };
    assert_eq!(set(1, json!({})).refused(), ["version_mismatch expectedVersion"]);
    let wanted = json!({ "taxName": "VAT", "taxBasisPoints": 100, "language": "fr" });
    assert_eq!(set(0, wanted).done()["version"], 1);
    assert_eq!(parameters(house, &tpn, "taxName"), (json!("VAT"), json!("iso")));
    assert_eq!(parameters(house, &tpn, "taxBasisPoints"), (json!(300), json!("template")));
    let patch =
        json!({ "tpn": tpn, "expectedVersion": 1, "parameters": { "taxBasisPoints": 500 } });
    house.ask("tpn_patch", patch).done();
    assert_eq!(parameters(house, &tpn, "taxBasisPoints"), (json!(500), json!("tpn")));
    let clear =
        json!({ "tpn": tpn, "expectedVersion": 2, "clear": ["parameters", "tpnAssignTemplate"] });
    assert_eq!(house.ask("tpn_patch", clear).done()["tpnAssignTemplate"], Value::Null);
    assert_eq!(parameters(house, &tpn, "taxBasisPoints"), (json!(100), json!("iso")));
    let list = house.ask("parameter_list", json!({})).done();
    assert!(list["data"].as_array().unwrap().len() >= 20);
    let other = house.caller_of_another_iso();
    let theirs = house.get_as(&other, "defaults_get", json!({})).unwrap();
    assert_eq!(theirs, json!({ "version": 0, "parameters": {} }));
}

fn retired_templates_stay(house: &House) {
    create(house, "OLDONE", json!({ "language": "es" }));
    create(house, "NEWONE", json!({}));
    let tpn = onboard(house, "OLDONE");
    house.ask("template_retire", json!({ "name": "OLDONE" })).done();
    assert_eq!(
        house.ask("template_retire", json!({ "name": "OLDONE" })).refused(),
        ["illegal_transition "]
    );
    assert_eq!(parameters(house, &tpn, "language"), (json!("es"), json!("template")));
    let changes = [("tpnData.tpnAssignTemplate", json!("OLDONE"))];
    let refused = house.onboard(body_with("full-cknx", &changes)).unwrap_err();
    assert_eq!(refused.errors, ["template_not_found tpnData.tpnAssignTemplate"]);
    let page = house.ask("template_list", json!({ "limit": 1 })).done();
    assert_eq!(
        (&page["data"][0]["name"], &page["nextCursor"]),
        (&json!("NEWONE"), &json!("NEWONE"))
    );
    let rest = house.ask("template_list", json!({ "cursor": page["nextCursor"] })).done();
    assert_eq!((&rest["data"][0]["name"], &rest["nextCursor"]), (&json!("OLDONE"), &Value::Null));
    assert_eq!(rest["data"][0]["status"], "retired");
    assert!(house.ask("template_get", json!({ "name": "no such\u{0}" })).is_not_found());
}
