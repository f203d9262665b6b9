//! Reports on bad days: records that no form would accept, and exports that fail.

use std::sync::Arc;

use analytics::feed::Feed;
use db::background_job::{self, Ending, NewJob};
use serde_json::json;
use shop_rows::order::{self, OrderFilter};
use site_rows::user;
use types::{Amount, Timestamp};

use crate::facts::Recorded;
use crate::reports::{ROUTES, query, seen, shop};

/// What an import, or a time without bounds, may have left behind.
#[test]
fn extreme_records_make_no_report_fail() {
    let recorded = Recorded::new();
    let admin = recorded.store().write_blocking(|conn| {
        let (rows, _) = order::list(conn, &OrderFilter::default())?;
        for (place, mut record) in order::with_items(conn, rows)?.into_iter().enumerate() {
            let amount = if place % 5 == 4 { Amount::MIN } else { Amount::MAX };
            let row = &mut record.row;
            (row.total, row.shipping_total, row.discount_total) = (amount, -amount, amount);
            (row.total_tax, row.cart_tax, row.refund_amount) = (-amount, -amount, amount);
            for item in &mut record.items {
                (item.quantity, item.total, item.subtotal) = (amount, -amount, amount);
                item.total_tax = amount;
            }
            order::update(conn, row)?;
            order::replace_items(conn, row.order_id, &record.items)?;
        }
        user::find_by_login(conn, "admin")
    });
    let admin = admin.unwrap().unwrap();
    Feed::open(recorded.store(), Arc::clone(&recorded.facts), None).unwrap();
    for route in ROUTES {
        let query = query(route);
        assert!(!seen(&recorded, &admin, route, query).is_null(), "{route}");
    }
    for segment in ["product", "category", "coupon", "customer_type"] {
        let query = format!("segmentby={segment}&interval=month");
        seen(&recorded, &admin, "reports/orders/stats", &query);
    }
    let path = "/wc/v3/reports/sales?date_min=2025-09-01&date_max=2026-11-14";
    for path in [path, &path.replace("sales", "top_sellers"), "/wc/v3/reports/customers/totals"] {
        let (site, user, path) = (Arc::clone(&recorded.site), admin.clone(), path.to_owned());
        let now = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
        let read = move |conn: &mut dyn db::Conn| site.seen_by(conn, user.clone(), &path, now);
        assert!(recorded.store().read_blocking(read).unwrap().is_some());
    }
}

#[test]
fn a_failed_export_says_so() {
    let (recorded, admin) = shop();
    let ask = |key: &str, ending: Option<Ending>| {
        let arguments = json!({ "report": "orders", "args": {}, "user_id": admin.user_id,
            "email": false, "home": "" });
        let at = Timestamp::parse("2026-11-15T00:00:00Z").unwrap();
        let job = NewJob {
            kind: frame::jobs::REPORT_EXPORT.to_owned(),
            key: Some(key.to_owned()),
            arguments: arguments.to_string(),
            due: at,
            created: at,
        };
        let write = move |conn: &mut dyn db::Conn| {
            background_job::enqueue(conn, &job)?;
            let lease = std::time::Duration::from_mins(1);
            for claimed in background_job::claim_due(conn, &job.kind, at, 9, lease)? {
                if let Some(ending) = &ending {
                    background_job::finish(conn, &claimed, at, ending)?;
                }
            }
            Ok(())
        };
        recorded.store().write_blocking(write).unwrap();
        seen(&recorded, &admin, &format!("reports/orders/export/{key}/status"), "")
    };
    let failed = ask("a1", Some(Ending::Failed("the file would be too large".to_owned())));
    assert_eq!((&failed["percent_complete"], &failed["failed"]), (&json!(0), &json!(true)));
    assert!(failed["message"].as_str().unwrap().contains("too large"), "{failed}");
    let cancelled = ask("a2", Some(Ending::Cancelled));
    assert_eq!(cancelled["failed"], json!(true), "{cancelled}");
    let running = ask("a3", None);
    assert_eq!((&running["percent_complete"], running.get("failed")), (&json!(0), None));
}
