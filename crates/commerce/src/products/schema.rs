//! The schema of a product in each of its shapes. What is shown, taken and published follows.

use contract::rest::{Item, Schema};

use super::record::{KINDS, STOCK_STATUSES};
use super::version::is_current;
use crate::common::meta;
use crate::common::version::Version;

pub(super) const BOTH: &[&str] = &["view", "edit"];
const EMBEDDED: &[&str] = &["view", "edit", "embed"];
/// What other records show of a product inside of them, in the version that has such a view.
const EMBEDDED_FIELDS: &[&str] =
    &["id", "name", "slug", "permalink", "description", "short_description", "images"];
pub(super) const BACKORDERS: &[&str] = &["no", "notify", "yes"];
pub(super) const TAX_STATUSES: &[&str] = &["taxable", "shipping", "none"];
const STATUSES: &[&str] =
    &["draft", "pending", "private", "publish", "future", "auto-draft", "trash"];

type Fields = Vec<(&'static str, Schema)>;

/// A field that is shown in every view.
pub(super) fn field(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(BOTH)
}

pub(super) fn text(about: &str) -> Schema {
    field(Schema::text(), about)
}

pub(super) fn number(about: &str) -> Schema {
    field(Schema::integer(), about)
}

pub(super) fn flag(about: &str) -> Schema {
    field(Schema::boolean(), about)
}

pub(super) fn moment(about: &str) -> Schema {
    field(Schema::typed("date-time"), about)
}

pub(super) fn choice(choices: &[&str], default: &str, about: &str) -> Schema {
    field(Schema::text().default(default).choices(choices), about)
}

/// The fields in one version; those that other shapes have are left out.
pub(super) fn item(version: Version) -> Item {
    let mut fields = Fields::new();
    fields.extend(identity(version));
    fields.extend(words());
    fields.extend(prices(version));
    fields.extend(nature(version));
    fields.extend(stock(version));
    fields.extend(parcel());
    fields.extend(company(version));
    fields.extend(groups(version));
    fields.extend(rest(version));
    if version == Version::Analytics {
        for (_, schema) in fields.iter_mut().filter(|(name, _)| EMBEDDED_FIELDS.contains(name)) {
            *schema = std::mem::take(schema).context(EMBEDDED);
        }
    }
    Item::new("product", Schema::object(fields))
}

fn identity(version: Version) -> Fields {
    let mut fields = vec![
        ("id", number("Number of the product.").readonly()),
        ("name", text("Name of the product.")),
        ("slug", text("Name of the product in addresses.")),
        ("permalink", text("Address of the product's page.").format("uri").readonly()),
    ];
    if version == Version::One {
        fields.push(("date_created", moment("When it was made, in GMT.").readonly()));
        fields.push(("date_modified", moment("When it was last changed, in GMT.").readonly()));
    } else {
        let created = moment("When it was made, in the site's time.");
        let created_gmt = moment("When it was made, in GMT.");
        let is_fixed = version == Version::Two;
        let fixed = |schema: Schema| if is_fixed { schema.readonly() } else { schema };
        fields.push(("date_created", fixed(created)));
        fields.push(("date_created_gmt", fixed(created_gmt)));
        let modified = moment("When it was last changed, in the site's time.");
        fields.push(("date_modified", modified.readonly()));
        fields.push(("date_modified_gmt", moment("When it was last changed, in GMT.").readonly()));
    }
    let statuses =
        if is_current(version) { STATUSES } else { STATUSES.get(..5).unwrap_or(STATUSES) };
    fields.extend([
        ("type", choice(KINDS, "simple", "Kind of product.")),
        ("status", choice(statuses, "publish", "Whether it is published.")),
        ("featured", flag("Whether it is put forward.").default(false)),
        (
            "catalog_visibility",
            choice(&["visible", "catalog", "search", "hidden"], "visible", "Where it is listed."),
        ),
    ]);
    fields
}

fn words() -> Fields {
    vec![
        ("description", text("What it is.")),
        ("short_description", text("What it is, in a few words.")),
        ("sku", text("The shop's own number for it.")),
    ]
}

fn prices(version: Version) -> Fields {
    let mut fields = Vec::new();
    if is_current(version) {
        fields.push(("global_unique_id", text("Its GTIN, UPC, EAN or ISBN.")));
    }
    fields.extend([
        ("price", text("What it costs now.").readonly()),
        ("regular_price", text("What it costs without a sale.")),
        ("sale_price", text("What it costs in a sale.")),
    ]);
    if version == Version::One {
        fields.push(("date_on_sale_from", text("First day of the sale.")));
        fields.push(("date_on_sale_to", text("Last day of the sale.")));
    } else {
        fields.extend(sale_dates());
    }
    fields.extend([
        ("price_html", text("The price as the shop window shows it.").readonly()),
        ("on_sale", flag("Whether there is a sale.").readonly()),
        ("purchasable", flag("Whether it can be bought.").readonly()),
        ("total_sales", number("How many were sold.").readonly()),
    ]);
    fields
}

pub(super) fn sale_dates() -> Fields {
    vec![
        ("date_on_sale_from", moment("When the sale begins, in the site's time.")),
        ("date_on_sale_from_gmt", moment("When the sale begins, in GMT.")),
        ("date_on_sale_to", moment("When the sale ends, in the site's time.")),
        ("date_on_sale_to_gmt", moment("When the sale ends, in GMT.")),
    ]
}

fn nature(version: Version) -> Fields {
    let mut fields = vec![
        ("virtual", flag("Whether it is nothing to ship.").default(false)),
        ("downloadable", flag("Whether buyers get files.").default(false)),
        ("downloads", downloads()),
        ("download_limit", number("How often a file may be fetched.").default(-1)),
        ("download_expiry", number("For how many days files may be fetched.").default(-1)),
    ];
    if version == Version::One {
        let types = ["standard"];
        fields.push(("download_type", choice(&types, "standard", "Kind of download.")));
    }
    fields.extend([
        ("external_url", text("Where an external product is sold.").format("uri")),
        ("button_text", text("What the button of an external product says.")),
        ("tax_status", choice(TAX_STATUSES, "taxable", "What of it is taxed.")),
        ("tax_class", text("Its class of taxes.")),
    ]);
    fields
}

pub(super) fn downloads() -> Schema {
    let file = Schema::object([
        ("id", text("Id of the file.")),
        ("name", text("Name of the file.")),
        ("file", text("Address of the file.")),
    ]);
    field(Schema::list(file), "Files that buyers get.")
}

fn stock(version: Version) -> Fields {
    let mut fields = vec![
        ("manage_stock", flag("Whether its stock is counted.").default(false)),
        ("stock_quantity", number("How many there are.")),
    ];
    let status = choice(STOCK_STATUSES, "instock", "Whether it can be had.");
    if is_current(version) {
        fields.push(("stock_status", status));
    } else {
        fields.push(("in_stock", flag("Whether it can be had.").default(true)));
    }
    fields.extend([
        ("backorders", choice(BACKORDERS, "no", "Whether more can be ordered than there are.")),
        ("backorders_allowed", flag("Whether more can be ordered.").readonly()),
        ("backordered", flag("Whether more were ordered than there are.").readonly()),
    ]);
    if is_current(version) {
        let about = "From which quantity on there are few.";
        fields.push(("low_stock_amount", field(Schema::types(&["integer", "null"]), about)));
    }
    let alone = flag("Whether an order has one at most.").default(false);
    fields.push(("sold_individually", alone));
    fields
}

pub(super) fn dimensions() -> Schema {
    let sides = Schema::object([
        ("length", text("Length.")),
        ("width", text("Width.")),
        ("height", text("Height.")),
    ]);
    // The description stands before the parts, as with every object.
    let about = "How large it is.";
    field(sides, about)
}

fn parcel() -> Fields {
    vec![
        ("weight", text("How heavy it is.")),
        ("dimensions", dimensions()),
        ("shipping_required", flag("Whether it must be shipped.").readonly()),
        ("shipping_taxable", flag("Whether shipping it is taxed.").readonly()),
        ("shipping_class", text("Its class of shipping.")),
    ]
}

fn company(version: Version) -> Fields {
    let class_id = if is_current(version) { Schema::text() } else { Schema::integer() };
    let mut fields = vec![
        ("shipping_class_id", field(class_id, "Number of the class of shipping.").readonly()),
        ("reviews_allowed", flag("Whether it can be reviewed.").default(true)),
    ];
    if is_current(version) {
        fields.push(("post_password", text("The password that its page asks for.")));
    }
    fields.extend([
        ("average_rating", text("What reviews come to.").readonly()),
        ("rating_count", number("How many reviews rate it.").readonly()),
        ("related_ids", ids("Products that are like it.").readonly()),
        ("upsell_ids", ids("Better products to offer instead.")),
        ("cross_sell_ids", ids("Products to offer with it.")),
        ("parent_id", number("The product that it belongs to.")),
        ("purchase_note", text("What buyers are told.")),
    ]);
    fields
}

fn ids(about: &str) -> Schema {
    field(Schema::list(Schema::integer()), about)
}

fn groups(version: Version) -> Fields {
    let terms = |about: &str| {
        let term = Schema::object([
            ("id", number("Its number.")),
            ("name", text("Its name.").readonly()),
            ("slug", text("Its name in addresses.").readonly()),
        ]);
        field(Schema::list(term), about)
    };
    let mut fields = vec![("categories", terms("Categories."))];
    if is_current(version) {
        fields.push(("brands", terms("Brands.")));
    }
    fields.push(("tags", terms("Tags.")));
    let image = Schema::object(image(version));
    fields.push(("images", field(Schema::list(image), "Pictures, by their addresses.")));
    if is_current(version) {
        fields.push(("has_options", flag("Whether buyers choose something.").readonly()));
    }
    fields
}

/// The fields of a picture.
pub(super) fn image(version: Version) -> Fields {
    let mut fields = vec![("id", number("Number of the picture."))];
    let dates: &[&str] = match version {
        Version::One => &["date_created", "date_modified"],
        _ => &["date_created", "date_created_gmt", "date_modified", "date_modified_gmt"],
    };
    for name in dates {
        fields.push((*name, moment("When it was added or changed.").readonly()));
    }
    fields.extend([
        ("src", text("Its address.").format("uri")),
        ("name", text("Its name.")),
        ("alt", text("What it shows, in words.")),
    ]);
    if !is_current(version) {
        fields.push(("position", number("Its place; the first stands for the product.")));
    }
    fields
}

fn rest(version: Version) -> Fields {
    // The first version does not say what its values are.
    let options = match version {
        Version::One => Schema::typed("array"),
        _ => Schema::list(Schema::text()),
    };
    let attribute = Schema::object([
        ("id", number("Number of an attribute of the shop.")),
        ("name", text("Its name.")),
        ("position", number("Its place.")),
        ("visible", Schema::boolean().about("Whether it is shown.").default(false).context(BOTH)),
        (
            "variation",
            Schema::boolean()
                .about("Whether variations differ by it.")
                .default(false)
                .context(BOTH),
        ),
        ("options", field(options, "Its values.")),
    ]);
    let mut fields = vec![
        ("attributes", field(Schema::list(attribute), "Attributes.")),
        ("default_attributes", field(Schema::list(chosen()), "What is chosen at first.")),
        ("variations", ids("Its variations.").readonly()),
    ];
    let grouped = ids("What a grouped product consists of.");
    // Only the second version says that this can be set; all take it.
    let is_said = version == Version::Two;
    fields.push(("grouped_products", if is_said { grouped } else { grouped.readonly() }));
    fields.push(("menu_order", number("Its place in lists.")));
    if version != Version::One {
        fields.push(("meta_data", meta::schema()));
    }
    if is_current(version) {
        let of_edit = |about: &str| Schema::text().about(about).context(&["edit"]).readonly();
        fields.push(("permalink_template", of_edit("Address with a gap for the slug.")));
        fields.push(("generated_slug", of_edit("The slug that its name would give.")));
    }
    if version == Version::Analytics {
        fields.push(("last_order_date", moment("When it was last ordered.").readonly()));
    }
    fields
}

/// An attribute with one of its values.
pub(super) fn chosen() -> Schema {
    Schema::object([
        ("id", number("Number of an attribute of the shop.")),
        ("name", text("Its name.")),
        ("option", text("The value.")),
    ])
}
