//! Products as content of the site: found by its search, commented on, and shown by the interface
//! of posts. **What changes a product goes the way of every request for one**, so that prices,
//! stock and the feed stay right.

use contract::rest::{Refusal, Verb};
use db::Conn;
use frame::dates::written;
use frame::{ContentChange, ContentSource, Names, Options, Site, TermArchive, Visit};
use serde_json::{Map, Value, json};
use shop_rows::attribute;
use shop_rows::product::{self, ProductColumn, ProductFilter, ProductOrder, ProductSearch};
use site_rows::post::{PostColumn, PostFilter, PostOrder, PostRow};
use types::Result;

use super::rating;
use super::record::{BRAND, CATEGORY, EXTERNAL, GROUPED, Product, SHIPPING_CLASS, TAG, VARIATION};

const KIND: &str = "product";
/// Products in a row of the catalogue.
const COLUMNS: usize = 4;

/// Products as a kind of content.
#[derive(Debug)]
pub struct ProductContent {
    /// The REST path of products.
    path: String,
}

impl ProductContent {
    pub fn new(names: &Names) -> Self {
        Self { path: format!("/{}{}", names.commerce_v3, super::PATH) }
    }
}

impl ContentSource for ProductContent {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn get(&self, conn: &mut dyn Conn, visit: &Visit, id: i64) -> Result<Option<PostRow>> {
        let Some(row) = product::get(conn, id)? else { return Ok(None) };
        let product = Product::of_row(row)?;
        Ok((!product.is(VARIATION)).then(|| as_post(&visit.options, &product)))
    }

    fn list(
        &self,
        conn: &mut dyn Conn,
        visit: &Visit,
        wanted: &PostFilter,
    ) -> Result<(Vec<PostRow>, i64)> {
        let (rows, total) = product::list(conn, &filter(&visit.options, wanted))?;
        let mut posts = Vec::with_capacity(rows.len());
        for row in rows {
            posts.push(as_post(&visit.options, &Product::of_row(row)?));
        }
        Ok((posts, total))
    }

    fn terms(&self, conn: &mut dyn Conn, ids: &[i64]) -> Result<Vec<(i64, String, i64)>> {
        let terms = product::terms_of(conn, ids)?;
        Ok(terms.into_iter().map(|term| (term.product_id, term.taxonomy, term.term_id)).collect())
    }

    fn term_count(&self, conn: &mut dyn Conn, taxonomy: &str, term_id: i64) -> Result<Option<i64>> {
        if ![CATEGORY, TAG, BRAND].contains(&taxonomy) {
            return Ok(None);
        }
        let counts = product::counts_by_term(conn, taxonomy)?;
        Ok(Some(counts.get(&term_id).copied().unwrap_or_default()))
    }

    fn archives(&self, conn: &mut dyn Conn) -> Result<Vec<TermArchive>> {
        let classes = TermArchive { taxonomy: SHIPPING_CLASS.to_owned(), path: None };
        let attributes = attribute::all(conn)?.into_iter().filter(|row| row.has_archives);
        let attributes = attributes.map(|row| TermArchive {
            taxonomy: attribute::taxonomy(&row.name),
            path: Some(row.name),
        });
        Ok(attributes.chain([classes]).collect())
    }

    fn classes(&self, conn: &mut dyn Conn, id: i64, place: usize) -> Result<Vec<String>> {
        let Some(row) = product::get(conn, id)? else { return Ok(Vec::new()) };
        let product = Product::of_row(row)?;
        let taxes = Options::read(conn)?.is_on("woocommerce_calc_taxes");
        let mut all: Vec<String> = Vec::new();
        for term in product::terms_of(conn, &[id])? {
            let further = term.taxonomy == SHIPPING_CLASS || term.taxonomy.starts_with("pa_");
            all.extend(further.then(|| format!("{}-{}", term.taxonomy, term.slug)));
        }
        all.extend(classes(&product, taxes, place));
        Ok(all)
    }

    fn save(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        visit: &Visit,
        change: &ContentChange<'_>,
    ) -> Result<std::result::Result<i64, Refusal>> {
        let row = change.row;
        let (verb, path) = match row.post_id {
            0 => (Verb::Post, self.path.clone()),
            id => (Verb::Put, format!("{}/{id}", self.path)),
        };
        let mut body = body(change);
        if let Some(images) = images(conn, row)? {
            body.insert(String::from("images"), images);
        }
        let saved = site.import(conn, visit, verb, (&path, body))?;
        let id_of = |shown: Value| shown.get("id").and_then(Value::as_i64).unwrap_or(row.post_id);
        let saved = saved.map(id_of);
        let names_category = change.terms.iter().any(|(taxonomy, _)| *taxonomy == CATEGORY);
        if let (Ok(id), 0, false) = (&saved, row.post_id, names_category) {
            // Only who leaves the categories empty means the default one.
            product::set_terms(conn, *id, CATEGORY, &[])?;
        }
        Ok(saved)
    }

    fn delete(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        visit: &Visit,
        (id, for_good): (i64, bool),
    ) -> Result<std::result::Result<(), Refusal>> {
        let body = Map::from_iter([(String::from("force"), json!(for_good))]);
        let path = format!("{}/{id}", self.path);
        Ok(site.import(conn, visit, Verb::Delete, (&path, body))?.map(drop))
    }

    fn comments_changed(&self, conn: &mut dyn Conn, id: i64) -> Result<()> {
        rating::refresh(conn, id)
    }
}

fn as_post(options: &Options, product: &Product) -> PostRow {
    let (row, details) = (&product.row, &product.details);
    let comments = if details.reviews_allowed { "open" } else { "closed" };
    PostRow {
        post_id: row.product_id,
        kind: KIND.to_owned(),
        status: row.status.clone(),
        slug: row.slug.clone(),
        title: row.name.clone(),
        content: row.description.clone(),
        excerpt: row.short_description.clone(),
        author_id: row.author_id,
        menu_order: row.menu_order,
        comment_status: comments.to_owned(),
        ping_status: String::from("closed"),
        password: details.plain.post_password.clone(),
        featured_media: details.images.first().map_or(0, |image| image.id),
        date: options.local(row.created),
        date_gmt: Some(row.created),
        modified: options.local(row.modified),
        modified_gmt: row.modified,
        trashed_status: row.trashed_status.clone(),
        meta: json!({ "guid": details.first_path }).to_string(),
        ..PostRow::default()
    }
}

fn filter(options: &Options, wanted: &PostFilter) -> ProductFilter {
    let moment = |local: Option<types::Timestamp>| local.map(|local| options.from_local(local));
    let columns = wanted.search_columns.iter().map(|column| match column {
        PostColumn::Title => ProductColumn::Name,
        PostColumn::Excerpt => ProductColumn::ShortDescription,
        PostColumn::Content => ProductColumn::Description,
    });
    let search = ProductSearch { words: wanted.search.clone(), columns: columns.collect() };
    ProductFilter {
        kinds_exclude: vec![VARIATION.to_owned()],
        statuses: wanted.statuses.clone(),
        include: wanted.include.clone(),
        exclude: wanted.exclude.clone(),
        slugs: wanted.slugs.clone(),
        without_password: wanted.without_password,
        visibilities: if wanted.listed_only { listed() } else { Vec::new() },
        searches: if wanted.search.is_empty() { Vec::new() } else { vec![search] },
        after: moment(wanted.after),
        before: moment(wanted.before),
        modified_after: moment(wanted.modified_after),
        modified_before: moment(wanted.modified_before),
        terms: wanted.terms.clone(),
        terms_relation: wanted.terms_relation,
        order: order(wanted.order),
        direction: wanted.direction,
        page: wanted.page,
        ..ProductFilter::default()
    }
}

/// The visibilities of products that lists of the catalogue show.
fn listed() -> Vec<String> {
    ["visible", "catalog"].map(str::to_owned).to_vec()
}

fn order(order: PostOrder) -> ProductOrder {
    match order {
        PostOrder::Id => ProductOrder::Id,
        PostOrder::Include => ProductOrder::Include,
        PostOrder::Modified => ProductOrder::Modified,
        PostOrder::Slug | PostOrder::IncludeSlugs => ProductOrder::Slug,
        PostOrder::Title => ProductOrder::Title,
        PostOrder::MenuOrder => ProductOrder::MenuOrder,
        PostOrder::Author | PostOrder::Date | PostOrder::Parent | PostOrder::Relevance => {
            ProductOrder::Date
        }
    }
}

/// The pictures of a product whose first one is to be another; nothing if that stays.
fn images(conn: &mut dyn Conn, wanted: &PostRow) -> Result<Option<Value>> {
    let known = product::get(conn, wanted.post_id)?.map(Product::of_row).transpose()?;
    let known = known.map(|product| product.details.images).unwrap_or_default();
    let first = known.first().map_or(0, |image| image.id);
    if first == wanted.featured_media {
        return Ok(None);
    }
    let others = known.iter().skip(1).map(|image| image.id);
    let all = [wanted.featured_media].into_iter().chain(others).filter(|id| *id != 0);
    Ok(Some(all.map(|id| json!({ "id": id })).collect()))
}

/// What the request for a product says about this change.
fn body(change: &ContentChange<'_>) -> Map<String, Value> {
    let row = change.row;
    let mut body = Map::new();
    let mut say = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    say("name", json!(row.title));
    say("status", json!(row.status));
    say("description", json!(row.content));
    say("short_description", json!(row.excerpt));
    say("reviews_allowed", json!(row.comment_status == "open"));
    say("post_password", json!(row.password));
    say("menu_order", json!(row.menu_order));
    if !row.slug.is_empty() {
        say("slug", json!(row.slug));
    }
    if row.date_gmt.is_some() {
        say("date_created", json!(written(row.date)));
    }
    for (taxonomy, ids) in change.terms {
        let field = match *taxonomy {
            CATEGORY => "categories",
            TAG => "tags",
            BRAND => "brands",
            _ => continue,
        };
        say(field, ids.iter().map(|id| json!({ "id": id })).collect());
    }
    body
}

fn classes(product: &Product, taxes: bool, place: usize) -> Vec<String> {
    let row = &product.row;
    let edge = match place % COLUMNS {
        0 => "first",
        last if last == COLUMNS - 1 => "last",
        _ => "",
    };
    let taxable = taxes && row.tax_status == "taxable";
    let ships = !row.is_virtual && row.kind != EXTERNAL;
    let shipping_taxable = taxes && ships && row.tax_status != "none";
    let purchasable = row.price.is_some() && row.kind != EXTERNAL && row.kind != GROUPED;
    let marks = [
        (true, edge),
        (true, row.stock_status.as_str()),
        (row.on_sale, "sale"),
        (row.featured, "featured"),
        (row.downloadable, "downloadable"),
        (row.is_virtual, "virtual"),
        (product.details.plain.sold_individually, "sold-individually"),
        (taxable, "taxable"),
        (shipping_taxable, "shipping-taxable"),
        (purchasable, "purchasable"),
    ];
    let mut classes: Vec<String> =
        marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark.to_owned()).collect();
    classes.push(format!("product-type-{}", row.kind));
    classes
}
