//! Lists of products: each filter, each order, all at once, and the same on both engines.

use db::Database;
use db::filter::{Direction, Page};
use shop_rows::product::{
    self, LowStock, PriceRule, ProductColumn, ProductFilter, ProductGroup, ProductOrder,
    ProductRow, ProductSearch, SEARCHES_MAX,
};
use site_rows::post::{Relation, SEARCH_WORDS_MAX, TERM_CONDITIONS_MAX, TermCondition};
use site_rows::term;
use types::Kind;

use crate::goods::{self, amount, texts, variation_attribute};
use crate::support::{self, TestDatabase, time};

testkit::on_both_engines!(
    filters_choose,
    stock_and_prices_choose,
    searches_find,
    terms_and_attributes_choose,
    orders_sort,
    shuffling_keeps_everything,
    groups_are_counted,
    all_filters_at_once,
    too_much_is_refused,
);

/// Kind, status, slug, name, SKU, least and greatest price, quantity, own threshold.
type Short = (
    [&'static str; 5],
    (Option<&'static str>, Option<&'static str>),
    (Option<&'static str>, Option<&'static str>),
);

/// A name and values.
type Attribute = (&'static str, &'static [&'static str]);

const PRODUCTS: [Short; 6] = [
    (["simple", "publish", "zebra", "Big Wheel", "W-1"], (Some("10"), Some("10")), (None, None)),
    (["variable", "publish", "apple", "the big top", "T_2"], (Some("5"), Some("30")), (None, None)),
    (
        ["variation", "publish", "mango", "Árbol", "T_2-A"],
        (Some("5"), Some("5")),
        (Some("2"), None),
    ),
    (
        ["variation", "private", "apple", "árbol", "t_2-b"],
        (Some("30"), Some("30")),
        (Some("4"), Some("4")),
    ),
    (["external", "draft", "kiwi", "Arbor", ""], (None, None), (Some("0"), Some("1"))),
    (["simple", "trash", "fig", "Ärger", "100%"], (Some("0"), Some("0")), (Some("-1.5"), None)),
];

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (place, (words, prices, stock)) in (0..).zip(PRODUCTS) {
                let [kind, status, slug, name, sku] = words;
                let row = ProductRow {
                    kind: kind.to_owned(),
                    status: status.to_owned(),
                    name: name.to_owned(),
                    sku: sku.to_owned(),
                    parent_id: if kind == "variation" { 2 } else { 0 },
                    price: prices.0.map(amount),
                    price_max: prices.1.map(amount),
                    stock_quantity: stock.0.map(amount),
                    low_stock_amount: stock.1.map(amount),
                    ..varied(place, slug)
                };
                product::insert(conn, &row)?;
            }
            for slug in ["a", "b", "c"] {
                term::insert(conn, &support::term("product_tag", slug))?;
            }
            product::set_terms(conn, 1, "product_tag", &[1, 2])?;
            product::set_terms(conn, 2, "product_tag", &[2])?;
            product::set_terms(conn, 3, "product_tag", &[3])?;
            let colour = |value| variation_attribute("pa_colour", value);
            product::set_attributes(conn, 3, &[colour("red"), variation_attribute("size", "")])?;
            product::set_attributes(conn, 4, &[colour("blue"), variation_attribute("size", "L")])
        })
        .unwrap();
    store
}

/// What follows from the place in the list.
fn varied(place: i64, slug: &str) -> ProductRow {
    let index = usize::try_from(place).unwrap();
    ProductRow {
        description: if place == 3 { "Wheel of Fortune" } else { "" }.to_owned(),
        short_description: if place == 5 { "the WHEEL" } else { "" }.to_owned(),
        global_unique_id: format!("40{place}"),
        stock_status: if place < 3 { "instock" } else { "outofstock" }.to_owned(),
        featured: place == 1,
        on_sale: place == 2,
        is_virtual: place == 4,
        downloadable: place == 5,
        catalog_visibility: if place == 0 { "hidden" } else { "visible" }.to_owned(),
        tax_class: if place == 3 { "zero-rate" } else { "" }.to_owned(),
        menu_order: place % 2,
        total_sales: 10 - place,
        average_rating: amount(["4", "5", "4", "0", "0", "1"][index]),
        rating_count: [2, 1, 1, 0, 0, 1][index],
        created: time([30, 10, 50, 20, 40, 60][index]),
        modified: time(-place),
        ..goods::product(slug)
    }
}

fn ids(store: &Database, filter: ProductFilter) -> Vec<i64> {
    let (rows, total) = store.read_blocking(move |conn| product::list(conn, &filter)).unwrap();
    assert_eq!(total, i64::try_from(rows.len()).unwrap());
    rows.into_iter().map(|product| product.product_id).collect()
}

fn check(store: &Database, filter: ProductFilter, expected: &[i64]) {
    let described = format!("{filter:?}");
    let filter = ProductFilter { order: ProductOrder::Id, ..filter };
    assert_eq!(ids(store, filter), expected, "{described}");
}

fn any() -> ProductFilter {
    ProductFilter::default()
}

fn filters_choose(database: &TestDatabase) {
    let store = filled(database);
    let cases: Vec<(ProductFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4, 5, 6]),
        (ProductFilter { kinds: texts(&["variation", "x"]), ..any() }, &[3, 4]),
        (ProductFilter { kinds_exclude: texts(&["variation"]), ..any() }, &[1, 2, 5, 6]),
        (ProductFilter { statuses: texts(&["draft", "trash"]), ..any() }, &[5, 6]),
        (ProductFilter { statuses_exclude: texts(&["publish", "trash"]), ..any() }, &[4, 5]),
        (ProductFilter { include: vec![5, 1, 77], ..any() }, &[1, 5]),
        (ProductFilter { exclude: vec![5, 1, 77], ..any() }, &[2, 3, 4, 6]),
        (ProductFilter { parents: vec![2], ..any() }, &[3, 4]),
        (ProductFilter { parents_exclude: vec![2], ..any() }, &[1, 2, 5, 6]),
        (ProductFilter { slugs: texts(&["apple", "Kiwi"]), ..any() }, &[2, 4]),
        (ProductFilter { skus: texts(&["w-1", "T_2-b", "T_"]), ..any() }, &[1, 4]),
        (ProductFilter { featured: Some(true), ..any() }, &[2]),
        (ProductFilter { on_sale: Some(true), ..any() }, &[3]),
        (ProductFilter { on_sale: Some(false), ..any() }, &[1, 2, 4, 5, 6]),
        (ProductFilter { is_virtual: Some(true), ..any() }, &[5]),
        (ProductFilter { downloadable: Some(true), ..any() }, &[6]),
        (ProductFilter { visibilities: texts(&["hidden"]), ..any() }, &[1]),
        (ProductFilter { tax_classes: texts(&["zero-rate"]), ..any() }, &[4]),
        (ProductFilter { tax_classes: texts(&[""]), ..any() }, &[1, 2, 3, 5, 6]),
        (ProductFilter { after: Some(time(20)), ..any() }, &[1, 3, 5, 6]),
        (ProductFilter { before: Some(time(20)), ..any() }, &[2]),
        (ProductFilter { modified_after: Some(time(-1)), ..any() }, &[1]),
        (ProductFilter { modified_before: Some(time(-3)), ..any() }, &[5, 6]),
    ];
    for (filter, expected) in cases {
        check(&store, filter, expected);
    }
}

fn stock_and_prices_choose(database: &TestDatabase) {
    let store = filled(database);
    let low = |threshold, above: Option<&str>| {
        let low = LowStock { threshold: amount(threshold), above: above.map(amount) };
        ProductFilter { low_stock: Some(low), ..any() }
    };
    let price = |min: Option<&str>, max: Option<&str>| ProductFilter {
        price_min: min.map(amount),
        price_max: max.map(amount),
        ..any()
    };
    let cases: Vec<(ProductFilter, &[i64])> = vec![
        (ProductFilter { stock_statuses: texts(&["outofstock"]), ..any() }, &[4, 5, 6]),
        (low("2", None), &[3, 4, 5, 6]),
        (low("1", None), &[4, 5, 6]),
        (low("2", Some("0")), &[3, 4]),
        (price(Some("10"), None), &[1, 2, 4]),
        (price(None, Some("5")), &[2, 3, 6]),
        (price(Some("4.5"), Some("10")), &[1, 2, 3]),
        (price(Some("20"), Some("30")), &[2, 4]),
        (price(Some("11"), Some("29")), &[]),
        (ProductFilter { has_price: Some(true), ..any() }, &[1, 2, 3, 4, 6]),
        (ProductFilter { has_price: Some(false), ..any() }, &[5]),
    ];
    for (filter, expected) in cases {
        check(&store, filter, expected);
    }
}

fn searches_find(database: &TestDatabase) {
    use ProductColumn::{AttributeValue, GlobalUniqueId, Name, Sku, SkuWhole};
    let store = filled(database);
    let cases: [(&[&str], &[ProductColumn], &[i64]); 13] = [
        (&["WHEEL"], &[], &[1, 4, 6]),
        (&["wheel", "big"], &[], &[1]),
        (&["wheel"], &[Name], &[1]),
        (&["wheel"], &[ProductColumn::Description], &[4]),
        (&["wheel"], &[ProductColumn::ShortDescription], &[6]),
        (&["ÁRBOL"], &[], &[3, 4]),
        (&["t_2"], &[Sku], &[2, 3, 4]),
        (&["t_2"], &[SkuWhole], &[2]),
        (&["0%"], &[Name, Sku], &[6]),
        (&["b", "t"], &[Name, Sku], &[2, 3, 4]),
        (&["404"], &[GlobalUniqueId], &[5]),
        (&["RE"], &[AttributeValue], &[3]),
        (&["w-1"], &[], &[]),
    ];
    for (words, columns, expected) in cases {
        let search = ProductSearch { words: texts(words), columns: columns.to_vec() };
        check(&store, ProductFilter { searches: vec![search], ..any() }, expected);
    }
    let two = |word: &str, column| ProductSearch { words: texts(&[word]), columns: vec![column] };
    let both = vec![two("big", Name), two("w", Sku)];
    check(&store, ProductFilter { searches: both, ..any() }, &[1]);
}

fn terms_and_attributes_choose(database: &TestDatabase) {
    use TermCondition::{AnyOf, NoneOf};
    let store = filled(database);
    let cases: Vec<(Vec<TermCondition>, Relation, &[i64])> = vec![
        (vec![AnyOf(vec![1, 3])], Relation::And, &[1, 3]),
        (vec![NoneOf(vec![1, 3])], Relation::And, &[2, 4, 5, 6]),
        (vec![AnyOf(vec![2]), NoneOf(vec![1])], Relation::And, &[2]),
        (vec![AnyOf(vec![1]), AnyOf(vec![3])], Relation::Or, &[1, 3]),
        (vec![AnyOf(vec![]), NoneOf(vec![])], Relation::Or, &[1, 2, 3, 4, 5, 6]),
    ];
    for (terms, terms_relation, expected) in cases {
        check(&store, ProductFilter { terms, terms_relation, ..any() }, expected);
    }
    let cases: [(&[Attribute], &[i64]); 5] = [
        (&[("pa_colour", &["Red", "blue"])], &[3, 4]),
        (&[("pa_colour", &["red"]), ("size", &["L", ""])], &[3]),
        (&[("size", &["l"])], &[4]),
        (&[("size", &["red"])], &[]),
        (&[("size", &[])], &[1, 2, 3, 4, 5, 6]),
    ];
    for (wanted, expected) in cases {
        let pair = |(name, values): &Attribute| ((*name).to_owned(), texts(values));
        let attributes = wanted.iter().map(pair).collect();
        check(&store, ProductFilter { attributes, ..any() }, expected);
    }
}

fn orders_sort(database: &TestDatabase) {
    let store = filled(database);
    for (order, expected, backwards) in [
        (ProductOrder::Date, [2, 4, 1, 5, 3, 6], None),
        (ProductOrder::Modified, [6, 5, 4, 3, 2, 1], None),
        (ProductOrder::Id, [1, 2, 3, 4, 5, 6], None),
        (ProductOrder::Include, [6, 4, 1, 5, 2, 3], None),
        (ProductOrder::Title, [5, 1, 2, 3, 4, 6], Some([6, 3, 4, 2, 1, 5])),
        (ProductOrder::Slug, [2, 4, 6, 5, 3, 1], None),
        (ProductOrder::Sku, [5, 6, 2, 3, 4, 1], None),
        (ProductOrder::Price, [5, 6, 2, 3, 1, 4], Some([4, 2, 1, 3, 6, 5])),
        (ProductOrder::Popularity, [6, 5, 4, 3, 2, 1], None),
        (ProductOrder::Rating, [4, 5, 6, 3, 1, 2], None),
        (ProductOrder::MenuOrder, [5, 1, 3, 2, 4, 6], None),
        (ProductOrder::StockStatus, [2, 1, 3, 6, 5, 4], Some([4, 5, 6, 3, 2, 1])),
        (ProductOrder::StockQuantity, [1, 2, 6, 5, 3, 4], None),
    ] {
        let filter = ProductFilter { include: vec![6, 4, 1, 5, 2, 3], order, ..any() };
        assert_eq!(ids(&store, filter.clone()), expected, "{order:?}");
        let backwards = backwards.unwrap_or_else(|| {
            let mut reversed = expected;
            reversed.reverse();
            reversed
        });
        let filter = ProductFilter { direction: Direction::Descending, ..filter };
        assert_eq!(ids(&store, filter), backwards, "{order:?} backwards");
    }
    let nobody_said = ProductFilter { order: ProductOrder::Include, ..any() };
    assert_eq!(ids(&store, nobody_said), [2, 4, 1, 5, 3, 6], "as by date");
}

fn shuffling_keeps_everything(database: &TestDatabase) {
    let store = filled(database);
    let shuffled = |seed| {
        let filter = ProductFilter { order: ProductOrder::Shuffled(seed), ..any() };
        ids(&store, filter)
    };
    let mut orders: Vec<Vec<i64>> = [0, 20_000, 30_000, 50_000, u16::MAX].map(shuffled).into();
    assert_eq!(shuffled(20_000), orders[1], "the same seed, the same order");
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 2, "{orders:?}");
    for mut order in orders {
        order.sort_unstable();
        assert_eq!(order, [1, 2, 3, 4, 5, 6]);
    }
}

fn groups_are_counted(database: &TestDatabase) {
    let store = filled(database);
    let wanted = ProductFilter { statuses_exclude: texts(&["trash"]), ..any() };
    for (group, expected) in [
        (ProductGroup::StockStatus, &[("instock", 3), ("outofstock", 2)][..]),
        (ProductGroup::Status, &[("draft", 1), ("private", 1), ("publish", 3)]),
        (ProductGroup::Kind, &[("external", 1), ("simple", 1), ("variable", 1), ("variation", 2)]),
    ] {
        let filter = wanted.clone();
        let counted = store.read_blocking(move |conn| product::count_by(conn, &filter, group));
        let counted = counted.unwrap();
        let counted: Vec<_> = counted.iter().map(|(name, count)| (&**name, *count)).collect();
        assert_eq!(counted, expected);
    }
}

/// In every kind of order, with a second page so that the matches are counted as well.
fn all_filters_at_once(database: &TestDatabase) {
    let store = filled(database);
    for order in [ProductOrder::Shuffled(7), ProductOrder::Include, ProductOrder::StockStatus] {
        for (offset, found) in [(0, 1), (1, 0)] {
            let search = ProductSearch {
                words: texts(&["árbol"]),
                columns: vec![
                    ProductColumn::Name,
                    ProductColumn::ShortDescription,
                    ProductColumn::Description,
                    ProductColumn::Sku,
                    ProductColumn::SkuWhole,
                    ProductColumn::GlobalUniqueId,
                    ProductColumn::AttributeValue,
                ],
            };
            let filter = ProductFilter {
                kinds: texts(&["variation"]),
                kinds_exclude: texts(&["simple"]),
                statuses: texts(&["publish", "private"]),
                statuses_exclude: texts(&["trash"]),
                include: vec![4, 3],
                exclude: vec![1],
                parents: vec![2],
                parents_exclude: vec![3],
                slugs: texts(&["mango", "apple"]),
                skus: texts(&["t_2-a", "t_2-b"]),
                without_password: true,
                searches: vec![search],
                featured: Some(false),
                on_sale: Some(true),
                is_virtual: Some(false),
                downloadable: Some(false),
                has_price: Some(true),
                visibilities: texts(&["visible"]),
                tax_classes: texts(&[""]),
                stock_statuses: texts(&["instock"]),
                low_stock: Some(LowStock { threshold: amount("2"), above: Some(amount("0")) }),
                price_min: Some(amount("1")),
                price_max: Some(amount("9")),
                price_rule: PriceRule::default(),
                ratings: Vec::new(),
                parents_published: false,
                after: Some(time(0)),
                before: Some(time(99)),
                modified_after: Some(time(-50)),
                modified_before: Some(time(50)),
                terms: vec![TermCondition::AnyOf(vec![3]), TermCondition::NoneOf(vec![1])],
                terms_relation: Relation::And,
                attributes: vec![("pa_colour".to_owned(), texts(&["red"]))],
                order,
                direction: Direction::Descending,
                page: Page { offset, limit: 1 },
            };
            let listed = store.read_blocking(move |conn| product::list(conn, &filter)).unwrap();
            assert_eq!((listed.0.len(), listed.1), (found, 1), "{order:?}");
            assert!(listed.0.iter().all(|product| product.product_id == 3));
        }
    }
}

fn too_much_is_refused(database: &TestDatabase) {
    let store = database.open();
    let search = |words| ProductSearch { words: vec!["x".to_owned(); words], columns: Vec::new() };
    let attribute = || ("size".to_owned(), texts(&["l"]));
    for filter in [
        ProductFilter { searches: vec![search(SEARCH_WORDS_MAX + 1)], ..any() },
        ProductFilter { searches: vec![search(1); SEARCHES_MAX + 1], ..any() },
        ProductFilter { attributes: vec![attribute(); SEARCHES_MAX + 1], ..any() },
        ProductFilter {
            terms: vec![TermCondition::AnyOf(vec![1]); TERM_CONDITIONS_MAX + 1],
            ..any()
        },
        ProductFilter { include: vec![1; 5000], ..any() },
    ] {
        let answer = store.read_blocking(move |conn| product::list(conn, &filter));
        assert_eq!(answer.unwrap_err().kind(), Kind::Invalid);
    }
}
