//! The tables that every onboarding is checked with, for those who fill in forms: which place a ZIP
//! code is, and what a merchant category code means.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{Action, anyone, memory};
use frame::{Call, Names};
use serde_json::json;
use types::reference;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let zip = Args::new().arg("zip", Schema::text().about("Five digits."));
    let text = |about: &str| Schema::text().about(about);
    let place_schema = Schema::object([
        ("zip", text("Five digits.")),
        ("city", text("City.")),
        ("state", text("Two-letter state code.")),
    ]);
    let category = Schema::object([
        ("code", text("Merchant category code.")),
        ("description", text("What the code means.")),
    ]);
    vec![
        Route::at(&names.docs, r"/zip-codes/(?P<zip>\d{5})")
            .on(READ, zip, memory(anyone, place))
            .shows(place_schema),
        Route::at(&names.docs, "/merchant-categories")
            .on(READ, Args::new(), memory(anyone, |_| Ok(categories())))
            .shows(Schema::list(category)),
    ]
}

fn place(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let zip = call.params.text("zip").unwrap_or_default().to_owned();
    let Some(place) = reference::zip_place(&zip) else {
        let message = "ZIP code not found.";
        return Err(Refusal::new(404, "boardwalk_unknown_zip", message).into());
    };
    Ok(Reply::new(json!({ "zip": zip, "city": place.city, "state": place.state })))
}

fn categories() -> Reply {
    let item = |mcc: reference::Mcc| json!({ "code": mcc.code, "description": mcc.description });
    Reply::new(reference::mcc_all().map(item).collect::<Vec<_>>())
}
