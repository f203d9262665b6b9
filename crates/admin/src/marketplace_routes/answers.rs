//! What the routes of the marketplace answer, for the document of the interface.

use contract::rest::{Item, Schema};

fn text(about: &str) -> Schema {
    Schema::text().about(about)
}

fn flag(about: &str) -> Schema {
    Schema::boolean().about(about)
}

/// What goes wrong in the marketplace; some operations tell it with the status of a success.
pub(super) fn failure() -> Schema {
    let data = Schema::object([("message", text("What went wrong."))]);
    Schema::object([("success", flag("Always false.")), ("data", data)])
}

/// What went well, in words.
pub(super) fn done() -> Schema {
    let data = Schema::object([("message", text("Result message."))]);
    Schema::object([("success", flag("Always true.")), ("data", data)])
}

pub(super) fn featured() -> Schema {
    let groups = Schema::list(Schema::map()).about("Groups of products, as the marketplace says.");
    Schema::any_of([groups, failure()])
}

pub(super) fn install_url() -> Schema {
    let data = Schema::object([
        ("url", text("Where the product is installed.")),
        ("message", text("That it is installed already.")),
    ]);
    Schema::object([("success", flag("Always true.")), ("data", data)])
}

pub(super) fn order() -> Schema {
    Schema::types(&["object", "array", "string", "number", "boolean", "null"])
        .about("What the marketplace says, as it is; any JSON.")
}

pub(super) fn preview() -> Schema {
    let shown = Schema::object([
        ("css", text("Style sheet of the preview.")),
        ("html", text("Preview of the product.")),
    ]);
    Schema::any_of([shown, failure()])
}

/// Something that was bought, or is installed from the marketplace. The marketplace may say more.
pub(super) fn subscription() -> Item {
    let number = |about: &str| Schema::integer().about(about);
    let local = Schema::object([
        ("installed", flag("Whether the product is installed.")),
        ("active", flag("Whether the product is active.")),
        ("version", text("Version that is installed.").or_null()),
        ("type", text("What is installed: plugin or theme.").or_null()),
        ("slug", text("Its slug.").or_null()),
        ("path", text("Its name.").or_null()),
    ]);
    Item::new(
        "marketplace_subscription",
        Schema::object([
            ("product_key", text("Key of the subscription.")),
            ("product_id", number("Product ID.")),
            ("product_name", text("Name of the product.")),
            ("product_url", text("Where to read more.")),
            ("zip_slug", text("Slug of the product.")),
            ("documentation_url", text("Documentation of the product.")),
            ("key_type", text("Kind of key.")),
            ("key_type_label", text("Kind of key, in words.")),
            ("lifetime", flag("Whether the subscription never ends.")),
            ("product_status", text("State of the product.")),
            ("connections", Schema::list(Schema::integer()).about("Sites that use it.")),
            ("expires", number("When the subscription ends, in seconds; 0 for never.")),
            ("expired", flag("Whether the subscription has ended.")),
            ("expiring", flag("Whether the subscription ends soon.")),
            ("autorenew", flag("Whether the subscription is renewed by itself.")),
            ("maxed", flag("Whether no further site can use it.")),
            ("sites_max", number("Sites that can use it; 0 for any number.")),
            ("sites_active", number("Sites that use it.")),
            ("active", flag("Whether this site uses it.")),
            ("local", local.about("What of it is installed here.")),
            ("has_update", flag("Whether there is a newer version.")),
            ("subscription_available", flag("Whether this site could use it.")),
            ("subscription_installed", flag("Whether this site uses and has it.")),
        ])
        .any_additional(),
    )
}
