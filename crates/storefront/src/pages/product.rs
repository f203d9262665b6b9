//! The page of a product, with the form that puts it into the cart.
//!
//! The form has no token: it is judged by where the browser says that it comes from, and a cart
//! that another site's page would fill is not the reader's, whose cookie stays at home.

use askama::Template;
use commerce::products::ProductRecord;
use content::pages::{Commenter, Masthead, Policy, rendered};
use content::web::{Fields, WebAnswer, encoded, link_json, shown_title};
use contract::rest::Verb;
use frame::Call;
use frame::pages::TrustedHtml;
use serde_json::Value;
use shop_rows::product::ProductRow;
use types::Result;

use super::linked_data;
use super::path::CART;
use super::product_form::{self, BuyForm};
use super::reviews::{ReviewForm, ReviewView, reviews_of};
use super::shop_request::ShopRequest;
use super::trail;
use super::values::{Picture, Price, Target, flag, list, number, plain_text, price, settled, text};
use crate::products;

const KIND: &str = "page:product";
/// Characters of the summary that other sites show.
const SUMMARY_CHARS: usize = 200;
const FOREIGN: &str = "The form did not come from this page; try again.";
const NOTHING: &str = "Enter a quantity for at least one product.";

#[derive(Template)]
#[template(path = "shop/product.html")]
struct ProductPage<'a> {
    site: Masthead<'a>,
    name: String,
    summary: String,
    permalink: &'a str,
    shortlink: String,
    json: String,
    oembed: String,
    linked_data: String,
    trail: &'a [Target],
    pictures: Vec<Picture>,
    price: Price,
    is_locked: bool,
    short_description: TrustedHtml<'a>,
    description: TrustedHtml<'a>,
    sku: &'a str,
    stock: String,
    rating: String,
    terms: Vec<(&'static str, Vec<Target>)>,
    attributes: Vec<(String, String)>,
    form: BuyForm,
    error: &'a str,
    reviews: &'a [ReviewView],
    review_form: Option<ReviewForm>,
    commenter: Commenter,
}

/// A product with what its page needs besides.
struct Parts {
    /// As the page calls it.
    name: String,
    /// Whether what readers see depends on a password that they were told.
    has_password: bool,
    product: Value,
    members: Vec<Value>,
    trail: Vec<Target>,
    reviews: Vec<ReviewView>,
    review_form: Option<ReviewForm>,
}

impl ShopRequest<'_> {
    pub(super) async fn product(&mut self, slug: &str) -> Result<Option<WebAnswer>> {
        let wanted = frame::text::slugify(slug);
        let found = self.within().look(move |call| parts(call, &wanted)).await;
        let Some(parts) = settled(found)?.flatten() else { return Ok(None) };
        if let Some(moved) = self.page.with_slash(KIND).filter(|_| !self.is_post()) {
            return Ok(Some(moved));
        }
        if self.is_post() {
            return self.product_posted(&parts).await.map(Some);
        }
        let chosen = self.page.query();
        Ok(Some(self.product_page(&parts, &chosen, "")))
    }

    async fn product_posted(&mut self, parts: &Parts) -> Result<WebAnswer> {
        let fields = self.page.form();
        if !self.page.is_direct_post() {
            return Ok(self.refused_product(parts, &fields, (403, FOREIGN)));
        }
        let wanted = product_form::wanted(&fields);
        if wanted.is_empty() {
            return Ok(self.refused_product(parts, &fields, (400, NOTHING)));
        }
        for body in wanted {
            let said = self.ask(Verb::Post, "/cart/add-item", Some(body)).await;
            if !said.is_fine() {
                let message = said.message();
                return Ok(self.refused_product(parts, &fields, (said.status, &message)));
            }
        }
        Ok(self.redirect(KIND, &format!("{CART}/")))
    }

    fn refused_product(
        &self,
        parts: &Parts,
        fields: &Fields,
        (status, message): (u16, &str),
    ) -> WebAnswer {
        let mut answer = self.product_page(parts, fields, message);
        answer.status = status;
        answer.headers.retain(|(name, _)| *name != "cache-control");
        answer.headers.push(("cache-control", String::from("no-store")));
        answer
    }

    fn product_page(&self, parts: &Parts, typed: &Fields, error: &str) -> WebAnswer {
        let Parts { name, has_password, product, members, trail, reviews, review_form } = parts;
        let is_locked = flag(product, "is_password_protected");
        let names = &self.page.site.settings().names;
        let (id, permalink) = (number(product, "id"), text(product, "permalink"));
        let json = self.visit.rest(&format!("/{}/product/{id}", names.content));
        let oembed = format!("/{}/embed?url={}", names.oembed, encoded(permalink));
        let linked = if is_locked {
            linked_data::breadcrumbs(&self.visit, trail)
        } else {
            linked_data::of_product(&self.visit, trail, product)
        };
        let page = ProductPage {
            site: self.page.masthead(),
            name: name.clone(),
            summary: summary(product),
            permalink,
            shortlink: self.visit.page(&format!("/?p={id}")),
            json: json.clone(),
            oembed: self.visit.rest(&oembed),
            linked_data: linked_data::script(&linked),
            trail,
            pictures: if is_locked { Vec::new() } else { self.pictures(product, false) },
            price: price(product),
            is_locked,
            short_description: TrustedHtml(text(product, "short_description")),
            description: TrustedHtml(text(product, "description")),
            sku: text(product, "sku"),
            stock: plain_text(&product["stock_availability"], "text"),
            rating: rating(product),
            terms: [("Categories", "categories"), ("Tags", "tags"), ("Brands", "brands")]
                .map(|(label, name)| (label, targets(product, name)))
                .into_iter()
                .filter(|(_, targets)| !targets.is_empty())
                .collect(),
            attributes: attributes(product),
            form: BuyForm::of(product, members, typed),
            error,
            reviews,
            review_form: *review_form,
            commenter: self.page.commenter(),
        };
        let is_kept = page.commenter == Commenter::default() && !has_password;
        let mut answer = self.page.open_page(KIND, Policy::Post, rendered(&page));
        if !is_kept {
            answer.headers.retain(|(name, _)| *name != "cache-control");
            answer.headers.push(("cache-control", String::from("no-store")));
        }
        link_json(&mut answer.headers, &json);
        answer
    }
}

fn parts(call: &mut Call<'_>, slug: &str) -> Result<Option<Parts>, contract::rest::Stop> {
    let row = shop_rows::product::find_by_slug(call.conn()?, slug)?;
    let Some(product) = products::shown(call, row.clone().into_iter().collect())?.pop() else {
        return Ok(None);
    };
    let ids: Vec<i64> =
        list(&product, "grouped_products").iter().filter_map(Value::as_i64).collect();
    let members = if ids.is_empty() { Vec::new() } else { products::shown_by_ids(call, &ids)? };
    let has_password = !password_of(row.clone())?.is_empty();
    let name = shown_title(plain_text(&product, "name"), has_password);
    let visit = call.visit;
    let mut trail = trail::of_product(call.conn()?, visit, &product)?;
    trail.push(Target { text: name.clone(), href: text(&product, "permalink").to_owned() });
    let (reviews, review_form) = reviews_of(call, row)?;
    Ok(Some(Parts { name, has_password, product, members, trail, reviews, review_form }))
}

fn password_of(row: Option<ProductRow>) -> Result<String> {
    let product = row.map(ProductRecord::of_row).transpose()?;
    Ok(product.map(|product| product.details.plain.post_password).unwrap_or_default())
}

fn summary(product: &Value) -> String {
    let text = match plain_text(product, "short_description") {
        empty if empty.is_empty() => plain_text(product, "description"),
        short => short,
    };
    text.chars().take(SUMMARY_CHARS).collect()
}

fn rating(product: &Value) -> String {
    let reviews = match number(product, "review_count") {
        0 => return String::new(),
        1 => String::from("1 review"),
        count => format!("{count} reviews"),
    };
    format!("Rated {} of 5, {reviews}", text(product, "average_rating"))
}

fn targets(product: &Value, name: &str) -> Vec<Target> {
    let each = list(product, name)
        .iter()
        .map(|term| Target { text: plain_text(term, "name"), href: text(term, "link").to_owned() });
    each.collect()
}

/// Attributes that are not chosen, with their values in words.
fn attributes(product: &Value) -> Vec<(String, String)> {
    let own = list(product, "attributes").iter().filter(|own| !flag(own, "has_variations"));
    let each = own.map(|attribute| {
        let terms = list(attribute, "terms").iter().map(|term| plain_text(term, "name"));
        (plain_text(attribute, "name"), terms.collect::<Vec<_>>().join(", "))
    });
    each.collect()
}
