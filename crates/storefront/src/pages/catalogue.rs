//! Lists of products: the whole shop, a category, a tag, a brand, and what a search finds.

use std::borrow::Cow;

use askama::Template;
use commerce::taxonomies::{BRAND, CATEGORY, SHIPPING_CLASS, TAG};
use content::pages::{Masthead, Policy, rendered};
use content::web::{Fields, WebAnswer, link_json, plain};
use contract::rest::{Verb, form};
use serde_json::{Map, Value, json};
use site_rows::term;
use types::{Amount, Result};

use super::linked_data;
use super::path::{ListOf, Listing, SHOP};
use super::shop_request::ShopRequest;
use super::trail;
use super::values::{Choice, Picture, Price, Target, flag, plain_text, price, text};
use crate::money::Money;

const KIND: &str = "page:shop";
const PER_PAGE: i64 = 16;
/// Characters of a search that are looked at.
const SEARCH_CHARS_MAX: usize = 200;
/// The orders by the names that addresses have for them, with what the Store API calls them.
const ORDERS: &[(&str, &str, (&str, &str))] = &[
    ("menu_order", "Default order", ("menu_order", "asc")),
    ("popularity", "Most popular", ("popularity", "desc")),
    ("rating", "Best rated", ("rating", "desc")),
    ("date", "Newest", ("date", "desc")),
    ("price", "Price: low to high", ("price", "asc")),
    ("price-desc", "Price: high to low", ("price", "desc")),
];
/// Parameters of the query string that the sorting keeps.
const KEPT: [&str; 4] = ["s", "post_type", "min_price", "max_price"];

#[derive(Template)]
#[template(path = "shop/list.html")]
struct ListPage<'a> {
    site: Masthead<'a>,
    heading: String,
    /// Plain text; may be empty.
    about: String,
    trail: Vec<Target>,
    linked_data: String,
    /// The address of the same as JSON; may be empty.
    json: String,
    is_search: bool,
    search: String,
    below: Vec<Target>,
    cards: Vec<Card>,
    action: String,
    orders: Vec<Choice>,
    kept: Vec<(&'static str, String)>,
    /// How many there are, and which are shown.
    count: String,
    previous: Option<String>,
    next: Option<String>,
}

struct Card {
    name: String,
    link: String,
    price: Price,
    picture: Option<Picture>,
    is_sold_out: bool,
}

/// What a list is about.
struct Subject {
    heading: String,
    about: String,
    trail: Vec<Target>,
    /// Zero for none.
    term_id: i64,
    taxonomy: Cow<'static, str>,
    below: Vec<Target>,
    json: String,
    /// The address of the list, without a page's number.
    address: String,
}

impl ShopRequest<'_> {
    pub(super) async fn listing(&mut self, listing: &Listing<'_>) -> Result<Option<WebAnswer>> {
        let query = self.page.query();
        let search: String = query.text("s").trim().chars().take(SEARCH_CHARS_MAX).collect();
        let Some(mut subject) = self.subject(&listing.of, &search).await? else { return Ok(None) };
        let is_search = listing.of == ListOf::Search;
        if !is_search && let Some(moved) = self.page.with_slash(KIND) {
            return Ok(Some(moved));
        }
        let asked = query.text("paged").parse::<i64>().unwrap_or(listing.page);
        let page = if listing.page > 1 { listing.page } else { asked.max(1) };
        let order = self.chosen_order(&query);
        let wanted = self.wanted(&subject, &query, (&search, is_search), (order, page));
        let said = self.ask(Verb::Get, &format!("/products?{}", form::encode(&wanted)), None).await;
        let total = said.number("x-wp-total");
        let pages = said.number("x-wp-totalpages");
        let products = said.json.as_array().filter(|_| said.is_fine());
        let products = products.map(Vec::as_slice).unwrap_or_default();
        if page > 1 && products.is_empty() {
            return Ok(None);
        }
        let kept = KEPT.map(|name| (name, query.text(name).to_owned()));
        let kept: Vec<_> = kept.into_iter().filter(|(name, _)| query.has(name)).collect();
        let turned = |number: i64| subject.page(number, &query);
        let (previous, next) =
            ((page > 1).then(|| turned(page - 1)), (page < pages).then(|| turned(page + 1)));
        if page > 1 {
            let href = format!("{}page/{page}/", subject.address);
            subject.trail.push(Target { text: format!("Page {page}"), href });
        }
        let list = ListPage {
            site: self.page.masthead(),
            linked_data: linked_data::script(&linked_data::breadcrumbs(
                &self.visit,
                &subject.trail,
            )),
            is_search,
            search,
            cards: products.iter().map(|product| self.card(product)).collect(),
            action: if is_search { self.visit.page("/") } else { subject.address },
            orders: choices(order),
            kept,
            count: counted(total, page, products.len()),
            previous,
            next,
            heading: subject.heading,
            about: subject.about,
            trail: subject.trail,
            json: subject.json.clone(),
            below: subject.below,
        };
        let mut answer = self.page.open_page(KIND, Policy::Shop, rendered(&list));
        if !subject.json.is_empty() {
            link_json(&mut answer.headers, &subject.json);
        }
        Ok(Some(answer))
    }

    async fn subject(&self, of: &ListOf<'_>, search: &str) -> Result<Option<Subject>> {
        let address = match of {
            ListOf::Search => self.visit.page("/"),
            _ => self.visit.page(&format!("{SHOP}/")),
        };
        let heading = match of {
            ListOf::Search if search.is_empty() => String::from("Search the shop"),
            ListOf::Search => format!("Products for “{search}”"),
            _ => String::from("Shop"),
        };
        let named = match of {
            ListOf::Term { taxonomy, slugs } => Some((taxonomy.clone(), &**slugs)),
            ListOf::Attribute { name, slug } => {
                Some((Cow::Owned(shop_rows::attribute::taxonomy(name)), *slug))
            }
            ListOf::Shop | ListOf::Search => None,
        };
        let Some((taxonomy, slugs)) = named else {
            let top = if *of == ListOf::Shop { self.top_categories().await? } else { Vec::new() };
            let here = Target { text: heading.clone(), href: address.clone() };
            return Ok(Some(Subject {
                heading,
                about: String::new(),
                trail: vec![here],
                term_id: 0,
                taxonomy: Cow::Borrowed(""),
                below: top,
                json: String::new(),
                address,
            }));
        };
        self.term(taxonomy, slugs).await
    }

    async fn top_categories(&self) -> Result<Vec<Target>> {
        let visit = std::sync::Arc::clone(&self.visit);
        let read = move |conn: &mut dyn db::Conn| trail::categories_below(conn, &visit, (0, &[]));
        self.page.site.store().read(read).await
    }

    /// The term at the end of the path, whatever stands before it.
    async fn term(&self, taxonomy: Cow<'static, str>, slugs: &str) -> Result<Option<Subject>> {
        let visit = std::sync::Arc::clone(&self.visit);
        let slug = frame::text::slugify(slugs.rsplit('/').next().unwrap_or_default());
        let namespace = self.page.site.settings().names.content.clone();
        let read = move |conn: &mut dyn db::Conn| {
            let Some(row) = term::find_by_slug(conn, &taxonomy, &slug)? else { return Ok(None) };
            let trail = trail::of_term(conn, &visit, &row)?;
            let below = if taxonomy == CATEGORY {
                trail::categories_below(conn, &visit, (row.term_id, &trail))?
            } else {
                Vec::new()
            };
            Ok(Some(Subject {
                heading: plain(&row.name),
                about: plain(&row.description),
                address: trail.last().map(|target| target.href.clone()).unwrap_or_default(),
                trail,
                term_id: row.term_id,
                below,
                json: shown_as_json(&visit, &namespace, &row),
                taxonomy: taxonomy.clone(),
            }))
        };
        self.page.site.store().read(read).await
    }

    fn chosen_order(&self, query: &Fields) -> &'static str {
        let usual = self.options().text("woocommerce_default_catalog_orderby");
        let known = |name: &str| ORDERS.iter().find(|(own, ..)| *own == name).map(|(own, ..)| *own);
        known(query.text("orderby")).or_else(|| known(&usual)).unwrap_or("menu_order")
    }

    /// The parameters of the Store API's list.
    fn wanted(
        &self,
        subject: &Subject,
        query: &Fields,
        (search, is_search): (&str, bool),
        (order, page): (&str, i64),
    ) -> Map<String, Value> {
        let options = self.options();
        let money = Money::of(options);
        let (by, direction) = ORDERS
            .iter()
            .find(|(own, ..)| *own == order)
            .map_or(("menu_order", "asc"), |(_, _, named)| *named);
        let visibility = if is_search { "search" } else { "catalog" };
        let mut wanted = Map::new();
        let mut add = |name: &str, value: Value| wanted.insert(name.to_owned(), value);
        add("per_page", json!(PER_PAGE.to_string()));
        add("page", json!(page.to_string()));
        add("orderby", json!(by));
        add("order", json!(direction));
        add("catalog_visibility", json!(visibility));
        if is_search {
            add("search", json!(search));
        }
        for name in ["min_price", "max_price"] {
            if let Ok(bound) = query.text(name).parse::<Amount>() {
                add(name, json!(money.minor(bound)));
            }
        }
        if options.is_on("woocommerce_hide_out_of_stock_items") {
            add("stock_status", json!(["instock", "onbackorder"]));
        }
        if subject.term_id != 0 {
            let id = subject.term_id.to_string();
            match &*subject.taxonomy {
                TAG => add("tag", json!(id)),
                BRAND => add("brand", json!(id)),
                // Which taxonomy a number is of makes no difference to the list.
                CATEGORY | SHIPPING_CLASS => add("category", json!(id)),
                attribute => {
                    add("attributes", json!([{ "attribute": attribute, "term_id": [id] }]))
                }
            };
        }
        wanted
    }
}

impl ShopRequest<'_> {
    fn card(&self, product: &Value) -> Card {
        Card {
            name: plain_text(product, "name"),
            link: text(product, "permalink").to_owned(),
            price: price(product),
            picture: self.pictures(product, true).into_iter().next(),
            is_sold_out: !flag(product, "is_in_stock"),
        }
    }
}

/// The address of a term as JSON; empty for terms that have no such.
fn shown_as_json(visit: &frame::Visit, namespace: &str, row: &term::TermRow) -> String {
    let is_public = [CATEGORY, TAG, BRAND].contains(&&*row.taxonomy);
    let path = format!("/{namespace}/{}/{}", row.taxonomy, row.term_id);
    if is_public { visit.rest(&path) } else { String::new() }
}

impl Subject {
    /// The address of another page of the list, in the same order.
    fn page(&self, number: i64, query: &Fields) -> String {
        let mut kept: Map<String, Value> = query.all().clone();
        kept.retain(|name, value| {
            value.is_string() && (KEPT.contains(&&**name) || name == "orderby")
        });
        let query = form::encode(&kept);
        let mark = if query.is_empty() { "" } else { "?" };
        let page = if number > 1 { format!("page/{number}/") } else { String::new() };
        format!("{}{page}{mark}{query}", self.address)
    }
}

fn choices(chosen: &str) -> Vec<Choice> {
    let each = ORDERS.iter().map(|(value, words, _)| Choice {
        value: (*value).to_owned(),
        text: (*words).to_owned(),
        is_chosen: *value == chosen,
    });
    each.collect()
}

fn counted(total: i64, page: i64, shown: usize) -> String {
    let shown = i64::try_from(shown).unwrap_or_default();
    match total {
        0 => String::from("No products were found."),
        1 => String::from("1 product"),
        _ if shown == total => format!("{total} products"),
        _ => {
            let first = (page - 1).saturating_mul(PER_PAGE) + 1;
            format!("Products {first} to {} of {total}", first + shown - 1)
        }
    }
}
