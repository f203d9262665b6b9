//! Lists of products: which match, in which order, and how many there are.

use db::filter::{Clause, Direction, Filter, Page, containing, fold};
use db::{Conn, Row, SITE};
use site_rows::post::{Relation, SEARCH_WORDS_MAX, TERM_CONDITIONS_MAX, TermCondition};
use types::{Amount, Error, Result, Timestamp};

use super::variation::VariationAttribute;
use super::{ProductRow, count};

const VARIATION: &str = "variation";
/// Searches, and conditions about attributes, in one filter.
pub const SEARCHES_MAX: usize = 8;

/// The average in whole stars; of products that nobody rated less than any.
macro_rules! stars {
    () => {
        "CASE WHEN rating_count = 0 THEN -1 ELSE (average_rating + 500000) / 1000000 END"
    };
}

/// Which products to list. An empty list asks for nothing. Variations are products too: say in
/// `kinds` what is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductFilter {
    pub kinds: Vec<String>,
    pub kinds_exclude: Vec<String>,
    pub statuses: Vec<String>,
    pub statuses_exclude: Vec<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub parents: Vec<i64>,
    pub parents_exclude: Vec<i64>,
    pub slugs: Vec<String>,
    /// Whole SKUs, in whatever case.
    pub skus: Vec<String>,
    /// Leave out what has a password.
    pub without_password: bool,
    /// Searches that must all find the product.
    pub searches: Vec<ProductSearch>,
    pub featured: Option<bool>,
    pub on_sale: Option<bool>,
    pub is_virtual: Option<bool>,
    pub downloadable: Option<bool>,
    pub has_price: Option<bool>,
    pub visibilities: Vec<String>,
    pub tax_classes: Vec<String>,
    pub stock_statuses: Vec<String>,
    pub low_stock: Option<LowStock>,
    pub price_min: Option<Amount>,
    pub price_max: Option<Amount>,
    /// How the bounds of the price are meant.
    pub price_rule: PriceRule,
    /// Whole stars that the average rounds to; products without a rating have none.
    pub ratings: Vec<i64>,
    /// Whether variations of products that are not published are left out.
    pub parents_published: bool,
    /// Products of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub modified_after: Option<Timestamp>,
    pub modified_before: Option<Timestamp>,
    /// Categories, tags, brands, values of attributes and shipping classes.
    pub terms: Vec<TermCondition>,
    pub terms_relation: Relation,
    /// Attributes of variations by name, each with values of which one must be there.
    pub attributes: Vec<(String, Vec<String>)>,
    pub order: ProductOrder,
    pub direction: Direction,
    pub page: Page,
}

/// How the bounds of a filter are compared with the prices of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriceRule {
    /// The least or the greatest price must be within both bounds; without a price, nothing is.
    #[default]
    OneWithin,
    /// The range of the prices must meet that of the bounds; without a price, it is zero.
    Overlap,
}

/// Words, each of which must be in one of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductSearch {
    pub words: Vec<String>,
    /// None means the name and both descriptions.
    pub columns: Vec<ProductColumn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductColumn {
    Name,
    ShortDescription,
    Description,
    Sku,
    /// The whole SKU, not a part of it.
    SkuWhole,
    GlobalUniqueId,
    /// A value of one of the attributes of a variation.
    AttributeValue,
}

impl ProductColumn {
    const DEFAULT: &[Self] = &[Self::Name, Self::ShortDescription, Self::Description];

    fn contains(self) -> &'static str {
        match self {
            Self::Name => "name_key LIKE ? ESCAPE '!'",
            Self::ShortDescription => "short_description_key LIKE ? ESCAPE '!'",
            Self::Description => "description_key LIKE ? ESCAPE '!'",
            Self::Sku => "sku_key LIKE ? ESCAPE '!'",
            Self::SkuWhole => "sku_key = ?",
            Self::GlobalUniqueId => "LOWER(global_unique_id) LIKE ? ESCAPE '!'",
            Self::AttributeValue => {
                "EXISTS (SELECT 1 FROM variation_attributes AS chosen
                   WHERE chosen.site_id = products.site_id
                     AND chosen.product_id = products.product_id
                     AND chosen.value_key LIKE ? ESCAPE '!')"
            }
        }
    }
}

/// Products whose quantity is known and not more than their own threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowStock {
    /// The threshold of products that have none.
    pub threshold: Amount,
    /// Only those of which there is more than this.
    pub above: Option<Amount>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProductOrder {
    #[default]
    Date,
    Modified,
    Id,
    /// As the ids are listed in `include`.
    Include,
    Title,
    Slug,
    Sku,
    /// By the least price upwards, by the greatest downwards.
    Price,
    Popularity,
    Rating,
    /// By the number of reviews.
    Reviews,
    /// Then by name.
    MenuOrder,
    /// Then by quantity.
    StockStatus,
    StockQuantity,
    /// As if shuffled: the same number gives the same order.
    Shuffled(u16),
}

/// What to count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductGroup {
    Kind,
    Status,
    StockStatus,
}

/// A page of the products that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &ProductFilter) -> Result<(Vec<ProductRow>, i64)> {
    let mut filter = conditions(wanted)?;
    let order = order(&mut filter, wanted)?;
    match known_total(conn, wanted)? {
        Some(total) => Ok((filter.records_uncounted(conn, order, wanted.page)?, total)),
        None => filter.records(conn, order, wanted.page),
    }
}

/// How many products match, where kinds and statuses alone decide.
fn known_total(conn: &mut dyn Conn, wanted: &ProductFilter) -> Result<Option<i64>> {
    let ProductFilter { kinds, kinds_exclude, statuses, statuses_exclude, .. } = wanted;
    let by_group_alone = ProductFilter {
        kinds: kinds.clone(),
        kinds_exclude: kinds_exclude.clone(),
        statuses: statuses.clone(),
        statuses_exclude: statuses_exclude.clone(),
        parents_published: wanted.parents_published,
        // Of no meaning without what they belong to.
        price_rule: wanted.price_rule,
        terms_relation: wanted.terms_relation,
        order: wanted.order,
        direction: wanted.direction,
        page: wanted.page,
        ..ProductFilter::default()
    };
    if *wanted != by_group_alone {
        return Ok(None);
    }
    let is_asked = |own: &String, listed: &[String], left_out: &[String]| {
        (listed.is_empty() || listed.contains(own)) && !left_out.contains(own)
    };
    let variation = String::from(VARIATION);
    if wanted.parents_published && is_asked(&variation, kinds, kinds_exclude) {
        return Ok(None);
    }
    let counts = count::all(conn)?.into_iter().filter(|((kind, status), _)| {
        is_asked(kind, kinds, kinds_exclude) && is_asked(status, statuses, statuses_exclude)
    });
    Ok(Some(counts.map(|(_, count)| count).sum()))
}

/// How many of the products that match there are of each group, by its name. Order and page of the
/// filter count for nothing.
pub fn count_by(
    conn: &mut dyn Conn,
    wanted: &ProductFilter,
    group: ProductGroup,
) -> Result<Vec<(String, i64)>> {
    let column = match group {
        ProductGroup::Kind => "kind",
        ProductGroup::Status => "status",
        ProductGroup::StockStatus => "stock_status",
    };
    conditions(wanted)?.counts(conn, column, "products")
}

/// The least and the greatest price of the products that match, a missing one taken as zero;
/// nothing where none matches.
pub fn price_range(
    conn: &mut dyn Conn,
    wanted: &ProductFilter,
) -> Result<Option<(Amount, Amount)>> {
    let columns = "COALESCE(MIN(COALESCE(price, 0)), 0), COALESCE(MAX(COALESCE(price_max, 0)), 0),
         COUNT(*)";
    let order = vec![(Clause::fixed("1"), Direction::Ascending)];
    let read = |row: &dyn Row| {
        let count: i64 = row.get(2)?;
        Ok((count, row.get(0)?, row.get(1)?))
    };
    let rows = conditions(wanted)?.first(conn, (columns, "products"), order, 1, read)?;
    let found = rows.into_iter().find(|(count, _, _)| *count > 0);
    Ok(found.map(|(_, least, greatest)| (least, greatest)))
}

/// How many of the products that match have an average of so many whole stars.
pub fn count_by_rating(conn: &mut dyn Conn, wanted: &ProductFilter) -> Result<Vec<(i64, i64)>> {
    let mut counts = conditions(wanted)?.counts(conn, stars!(), "products")?;
    counts.retain(|(stars, _)| *stars >= 0);
    Ok(counts)
}

/// How many of the products that match bear each term of the taxonomy, by the id of the term.
pub fn count_by_term(
    conn: &mut dyn Conn,
    wanted: &ProductFilter,
    taxonomy: &str,
) -> Result<Vec<(i64, i64)>> {
    let mut filter = conditions(wanted)?;
    filter.and_value("borne_taxonomy = ?", Some(taxonomy.to_owned()));
    filter.counts(conn, "borne_term", PRODUCTS_WITH_TERMS)
}

/// Products once for each of their terms, whose columns have names of their own.
const PRODUCTS_WITH_TERMS: &str = "products JOIN
    (SELECT product_terms.site_id AS borne_site, product_terms.product_id AS borne_product,
            terms.term_id AS borne_term, terms.taxonomy AS borne_taxonomy
     FROM product_terms JOIN terms
       ON terms.site_id = product_terms.site_id AND terms.term_id = product_terms.term_id)
    AS borne_terms
    ON borne_site = products.site_id AND borne_product = products.product_id";

fn conditions(wanted: &ProductFilter) -> Result<Filter> {
    let mut filter = Filter::new("products.site_id = ?", SITE);
    filter.and_list("kind IN (?)", &wanted.kinds)?;
    filter.and_list("kind NOT IN (?)", &wanted.kinds_exclude)?;
    filter.and_list("status IN (?)", &wanted.statuses)?;
    filter.and_list("status NOT IN (?)", &wanted.statuses_exclude)?;
    filter.and_list("product_id IN (?)", &wanted.include)?;
    filter.and_list("product_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list("parent_id IN (?)", &wanted.parents)?;
    filter.and_list("parent_id NOT IN (?)", &wanted.parents_exclude)?;
    filter.and_list("slug IN (?)", &wanted.slugs)?;
    let skus: Vec<String> = wanted.skus.iter().map(|sku| fold(sku)).collect();
    filter.and_list("sku_key IN (?)", &skus)?;
    if wanted.without_password {
        // Details are JSON that the shop wrote, in which quotes of texts are escaped.
        filter.and(Clause::fixed(
            "(details LIKE '%\"post_password\":\"\"%' OR details NOT LIKE '%\"post_password\"%')",
        ));
    }
    filter.and_value("featured = ?", wanted.featured);
    // A group has no sale of its own to be found by, though it shows those of its parts.
    filter.and_value("CASE WHEN kind = 'grouped' THEN 0 ELSE on_sale END = ?", wanted.on_sale);
    filter.and_value("is_virtual = ?", wanted.is_virtual);
    filter.and_value("downloadable = ?", wanted.downloadable);
    filter.and_value("CASE WHEN price IS NULL THEN 0 ELSE 1 END = ?", wanted.has_price);
    filter.and_list("catalog_visibility IN (?)", &wanted.visibilities)?;
    filter.and_list("tax_class IN (?)", &wanted.tax_classes)?;
    filter.and_list("stock_status IN (?)", &wanted.stock_statuses)?;
    if let Some(low) = wanted.low_stock {
        // A quantity that is not known is not less than anything.
        filter.and_value("stock_quantity <= COALESCE(low_stock_amount, ?)", Some(low.threshold));
        filter.and_value("stock_quantity > ?", low.above);
    }
    filter.and_value("created_us > ?", wanted.after);
    filter.and_value("created_us < ?", wanted.before);
    filter.and_value("modified_us > ?", wanted.modified_after);
    filter.and_value("modified_us < ?", wanted.modified_before);
    filter.and_list(concat!(stars!(), " IN (?)"), &wanted.ratings)?;
    if wanted.parents_published {
        filter.and(Clause::fixed(
            "(kind <> 'variation' OR EXISTS (SELECT 1 FROM products AS parents
               WHERE parents.site_id = products.site_id
                 AND parents.product_id = products.parent_id AND parents.status = 'publish'))",
        ));
    }
    prices(&mut filter, wanted);
    searches(&mut filter, wanted)?;
    terms(&mut filter, wanted)?;
    attributes(&mut filter, wanted)?;
    Ok(filter)
}

fn prices(filter: &mut Filter, wanted: &ProductFilter) {
    if wanted.price_rule == PriceRule::Overlap {
        filter.and_value("COALESCE(price_max, 0) >= ?", wanted.price_min);
        filter.and_value("COALESCE(price, 0) <= ?", wanted.price_max);
        return;
    }
    match (wanted.price_min, wanted.price_max) {
        (Some(min), Some(max)) => {
            let sides = [("price >= ?", "price <= ?"), ("price_max >= ?", "price_max <= ?")];
            let within = sides.map(|(least, most)| {
                let both = vec![filter.clause(least, min), filter.clause(most, max)];
                Clause::joined(both, " AND ")
            });
            filter.and(Clause::joined(within.into(), " OR "));
        }
        (min, max) => {
            filter.and_value("price_max >= ?", min);
            filter.and_value("price <= ?", max);
        }
    }
}

fn searches(filter: &mut Filter, wanted: &ProductFilter) -> Result<()> {
    let words: usize = wanted.searches.iter().map(|search| search.words.len()).sum();
    if wanted.searches.len() > SEARCHES_MAX || words > SEARCH_WORDS_MAX {
        return Err(Error::invalid(format!("search for at most {SEARCH_WORDS_MAX} words")));
    }
    for ProductSearch { words, columns } in &wanted.searches {
        let columns = if columns.is_empty() { ProductColumn::DEFAULT } else { columns };
        for word in words {
            let pattern = containing(word)?;
            let mut clauses = Vec::new();
            for column in columns {
                let whole = *column == ProductColumn::SkuWhole;
                let value = if whole { fold(word) } else { pattern.clone() };
                clauses.push(filter.clause(column.contains(), value));
            }
            filter.and(Clause::joined(clauses, " OR "));
        }
    }
    Ok(())
}

fn terms(filter: &mut Filter, wanted: &ProductFilter) -> Result<()> {
    if wanted.terms.len() > TERM_CONDITIONS_MAX {
        let message = format!("ask for at most {TERM_CONDITIONS_MAX} conditions about terms");
        return Err(Error::invalid(message));
    }
    let mut clauses = Vec::new();
    for condition in &wanted.terms {
        let (fragment, ids) = match condition {
            TermCondition::AnyOf(ids) => (
                "EXISTS (SELECT 1 FROM product_terms AS borne
                   WHERE borne.site_id = products.site_id
                     AND borne.product_id = products.product_id AND borne.term_id IN (?))",
                ids,
            ),
            TermCondition::NoneOf(ids) => (
                "NOT EXISTS (SELECT 1 FROM product_terms AS borne
                   WHERE borne.site_id = products.site_id
                     AND borne.product_id = products.product_id AND borne.term_id IN (?))",
                ids,
            ),
        };
        if !ids.is_empty() {
            clauses.push(filter.list(fragment, ids)?);
        }
    }
    if !clauses.is_empty() {
        let word = match wanted.terms_relation {
            Relation::And => " AND ",
            Relation::Or => " OR ",
        };
        filter.and(Clause::joined(clauses, word));
    }
    Ok(())
}

fn attributes(filter: &mut Filter, wanted: &ProductFilter) -> Result<()> {
    if wanted.attributes.len() > SEARCHES_MAX {
        return Err(Error::invalid(format!("ask for at most {SEARCHES_MAX} attributes")));
    }
    for (name, values) in &wanted.attributes {
        let pair = |value: &String| VariationAttribute::pair_key(name, value);
        let pairs: Vec<String> = values.iter().map(pair).collect();
        filter.and_list(
            "EXISTS (SELECT 1 FROM variation_attributes AS chosen
               WHERE chosen.site_id = products.site_id
                 AND chosen.product_id = products.product_id AND chosen.pair_key IN (?))",
            &pairs,
        )?;
    }
    Ok(())
}

/// The engines put a null at different ends, so it becomes less than everything.
fn order(filter: &mut Filter, wanted: &ProductFilter) -> Result<Vec<(Clause, Direction)>> {
    let (first, second) = match wanted.order {
        ProductOrder::Include if !wanted.include.is_empty() => {
            (filter.place("product_id", &wanted.include)?, None)
        }
        ProductOrder::Shuffled(seed) => {
            // A prime, so that every seed but 0 gives another order.
            let shuffled = "((product_id % 65537) * ?) % 65537";
            (filter.clause(shuffled, i64::from(seed) + 1), None)
        }
        fixed => {
            let (first, second) = fixed_order(fixed, wanted.direction);
            (Clause::fixed(first), second)
        }
    };
    let second = second.map(Clause::fixed).map(|key| (key, wanted.direction));
    let ties = ties(wanted.order, wanted.direction);
    let ties = ties.0.iter().map(|key| (Clause::fixed(key), ties.1));
    Ok([(first, wanted.direction)].into_iter().chain(second).chain(ties).collect())
}

/// What decides among equals, and in which direction, as clients know it.
fn ties(order: ProductOrder, direction: Direction) -> (&'static [&'static str], Direction) {
    const VARIATIONS_LAST: &str = "CASE WHEN kind = 'variation' THEN 1 ELSE 0 END";
    match order {
        ProductOrder::StockStatus => {
            (&[VARIATIONS_LAST, "status", "created_us", "product_id"], Direction::Ascending)
        }
        ProductOrder::Title | ProductOrder::Reviews => (&["product_id"], Direction::Ascending),
        _ => (&["product_id"], direction),
    }
}

fn fixed_order(order: ProductOrder, direction: Direction) -> (&'static str, Option<&'static str>) {
    const QUANTITY: &str = "COALESCE(stock_quantity, -9223372036854775807)";
    match order {
        ProductOrder::Date | ProductOrder::Include => ("created_us", None),
        ProductOrder::Modified => ("modified_us", None),
        ProductOrder::Id | ProductOrder::Shuffled(_) => ("product_id", None),
        ProductOrder::Title => ("name_key", None),
        ProductOrder::Slug => ("slug", None),
        ProductOrder::Sku => ("sku_key", None),
        ProductOrder::Price if direction == Direction::Descending => {
            ("COALESCE(price_max, -9223372036854775807)", None)
        }
        ProductOrder::Price => ("COALESCE(price, -9223372036854775807)", None),
        ProductOrder::Popularity => ("total_sales", None),
        ProductOrder::Rating => ("average_rating", Some("rating_count")),
        ProductOrder::Reviews => ("rating_count", None),
        ProductOrder::MenuOrder => ("menu_order", Some("name_key")),
        ProductOrder::StockStatus => ("stock_status", Some(QUANTITY)),
        ProductOrder::StockQuantity => (QUANTITY, None),
    }
}
