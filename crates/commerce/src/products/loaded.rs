//! Products with what is shown beside them, read for a whole list at once: the terms that they
//! bear, the product of a variation, the variations of a product, names of attributes and values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use db::filter::{Direction, Page};
use db::{Conn, filter};
use shop_rows::attribute::{self, AttributeRow};
use shop_rows::product::{self, ProductFilter, ProductOrder, ProductTerm, VariationAttribute};
use site_rows::term::{self, TermFilter};
use types::{Result, Timestamp};

use super::record::{Product, SHIPPING_CLASS, TRASH, VARIABLE, VARIATION, attribute_of};
use crate::pictures;

/// Ids that are asked for in one query.
const CHUNK: usize = 200;

/// A product with its surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) product: Product,
    /// By name.
    pub(crate) terms: Vec<ProductTerm>,
    /// What makes a variation differ from its sisters.
    pub(crate) chosen: Vec<VariationAttribute>,
    /// The product of a variation.
    pub(crate) parent: Option<Arc<Parent>>,
    /// The ids of a product's variations, in their order.
    pub(crate) children: Vec<i64>,
    /// When it was last ordered; looked for only where somebody asks.
    pub(crate) last_order: Option<Timestamp>,
    pub(crate) words: Arc<Words>,
}

/// What a variation has from its product.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) product: Product,
    pub(crate) shipping_class: Option<ProductTerm>,
}

/// The shop's attributes, and the names of terms by taxonomy and slug.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) attributes: Vec<AttributeRow>,
    pub(crate) terms: HashMap<(String, String), String>,
}

impl Words {
    /// How people call the value of an attribute.
    pub(crate) fn value<'a>(&'a self, chosen: &'a VariationAttribute) -> &'a str {
        let key = (chosen.name.clone(), chosen.value.clone());
        self.terms.get(&key).unwrap_or(&chosen.value)
    }

    pub(crate) fn attribute(&self, taxonomy: &str) -> Option<&AttributeRow> {
        attribute_of(&self.attributes, taxonomy)
    }
}

impl Loaded {
    /// The terms of one taxonomy, by name.
    pub(crate) fn terms_of(&self, taxonomy: &str) -> impl Iterator<Item = &ProductTerm> {
        self.terms.iter().filter(move |term| term.taxonomy == taxonomy)
    }

    /// Its own shipping class, or that of its product.
    pub(crate) fn shipping_class(&self) -> Option<&ProductTerm> {
        let of_parent = || self.parent.as_ref().and_then(|parent| parent.shipping_class.as_ref());
        self.terms_of(SHIPPING_CLASS).next().or_else(of_parent)
    }

    /// Values of a variation in the words of people: `Small, Blue`.
    pub(crate) fn variation_summary(&self) -> String {
        let chosen = self.chosen.iter().filter(|chosen| !chosen.value.is_empty());
        chosen.map(|chosen| self.words.value(chosen)).collect::<Vec<_>>().join(", ")
    }
}

/// The product of this id with its surroundings.
pub(crate) fn find(conn: &mut dyn Conn, product_id: i64) -> Result<Option<Loaded>> {
    let Some(product) = super::record::get(conn, product_id)? else { return Ok(None) };
    Ok(load(conn, vec![product])?.into_iter().next())
}

/// The products with their surroundings, in their order.
pub(crate) fn load(conn: &mut dyn Conn, mut products: Vec<Product>) -> Result<Vec<Loaded>> {
    let mut images: Vec<_> = products.iter_mut().map(|one| &mut one.details.images).collect();
    pictures::refresh(conn, &mut images)?;
    let ids: Vec<i64> = products.iter().map(Product::id).collect();
    let parent_ids = products.iter().filter(|product| product.is(VARIATION));
    let parent_ids: Vec<i64> = parent_ids.map(|product| product.row.parent_id).collect();
    let mut terms = terms_by_product(conn, &ids)?;
    let mut chosen = chosen_by_variation(conn, &ids)?;
    let parents = parents(conn, &parent_ids)?;
    let mut children = children(conn, &products)?;
    let words = Arc::new(words(conn, chosen.values().flatten())?);
    let with_surroundings = |product: Product| {
        let id = product.id();
        let parent_id = if product.is(VARIATION) { product.row.parent_id } else { 0 };
        Loaded {
            terms: terms.remove(&id).unwrap_or_default(),
            chosen: chosen.remove(&id).unwrap_or_default(),
            parent: parents.get(&parent_id).cloned(),
            children: children.remove(&id).unwrap_or_default(),
            last_order: None,
            words: Arc::clone(&words),
            product,
        }
    };
    Ok(products.into_iter().map(with_surroundings).collect())
}

/// Adds when each was last ordered.
pub(crate) fn add_last_orders(conn: &mut dyn Conn, products: &mut [Loaded]) -> Result<()> {
    let ids: Vec<i64> = products.iter().map(|loaded| loaded.product.id()).collect();
    let mut dates: BTreeMap<i64, Timestamp> = BTreeMap::new();
    for chunk in ids.chunks(CHUNK) {
        dates.extend(product::last_ordered(conn, chunk)?);
    }
    for loaded in products {
        loaded.last_order = dates.get(&loaded.product.id()).copied();
    }
    Ok(())
}

/// The variations of one product that are not in the trash, in their order.
pub(crate) fn variations_of(conn: &mut dyn Conn, product_id: i64) -> Result<Vec<Product>> {
    let wanted = ProductFilter {
        kinds: vec![VARIATION.to_owned()],
        parents: vec![product_id],
        statuses_exclude: vec![TRASH.to_owned()],
        order: ProductOrder::Id,
        ..ProductFilter::default()
    };
    let (mut rows, _) = product::list(conn, &wanted)?;
    rows.sort_by_key(|row| (row.menu_order, row.product_id));
    rows.into_iter().map(Product::of_row).collect()
}

fn terms_by_product(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, Vec<ProductTerm>>> {
    let mut terms: HashMap<i64, Vec<ProductTerm>> = HashMap::new();
    for chunk in ids.chunks(CHUNK) {
        for term in product::terms_of(conn, chunk)? {
            terms.entry(term.product_id).or_default().push(term);
        }
    }
    Ok(terms)
}

fn chosen_by_variation(
    conn: &mut dyn Conn,
    ids: &[i64],
) -> Result<HashMap<i64, Vec<VariationAttribute>>> {
    let mut chosen: HashMap<i64, Vec<VariationAttribute>> = HashMap::new();
    for chunk in ids.chunks(CHUNK) {
        for (id, attribute) in product::attributes_of(conn, chunk)? {
            chosen.entry(id).or_default().push(attribute);
        }
    }
    Ok(chosen)
}

fn parents(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, Arc<Parent>>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut terms = terms_by_product(conn, &ids)?;
    let mut parents = HashMap::new();
    for id in ids {
        let Some(mut product) = super::record::get(conn, id)? else { continue };
        pictures::refresh(conn, &mut [&mut product.details.images])?;
        let terms = terms.remove(&id).unwrap_or_default();
        let shipping_class = terms.into_iter().find(|term| term.taxonomy == SHIPPING_CLASS);
        parents.insert(id, Arc::new(Parent { product, shipping_class }));
    }
    Ok(parents)
}

fn children(conn: &mut dyn Conn, products: &[Product]) -> Result<HashMap<i64, Vec<i64>>> {
    let variable = products.iter().filter(|product| product.is(VARIABLE));
    let ids: Vec<i64> = variable.map(Product::id).collect();
    let mut children: HashMap<i64, Vec<i64>> = HashMap::new();
    for chunk in ids.chunks(CHUNK) {
        let wanted = ProductFilter {
            kinds: vec![VARIATION.to_owned()],
            parents: chunk.to_vec(),
            statuses: vec![String::from("publish"), String::from("private")],
            order: ProductOrder::Id,
            direction: Direction::Ascending,
            page: Page { offset: 0, limit: filter::PAGE_MAX },
            ..ProductFilter::default()
        };
        let (mut rows, _) = product::list(conn, &wanted)?;
        rows.sort_by_key(|row| (row.menu_order, row.product_id));
        for row in rows {
            children.entry(row.parent_id).or_default().push(row.product_id);
        }
    }
    Ok(children)
}

/// The shop's attributes, and the names of the values that variations have.
pub(crate) fn words<'a>(
    conn: &mut dyn Conn,
    chosen: impl Iterator<Item = &'a VariationAttribute>,
) -> Result<Words> {
    let attributes = attribute::all(conn)?;
    let mut slugs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for choice in chosen.filter(|choice| !choice.value.is_empty()) {
        if attribute_of(&attributes, &choice.name).is_some() {
            slugs.entry(&choice.name).or_default().push(choice.value.clone());
        }
    }
    let mut terms = HashMap::new();
    for (taxonomy, mut slugs) in slugs {
        slugs.sort_unstable();
        slugs.dedup();
        for chunk in slugs.chunks(CHUNK) {
            let wanted = TermFilter {
                taxonomies: vec![taxonomy.to_owned()],
                slugs: chunk.to_vec(),
                ..TermFilter::default()
            };
            for row in term::list(conn, &wanted)?.0 {
                terms.insert((taxonomy.to_owned(), row.slug), row.name);
            }
        }
    }
    Ok(Words { attributes, terms })
}
