//! Layouts of product forms. They come with extensions, and this shop has none, so the list is
//! empty and no id leads anywhere.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema};
use frame::action::{anyone, memory};
use frame::{Action, Call, Names};
use serde_json::json;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let namespace = &names.commerce_v3;
    let area = Schema::text().about("Area that the layouts are used in.").default("");
    let id = Schema::text().about("Layout template ID.");
    let list = |_: &mut Call<'_>| Ok(Reply::new(json!([])));
    let one = |_: &mut Call<'_>| {
        let message = "Layout template not found.";
        Err(Refusal::new(404, "woocommerce_rest_layout_template_invalid_id", message).into())
    };
    vec![
        Route::at(namespace, "/layout-templates")
            .on(READ, Args::new().arg("area", area), memory(anyone, list))
            .shows(Schema::list(Schema::map()).max_items(0).about("Always empty.")),
        Route::at(namespace, r"/layout-templates/(?P<id>\w[\w\s\-]*)")
            .on(READ, Args::new().arg("id", id), memory(anyone, one))
            .only_refuses(),
    ]
}
