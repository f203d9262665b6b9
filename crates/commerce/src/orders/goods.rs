//! The products of orders' lines with what lines need to know of them, read for a whole list at
//! once. A product that is gone is simply missing.

use std::collections::{BTreeMap, HashMap};

use db::Conn;
use db::filter::LIST_MAX;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::attribute;
use shop_rows::product::{self, ProductFilter, ProductRow};
use site_rows::term::{self, TermFilter};
use types::Result;

use super::record::{Line, Order};
use crate::pictures::Image;
use crate::taxonomies::CATEGORY;

pub(super) const VARIATION: &str = "variation";

/// Products by id, and the words for attributes and their values.
#[derive(Debug, Default)]
pub(super) struct Goods {
    products: HashMap<i64, ProductRow>,
    /// Labels of the shop's attributes by taxonomy.
    labels: HashMap<String, String>,
    /// Names of terms by taxonomy and slug.
    terms: HashMap<(String, String), String>,
}

/// Of a product's details, what its pictures are read from.
#[derive(Deserialize)]
struct Pictured {
    #[serde(default)]
    images: Vec<Image>,
}

/// A product or variation that is for sale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Good<'a> {
    pub(super) row: &'a ProductRow,
    /// The product of a variation.
    pub(super) parent: Option<&'a ProductRow>,
}

impl Goods {
    /// What the lines of the orders are about.
    pub(super) fn of_orders<'a>(
        conn: &mut dyn Conn,
        orders: impl Iterator<Item = &'a Order> + Clone,
    ) -> Result<Self> {
        let mut goods = Self::default();
        goods.complete(conn, orders)?;
        Ok(goods)
    }

    /// Adds what the lines of the orders are about, as far as it is not there yet.
    pub(super) fn complete<'a>(
        &mut self,
        conn: &mut dyn Conn,
        orders: impl Iterator<Item = &'a Order> + Clone,
    ) -> Result<()> {
        let lines = orders.flat_map(|order| &order.items);
        let ids = lines.clone().flat_map(|line| [line.row.product_id, line.row.variation_id]);
        self.add_ids(conn, ids.collect())?;
        self.add_words(conn, lines)
    }

    /// These products, with the products of variations among them.
    pub(super) fn of_ids(conn: &mut dyn Conn, ids: Vec<i64>) -> Result<Self> {
        let mut goods = Self::default();
        goods.add_ids(conn, ids)?;
        Ok(goods)
    }

    /// Adds these products, with the products of variations among them.
    pub(super) fn add_ids(&mut self, conn: &mut dyn Conn, ids: Vec<i64>) -> Result<()> {
        self.add(conn, ids)?;
        let variations = self.products.values().filter(|row| row.kind == VARIATION);
        let parents: Vec<i64> = variations.map(|row| row.parent_id).collect();
        self.add(conn, parents)
    }

    fn add(&mut self, conn: &mut dyn Conn, mut ids: Vec<i64>) -> Result<()> {
        ids.retain(|id| *id != 0 && !self.products.contains_key(id));
        ids.sort_unstable();
        ids.dedup();
        for chunk in ids.chunks(LIST_MAX) {
            let filter = ProductFilter { include: chunk.to_vec(), ..ProductFilter::default() };
            let (rows, _) = product::list(conn, &filter)?;
            self.products.extend(rows.into_iter().map(|row| (row.product_id, row)));
        }
        Ok(())
    }

    fn add_words<'a>(
        &mut self,
        conn: &mut dyn Conn,
        lines: impl Iterator<Item = &'a Line>,
    ) -> Result<()> {
        let attributes = attribute::all(conn)?;
        let labels = attributes.into_iter().map(|row| (attribute::taxonomy(&row.name), row.label));
        self.labels = labels.collect();
        let mut slugs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in lines.flat_map(|line| &line.details.meta_data) {
            let (Some(key), Some(value)) = (entry["key"].as_str(), entry["value"].as_str()) else {
                continue;
            };
            if self.labels.contains_key(key) {
                slugs.entry(key.to_owned()).or_default().push(value.to_owned());
            }
        }
        for (taxonomy, mut slugs) in slugs {
            slugs.sort_unstable();
            slugs.dedup();
            for chunk in slugs.chunks(LIST_MAX) {
                let taxonomies = vec![taxonomy.clone()];
                let filter =
                    TermFilter { taxonomies, slugs: chunk.to_vec(), ..TermFilter::default() };
                let (rows, _) = term::list(conn, &filter)?;
                let named = rows.into_iter().map(|row| ((taxonomy.clone(), row.slug), row.name));
                self.terms.extend(named);
            }
        }
        Ok(())
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> {
        self.products.keys().copied()
    }

    pub(super) fn get(&self, id: i64) -> Option<Good<'_>> {
        let row = self.products.get(&id)?;
        let parent = (row.kind == VARIATION).then(|| self.products.get(&row.parent_id)).flatten();
        Some(Good { row, parent })
    }

    /// What a line is about, if that is still there.
    pub(super) fn of_line(&self, line: &Line) -> Option<Good<'_>> {
        self.get(line.sold_id())
    }

    /// How people read an entry of a line.
    pub(super) fn display(&self, line: &Line, key: &str, value: &str) -> (String, String) {
        if let Some(label) = self.labels.get(key) {
            let term = self.terms.get(&(key.to_owned(), value.to_owned()));
            return (label.clone(), term.map_or_else(|| value.to_owned(), Clone::clone));
        }
        let own = self.get(line.row.product_id).and_then(|good| good.own_attribute(key));
        (own.unwrap_or_else(|| key.to_owned()), value.to_owned())
    }
}

impl Good<'_> {
    /// `taxable`, `shipping` or `none`; a variation is taxed as its product is.
    pub(super) fn tax_status(&self) -> &str {
        &self.parent.unwrap_or(self.row).tax_status
    }

    pub(super) fn tax_class(&self) -> &str {
        match (self.row.tax_class.as_str(), self.parent) {
            ("parent", Some(parent)) => &parent.tax_class,
            (class, _) => class,
        }
    }

    /// Whether its stock is counted, by itself or with its product.
    pub(super) fn counts_stock(&self) -> bool {
        self.row.manage_stock || self.parent.is_some_and(|parent| parent.manage_stock)
    }

    /// Whether somebody has to do something once it is paid.
    pub(super) fn needs_processing(&self) -> bool {
        !(self.row.is_virtual && self.row.downloadable)
    }

    /// The first picture: its id and its address.
    pub(super) fn image(&self) -> Option<(i64, String)> {
        let first = |row: &ProductRow| {
            let details: Pictured = serde_json::from_str(&row.details).ok()?;
            let image = details.images.into_iter().next()?;
            Some((image.id, image.src))
        };
        first(self.row).or_else(|| self.parent.and_then(first))
    }

    /// The name of the product's own attribute that has this key.
    fn own_attribute(&self, key: &str) -> Option<String> {
        let details: Value = serde_json::from_str(&self.row.details).ok()?;
        let names = details.get("attributes")?.as_array()?.iter();
        let mut names = names.filter_map(|attribute| attribute["name"].as_str());
        names.find(|name| frame::text::slugify(name) == key).map(str::to_owned)
    }
}

/// The categories of products, each with those above it, by the id of the product.
pub(super) fn categories(
    conn: &mut dyn Conn,
    product_ids: &[i64],
) -> Result<HashMap<i64, Vec<i64>>> {
    let filter = TermFilter { taxonomies: vec![CATEGORY.to_owned()], ..TermFilter::default() };
    let (rows, _) = term::list(conn, &filter)?;
    let above: HashMap<i64, i64> = rows.iter().map(|row| (row.term_id, row.parent_id)).collect();
    let mut categories: HashMap<i64, Vec<i64>> = HashMap::new();
    for chunk in product_ids.chunks(LIST_MAX) {
        for borne in product::terms_of(conn, chunk)? {
            if borne.taxonomy != CATEGORY {
                continue;
            }
            let own = categories.entry(borne.product_id).or_default();
            let mut next = borne.term_id;
            // The walk ends at the top, and where a category was seen before.
            while next != 0 && !own.contains(&next) {
                own.push(next);
                next = above.get(&next).copied().unwrap_or_default();
            }
        }
    }
    Ok(categories)
}
