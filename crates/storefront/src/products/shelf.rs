//! Products with what is shown beside them, read for a whole list at once.

use std::collections::HashMap;
use std::sync::Arc;

use commerce::products::loaded::{self, Loaded};
use commerce::products::record::{BRAND, CATEGORY, PUBLISH, VARIABLE, VARIATION};
use commerce::products::{ProductRecord, price};
use contract::rest::Stop;
use db::Conn;
use db::filter::{LIST_MAX, PAGE_MAX, Page};
use frame::Call;
use shop_rows::product::{self, ProductFilter, ProductOrder, ProductRow, VariationAttribute};
use site_rows::term::{self, TermFilter};
use types::Result;

/// Levels of terms above a term that its address names.
const LEVELS_MAX: usize = 32;

/// A product in its surroundings, with the prices of this moment.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) loaded: Loaded,
    /// The published variations of a variable product, with what each has chosen.
    pub(crate) variations: Vec<(ProductRecord, Vec<VariationAttribute>)>,
    pub(crate) paths: Arc<Paths>,
    /// Whether it has a password that the reader was not told.
    pub(crate) is_locked: bool,
}

/// Slugs of the terms that have terms above or below them, by id, for their addresses.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    terms: HashMap<i64, (i64, String)>,
}

impl Paths {
    pub(crate) fn read(conn: &mut dyn Conn, taxonomies: &[&str]) -> Result<Self> {
        let mut terms = HashMap::new();
        let taxonomies: Vec<String> = taxonomies.iter().map(|name| (*name).to_owned()).collect();
        let wanted = TermFilter { taxonomies, ..TermFilter::default() };
        for row in term::list(conn, &wanted)?.0 {
            terms.insert(row.term_id, (row.parent_id, row.slug));
        }
        Ok(Self { terms })
    }

    /// The slugs of the terms above it and its own, such as `boats/rigging`.
    pub(crate) fn of(&self, term_id: i64, slug: &str) -> String {
        let mut parts = vec![slug];
        let mut next = self.terms.get(&term_id).map_or(0, |(parent, _)| *parent);
        for _ in 0..LEVELS_MAX {
            let Some((parent, slug)) = self.terms.get(&next) else { break };
            parts.push(slug);
            next = *parent;
        }
        parts.reverse();
        parts.join("/")
    }
}

/// The products of these rows, in their order.
pub(crate) fn of_rows(
    call: &mut Call<'_>,
    rows: Vec<ProductRow>,
) -> std::result::Result<Vec<Shown>, Stop> {
    let now = call.now();
    let mut products = Vec::with_capacity(rows.len());
    for row in rows {
        let mut product = ProductRecord::of_row(row)?;
        // A sale may have begun or ended since the product was written.
        price::settle(&mut product, now);
        products.push(product);
    }
    let mut variations = variations(call, &products)?;
    let has_paths = |loaded: &Loaded| {
        loaded.terms.iter().any(|term| matches!(&*term.taxonomy, CATEGORY | BRAND))
    };
    let loaded = loaded::load(call.conn()?, products)?;
    let paths = if loaded.iter().any(has_paths) {
        Paths::read(call.conn()?, &[CATEGORY, BRAND])?
    } else {
        Paths::default()
    };
    let paths = Arc::new(paths);
    let (site, visit) = (call.site, call.visit);
    let shown = loaded.into_iter().map(|loaded| Shown {
        is_locked: !site.is_open_to(visit, &loaded.lock()),
        variations: variations.remove(&loaded.product.id()).unwrap_or_default(),
        paths: Arc::clone(&paths),
        loaded,
    });
    Ok(shown.collect())
}

type Variations = HashMap<i64, Vec<(ProductRecord, Vec<VariationAttribute>)>>;

/// The published variations of the variable products among these.
fn variations(
    call: &mut Call<'_>,
    products: &[ProductRecord],
) -> std::result::Result<Variations, Stop> {
    let now = call.now();
    let hides = call.options().is_on("woocommerce_hide_out_of_stock_items");
    let variable = products.iter().filter(|product| product.is(VARIABLE));
    let ids: Vec<i64> = variable.map(ProductRecord::id).collect();
    let mut found: Variations = HashMap::new();
    for chunk in ids.chunks(LIST_MAX) {
        let wanted = ProductFilter {
            kinds: vec![VARIATION.to_owned()],
            parents: chunk.to_vec(),
            statuses: vec![PUBLISH.to_owned()],
            order: ProductOrder::Id,
            page: Page { offset: 0, limit: PAGE_MAX },
            ..ProductFilter::default()
        };
        let (mut rows, _) = product::list(call.conn()?, &wanted)?;
        rows.sort_by_key(|row| (row.menu_order, row.product_id));
        let variation_ids: Vec<i64> = rows.iter().map(|row| row.product_id).collect();
        let mut chosen: HashMap<i64, Vec<VariationAttribute>> = HashMap::new();
        for some in variation_ids.chunks(LIST_MAX) {
            for (id, attribute) in product::attributes_of(call.conn()?, some)? {
                chosen.entry(id).or_default().push(attribute);
            }
        }
        for row in rows {
            let own = chosen.remove(&row.product_id).unwrap_or_default();
            let mut variation = ProductRecord::of_row(row)?;
            price::settle(&mut variation, now);
            if hides && !variation.is_in_stock() {
                continue;
            }
            found.entry(variation.row.parent_id).or_default().push((variation, own));
        }
    }
    Ok(found)
}
