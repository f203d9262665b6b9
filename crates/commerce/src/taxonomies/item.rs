//! What the terms look like to clients.

use contract::rest::{Item, Schema};

use super::{TermKind, image};
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];
pub(super) const DISPLAYS: [&str; 4] = ["default", "products", "subcategories", "both"];

pub(super) fn item(kind: TermKind, version: Version) -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    let integer = |about: &str| Schema::integer().about(about).context(BOTH);
    let mut fields = vec![
        ("id", integer("Term ID.").readonly()),
        ("name", text("Term name, as HTML.")),
        ("slug", text("Term slug.")),
    ];
    if kind.is_hierarchical() {
        fields.push(("parent", integer("Parent term ID.")));
    }
    fields.push(("description", text("Term description, as HTML.")));
    if kind.is_hierarchical() {
        let display = Schema::text()
            .default("default")
            .choices(&DISPLAYS)
            .about("What the category page displays.")
            .context(BOTH);
        fields.push(("display", display));
        fields.push(("image", image::schema(version)));
    }
    // The order of categories is shown, and published no more.
    if kind.has_menu_order() && kind != TermKind::Category {
        fields.push(("menu_order", integer("Sort order.")));
    }
    fields.push(("count", integer("Number of published products.").readonly()));
    Item::new(kind.title(), Schema::object(fields))
}
