//! A product as each namespace shows it.

pub(super) mod variation;

use contract::rest::{Fields, Stop};
use frame::dates::{Moment, written};
use frame::text::render;
use frame::{Call, Options, Visit};
use serde_json::{Map, Value, json};
use types::{Amount, Timestamp};

use super::loaded::{self, Loaded};
use super::record::{
    BRAND, CATEGORY, EXTERNAL, GROUPED, Image, ON_BACKORDER, PUBLISH, Product, TAG, VARIABLE,
    VARIATION,
};
use super::version::is_current;
use super::{address, price, related};
use crate::common::moments;
use crate::common::version::Version;
use crate::pictures;

/// The fields of a body, as they are added.
pub(super) struct Body {
    members: Map<String, Value>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self { members: Map::new() }
    }

    pub(super) fn insert(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// A moment in the site's time and in GMT.
    pub(super) fn insert_date(&mut self, options: &Options, name: &str, time: Option<Timestamp>) {
        let [local, gmt] = moments::pair(options, time);
        self.insert(name, local);
        self.insert(&format!("{name}_gmt"), gmt);
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.members)
    }
}

/// A product in its surroundings, for one caller.
pub(super) struct View<'v> {
    pub(super) loaded: &'v Loaded,
    pub(super) version: Version,
    /// Whether texts are shown as they are stored, and nothing is taken over from the parent.
    pub(super) raw: bool,
}

pub(super) fn body(call: &mut Call<'_>, loaded: &Loaded, version: Version) -> Result<Value, Stop> {
    let raw = version != Version::One && call.context() == "edit";
    let view = View { loaded, version, raw };
    let mut body = Body::new();
    view.identity(call, &mut body);
    view.prices(call, &mut body);
    view.nature(call, &mut body);
    view.stock(call, &mut body);
    view.parcel(&mut body);
    view.groups(call, &mut body)?;
    view.parts(call, &mut body)?;
    view.more(call, &mut body)?;
    Ok(body.into_value())
}

impl View<'_> {
    fn product(&self) -> &Product {
        &self.loaded.product
    }

    /// Of a variation, what it does not have by itself.
    pub(super) fn parent(&self) -> Option<&Product> {
        self.loaded.parent.as_ref().map(|parent| &parent.product)
    }

    fn identity(&self, call: &Call<'_>, body: &mut Body) {
        let (row, options) = (&self.product().row, call.options());
        body.insert("id", row.product_id);
        body.insert("name", row.name.as_str());
        body.insert("slug", row.slug.as_str());
        body.insert("permalink", address::permalink(call.visit, self.loaded));
        if self.version == Version::One {
            body.insert("date_created", written(Moment::at(options, row.created).gmt));
            body.insert("date_modified", written(Moment::at(options, row.modified).gmt));
        } else {
            body.insert_date(options, "date_created", Some(row.created));
            body.insert_date(options, "date_modified", Some(row.modified));
        }
        body.insert("type", row.kind.as_str());
        body.insert("status", row.status.as_str());
        body.insert("featured", row.featured);
        body.insert("catalog_visibility", self.visibility());
        let shown = |text: &str| if self.raw { text.to_owned() } else { render::content(text) };
        body.insert("description", shown(&row.description));
        body.insert("short_description", shown(&row.short_description));
        body.insert("sku", self.sku());
    }

    fn visibility(&self) -> &str {
        let own = &self.product().row.catalog_visibility;
        self.parent().map_or(own, |parent| &parent.row.catalog_visibility)
    }

    pub(super) fn sku(&self) -> &str {
        if self.raw { &self.product().row.sku } else { self.loaded.sku() }
    }

    fn prices(&self, call: &Call<'_>, body: &mut Body) {
        let mut current = self.product().clone();
        // A sale may have begun or ended since the product was written.
        price::settle(&mut current, call.now());
        let details = &current.details;
        body.insert("price", details.price.as_str());
        body.insert("regular_price", details.regular_price.as_str());
        body.insert("sale_price", details.sale_price.as_str());
        let (from, to) = (current.row.sale_from, current.row.sale_to);
        if self.version == Version::One {
            let day = |time: Option<Timestamp>| {
                let text = time.map(|time| written(call.options().local(time)));
                text.and_then(|text| text.get(..10).map(str::to_owned)).unwrap_or_default()
            };
            body.insert("date_on_sale_from", day(from));
            body.insert("date_on_sale_to", day(to));
        } else {
            body.insert_date(call.options(), "date_on_sale_from", from);
            body.insert_date(call.options(), "date_on_sale_to", to);
        }
        body.insert("on_sale", current.row.on_sale);
        body.insert("purchasable", self.is_purchasable(call));
        let sales = current.row.total_sales;
        // Clients know the sales of a variation as text.
        let is_text = current.is(VARIATION);
        body.insert("total_sales", if is_text { json!(sales.to_string()) } else { json!(sales) });
    }

    pub(super) fn is_purchasable(&self, call: &Call<'_>) -> bool {
        let product = self.product();
        let edits = call.can(types::Capability::EditProducts);
        let is_open = |product: &Product| product.row.status == PUBLISH || edits;
        !product.is(GROUPED)
            && !product.is(EXTERNAL)
            && is_open(product)
            && self.parent().is_none_or(is_open)
            && product.row.price.is_some()
    }

    fn nature(&self, call: &Call<'_>, body: &mut Body) {
        let (row, details) = (&self.product().row, &self.product().details);
        body.insert("virtual", row.is_virtual);
        body.insert("downloadable", row.downloadable);
        body.insert("downloads", downloads(call, self.product()));
        body.insert("download_limit", details.download_limit);
        body.insert("download_expiry", details.download_expiry);
        if self.version == Version::One {
            body.insert("download_type", "standard");
        }
        let is_external = self.product().is(EXTERNAL);
        let external = |text: &str| if is_external { text.to_owned() } else { String::new() };
        body.insert("external_url", external(&details.external_url));
        body.insert("button_text", external(&details.button_text));
        body.insert("tax_status", self.tax_status());
        body.insert("tax_class", self.tax_class());
    }

    pub(super) fn tax_status(&self) -> &str {
        self.loaded.tax_status()
    }

    pub(super) fn tax_class(&self) -> &str {
        if self.raw { &self.product().row.tax_class } else { self.loaded.tax_class() }
    }

    pub(super) fn counted(&self) -> &Product {
        self.loaded.counted()
    }

    pub(super) fn stock(&self, call: &Call<'_>, body: &mut Body) {
        let (own, counted) = (self.product(), self.counted());
        let counts = call.options().text("woocommerce_manage_stock") == "yes";
        let managed = if !counts {
            json!(false)
        } else if own.row.manage_stock {
            json!(true)
        } else if counted.row.manage_stock {
            json!("parent")
        } else {
            json!(false)
        };
        body.insert("manage_stock", managed);
        body.insert("stock_quantity", quantity(counted.row.stock_quantity));
        if !is_current(self.version) {
            body.insert("in_stock", own.is_in_stock());
        }
        body.insert("backorders", counted.row.backorders.as_str());
        body.insert("backorders_allowed", counted.allows_backorders());
        let is_short = counts
            && counted.row.manage_stock
            && counted.allows_backorders()
            && counted.row.stock_quantity.unwrap_or_default().is_negative();
        body.insert("backordered", own.row.stock_status == ON_BACKORDER || is_short);
        if is_current(self.version) {
            body.insert("low_stock_amount", quantity(own.row.low_stock_amount));
        }
    }

    pub(super) fn measure(&self, of: fn(&super::record::Details) -> &String) -> &str {
        if self.raw { of(&self.product().details) } else { self.loaded.measure(of) }
    }

    fn parcel(&self, body: &mut Body) {
        let row = &self.product().row;
        body.insert("weight", self.measure(|details| &details.weight));
        body.insert("dimensions", self.dimensions());
        let ships = !row.is_virtual;
        body.insert("shipping_required", ships);
        body.insert("shipping_taxable", ships && self.tax_status() != "none");
        let class = self.loaded.shipping_class();
        body.insert("shipping_class", class.map_or("", |class| &class.slug));
        body.insert("shipping_class_id", class.map_or(0, |class| class.term_id));
    }

    pub(super) fn dimensions(&self) -> Value {
        json!({
            "length": self.measure(|details| &details.length),
            "width": self.measure(|details| &details.width),
            "height": self.measure(|details| &details.height),
        })
    }

    fn groups(&self, call: &mut Call<'_>, body: &mut Body) -> Result<(), Stop> {
        let (row, details) = (&self.product().row, &self.product().details);
        let is_variation = self.product().is(VARIATION);
        for (name, value) in details.plain.shown(self.version, self.raw) {
            body.insert(name, value);
        }
        body.insert("reviews_allowed", details.reviews_allowed && !is_variation);
        let rating = row.average_rating;
        let unrated = self.raw && row.rating_count == 0;
        let rating = if unrated { rating.to_string() } else { rating.to_text(2) };
        body.insert("average_rating", rating);
        body.insert("rating_count", row.rating_count);
        body.insert("parent_id", row.parent_id);
        body.insert("categories", self.terms(CATEGORY));
        if is_current(self.version) {
            body.insert("brands", self.terms(BRAND));
        }
        body.insert("tags", self.terms(TAG));
        body.insert("images", self.images(call)?);
        Ok(())
    }

    fn terms(&self, taxonomy: &str) -> Vec<Value> {
        let shown = self
            .loaded
            .terms_of(taxonomy)
            .map(|term| json!({ "id": term.term_id, "name": term.name, "slug": term.slug }));
        shown.collect()
    }

    fn images(&self, call: &mut Call<'_>) -> Result<Vec<Value>, Stop> {
        let images = &self.product().details.images;
        if images.is_empty() && !is_current(self.version) {
            let stand_in = pictures::stand_in(call)?;
            return Ok(vec![image(call.visit, &stand_in, 0, self.version)]);
        }
        let places = (0_i64..).zip(images);
        Ok(places.map(|(place, one)| image(call.visit, one, place, self.version)).collect())
    }

    fn parts(&self, call: &mut Call<'_>, body: &mut Body) -> Result<(), Stop> {
        let product = self.product();
        body.insert("attributes", super::attributes::shown(self.loaded, self.version));
        body.insert("default_attributes", super::attributes::defaults_shown(self.loaded));
        let children = &self.loaded.children;
        let variations = match self.version {
            Version::One if product.is(VARIABLE) => variation::embedded(call, children)?,
            _ => json!(children),
        };
        body.insert("variations", variations);
        let parts = if product.is(GROUPED) { &*product.details.grouped_products } else { &[] };
        body.insert("grouped_products", parts.to_vec());
        body.insert("menu_order", product.row.menu_order);
        Ok(())
    }

    fn more(&self, call: &mut Call<'_>, body: &mut Body) -> Result<(), Stop> {
        let product = self.product();
        let fields = Fields::read(&call.params);
        let asks = |name: &str| fields.as_ref().is_none_or(|fields| fields.includes(name));
        body.insert("price_html", price::html(product, call.options()));
        if asks("related_ids") {
            body.insert("related_ids", related::ids(call.conn()?, self.loaded)?);
        }
        if self.version != Version::One {
            body.insert("meta_data", meta_data(call, product));
        }
        if !is_current(self.version) {
            return Ok(());
        }
        body.insert("stock_status", product.row.stock_status.as_str());
        body.insert("has_options", product.is(VARIABLE) || product.is(GROUPED));
        body.insert("global_unique_id", product.row.global_unique_id.as_str());
        body.insert("permalink_template", address::template(call.visit));
        if self.raw && asks("generated_slug") {
            body.insert("generated_slug", address::generated_slug(call.conn()?, product)?);
        }
        if let Some(time) = self.loaded.last_order {
            body.insert("last_order_date", written(call.options().local(time)));
        }
        Ok(())
    }
}

/// A quantity as a number: whole where it is whole.
pub(super) fn quantity(amount: Option<Amount>) -> Value {
    match amount {
        None => Value::Null,
        Some(amount) if Amount::from_whole(amount.to_whole()) == amount => json!(amount.to_whole()),
        Some(amount) => json!(amount.to_f64()),
    }
}

/// The entries of `meta_data` that the request asks for.
pub(super) fn meta_data(call: &Call<'_>, product: &Product) -> Vec<Value> {
    let (include, exclude) = (call.params.texts("include_meta"), call.params.texts("exclude_meta"));
    let entries = product.details.meta_data.iter().filter(|entry| {
        let key = entry.get("key").and_then(Value::as_str).unwrap_or_default();
        let is_named = |names: &[String]| names.iter().any(|name| name == key);
        if include.is_empty() { !is_named(&exclude) } else { is_named(&include) }
    });
    entries.cloned().collect()
}

/// Files of this site are kept without its address.
pub(super) fn downloads(call: &Call<'_>, product: &Product) -> Vec<Value> {
    let files = product.details.downloads.iter().map(|download| {
        let is_own = download.file.starts_with('/');
        let file = if is_own { call.visit.page(&download.file) } else { download.file.clone() };
        json!({ "id": download.id, "name": download.name, "file": file })
    });
    files.collect()
}

pub(super) fn image(visit: &Visit, image: &Image, place: i64, version: Version) -> Value {
    let options: &Options = &visit.options;
    let mut body = Body::new();
    body.insert("id", image.id);
    let (created, modified) =
        (Timestamp::from_micros(image.created_us), Timestamp::from_micros(image.modified_us));
    if version == Version::One {
        body.insert("date_created", written(Moment::at(options, created).gmt));
        body.insert("date_modified", written(Moment::at(options, modified).gmt));
    } else {
        body.insert_date(options, "date_created", Some(created));
        body.insert_date(options, "date_modified", Some(modified));
    }
    body.insert("src", pictures::address(visit, &image.src));
    body.insert("name", image.name.as_str());
    body.insert("alt", image.alt.as_str());
    if is_current(version) {
        body.insert("srcset", pictures::source_set(visit, &image.sources));
        body.insert("sizes", pictures::source_sizes(image.width));
        body.insert("thumbnail", pictures::thumbnail_address(visit, image));
    } else {
        body.insert("position", place);
    }
    body.into_value()
}

/// The product as it is after a change.
pub(super) fn reload(call: &mut Call<'_>, product_id: i64) -> Result<Loaded, Stop> {
    let missing = || types::Error::internal("a new product was not found");
    Ok(loaded::find(call.conn()?, product_id)?.ok_or_else(missing)?)
}
