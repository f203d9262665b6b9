//! What the operations of marketing answer, for the document of the interface.

use contract::rest::Schema;

fn text(about: &str) -> Schema {
    Schema::text().about(about)
}

/// A plugin that the catalogue recommends.
pub(super) fn recommendation() -> Schema {
    let labels = |about: &str| {
        let label = Schema::object([("slug", text("Label ID.")), ("name", text("Label."))]);
        Schema::list(label).about(about)
    };
    Schema::object([
        ("title", text("Name of the plugin.")),
        ("description", text("What the plugin does.")),
        ("url", text("Where to read more.")),
        ("direct_install", Schema::boolean().about("Whether it can be installed from here.")),
        ("icon", text("Picture.")),
        ("product", text("Plugin slug.")),
        ("plugin", text("Plugin name.")),
        ("categories", Schema::list(Schema::text()).about("Categories.")),
        ("subcategories", labels("Subcategories.")),
        ("tags", labels("Tags.")),
    ])
}

/// A plugin that is recommended besides.
pub(super) fn miscellaneous() -> Schema {
    Schema::object([
        ("id", text("Plugin slug.")),
        ("title", text("Name of the plugin.")),
        ("description", text("What the plugin does.")),
    ])
}

/// A page of the documentation of a plugin.
pub(super) fn page() -> Schema {
    Schema::object([
        ("title", text("Page title.")),
        ("date", Schema::date_time().about("When the plugin was installed, in GMT.").or_null()),
        ("link", text("Address of the page.")),
        ("author_name", text("Author of the plugin.")),
        ("author_avatar", text("Picture of the author.")),
    ])
}

pub(super) fn channel() -> Schema {
    Schema::object([
        ("slug", text("Channel ID.")),
        ("is_setup_completed", Schema::boolean().about("Whether the channel is set up.")),
        ("settings_url", text("Where the channel is set up.")),
        ("name", text("Name of the channel.")),
        ("description", text("What the channel does.")),
        ("product_listings_status", text("State of the products in the channel.")),
        ("errors_count", Schema::integer().about("Number of errors.")),
        ("icon", text("Picture.")),
    ])
}

pub(super) fn campaign() -> Schema {
    let money = |about: &str| {
        let sum = Schema::object([
            ("value", text("Amount.")),
            ("currency", text("Currency code.")),
            ("formatted", text("Amount with its currency.")),
        ]);
        sum.about(about)
    };
    Schema::object([
        ("id", text("Campaign ID.")),
        ("channel", text("ID of its channel.")),
        ("title", text("Title of the campaign.")),
        ("manage_url", text("Where the campaign is managed.")),
        ("cost", money("What it costs.")),
        ("sales", money("What it brings.")),
    ])
}

pub(super) fn campaign_type() -> Schema {
    let channel = Schema::object([
        ("slug", text("Channel ID.")),
        ("name", text("Name of the channel.").or_null()),
    ]);
    Schema::object([
        ("id", text("Campaign type ID.")),
        ("name", text("Name of the campaign type.")),
        ("description", text("What such campaigns do.")),
        ("channel", channel.about("Its channel.")),
        ("create_url", text("Where such a campaign is created.")),
        ("icon_url", text("Picture.")),
    ])
}

/// A plugin for marketing that is installed.
pub(super) fn installed() -> Schema {
    let statuses = &["installed", "activated", "configured"];
    Schema::object([
        ("slug", text("Plugin slug.")),
        ("status", text("How far the plugin is set up.").choices(statuses)),
        ("name", text("Name of the plugin.")),
        ("description", text("What the plugin does.")),
        ("supportUrl", text("Where to get help.")),
        ("docsUrl", text("Where to read more.")),
        ("settingsUrl", text("Where the plugin is set up.")),
        ("icon", text("Picture.")),
    ])
}

pub(super) fn activated() -> Schema {
    Schema::object([("status", text("Result of the request."))])
}
