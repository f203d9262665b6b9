//! Which categories products are in, and which category is below which.

use std::collections::{BTreeMap, BTreeSet};

use super::id_set::IdSet;

/// Levels of categories that are followed upwards. More, or a circle, ends there.
const DEPTH_MAX: usize = 64;

/// To which categories a line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RollUp {
    /// Those that the product was put into.
    Direct,
    /// Those and all above them, each once.
    Ancestors,
    /// Those and all above them, as often as there are ways to get there.
    EachPath,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The categories that each product was put into.
    direct: BTreeMap<i64, Vec<i64>>,
    /// The category above each; 0 for none.
    parents: BTreeMap<i64, i64>,
}

impl Catalog {
    pub fn new(parents: BTreeMap<i64, i64>) -> Self {
        Self { direct: BTreeMap::new(), parents }
    }

    /// Puts the product into these categories and no others.
    pub fn put(&mut self, product_id: i64, categories: Vec<i64>) {
        if categories.is_empty() {
            self.direct.remove(&product_id);
        } else {
            self.direct.insert(product_id, categories);
        }
    }

    /// The products that are in a category.
    pub(crate) fn products(&self) -> BTreeSet<i64> {
        self.direct.keys().copied().collect()
    }

    /// The categories that the product was put into.
    pub(crate) fn direct(&self, product_id: i64) -> &[i64] {
        self.direct.get(&product_id).map(Vec::as_slice).unwrap_or_default()
    }

    /// All categories, ascending.
    pub fn categories(&self) -> impl Iterator<Item = i64> {
        self.parents.keys().copied()
    }

    /// The categories in which a line about the product counts.
    pub fn categories_of(&self, product_id: i64, roll_up: RollUp) -> Vec<i64> {
        let direct = self.direct.get(&product_id).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<i64> = match roll_up {
            RollUp::Direct => direct.to_vec(),
            RollUp::Ancestors | RollUp::EachPath => {
                direct.iter().flat_map(|category| self.with_ancestors(*category)).collect()
            }
        };
        if roll_up != RollUp::EachPath {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// The products that are in one of the categories or below one.
    pub fn products_in(&self, categories: &[i64]) -> IdSet {
        let wanted: BTreeSet<i64> = categories.iter().copied().collect();
        let is_in = |direct: &Vec<i64>| {
            let mut all = direct.iter().flat_map(|category| self.with_ancestors(*category));
            all.any(|category| wanted.contains(&category))
        };
        self.direct
            .iter()
            .filter(|(_, direct)| is_in(direct))
            .map(|(product, _)| *product)
            .collect()
    }

    /// The category and those above it.
    pub fn with_ancestors(&self, category: i64) -> Vec<i64> {
        let mut path = vec![category];
        let mut last = category;
        while let Some(parent) = self.parents.get(&last).copied() {
            if parent == 0 || path.contains(&parent) || path.len() >= DEPTH_MAX {
                break;
            }
            path.push(parent);
            last = parent;
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_in_the_categories_of_their_product() {
        let mut catalog = Catalog::new([(1, 0), (2, 1), (3, 1), (8, 9), (9, 8)].into());
        catalog.put(50, vec![2, 3]);
        catalog.put(51, vec![8]);
        catalog.put(52, vec![1]);
        assert_eq!(catalog.categories_of(50, RollUp::Direct), [2, 3]);
        assert_eq!(catalog.categories_of(50, RollUp::Ancestors), [1, 2, 3]);
        assert_eq!(catalog.categories_of(50, RollUp::EachPath), [2, 1, 3, 1]);
        assert_eq!(catalog.categories_of(51, RollUp::Ancestors), [8, 9], "a circle ends");
        assert!(catalog.categories_of(53, RollUp::Direct).is_empty());
        assert_eq!(catalog.products_in(&[1]).ids(), [50, 52]);
        assert_eq!(catalog.products_in(&[3, 9]).ids(), [50, 51]);
        catalog.put(50, vec![]);
        assert_eq!(catalog.products_in(&[1]).ids(), [52]);
    }
}
