//! Products with what is shown beside them, read for a whole list at once: the terms that they
//! bear, the product of a variation, the variations of a product, names of attributes and values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use db::filter::{Direction, Page};
use db::{Conn, filter};
use frame::lock::Lock;
use shop_rows::attribute::{self, AttributeRow};
use shop_rows::product::{self, ProductFilter, ProductOrder, ProductTerm, VariationAttribute};
use site_rows::term::{self, TermFilter};
use types::{Result, Timestamp};

use super::record::{
    Details, EXTERNAL, GROUPED, Image, LIKE_PARENT, PUBLISH, Product, SHIPPING_CLASS, TRASH,
    VARIABLE, VARIATION, attribute_of,
};
use crate::pictures;

/// Ids that are asked for in one query.
const CHUNK: usize = 200;

/// A product with its surroundings.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub product: Product,
    /// By name.
    pub terms: Vec<ProductTerm>,
    /// What makes a variation differ from its sisters.
    pub chosen: Vec<VariationAttribute>,
    /// The product of a variation.
    pub parent: Option<Arc<Parent>>,
    /// The ids of a product's variations, in their order.
    pub children: Vec<i64>,
    /// When it was last ordered; looked for only where somebody asks.
    pub(crate) last_order: Option<Timestamp>,
    pub words: Arc<Words>,
}

/// What a variation has from its product.
#[derive(Clone, Debug)]
pub struct Parent {
    pub product: Product,
    pub shipping_class: Option<ProductTerm>,
}

/// The shop's attributes, and the names of terms by taxonomy and slug.
#[derive(Clone, Debug, Default)]
pub struct Words {
    pub attributes: Vec<AttributeRow>,
    pub terms: HashMap<(String, String), String>,
}

impl Words {
    /// How people call the value of an attribute.
    pub fn value<'a>(&'a self, chosen: &'a VariationAttribute) -> &'a str {
        let key = (chosen.name.clone(), chosen.value.clone());
        self.terms.get(&key).unwrap_or(&chosen.value)
    }

    pub fn attribute(&self, taxonomy: &str) -> Option<&AttributeRow> {
        attribute_of(&self.attributes, taxonomy)
    }
}

impl Loaded {
    /// The terms of one taxonomy, by name.
    pub fn terms_of(&self, taxonomy: &str) -> impl Iterator<Item = &ProductTerm> {
        self.terms.iter().filter(move |term| term.taxonomy == taxonomy)
    }

    /// Its own shipping class, or that of its product.
    pub fn shipping_class(&self) -> Option<&ProductTerm> {
        let of_parent = || self.parent.as_ref().and_then(|parent| parent.shipping_class.as_ref());
        self.terms_of(SHIPPING_CLASS).next().or_else(of_parent)
    }

    /// Its name, or that of its product.
    pub fn name(&self) -> &str {
        &self.parent_product().unwrap_or(&self.product).row.name
    }

    /// The product of a variation.
    fn parent_product(&self) -> Option<&Product> {
        self.parent.as_ref().map(|parent| &parent.product)
    }

    /// A variation is seen by those who see its product, which alone has a page.
    pub fn lock(&self) -> Lock {
        self.parent_product().unwrap_or(&self.product).lock()
    }

    /// A variation without a SKU is known by that of its product.
    pub fn sku(&self) -> &str {
        let own = self.product.row.sku.as_str();
        let parent = self.parent_product().filter(|_| own.is_empty());
        parent.map_or(own, |parent| parent.row.sku.as_str())
    }

    /// `taxable`, `shipping` or `none`; a variation is taxed as its product is.
    pub fn tax_status(&self) -> &str {
        let own = &self.product.row.tax_status;
        self.parent_product().map_or(own, |parent| &parent.row.tax_status)
    }

    /// The slug of its tax class, or that of its product.
    pub fn tax_class(&self) -> &str {
        let own = self.product.row.tax_class.as_str();
        let parent = self.parent_product().filter(|_| own == LIKE_PARENT);
        parent.map_or(own, |parent| parent.row.tax_class.as_str())
    }

    /// The product whose stock is counted: of a variation perhaps that of its product.
    pub fn counted(&self) -> &Product {
        let own = &self.product;
        let parent = self.parent_product().filter(|parent| parent.row.manage_stock);
        if own.row.manage_stock { own } else { parent.unwrap_or(own) }
    }

    /// Its own measure, or that of its product.
    pub fn measure(&self, of: fn(&Details) -> &String) -> &str {
        let own = of(&self.product.details);
        let parent = self.parent_product().filter(|_| own.is_empty());
        parent.map_or(own, |parent| of(&parent.details))
    }

    /// Its own pictures, or that of its product.
    pub fn pictures(&self) -> &[Image] {
        let own = self.product.details.images.as_slice();
        let parent = self.parent_product().filter(|_| own.is_empty());
        parent.map_or(own, |parent| parent.details.images.get(..1).unwrap_or_default())
    }

    /// Whether a buyer gets at most one of it with an order.
    pub fn is_sold_individually(&self) -> bool {
        let product = self.parent_product().unwrap_or(&self.product);
        product.details.plain.sold_individually
    }

    /// Whether strangers may know of it: it is published, and so is the product of a variation.
    pub fn is_published(&self) -> bool {
        let is_published = |product: &Product| product.row.status == PUBLISH;
        is_published(&self.product)
            && (!self.product.is(VARIATION) || self.parent_product().is_some_and(is_published))
    }

    /// Whether a shop can sell it: it has a price and is not sold elsewhere or in parts.
    pub fn is_purchasable(&self) -> bool {
        let is_for_sale = !self.product.is(GROUPED) && !self.product.is(EXTERNAL);
        is_for_sale && self.is_published() && self.product.row.price.is_some()
    }

    /// The number and the name of the attribute with this key.
    pub fn attribute_named(&self, key: &str) -> (i64, String) {
        if let Some(global) = self.words.attribute(key) {
            return (global.attribute_id, global.label.clone());
        }
        let owner = self.parent_product().unwrap_or(&self.product);
        let own = owner.details.attributes.iter().find(|attribute| attribute.key() == key);
        (0, own.map_or_else(|| key.to_owned(), |attribute| attribute.name.clone()))
    }

    /// Values of a variation in the words of people: `Small, Blue`.
    pub fn variation_summary(&self) -> String {
        let chosen = self.chosen.iter().filter(|chosen| !chosen.value.is_empty());
        chosen.map(|chosen| self.words.value(chosen)).collect::<Vec<_>>().join(", ")
    }
}

/// The product of this id with its surroundings.
pub fn find(conn: &mut dyn Conn, product_id: i64) -> Result<Option<Loaded>> {
    let Some(product) = super::record::get(conn, product_id)? else { return Ok(None) };
    Ok(load(conn, vec![product])?.into_iter().next())
}

/// The products with their surroundings, in their order.
pub fn load(conn: &mut dyn Conn, mut products: Vec<Product>) -> Result<Vec<Loaded>> {
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
pub fn variations_of(conn: &mut dyn Conn, product_id: i64) -> Result<Vec<Product>> {
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
pub fn words<'a>(
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
