//! The schema of a product in each of its shapes. What is shown, taken and published follows.

use contract::rest::{Item, Schema};

use super::record::{KINDS, PlainFields, STOCK_STATUSES, VARIATION};
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
        ("id", number("Product ID.").readonly()),
        ("name", text("Product name.")),
        ("slug", text("Product slug.")),
        ("permalink", text("Product URL.").format("uri").readonly()),
    ];
    if version == Version::One {
        fields.push(("date_created", moment("Date created, in GMT.").readonly()));
        fields.push(("date_modified", moment("Date last modified, in GMT.").readonly()));
    } else {
        let created = moment("Date created, in the site's time zone.");
        let created_gmt = moment("Date created, in GMT.");
        let is_fixed = version == Version::Two;
        let fixed = |schema: Schema| if is_fixed { schema.readonly() } else { schema };
        fields.push(("date_created", fixed(created)));
        fields.push(("date_created_gmt", fixed(created_gmt)));
        let modified = moment("Date last modified, in the site's time zone.");
        fields.push(("date_modified", modified.readonly()));
        fields.push(("date_modified_gmt", moment("Date last modified, in GMT.").readonly()));
    }
    let statuses =
        if is_current(version) { STATUSES } else { STATUSES.get(..5).unwrap_or(STATUSES) };
    // Lists of analytics show variations among products.
    let kinds = [KINDS, &[VARIATION]].concat();
    let kind = Schema::text().choices(&kinds);
    fields.extend([
        ("type", choice(KINDS, "simple", "Product type.").shown_as(kind)),
        ("status", choice(statuses, "publish", "Product status.")),
        ("featured", flag("Whether the product is featured.").default(false)),
        (
            "catalog_visibility",
            choice(&["visible", "catalog", "search", "hidden"], "visible", "Catalog visibility."),
        ),
    ]);
    fields
}

fn words() -> Fields {
    vec![
        ("description", text("Product description.")),
        ("short_description", text("Short description.")),
        ("sku", text("SKU.")),
    ]
}

fn prices(version: Version) -> Fields {
    // A variation among products has them as text.
    let sales = Schema::types(&["integer", "string"]);
    let mut fields = Vec::new();
    if is_current(version) {
        fields.push(("global_unique_id", text("GTIN, UPC, EAN or ISBN.")));
    }
    fields.extend([
        ("price", text("Current price.").readonly()),
        ("regular_price", text("Regular price.")),
        ("sale_price", text("Sale price.")),
    ]);
    if version == Version::One {
        fields.push(("date_on_sale_from", text("Start date of the sale.")));
        fields.push(("date_on_sale_to", text("End date of the sale.")));
    } else {
        fields.extend(sale_dates());
    }
    fields.extend([
        ("price_html", text("Formatted price.").readonly()),
        ("on_sale", flag("Whether the product is on sale.").readonly()),
        ("purchasable", flag("Whether the product can be purchased.").readonly()),
        ("total_sales", number("Number of sales.").readonly().shown_as(sales)),
    ]);
    fields
}

pub(super) fn sale_dates() -> Fields {
    vec![
        ("date_on_sale_from", moment("Start date of the sale, in the site's time zone.")),
        ("date_on_sale_from_gmt", moment("Start date of the sale, in GMT.")),
        ("date_on_sale_to", moment("End date of the sale, in the site's time zone.")),
        ("date_on_sale_to_gmt", moment("End date of the sale, in GMT.")),
    ]
}

fn nature(version: Version) -> Fields {
    let mut fields = vec![
        ("virtual", flag("Whether the product is virtual.").default(false)),
        ("downloadable", flag("Whether the product is downloadable.").default(false)),
        ("downloads", downloads()),
        ("download_limit", number("Number of times a file can be downloaded.").default(-1)),
        ("download_expiry", number("Number of days until the download expires.").default(-1)),
    ];
    if version == Version::One {
        let types = ["standard"];
        fields.push(("download_type", choice(&types, "standard", "Download type.")));
    }
    fields.extend([
        ("external_url", text("URL of an external product.").format("uri")),
        ("button_text", text("Button text of an external product.")),
        ("tax_status", choice(TAX_STATUSES, "taxable", "Tax status.")),
        ("tax_class", text("Tax class.")),
    ]);
    fields
}

pub(super) fn downloads() -> Schema {
    let file = Schema::object([
        ("id", text("File ID.")),
        ("name", text("File name.")),
        ("file", text("File URL.")),
    ]);
    field(Schema::list(file), "Downloadable files.")
}

fn stock(version: Version) -> Fields {
    let mut fields = vec![
        ("manage_stock", flag("Whether stock is tracked.").default(false)),
        ("stock_quantity", number("Stock quantity.").or_null()),
    ];
    let status = choice(STOCK_STATUSES, "instock", "Stock status.");
    if is_current(version) {
        fields.push(("stock_status", status));
    } else {
        fields.push(("in_stock", flag("Whether the product is in stock.").default(true)));
    }
    fields.extend([
        (
            "backorders",
            choice(
                BACKORDERS,
                "no",
                "Whether backorders are allowed, and whether the customer is notified.",
            ),
        ),
        ("backorders_allowed", flag("Whether backorders are allowed.").readonly()),
        ("backordered", flag("Whether the product is on backorder.").readonly()),
    ]);
    if is_current(version) {
        let about = "Low stock threshold.";
        fields.push(("low_stock_amount", field(Schema::types(&["integer", "null"]), about)));
    }
    fields
}

pub(super) fn dimensions() -> Schema {
    let sides = Schema::object([
        ("length", text("Length.")),
        ("width", text("Width.")),
        ("height", text("Height.")),
    ]);
    // The description stands before the parts, as with every object.
    let about = "Dimensions.";
    field(sides, about)
}

fn parcel() -> Fields {
    vec![
        ("weight", text("Weight.")),
        ("dimensions", dimensions()),
        ("shipping_required", flag("Whether the product needs to be shipped.").readonly()),
        ("shipping_taxable", flag("Whether shipping is taxable.").readonly()),
        ("shipping_class", text("Shipping class slug.")),
    ]
}

fn company(version: Version) -> Fields {
    let class_id = if is_current(version) { Schema::text() } else { Schema::integer() };
    let mut fields = vec![
        (
            "shipping_class_id",
            field(class_id, "Shipping class ID.").readonly().shown_as(Schema::integer()),
        ),
        ("reviews_allowed", flag("Whether reviews are allowed.").default(true)),
    ];
    let plain = PlainFields::schemas(version).into_iter();
    fields.extend(plain.map(|(name, schema)| (name, schema.context(BOTH))));
    fields.extend([
        ("average_rating", text("Average rating.").readonly()),
        ("rating_count", number("Number of ratings.").readonly()),
        ("related_ids", ids("Related products.").readonly()),
        ("parent_id", number("Parent product ID.")),
    ]);
    fields
}

fn ids(about: &str) -> Schema {
    field(Schema::list(Schema::integer()), about)
}

fn groups(version: Version) -> Fields {
    let terms = |about: &str| {
        let term = Schema::object([
            ("id", number("ID.")),
            ("name", text("Name.").readonly()),
            ("slug", text("Slug.").readonly()),
        ]);
        field(Schema::list(term), about)
    };
    let mut fields = vec![("categories", terms("Categories."))];
    if is_current(version) {
        fields.push(("brands", terms("Brands.")));
    }
    fields.push(("tags", terms("Tags.")));
    fields.push(("images", field(Schema::list(picture(version)), "Product images.")));
    if is_current(version) {
        fields.push(("has_options", flag("Whether the customer must choose options.").readonly()));
    }
    fields
}

/// The fields of a picture.
fn image(version: Version) -> Fields {
    let mut fields = vec![("id", number("Image ID."))];
    let dates: &[&str] = match version {
        Version::One => &["date_created", "date_modified"],
        _ => &["date_created", "date_created_gmt", "date_modified", "date_modified_gmt"],
    };
    for name in dates {
        fields.push((*name, moment("Date created or modified.").readonly()));
    }
    fields.extend([
        ("src", text("Image URL.").format("uri")),
        ("name", text("Image name.")),
        ("alt", text("Alternative text.")),
    ]);
    if !is_current(version) {
        fields.push(("position", number("Position; the first image is the featured one.")));
    }
    fields
}

/// A picture. Responses show more of it than the published interface says.
pub(super) fn picture(version: Version) -> Schema {
    let picture = Schema::object(image(version));
    if !is_current(version) {
        return picture;
    }
    let forms = [
        ("srcset", text("Forms of the image that browsers may choose from.")),
        ("sizes", text("How wide the image is shown.")),
        ("thumbnail", text("URL of a smaller form.")),
    ];
    picture.shown_as(Schema::object(image(version).into_iter().chain(forms)))
}

fn rest(version: Version) -> Fields {
    // The first version does not say what its values are.
    let options = match version {
        Version::One => Schema::typed("array"),
        _ => Schema::list(Schema::text()),
    };
    let attribute = Schema::object([
        ("id", number("Global attribute ID.")),
        ("name", text("Attribute name.")),
        ("position", number("Attribute position.")),
        (
            "visible",
            Schema::boolean()
                .about("Whether the attribute is shown on the product's page.")
                .default(false)
                .context(BOTH),
        ),
        (
            "variation",
            Schema::boolean()
                .about("Whether the attribute is used for variations.")
                .default(false)
                .context(BOTH),
        ),
        ("options", field(options, "Attribute terms.")),
    ]);
    let mut variations = ids("Product variations.").readonly();
    if version == Version::One {
        // The first version shows them whole.
        variations = variations.shown_as(Schema::list(Schema::map()));
    }
    let mut fields = vec![
        ("attributes", field(Schema::list(attribute), "Attributes.")),
        ("default_attributes", field(Schema::list(chosen()), "Default attributes.")),
        ("variations", variations),
    ];
    let grouped = ids("Grouped products.");
    // Only the second version says that this can be set; all take it.
    let is_said = version == Version::Two;
    fields.push(("grouped_products", if is_said { grouped } else { grouped.readonly() }));
    fields.push(("menu_order", number("Menu order.")));
    if version != Version::One {
        fields.push(("meta_data", meta::schema()));
    }
    if is_current(version) {
        let of_edit = |about: &str| Schema::text().about(about).context(&["edit"]).readonly();
        fields.push(("permalink_template", of_edit("Permalink template.")));
        fields.push(("generated_slug", of_edit("Slug generated from the name.")));
    }
    if version == Version::Analytics {
        fields.push(("last_order_date", moment("Date last ordered.").readonly()));
    }
    fields
}

/// An attribute with one of its values.
pub(super) fn chosen() -> Schema {
    Schema::object([
        ("id", number("Global attribute ID.")),
        ("name", text("Attribute name.")),
        ("option", text("Selected term.")),
    ])
}
