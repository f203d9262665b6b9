//! Attributes of products whose values are terms, and what analytics says about attributes that
//! are products' own. The terms of an attribute are in [`crate::taxonomies`].

mod bundle;
mod own;
mod reserved;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Refusal, Schema, Stop, clean, form, loose};
use db::filter;
use frame::text::slugify;
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use shop_rows::attribute::{self, AttributeRow};
use shop_rows::product;
use site_rows::term;
use types::{Capability, Error};

use crate::common::version::Version;
use crate::common::{args, events};
use crate::resource::{self, Act, DeletionReply, Listed, Resource, Rights};

pub(crate) use self::bundle::attributes;

const PATH: &str = "/products/attributes";
const BOTH: &[&str] = &["view", "edit"];
const KINDS: [&str; 1] = ["select"];
const ORDERS: [&str; 4] = ["menu_order", "name", "name_num", "id"];
/// Bytes of a slug without its prefix.
const SLUG_LENGTH_MAX: usize = 28;
/// Characters of a name.
const NAME_LENGTH_MAX: usize = 200;
/// What the taxonomies of attributes begin with.
const PREFIX: &str = "pa_";

#[derive(Debug)]
struct Attributes {
    version: Version,
    item: Item,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in Version::ALL {
        let resource = Attributes { version, item: item() };
        let made = resource::routes(version.namespace(names), PATH, resource);
        routes.extend(made.expect("the schema of an attribute is well formed"));
    }
    routes
}

/// The routes of attributes by their slugs, which come after those by numbers.
pub(crate) fn routes_by_slug(names: &Names) -> impl IntoIterator<Item = Route<Action>> {
    own::routes(&names.analytics)
}

fn item() -> Item {
    let text = |about: &str| Schema::text().about(about).context(BOTH);
    // What only a product has is named by its slug.
    let id = Schema::integer().shown_as(Schema::types(&["integer", "string"]));
    let archives =
        Schema::boolean().default(false).about("Whether archive pages for its terms are enabled.");
    Item::new(
        "product_attribute",
        Schema::object([
            ("id", id.about("Attribute ID.").context(BOTH).readonly()),
            ("name", text("Attribute name.")),
            ("slug", text("Attribute slug.")),
            ("type", text("How a term is selected.").default("select").choices(&KINDS)),
            ("order_by", text("Sort order of its terms.").default("menu_order").choices(&ORDERS)),
            ("has_archives", archives.context(BOTH)),
        ]),
    )
}

/// The body of an attribute; its number is a text for one that is a product's own.
fn body(id: &Value, row: &AttributeRow, slug: &str) -> Value {
    json!({
        "id": id,
        "name": row.label,
        "slug": slug,
        "type": row.kind,
        "order_by": row.order_by,
        "has_archives": row.has_archives,
    })
}

/// An attribute of the list: one of the shop's, or one that products have for themselves.
#[derive(Debug)]
enum Attribute {
    Shop(AttributeRow),
    Own(own::OwnAttribute),
}

impl Resource for Attributes {
    type Record = Attribute;

    fn word(&self) -> &'static str {
        "product_attribute"
    }

    fn rights(&self) -> Rights {
        let manage = Capability::ManageProductTerms;
        Rights { read: manage, create: manage, edit: manage, delete: manage, batch: manage }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        self.item.create_args().revise("name", Schema::required)
    }

    fn list_args(&self) -> Args {
        match self.version {
            Version::Analytics => args::search(),
            _ => Args::new(),
        }
    }

    fn has_pages(&self) -> bool {
        false
    }

    fn has_trash(&self) -> bool {
        false
    }

    fn is_forced(&self) -> bool {
        true
    }

    fn deletion_reply(&self) -> DeletionReply {
        DeletionReply::WithHints
    }

    fn refuses_unknown_first(&self) -> bool {
        true
    }

    fn unknown_id(&self, _: Act) -> (u16, String) {
        (404, String::from("woocommerce_rest_taxonomy_invalid"))
    }

    fn edit_refusal(&self) -> &'static str {
        "woocommerce_rest_cannot_update"
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Attribute>, Stop> {
        Ok(attribute::get(call.conn()?, id)?.map(Attribute::Shop))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Attribute>, Stop> {
        let sought = call.params.text("search").filter(|text| !text.is_empty());
        let sought = sought.filter(|_| self.version == Version::Analytics).map(filter::fold);
        let mut rows = attribute::all(call.conn()?)?;
        let mut records = Vec::new();
        if let Some(sought) = &sought {
            let found = own::containing(call.conn()?, sought)?;
            records.extend(found.into_iter().map(Attribute::Own));
            rows.retain(|row| {
                filter::fold(&row.label).contains(sought) || row.name.contains(sought)
            });
        }
        records.extend(rows.into_iter().map(Attribute::Shop));
        let total = i64::try_from(records.len()).unwrap_or(i64::MAX);
        Ok(Listed { records, total })
    }

    fn show(&self, _: &mut Call<'_>, record: &Attribute) -> Result<Value, Stop> {
        Ok(match record {
            Attribute::Shop(row) => {
                body(&json!(row.attribute_id), row, &attribute::taxonomy(&row.name))
            }
            Attribute::Own(own) => own.body(),
        })
    }

    fn links(&self, call: &Call<'_>, record: &Attribute, base: &str) -> Links {
        let id = match record {
            Attribute::Shop(row) => row.attribute_id.to_string(),
            Attribute::Own(own) => own.slug.clone(),
        };
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{id}")))
            .to("collection", call.visit.rest(base))
    }

    fn id(&self, record: &Attribute) -> i64 {
        match record {
            Attribute::Shop(row) => row.attribute_id,
            Attribute::Own(_) => 0,
        }
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Attribute, Stop> {
        let empty_row = AttributeRow {
            kind: String::from("select"),
            order_by: String::from("menu_order"),
            ..AttributeRow::default()
        };
        let mut row = changed(call, empty_row, "woocommerce_rest_cannot_create")?;
        if let Some(id) = call.kept_id() {
            row.attribute_id = id;
            attribute::insert_with_id(call.conn()?, &row)?;
        } else {
            row.attribute_id = attribute::insert(call.conn()?, &row)?;
        }
        append_event(call, "attribute.created", &row)?;
        Ok(Attribute::Shop(row))
    }

    fn update(&self, call: &mut Call<'_>, record: Attribute) -> Result<Attribute, Stop> {
        let before = shop(record)?;
        let row = changed(call, before.clone(), "woocommerce_rest_cannot_edit")?;
        attribute::update(call.conn()?, &row)?;
        if row.name != before.name {
            let (from, to) = (attribute::taxonomy(&before.name), attribute::taxonomy(&row.name));
            term::rename_taxonomy(call.conn()?, &from, &to)?;
            product::rename_attribute(call.conn()?, &from, &to)?;
            own::rename_in_products(call.conn()?, &from, &to)?;
        }
        append_event(call, "attribute.updated", &row)?;
        Ok(Attribute::Shop(row))
    }

    fn trash(&self, _: &mut Call<'_>, _: Attribute) -> Result<(), Stop> {
        Err(Error::internal("attributes have no trash").into())
    }

    fn delete(&self, call: &mut Call<'_>, record: Attribute) -> Result<(), Stop> {
        let row = shop(record)?;
        term::delete_taxonomy(call.conn()?, &attribute::taxonomy(&row.name))?;
        attribute::delete(call.conn()?, row.attribute_id)?;
        append_event(call, "attribute.deleted", &row)?;
        Ok(())
    }
}

fn shop(record: Attribute) -> Result<AttributeRow, Error> {
    match record {
        Attribute::Shop(row) => Ok(row),
        Attribute::Own(_) => Err(Error::internal("a product-level attribute has no id")),
    }
}

fn append_event(call: &mut Call<'_>, kind: &'static str, row: &AttributeRow) -> Result<(), Error> {
    let payload = json!({ "taxonomy": attribute::taxonomy(&row.name) });
    events::append(call, kind, row.attribute_id, &payload)
}

/// The attribute with what the request says about it. A slug that is not given follows the name.
fn changed(
    call: &mut Call<'_>,
    before: AttributeRow,
    code: &'static str,
) -> Result<AttributeRow, Stop> {
    let refuse = |message: &'static str| Stop::from(Refusal::new(400, code, message));
    let mut row = before.clone();
    let text = |name: &str| {
        let text = call.params.get(name).and_then(loose::scalar_text)?;
        Some(clean::text_field(&text)).filter(|text| !text.is_empty())
    };
    let one_of = |name: &str, known: &[&str]| {
        let requested = call.params.text(name)?;
        known.contains(&requested).then(|| requested.to_owned())
    };
    let (name, requested) = (text("name"), text("slug"));
    row.kind = one_of("type", &KINDS).unwrap_or(row.kind);
    row.order_by = one_of("order_by", &ORDERS).unwrap_or(row.order_by);
    if call.params.get("has_archives").is_some() {
        row.has_archives = call.params.flag("has_archives");
    }
    let is_named = name.is_some();
    row.label = name.unwrap_or(row.label);
    if row.label.is_empty() {
        return Err(refuse("A name is required."));
    }
    if row.label.chars().count() > NAME_LENGTH_MAX {
        return Err(refuse("The name is too long; use a shorter one."));
    }
    if let Some(requested) = requested {
        let slug = slug_of(&requested);
        slug.strip_prefix(PREFIX).unwrap_or(&slug).clone_into(&mut row.name);
    } else if is_named {
        row.name = slug_of(&row.label);
    }
    if row.name.is_empty() {
        return Err(refuse("The slug must contain at least one letter."));
    }
    if row.name.len() > SLUG_LENGTH_MAX {
        return Err(refuse("The slug is too long; use at most 28 bytes."));
    }
    if reserved::NAMES.contains(&row.name.as_str()) {
        return Err(refuse("This slug is reserved; choose another one."));
    }
    let other = attribute::find_by_name(call.conn()?, &row.name)?;
    if other.is_some_and(|other| other.attribute_id != before.attribute_id) {
        return Err(refuse("This slug is already in use; choose another one."));
    }
    Ok(row)
}

/// A slug in which letters of other scripts stand as they are.
fn slug_of(text: &str) -> String {
    form::percent_decode(&slugify(&form::percent_decode(text)))
}
