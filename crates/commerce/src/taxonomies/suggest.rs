//! A slug for a shipping class that is to be made: the one of its name, or the next that is free.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use frame::action::read;
use frame::text::slugify;
use frame::{Action, Call};
use serde_json::json;
use site_rows::term::TermRow;
use types::Capability;

use super::{SHIPPING_CLASS, TermKind, write};

pub(super) fn route(namespace: &str) -> Route<Action> {
    let text = |about: &str| Schema::text().about(about);
    let args = Args::new()
        .arg("name", text("Shipping class name."))
        .arg("slug", text("Shipping class slug."))
        .arg("description", text("Shipping class description."));
    Route::at(namespace, "/products/shipping_classes/slug-suggestion")
        .on(READ, args, read(may_suggest, suggest))
        .shows(text("A slug that is free; empty without a name."))
}

fn may_suggest(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create shipping classes.";
    call.need(Capability::EditProductTerms, "woocommerce_rest_cannot_create", message)
}

fn suggest(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let wanted = slugify(call.params.text("name").unwrap_or_default());
    if wanted.is_empty() {
        return Ok(Reply::new(json!("")));
    }
    let class = TermRow { taxonomy: SHIPPING_CLASS.to_owned(), ..write::empty_row() };
    let free = write::free_slug(call.conn()?, TermKind::ShippingClass, &class, &wanted)?;
    Ok(Reply::new(json!(free)))
}
