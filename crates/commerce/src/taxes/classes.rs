//! Classes of goods that are taxed alike. The standard class is always there and cannot be deleted.

use contract::rest::params::invalid_params;
use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Item, Links, ParamError, Refusal, Reply, Schema, Stop, clean};
use db::Conn;
use frame::action::{read, write};
use frame::text::slugify;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::tax_class::{self, TaxClassRow};
use shop_rows::tax_rate::{self, TaxRateFilter};
use types::Capability;

use super::STANDARD;
use crate::common::events;
use crate::common::version::Version;
use crate::managers::{linked, may_view, with_total};

const BOTH: &[&str] = &["view", "edit"];
const STANDARD_NAME: &str = "Standard rate";
const SLUG_PATTERN: &str = r"/taxes/classes/(?P<slug>\w[\w\s\-]*)";

/// Is above zero once the shop has got its first classes, which may be deleted like others.
const FOUNDED: &str = "tax_class.founded";
const FIRST_CLASSES: [(&str, &str); 2] =
    [("reduced-rate", "Reduced rate"), ("zero-rate", "Zero rate")];

/// Gives a new shop its first classes. Returns whether it is a new one.
pub(crate) fn found(conn: &mut dyn Conn) -> types::Result<bool> {
    if db::counter::take(conn, FOUNDED, 1)? > 0 {
        return Ok(false);
    }
    for (position, (slug, name)) in (1..).zip(FIRST_CLASSES) {
        if tax_class::get(conn, slug)?.is_none() {
            let (slug, name) = (slug.to_owned(), name.to_owned());
            tax_class::insert(conn, &TaxClassRow { slug, name, position })?;
        }
    }
    Ok(true)
}

/// Analytics has no classes, and the first version shows no single one.
pub(super) fn routes(namespace: &str, version: Version) -> Vec<Route<Action>> {
    if version == Version::Analytics {
        return Vec::new();
    }
    let item = item();
    let base = format!("/{namespace}/taxes/classes");
    macro_rules! at_base {
        ($operation:path) => {{
            let base = base.clone();
            move |call: &mut Call<'_>| $operation(call, &base)
        }};
    }
    let slug = || Args::new().arg("slug", Schema::text().about("Tax class slug."));
    let force = Schema::boolean()
        .default(false)
        .about("Required to be true, as tax classes cannot be moved to the trash.");
    let list_args = Args::new().arg("context", item.context_arg());
    let collection = Route::at(namespace, "/taxes/classes")
        .on(READ, list_args, read(may_view, at_base!(list)))
        .lists()
        .on(CREATE, item.create_args(), write(may_create, at_base!(create)))
        .creates()
        .schema(item.document());
    let mut one = Route::at(namespace, SLUG_PATTERN);
    if version != Version::One {
        one = one.on(READ, slug(), read(may_view, at_base!(get))).lists();
    }
    let remove = write(may_delete, at_base!(delete));
    let one = one.on(DELETE, slug().arg("force", force), remove).schema(item.document());
    vec![collection, one]
}

fn item() -> Item {
    let slug = Schema::text().about("Tax class slug.").context(BOTH).readonly();
    let name = Schema::text().about("Tax class name.").context(BOTH).required();
    Item::new("tax_class", Schema::object([("slug", slug), ("name", name)]))
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create tax classes.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_create", message)
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to delete tax classes.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_delete", message)
}

/// The class that the call names, as rates store it; refused unless the shop has it.
pub(super) fn requested_class(call: &mut Call<'_>) -> Result<Option<String>, Stop> {
    let Some(value) = call.params.get("class").cloned() else { return Ok(None) };
    let slug = value.as_str().unwrap_or_default();
    if slug == STANDARD {
        return Ok(Some(String::new()));
    }
    if tax_class::get(call.conn()?, slug)?.is_some() {
        return Ok(Some(slug.to_owned()));
    }
    let slugs = tax_class::all(call.conn()?)?.into_iter().map(|class| class.slug);
    let slugs: Vec<String> = std::iter::once(STANDARD.to_owned()).chain(slugs).collect();
    let message = format!("class must be one of {}.", slugs.join(", "));
    let error = ParamError::new("rest_not_in_enum", message);
    Err(invalid_params(vec![(String::from("class"), Some(error))]).into())
}

fn standard() -> TaxClassRow {
    TaxClassRow { slug: STANDARD.to_owned(), name: STANDARD_NAME.to_owned(), position: 0 }
}

/// The classes with the standard one first.
fn all(call: &mut Call<'_>) -> Result<Vec<TaxClassRow>, Stop> {
    let others = tax_class::all(call.conn()?)?;
    Ok(std::iter::once(standard()).chain(others).collect())
}

fn body(class: &TaxClassRow) -> Value {
    json!({ "slug": class.slug, "name": class.name })
}

fn links(call: &Call<'_>, base: &str) -> Links {
    Links::new().to("collection", call.visit.rest(base))
}

fn list(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let classes = all(call)?;
    let items = classes.iter().map(|class| linked(body(class), links(call, base)));
    Ok(with_total(items.collect()))
}

/// A class by itself is a list of one.
fn get(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let slug = slug_of(call);
    let found = all(call)?.into_iter().find(|class| class.slug == slug);
    let class = found.ok_or_else(unknown)?;
    Ok(Reply::new(vec![linked(body(&class), links(call, base))]))
}

fn unknown() -> Refusal {
    Refusal::new(404, "woocommerce_rest_tax_class_invalid_slug", "Tax class not found.")
}

fn slug_of(call: &Call<'_>) -> String {
    slugify(call.params.text("slug").unwrap_or_default())
}

fn create(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let name = call.params.text("name").unwrap_or_default().to_owned();
    let class = add(call, &name)?;
    let location = call.visit.rest(&format!("{base}/{}", class.slug));
    Ok(Reply::created(body(&class), location).links(links(call, base)))
}

fn add(call: &mut Call<'_>, name: &str) -> Result<TaxClassRow, Stop> {
    let name = clean::text_field(name);
    let refuse = |code: &'static str, message: &'static str| -> Stop {
        Refusal::new(400, code, message).into()
    };
    if name.is_empty() {
        let message = "A name is required.";
        return Err(refuse("woocommerce_rest_tax_class_invalid_name", message));
    }
    let known = all(call)?;
    if known.iter().skip(1).any(|class| class.name == name) {
        let message = "A tax class with this name already exists; choose another name.";
        return Err(refuse("woocommerce_rest_tax_class_exists", message));
    }
    let slug = slugify(&name);
    if slug.is_empty() {
        let message = "The name must contain a letter or a digit.";
        return Err(refuse("woocommerce_rest_tax_class_slug_invalid", message));
    }
    if known.iter().any(|class| class.slug == slug) {
        let message = "A tax class with a similar name already exists; choose another name.";
        return Err(refuse("woocommerce_rest_tax_class_slug_exists", message));
    }
    let last = known.iter().map(|class| class.position).max().unwrap_or_default();
    let class = TaxClassRow { slug, name, position: last.saturating_add(1) };
    tax_class::insert(call.conn()?, &class)?;
    append_event(call, "tax_class.created", &class)?;
    Ok(class)
}

/// The names of the classes beside the standard one.
pub(crate) fn class_names(conn: &mut dyn Conn) -> types::Result<Vec<String>> {
    Ok(tax_class::all(conn)?.into_iter().map(|class| class.name).collect())
}

/// Makes the classes beside the standard one be those of these names: others are deleted with
/// their rates, and those that are missing are made.
pub(crate) fn set_class_names(call: &mut Call<'_>, names: &[&str]) -> Result<(), Stop> {
    let known = tax_class::all(call.conn()?)?;
    for class in known.iter().filter(|class| !names.contains(&&*class.name)) {
        remove(call, class)?;
    }
    for name in names {
        if !class_names(call.conn()?)?.iter().any(|known| known == name) {
            add(call, name)?;
        }
    }
    Ok(())
}

/// Deletes the class and its rates.
fn delete(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    if !call.params.flag("force") {
        let message = "This resource cannot be moved to the trash; set force to delete it.";
        return Err(Refusal::new(400, "woocommerce_rest_trash_not_supported", message).into());
    }
    let slug = slug_of(call);
    let class = tax_class::get(call.conn()?, &slug)?.ok_or_else(unknown)?;
    remove(call, &class)?;
    Ok(Reply::new(body(&class)).links(links(call, base)))
}

fn remove(call: &mut Call<'_>, class: &TaxClassRow) -> Result<(), Stop> {
    let classes = vec![class.slug.clone()];
    let filter = TaxRateFilter { classes, ..TaxRateFilter::default() };
    // Every round deletes a page of them, so the rounds come to an end.
    loop {
        let (rates, _) = tax_rate::list(call.conn()?, &filter)?;
        if rates.is_empty() {
            break;
        }
        for rate in rates {
            tax_rate::delete(call.conn()?, rate.rate_id)?;
            events::append(call, "tax_rate.deleted", rate.rate_id, &json!({}))?;
        }
    }
    tax_class::delete(call.conn()?, &class.slug)?;
    append_event(call, "tax_class.deleted", class)?;
    Ok(())
}

/// Classes have no numbers; followers know them by their slugs.
fn append_event(call: &mut Call<'_>, kind: &'static str, class: &TaxClassRow) -> types::Result<()> {
    events::append(call, kind, class.position, &json!({ "slug": class.slug }))
}
