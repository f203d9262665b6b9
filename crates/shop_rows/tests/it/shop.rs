//! What goes with products: attributes, reviews, coupons, taxes and downloads, written and listed.

use db::Database;
use db::filter::{Direction, Page};
use shop_rows::attribute::{self, AttributeRow};
use shop_rows::coupon::{self, CouponFilter, CouponOrder, CouponRow};
use shop_rows::review::{self, ReviewFilter, ReviewOrder, ReviewRow};
use shop_rows::tax_class;
use shop_rows::tax_rate::{self, TaxRateFilter, TaxRateLocation, TaxRateOrder, TaxRateRow};
use site_rows::post;
use site_rows::term::{self, TermFilter, TermOrder, TermRow};
use types::Kind;

use crate::goods::{self, amount, texts};
use crate::support::{self, TestDatabase, time};

testkit::on_both_engines!(
    attributes,
    terms_of_an_attribute,
    reviews,
    reviews_are_listed,
    coupons,
    coupons_are_listed,
    tax_classes,
    tax_rates,
    tax_rates_are_listed,
);

fn attributes(database: &TestDatabase) {
    let store = database.open();
    let all = store.write_blocking(|conn| {
        assert_eq!(attribute::insert(conn, &goods::attribute("size"))?, 1);
        let fifth = AttributeRow { attribute_id: 5, ..goods::attribute("colour") };
        attribute::insert_with_id(conn, &fifth)?;
        assert_eq!(attribute::insert(conn, &goods::attribute("to change"))?, 6);
        let changed = AttributeRow {
            attribute_id: 6,
            label: "Fabric".to_owned(),
            kind: "text".to_owned(),
            order_by: "id".to_owned(),
            has_archives: false,
            ..goods::attribute("fabric")
        };
        assert!(attribute::update(conn, &changed)?);
        assert!(!attribute::update(conn, &AttributeRow { attribute_id: 9, ..changed.clone() })?);
        assert_eq!(attribute::get(conn, 6)?.as_ref(), Some(&changed));
        assert_eq!(attribute::find_by_name(conn, "fabric")?, Some(changed));
        assert_eq!(attribute::find_by_name(conn, "to change")?, None);
        let names = attribute::all(conn)?.into_iter().map(|row| row.name).collect::<Vec<_>>();
        assert!(attribute::delete(conn, 6)?);
        assert!(!attribute::delete(conn, 6)?);
        Ok(names)
    });
    assert_eq!(all.unwrap(), ["colour", "fabric", "size"]);
    let again = store.write_blocking(|conn| attribute::insert(conn, &goods::attribute("size")));
    let error = again.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.to_string().contains("name"), "{error}");
}

fn terms_of_an_attribute(database: &TestDatabase) {
    let store = database.open();
    let sorted = store.write_blocking(|conn| {
        let old = attribute::taxonomy("size");
        for (slug, menu_order) in [("s", 2), ("xl", 2), ("m", 1)] {
            let details = format!(r#"{{"is":"{slug}"}}"#);
            let row = TermRow { menu_order, details, ..support::term(&old, slug) };
            term::insert(conn, &row)?;
        }
        term::insert(conn, &support::term("pa_other", "s"))?;
        assert_eq!(term::rename_taxonomy(conn, &old, "pa_width")?, 3);
        let wanted = TermFilter {
            taxonomies: texts(&["pa_width"]),
            order: TermOrder::MenuOrder,
            ..TermFilter::default()
        };
        let (rows, total) = term::list(conn, &wanted)?;
        assert_eq!(term::delete_taxonomy(conn, "pa_width")?, 3);
        assert_eq!(term::list(conn, &TermFilter::default())?.1, 1);
        Ok((rows, total))
    });
    let (rows, total) = sorted.unwrap();
    let read: Vec<_> = rows.iter().map(|term| (&*term.details, term.menu_order)).collect();
    assert_eq!(read, [(r#"{"is":"m"}"#, 1), (r#"{"is":"s"}"#, 2), (r#"{"is":"xl"}"#, 2)]);
    assert_eq!(total, 3);
}

fn reviews(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert_eq!(review::insert(conn, &goods::review(3, 5))?, 1);
        review::insert_with_id(conn, &ReviewRow { review_id: 7, ..goods::review(3, 1) })?;
        assert_eq!(review::insert(conn, &goods::review(4, 2))?, 8);
        let trashed = ReviewRow {
            review_id: 7,
            status: "trash".to_owned(),
            trashed_status: Some("hold".to_owned()),
            verified: false,
            user_id: 0,
            ..goods::review(3, 0)
        };
        assert!(review::update(conn, &trashed)?);
        assert!(!review::update(conn, &ReviewRow { review_id: 9, ..trashed.clone() })?);
        assert_eq!(review::get(conn, 7)?, Some(trashed));
        assert!(review::delete(conn, 8)?);
        assert!(!review::delete(conn, 8)?);
        let first = review::get(conn, 1)?;
        assert_eq!(review::delete_of(conn, 3)?, 2);
        assert_eq!(review::get(conn, 1)?, None);
        Ok(first)
    });
    assert_eq!(found.unwrap(), Some(ReviewRow { review_id: 1, ..goods::review(3, 5) }));
}

fn some_reviews(database: &TestDatabase) -> Database {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (place, (status, user_id, email, text, rating)) in (0..).zip([
                ("approved", 1, "A@x.test", "Great TEE", 5),
                ("hold", 2, "b@x.test", "bad", 1),
                ("approved", 0, "c@x.test", "ok, 10%", 5),
                ("spam", 1, "a@x.test", "buy tee", 4),
            ]) {
                let row = ReviewRow {
                    status: status.to_owned(),
                    user_id,
                    email: email.to_owned(),
                    review: text.to_owned(),
                    created: time([20, 40, 10, 30][usize::try_from(place).unwrap()]),
                    ..goods::review(9 - place / 2, rating)
                };
                review::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    store
}

fn reviews_are_listed(database: &TestDatabase) {
    let store = some_reviews(database);
    let any = ReviewFilter::default;
    let list = |filter: ReviewFilter| {
        let (rows, total) = store.read_blocking(move |conn| review::list(conn, &filter)).unwrap();
        (rows.into_iter().map(|row| row.review_id).collect::<Vec<_>>(), total)
    };
    let cases: Vec<(ReviewFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4]),
        (ReviewFilter { products: vec![9], ..any() }, &[1, 2]),
        (ReviewFilter { statuses: texts(&["approved"]), ..any() }, &[1, 3]),
        (ReviewFilter { statuses_exclude: texts(&["spam", "hold"]), ..any() }, &[1, 3]),
        (ReviewFilter { reviewers: vec![1], ..any() }, &[1, 4]),
        (ReviewFilter { reviewers_exclude: vec![1], ..any() }, &[2, 3]),
        (ReviewFilter { email: Some("a@X.test".to_owned()), ..any() }, &[1, 4]),
        (ReviewFilter { email: Some("a@x".to_owned()), ..any() }, &[]),
        (ReviewFilter { search: texts(&["tee", "LØST"]), ..any() }, &[1, 4]),
        (ReviewFilter { search: texts(&["0%"]), ..any() }, &[3]),
        (ReviewFilter { search: texts(&["b@x"]), ..any() }, &[2]),
        (ReviewFilter { include: vec![4, 2], ..any() }, &[2, 4]),
        (ReviewFilter { exclude: vec![4, 2], ..any() }, &[1, 3]),
        (ReviewFilter { after: Some(time(20)), ..any() }, &[2, 4]),
        (ReviewFilter { before: Some(time(20)), ..any() }, &[3]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let total = i64::try_from(expected.len()).unwrap();
        let filter = ReviewFilter { order: ReviewOrder::Id, ..filter };
        assert_eq!(list(filter), (expected.to_vec(), total), "{described}");
    }
    for (order, expected) in [
        (ReviewOrder::Date, [3, 1, 4, 2]),
        (ReviewOrder::Id, [1, 2, 3, 4]),
        (ReviewOrder::Include, [4, 1, 2, 3]),
    ] {
        let filter = ReviewFilter { include: vec![4, 1, 2, 3], order, ..any() };
        assert_eq!(list(filter.clone()).0, expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        let page = Page { offset: 1, limit: 2 };
        let filter = ReviewFilter { direction: Direction::Descending, page, ..filter };
        assert_eq!(list(filter), (backwards[1..3].to_vec(), 4), "{order:?} backwards");
    }
    for (direction, expected) in
        [(Direction::Ascending, [4, 3, 2, 1]), (Direction::Descending, [2, 1, 4, 3])]
    {
        let filter = ReviewFilter { order: ReviewOrder::Product, direction, ..any() };
        assert_eq!(list(filter).0, expected, "the latest of a product first, {direction:?}");
    }
    let approved = ReviewFilter { statuses: texts(&["approved", "hold"]), ..any() };
    let stars = store.read_blocking(move |conn| review::count_by_rating(conn, &approved));
    assert_eq!(stars.unwrap(), [(1, 1), (5, 2)]);
    let many = ReviewFilter { search: vec![String::new(); 99], ..any() };
    let refused = store.read_blocking(move |conn| review::list(conn, &many)).unwrap_err();
    assert_eq!(refused.kind(), Kind::Invalid);
}

fn coupons(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert_eq!(coupon::insert(conn, &goods::coupon("Spring"))?, 1);
        coupon::insert_with_id(conn, &CouponRow { coupon_id: 7, ..goods::coupon("old") })?;
        assert_eq!(post::take_id(conn)?, 8, "coupons share the numbers of posts");
        let draft = CouponRow {
            coupon_id: 7,
            status: "draft".to_owned(),
            usage_limit: None,
            usage_limit_per_user: Some(4),
            expires: None,
            trashed_status: Some("publish".to_owned()),
            amount: amount("-3"),
            ..goods::coupon("SPRING")
        };
        assert!(coupon::update(conn, &draft)?);
        assert!(!coupon::update(conn, &CouponRow { coupon_id: 9, ..draft.clone() })?);
        assert_eq!(coupon::get(conn, 7)?.as_ref(), Some(&draft));
        let published = coupon::find_by_code(conn, "sprinG")?;
        assert_eq!(coupon::published_id(conn, "SPRING", 0)?, Some(1));
        assert_eq!(coupon::published_id(conn, "SPRING", 1)?, None, "the other one is a draft");
        assert!(coupon::delete(conn, 1)?);
        assert!(!coupon::delete(conn, 1)?);
        assert_eq!(coupon::find_by_code(conn, "spring")?.as_ref(), Some(&draft));
        coupon::update(conn, &CouponRow { status: "trash".to_owned(), ..draft })?;
        assert_eq!(coupon::find_by_code(conn, "spring")?, None);
        Ok(published)
    });
    assert_eq!(found.unwrap(), Some(CouponRow { coupon_id: 1, ..goods::coupon("Spring") }));
}

fn coupons_are_listed(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (place, (code, status, kind, description)) in (0..).zip([
                ("B_10", "publish", "percent", "ten"),
                ("a-5", "publish", "fixed_cart", "For B_10 friends"),
                ("C", "draft", "percent", ""),
                ("ä", "trash", "percent", "ten five"),
            ]) {
                let row = CouponRow {
                    status: status.to_owned(),
                    discount_kind: kind.to_owned(),
                    description: description.to_owned(),
                    created: time([20, 40, 10, 30][usize::try_from(place).unwrap()]),
                    modified: time(-place),
                    ..goods::coupon(code)
                };
                coupon::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    let any = CouponFilter::default;
    let list = |filter: CouponFilter| {
        let (rows, total) = store.read_blocking(move |conn| coupon::list(conn, &filter)).unwrap();
        (rows.into_iter().map(|row| row.coupon_id).collect::<Vec<_>>(), total)
    };
    let part = |text: &str| CouponFilter { code_contains: Some(text.to_owned()), ..any() };
    let cases: Vec<(CouponFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4]),
        (CouponFilter { codes: texts(&["b_10", "Ä", "a"]), ..any() }, &[1, 4]),
        (part("_1"), &[1]),
        (part("-"), &[2]),
        (CouponFilter { search: texts(&["b_10"]), ..any() }, &[1, 2]),
        (CouponFilter { search: texts(&["FIVE", "ten"]), ..any() }, &[4]),
        (CouponFilter { statuses: texts(&["publish"]), ..any() }, &[1, 2]),
        (CouponFilter { statuses_exclude: texts(&["publish"]), ..any() }, &[3, 4]),
        (CouponFilter { discount_kinds: texts(&["percent"]), ..any() }, &[1, 3, 4]),
        (CouponFilter { include: vec![4, 1], ..any() }, &[1, 4]),
        (CouponFilter { exclude: vec![4, 1], ..any() }, &[2, 3]),
        (CouponFilter { after: Some(time(20)), ..any() }, &[2, 4]),
        (CouponFilter { before: Some(time(20)), ..any() }, &[3]),
        (CouponFilter { modified_after: Some(time(-1)), ..any() }, &[1]),
        (CouponFilter { modified_before: Some(time(-1)), ..any() }, &[3, 4]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let total = i64::try_from(expected.len()).unwrap();
        let filter = CouponFilter { order: CouponOrder::Id, ..filter };
        assert_eq!(list(filter), (expected.to_vec(), total), "{described}");
    }
    for (order, expected) in [
        (CouponOrder::Date, [3, 1, 4, 2]),
        (CouponOrder::Modified, [4, 3, 2, 1]),
        (CouponOrder::Id, [1, 2, 3, 4]),
        (CouponOrder::Code, [2, 1, 3, 4]),
        (CouponOrder::Include, [4, 1, 2, 3]),
    ] {
        let filter = CouponFilter { include: vec![4, 1, 2, 3], order, ..any() };
        assert_eq!(list(filter.clone()).0, expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        let page = Page { offset: 1, limit: 2 };
        let filter = CouponFilter { direction: Direction::Descending, page, ..filter };
        assert_eq!(list(filter), (backwards[1..3].to_vec(), 4), "{order:?} backwards");
    }
    let wanted = CouponFilter { statuses: texts(&["publish"]), ..any() };
    let counted = store.read_blocking(move |conn| coupon::count_by_kind(conn, &wanted)).unwrap();
    assert_eq!(counted, [("fixed_cart".to_owned(), 1), ("percent".to_owned(), 1)]);
}

fn tax_classes(database: &TestDatabase) {
    let store = database.open();
    let all = store.write_blocking(|conn| {
        for (slug, position) in [("zero-rate", 2), ("reduced-rate", 1), ("luxury", 2)] {
            tax_class::insert(conn, &goods::tax_class(slug, position))?;
        }
        assert_eq!(tax_class::get(conn, "luxury")?, Some(goods::tax_class("luxury", 2)));
        assert_eq!(tax_class::get(conn, "standard")?, None);
        let all = tax_class::all(conn)?;
        assert!(tax_class::delete(conn, "luxury")?);
        assert!(!tax_class::delete(conn, "luxury")?);
        Ok(all.into_iter().map(|class| class.slug).collect::<Vec<_>>())
    });
    assert_eq!(all.unwrap(), ["reduced-rate", "luxury", "zero-rate"]);
    let again =
        store.write_blocking(|conn| tax_class::insert(conn, &goods::tax_class("zero-rate", 9)));
    assert_eq!(again.unwrap_err().kind(), Kind::Conflict);
}

fn tax_rates(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert_eq!(tax_rate::insert(conn, &goods::tax_rate("US", "CA", "State"))?, 1);
        let seventh = TaxRateRow { rate_id: 7, ..goods::tax_rate("DE", "", "MwSt") };
        tax_rate::insert_with_id(conn, &seventh)?;
        assert_eq!(tax_rate::insert(conn, &goods::tax_rate("", "", "x"))?, 8);
        let changed = TaxRateRow {
            rate_id: 8,
            rate: Some(amount("19.0001")),
            priority: 1,
            compound: false,
            shipping: true,
            position: 0,
            class: "zero-rate".to_owned(),
            ..goods::tax_rate("FR", "", "TVA")
        };
        assert!(tax_rate::update(conn, &changed)?);
        assert!(!tax_rate::update(conn, &TaxRateRow { rate_id: 9, ..changed.clone() })?);
        assert_eq!(tax_rate::get(conn, 8)?, Some(changed));
        tax_rate::set_locations(conn, 7, "postcode", &texts(&["20*", "10115...10119"]))?;
        tax_rate::set_locations(conn, 7, "city", &texts(&["MÜNCHEN"]))?;
        tax_rate::set_locations(conn, 7, "city", &texts(&["KÖLN", "BERLIN"]))?;
        tax_rate::set_locations(conn, 1, "city", &texts(&["LA"]))?;
        let locations = tax_rate::locations_of(conn, &[8, 7])?;
        assert_eq!(tax_rate::locations_of(conn, &[])?, []);
        assert!(tax_rate::delete(conn, 7)?);
        assert!(!tax_rate::delete(conn, 7)?);
        assert_eq!(tax_rate::locations_of(conn, &[7])?, []);
        Ok((tax_rate::get(conn, 1)?, locations))
    });
    let (first, locations) = found.unwrap();
    assert_eq!(first, Some(TaxRateRow { rate_id: 1, ..goods::tax_rate("US", "CA", "State") }));
    let location = |kind: &str, value: &str| TaxRateLocation {
        rate_id: 7,
        kind: kind.to_owned(),
        value: value.to_owned(),
    };
    let expected = [
        location("city", "KÖLN"),
        location("city", "BERLIN"),
        location("postcode", "20*"),
        location("postcode", "10115...10119"),
    ];
    assert_eq!(locations, expected);
}

fn tax_rates_are_listed(database: &TestDatabase) {
    let store = database.open();
    assert_eq!(goods::tax_rate("US", "CA", "State Tax").code(), "US-CA-STATE TAX-2");
    assert_eq!(goods::tax_rate("", "", "").code(), "2");
    store
        .write_blocking(|conn| {
            for (place, (country, state, name, class)) in (0..).zip([
                ("US", "CA", "State", ""),
                ("US", "NY", "State", "reduced-rate"),
                ("", "", "World", ""),
                ("DE", "", "Café", ""),
            ]) {
                let row = TaxRateRow {
                    class: class.to_owned(),
                    position: [2, 1, 1, 0][usize::try_from(place).unwrap()],
                    priority: place % 2,
                    ..goods::tax_rate(country, state, name)
                };
                tax_rate::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    let any = TaxRateFilter::default;
    let list = |filter: TaxRateFilter| {
        let (rows, total) = store.read_blocking(move |conn| tax_rate::list(conn, &filter)).unwrap();
        (rows.into_iter().map(|row| row.rate_id).collect::<Vec<_>>(), total)
    };
    let code = |text: &str| TaxRateFilter { code_contains: Some(text.to_owned()), ..any() };
    let cases: Vec<(TaxRateFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4]),
        (TaxRateFilter { classes: texts(&[""]), ..any() }, &[1, 3, 4]),
        (TaxRateFilter { countries: texts(&["US", ""]), ..any() }, &[1, 2, 3]),
        (TaxRateFilter { states: texts(&["NY"]), ..any() }, &[2]),
        (code("us-ny"), &[2]),
        (code("e-1"), &[2]),
        (code("de-café-1"), &[4]),
        (TaxRateFilter { include: vec![4, 1], ..any() }, &[1, 4]),
        (TaxRateFilter { exclude: vec![4, 1], ..any() }, &[2, 3]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let total = i64::try_from(expected.len()).unwrap();
        let filter = TaxRateFilter { order: TaxRateOrder::Id, ..filter };
        assert_eq!(list(filter), (expected.to_vec(), total), "{described}");
    }
    for (order, expected) in [
        (TaxRateOrder::Position, [4, 2, 3, 1]),
        (TaxRateOrder::Id, [1, 2, 3, 4]),
        (TaxRateOrder::Priority, [1, 3, 2, 4]),
    ] {
        let filter = TaxRateFilter { order, ..any() };
        assert_eq!(list(filter.clone()).0, expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        let page = Page { offset: 1, limit: 2 };
        let filter = TaxRateFilter { direction: Direction::Descending, page, ..filter };
        assert_eq!(list(filter), (backwards[1..3].to_vec(), 4), "{order:?} backwards");
    }
}
