//! Products and variations: what is written is read, found, sold, and bears its terms.

use std::collections::BTreeMap;

use db::Conn;
use shop_rows::product::{self, ProductRow};
use site_rows::post;
use site_rows::term::{self, TermFilter, TermRow};
use types::{Kind, Result};

use crate::goods::{amount, product, variation, variation_attribute};
use crate::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(
    products,
    imported_products_keep_their_ids,
    slugs_and_skus,
    parts_of_a_row_change_alone,
    sales_begin_and_end,
    products_bear_terms,
    terms_count_what_is_below_them,
    variations_have_attributes,
    products_are_found_by_their_details,
    a_deleted_product_leaves_nothing_of_its_own,
);

fn products(database: &TestDatabase) {
    let store = database.open();
    let bare = ProductRow {
        kind: "variable".to_owned(),
        details: "{}".to_owned(),
        manage_stock: true,
        is_virtual: true,
        ..ProductRow::default()
    };
    let written = bare.clone();
    let found = store.write_blocking(move |conn| {
        assert_eq!(product::insert(conn, &product("first"))?, 1);
        assert_eq!(product::insert(conn, &product("to change"))?, 2);
        assert!(product::update(conn, &ProductRow { product_id: 2, ..written.clone() })?);
        assert!(!product::update(conn, &ProductRow { product_id: 9, ..written.clone() })?);
        Ok([product::get(conn, 1)?, product::get(conn, 2)?, product::get(conn, 3)?])
    });
    let first = ProductRow { product_id: 1, ..product("first") };
    assert_eq!(found.unwrap(), [Some(first), Some(ProductRow { product_id: 2, ..bare }), None]);
}

fn imported_products_keep_their_ids(database: &TestDatabase) {
    let store = database.open();
    let next = store.write_blocking(|conn| {
        product::insert_with_id(conn, &ProductRow { product_id: 40, ..product("a") })?;
        product::insert_with_id(conn, &ProductRow { product_id: 7, ..product("b") })?;
        assert_eq!(post::insert(conn, &support::post("shares the numbers"))?, 41);
        product::insert(conn, &product("c"))
    });
    assert_eq!(next.unwrap(), 42);
    let again = ProductRow { product_id: 7, ..product("d") };
    let refused = store.write_blocking(move |conn| product::insert_with_id(conn, &again));
    assert_eq!(refused.unwrap_err().kind(), Kind::Conflict);
}

fn slugs_and_skus(database: &TestDatabase) {
    let store = database.open();
    let changed = store.write_blocking(|conn| {
        let trash = |status: &str| ProductRow { status: status.to_owned(), ..product("tee") };
        product::insert(conn, &trash("trash"))?;
        product::insert(conn, &trash("draft"))?;
        product::insert(conn, &product("tee"))?;
        product::insert(conn, &variation(3, "tee-red"))?;
        let found = product::find_by_slug(conn, "tee")?;
        assert_eq!(found.map(|product| product.product_id), Some(3), "the published one");
        assert_eq!(product::find_by_slug(conn, "tee-red")?, None, "a variation");
        for (slug, except_id, is_variation, expected) in [
            ("tee", 0, false, true),
            ("tee", 0, true, false),
            ("tee-red", 0, true, true),
            ("tee-red", 4, true, false),
            ("tee-red", 0, false, false),
        ] {
            let taken = product::slug_is_taken(conn, slug, except_id, is_variation)?;
            assert_eq!(taken, expected, "{slug} {except_id} {is_variation}");
        }
        assert_eq!(product::id_of_sku(conn, "sku-TEE", 0)?, Some(2), "not that in the trash");
        assert_eq!(product::id_of_sku(conn, "sku-TEE", 2)?, Some(3));
        assert_eq!(product::id_of_sku(conn, "sku-tee-re", 0)?, None);
        assert_eq!(product::id_of_unique_id(conn, "4006381333931", 2)?, Some(3));
        assert_eq!(product::id_of_unique_id(conn, "400", 0)?, None);
        Ok(())
    });
    changed.unwrap();
}

fn parts_of_a_row_change_alone(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        let id = product::insert(conn, &product("tee"))?;
        assert!(product::update_stock(conn, id, (Some(amount("8.5")), "instock"), time(30))?);
        assert!(product::add_sales(conn, id, 5)?);
        assert!(product::add_sales(conn, id, -2)?);
        assert!(product::update_rating(conn, id, amount("3.5"), 2)?);
        assert!(!product::update_stock(conn, 9, (None, "instock"), time(30))?);
        assert!(!product::add_sales(conn, 9, 5)?);
        assert!(!product::update_rating(conn, 9, amount("3.5"), 2)?);
        product::get(conn, id)
    });
    let expected = ProductRow {
        product_id: 1,
        stock_quantity: Some(amount("8.5")),
        stock_status: "instock".to_owned(),
        modified: time(30),
        total_sales: 44,
        average_rating: amount("3.5"),
        rating_count: 2,
        ..product("tee")
    };
    assert_eq!(found.unwrap(), Some(expected));
}

fn sales_begin_and_end(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (on_sale, sale_price, from, to) in [
                (true, Some("1"), Some(0), Some(10)),
                (true, Some("1"), Some(0), None),
                (false, Some("1"), Some(5), Some(10)),
                (false, Some("1"), Some(5), None),
                (false, None, Some(5), None),
                (false, Some("1"), None, None),
            ] {
                let row = ProductRow {
                    on_sale,
                    sale_price: sale_price.map(amount),
                    sale_from: from.map(time),
                    sale_to: to.map(time),
                    ..product("p")
                };
                product::insert(conn, &row)?;
            }
            assert_eq!(product::sale_due(conn, time(4), 9)?, [0; 0]);
            assert_eq!(product::sale_due(conn, time(5), 9)?, [3, 4]);
            assert_eq!(product::sale_due(conn, time(9), 1)?, [3]);
            assert_eq!(product::sale_due(conn, time(10), 9)?, [1, 4], "the sale of 3 is over");
            Ok(())
        })
        .unwrap();
}

/// The slugs of the terms that products bear.
fn borne(conn: &mut dyn Conn, product_ids: &[i64]) -> Result<Vec<(i64, String)>> {
    let terms = product::terms_of(conn, product_ids)?;
    Ok(terms.into_iter().map(|term| (term.product_id, term.slug)).collect())
}

fn products_bear_terms(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for status in ["publish", "draft", "publish"] {
                let status = status.to_owned();
                product::insert(conn, &ProductRow { status, ..product("p") })?;
            }
            for (taxonomy, slug) in [("product_tag", "b"), ("product_tag", "a"), ("pa_x", "c")] {
                term::insert(conn, &support::term(taxonomy, slug))?;
            }
            product::set_terms(conn, 1, "product_tag", &[1, 2, 1])?;
            product::set_terms(conn, 1, "pa_x", &[3])?;
            product::set_terms(conn, 2, "product_tag", &[1])?;
            product::set_terms(conn, 3, "product_tag", &[2])?;
            let pair = |id, slug: &str| (id, slug.to_owned());
            let all = [pair(1, "a"), pair(1, "b"), pair(1, "c"), pair(3, "a")];
            assert_eq!(borne(conn, &[3, 1])?, all);
            assert_eq!(borne(conn, &[])?, []);
            let counts = |conn: &mut dyn Conn, id| term::count(conn, id);
            assert_eq!([counts(conn, 1)?, counts(conn, 2)?, counts(conn, 3)?], [1, 2, 1]);
            for (filter, expected) in [
                (TermFilter { bearer: Some(2), ..TermFilter::default() }, vec![1]),
                (TermFilter { hide_empty: true, ..TermFilter::default() }, vec![2, 1, 3]),
            ] {
                let (rows, _) = term::list(conn, &filter)?;
                let ids: Vec<i64> = rows.into_iter().map(|term| term.term_id).collect();
                assert_eq!(ids, expected);
            }
            product::set_terms(conn, 2, "product_tag", &[1, 2])?;
            for (after, count, expected) in
                [(1, 2, vec![2, 3]), (2, 2, vec![3, 1]), (3, 9, vec![1, 2, 3]), (1, 0, vec![])]
            {
                assert_eq!(product::bearers_after(conn, 2, after, count)?, expected);
            }
            product::set_terms(conn, 2, "product_tag", &[1])?;
            product::set_terms(conn, 1, "product_tag", &[])?;
            assert_eq!(borne(conn, &[1])?, [pair(1, "c")]);
            assert!(term::delete(conn, 3)?);
            assert_eq!(borne(conn, &[1])?, []);
            Ok(())
        })
        .unwrap();
    let strange = store.write_blocking(|conn| product::set_terms(conn, 2, "product_tag", &[99]));
    assert_eq!(strange.unwrap_err().kind(), Kind::Conflict);
    let kept = store.read_blocking(|conn| borne(conn, &[2])).unwrap();
    assert_eq!(kept, [(2, "b".to_owned())], "a refused change changes nothing");
}

fn terms_count_what_is_below_them(database: &TestDatabase) {
    let store = database.open();
    let counts = store.write_blocking(|conn| {
        // The last two are each other's parent.
        for (slug, parent_id) in [("a", 0), ("b", 1), ("c", 2), ("d", 0), ("e", 6), ("f", 5)] {
            term::insert(conn, &TermRow { parent_id, ..support::term("product_cat", slug) })?;
        }
        for (status, visibility, terms) in [
            ("publish", "visible", &[1, 3][..]),
            ("publish", "catalog", &[3]),
            ("publish", "hidden", &[2]),
            ("draft", "visible", &[2]),
            ("publish", "visible", &[6]),
        ] {
            let row = ProductRow {
                status: status.to_owned(),
                catalog_visibility: visibility.to_owned(),
                ..product("p")
            };
            let id = product::insert(conn, &row)?;
            product::set_terms(conn, id, "product_cat", terms)?;
        }
        assert_eq!(term::with_descendants(conn, &[2, 4])?, [2, 3, 4]);
        assert_eq!(term::with_descendants(conn, &[6])?, [5, 6]);
        assert_eq!(term::with_descendants(conn, &[])?, [0; 0]);
        assert_eq!(product::counts_by_term(conn, "product_tag")?, BTreeMap::new());
        product::counts_by_term(conn, "product_cat")
    });
    assert_eq!(counts.unwrap(), BTreeMap::from([(1, 2), (2, 2), (3, 2), (5, 1), (6, 1)]));
}

fn variations_have_attributes(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for slug in ["a", "b"] {
                product::insert(conn, &variation(9, slug))?;
            }
            let (red, any) =
                (variation_attribute("pa_Colour", "Red"), variation_attribute("size", ""));
            product::set_attributes(conn, 2, &[red.clone(), any.clone()])?;
            product::set_attributes(conn, 1, &[any.clone(), red.clone()])?;
            product::set_attributes(conn, 1, std::slice::from_ref(&red))?;
            let all = [(1, red.clone()), (2, red), (2, any)];
            assert_eq!(product::attributes_of(conn, &[2, 1, 5])?, all);
            assert_eq!(product::attributes_of(conn, &[])?, []);
            assert_eq!(product::rename_attribute(conn, "pa_Colour", "pa_shade")?, 2);
            let renamed = variation_attribute("pa_shade", "Red");
            assert_eq!(product::attributes_of(conn, &[1])?, [(1, renamed)]);
            let wanted = product::ProductFilter {
                attributes: vec![("pa_SHADE".to_owned(), vec!["red".to_owned()])],
                ..product::ProductFilter::default()
            };
            assert_eq!(product::list(conn, &wanted)?.1, 2);
            assert_eq!(product::values_of(conn, "size")?, []);
            assert_eq!(product::values_of(conn, "pa_shade")?, [("Red".to_owned(), 2)]);
            assert_eq!(product::rename_value(conn, "pa_shade", "Red", "ruby")?, 2);
            assert_eq!(product::rename_value(conn, "pa_shade", "Red", "ruby")?, 0);
            let attributes = vec![("pa_shade".to_owned(), vec!["RUBY".to_owned()])];
            let wanted = product::ProductFilter { attributes, ..wanted };
            assert_eq!(product::list(conn, &wanted)?.1, 2);
            Ok(())
        })
        .unwrap();
}

fn products_are_found_by_their_details(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for details in [r#"{"a":"x_y"}"#, r#"{"a":"xzy"}"#, r#"{"b":"x_y"}"#] {
                let row = ProductRow { details: details.to_owned(), ..product("p") };
                product::insert(conn, &row)?;
            }
            let mut ids = |text: &str, after: i64, limit: i64| {
                let rows = product::find_by_details(conn, text, after, limit)?;
                Ok::<_, types::Error>(rows.iter().map(|row| row.product_id).collect::<Vec<_>>())
            };
            assert_eq!(ids(r#""x_y""#, 0, 10)?, [1, 3]);
            assert_eq!(ids(r#""x_y""#, 1, 10)?, [3]);
            assert_eq!(ids(r#""x_y""#, 0, 1)?, [1]);
            assert_eq!(ids("%", 0, 10)?, [0; 0]);
            Ok(())
        })
        .unwrap();
}

fn a_deleted_product_leaves_nothing_of_its_own(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let id = product::insert(conn, &variation(9, "v"))?;
            product::set_attributes(conn, id, &[variation_attribute("size", "l")])?;
            let term_id = term::insert(conn, &support::term("product_tag", "x"))?;
            product::set_terms(conn, id, "product_tag", &[term_id])?;
            assert!(product::delete(conn, id)?);
            assert!(!product::delete(conn, id)?);
            Ok(())
        })
        .unwrap();
    for table in ["products", "product_terms", "variation_attributes"] {
        assert_eq!(count(&store, table), 0, "{table}");
    }
}
