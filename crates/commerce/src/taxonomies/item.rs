//! What the terms look like to clients.

use contract::rest::{Item, Schema};

use super::{Kind, image};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];
pub(super) const DISPLAYS: [&str; 4] = ["default", "products", "subcategories", "both"];

pub(super) fn item(kind: Kind, version: Version) -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let integer = |about: &str| Schema::integer().about(about).context(BOTH);
    let mut fields = vec![
        ("id", integer("Number of the term.").readonly()),
        ("name", text("Its name, as HTML.")),
        ("slug", text("Its part of the address.")),
    ];
    if kind.is_hierarchical() {
        fields.push(("parent", integer("Number of the term in which it lies.")));
    }
    fields.push(("description", text("What it is about, as HTML.")));
    if kind.is_hierarchical() {
        let display = Schema::text()
            .default("default")
            .choices(&DISPLAYS)
            .about("What its page in the shop shows.")
            .context(BOTH);
        fields.push(("display", display));
        fields.push(("image", image::schema(version)));
    }
    // The order of categories is shown, and published no more.
    if kind.has_menu_order() && kind != Kind::Category {
        fields.push(("menu_order", integer("Its place among the others.")));
    }
    fields.push(("count", integer("How many published products bear it.").readonly()));
    Item::new(kind.title(), Schema::object(fields))
}
