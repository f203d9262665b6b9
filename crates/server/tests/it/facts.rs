//! Facts made from records: they are the recorded ones, they follow every change, and what is kept
//! of them in a file is either whole or not used.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use analytics::Facts;
use analytics::facts::{OrderFact, Snapshot};
use analytics::feed::{self, Feed, Portion};
use analytics::query::{DateColumn, Measure, Per, Query, Scope, Span, Table, When};
use db::outbox::{self, Event};
use db::{Conn, Database, Location};
use frame::bundle::Bundle;
use onboarding::Platform;
use shop_rows::order;
use site_rows::term::{self, TermFilter};
use types::{Amount, Clock, Environment, Result, Timestamp};
use vault::MasterKey;

/// The recorded shop, and the folder of its files.
pub(crate) struct Recorded {
    store: Database,
    folder: tempfile::TempDir,
    pub(crate) site: Arc<frame::Site>,
    /// The facts of the site's reports; empty until somebody makes them.
    pub(crate) facts: Arc<Facts>,
}

impl Recorded {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("site.db"));
        let store = Database::open(&location, schema::MIGRATIONS).unwrap();
        let (master, choices) = (MasterKey::generate().unwrap(), onboarding::Settings::default());
        let environment = Environment::Sandbox;
        let platform =
            Platform::new(environment, store.clone(), &master, choices, Clock::System).unwrap();
        let settings = server::Settings::default();
        let reports = server::Reports::default();
        let of_site = frame::Settings::default();
        let site = server::make_site(&Arc::new(platform), &settings, of_site, &reports).unwrap();
        let text = std::fs::read_to_string(conformance("rest/bundle.json")).unwrap();
        let importing = Arc::clone(&site);
        let import = move |conn: &mut dyn Conn| {
            let own =
                TermFilter { taxonomies: vec!["product_cat".into()], ..TermFilter::default() };
            for row in term::list(conn, &own)?.0 {
                term::delete(conn, row.term_id)?;
            }
            let bundle = Bundle::parse(&text)?;
            bundle.import(conn, importing.vault())?;
            content::bundle::import(conn, bundle.others())?;
            commerce::bundle::import(conn, bundle.others(), Timestamp::default())?;
            outbox::sequence(conn, 1_000).map(drop)
        };
        store.write_blocking(import).unwrap();
        Self { store, folder, site, facts: reports.facts }
    }

    pub(crate) fn store(&self) -> Database {
        self.store.clone()
    }

    /// Where the site's reports are made.
    pub(crate) fn reports(&self) -> Arc<analytics::ReportContext> {
        let reports = server::Reports { facts: Arc::clone(&self.facts), ..Default::default() };
        reports.context(&frame::Settings::default().names)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("sandbox.facts")
    }

    /// Changes records, tells of it as commerce does, and numbers the events.
    fn change(&self, ids: &[i64], change: impl Fn(&mut dyn Conn) -> Result<()> + Send + 'static) {
        let ids = ids.to_vec();
        let changed = self.store().write_blocking(move |conn| {
            change(conn)?;
            for id in &ids {
                let at = Timestamp::from_micros(*id);
                let event = Event::of_site("order.updated", *id, "{}".to_owned(), at);
                outbox::append(conn, &event)?;
            }
            outbox::sequence(conn, 1_000).map(drop)
        });
        changed.unwrap();
    }
}

fn conformance(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(path)
}

fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(conformance(&format!("facts/{name}.csv"))).unwrap();
    reader.deserialize().map(std::result::Result::unwrap).collect()
}

fn opened(recorded: &Recorded, file: Option<PathBuf>) -> (Feed, Arc<Facts>) {
    let facts = Arc::new(Facts::default());
    let feed = Feed::open(recorded.store(), Arc::clone(&facts), file).unwrap();
    (feed, facts)
}

/// All facts of a snapshot, in an order of their own.
fn all(facts: &Snapshot) -> Vec<OrderFact> {
    let mut all: Vec<OrderFact> = facts.order_facts().collect();
    all.sort_by_key(|fact| fact.order_id);
    all
}

/// The facts are the same; a difference is shown alone.
#[track_caller]
fn agree(one: &[OrderFact], other: &[OrderFact]) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other);
    }
    assert_eq!(one.len(), other.len());
}

fn moment(text: &str) -> Option<Timestamp> {
    let iso = format!("{}Z", text.replace(' ', "T"));
    (text != "\\N").then(|| Timestamp::parse(&iso).unwrap())
}

fn amount(row: &BTreeMap<String, String>, column: &str) -> Amount {
    Amount::parse(&row[column]).unwrap_or_else(|| panic!("{column} of {row:?}"))
}

#[test]
fn facts_of_the_recorded_shop_are_the_recorded_facts() {
    let recorded = Recorded::new();
    let (_, facts) = opened(&recorded, None);
    let all = all(&facts.snapshot());
    let stats = rows("order_stats");
    assert_eq!(all.len(), stats.len());
    for (fact, row) in all.iter().zip(&stats) {
        let id: i64 = row["order_id"].parse().unwrap();
        let returning =
            (row["returning_customer"] != "\\N").then(|| row["returning_customer"] == "1");
        assert_eq!(fact.order_id, id);
        assert_eq!(fact.parent_id.to_string(), row["parent_id"], "{id}");
        assert_eq!(Some(fact.created), moment(&row["date_created_gmt"]), "{id}");
        assert_eq!(fact.paid, moment(&row["date_paid"]), "{id}");
        assert_eq!(fact.completed, moment(&row["date_completed"]), "{id}");
        assert_eq!(fact.items.to_string(), row["num_items_sold"], "{id}");
        assert_eq!(fact.total, amount(row, "total_sales"), "{id}");
        assert_eq!(fact.tax, amount(row, "tax_total"), "{id}");
        assert_eq!(fact.shipping, amount(row, "shipping_total"), "{id}");
        assert_eq!(fact.net, amount(row, "net_total"), "{id}");
        assert_eq!(fact.returning, returning, "{id}");
        assert_eq!(format!("wc-{}", fact.status), row["status"], "{id}");
        assert_eq!(fact.customer_id.to_string(), row["customer_id"], "{id}");
    }
    lines_are_recorded(&all);
    coupons_and_taxes_are_recorded(&all);
    let downloads = rows("download_log");
    assert_eq!(facts.snapshot().downloads().len(), downloads.len());
}

fn lines_are_recorded(all: &[OrderFact]) {
    let mut expected: BTreeMap<i64, Vec<Vec<String>>> = BTreeMap::new();
    for row in rows("order_product_lookup") {
        let columns = [
            "product_net_revenue",
            "product_gross_revenue",
            "coupon_amount",
            "tax_amount",
            "shipping_amount",
            "shipping_tax_amount",
        ];
        let ids = ["product_id", "variation_id", "product_qty"].map(|name| row[name].clone());
        let amounts = columns.map(|name| amount(&row, name).to_string());
        let order_id = row["order_id"].parse().unwrap();
        expected.entry(order_id).or_default().push([ids.to_vec(), amounts.to_vec()].concat());
    }
    for fact in all {
        let lines = fact.lines.iter().map(|line| {
            let ids = [line.product_id, line.variation_id, line.quantity];
            let amounts =
                [line.net, line.gross, line.discount, line.tax, line.shipping, line.shipping_tax];
            [ids.map(|id| id.to_string()).to_vec(), amounts.map(|sum| sum.to_string()).to_vec()]
                .concat()
        });
        let mut lines: Vec<Vec<String>> = lines.collect();
        let mut recorded = expected.remove(&fact.order_id).unwrap_or_default();
        lines.sort();
        recorded.sort();
        assert_eq!(lines, recorded, "{}", fact.order_id);
    }
    assert!(expected.is_empty(), "{expected:?}");
}

fn coupons_and_taxes_are_recorded(all: &[OrderFact]) {
    let mut found = BTreeSet::new();
    for fact in all {
        for coupon in &fact.coupons {
            let id = coupon.coupon_id.to_string();
            found.insert((fact.order_id.to_string(), "coupon", id, vec![coupon.discount]));
        }
        for tax in &fact.taxes {
            let amounts = vec![tax.of_goods, tax.of_shipping];
            found.insert((fact.order_id.to_string(), "tax", tax.rate_id.to_string(), amounts));
        }
    }
    let mut expected = BTreeSet::new();
    for row in rows("order_coupon_lookup") {
        let amounts = vec![amount(&row, "discount_amount")];
        expected.insert((row["order_id"].clone(), "coupon", row["coupon_id"].clone(), amounts));
    }
    for row in rows("order_tax_lookup") {
        let amounts = vec![amount(&row, "order_tax"), amount(&row, "shipping_tax")];
        expected.insert((row["order_id"].clone(), "tax", row["tax_rate_id"].clone(), amounts));
    }
    assert_eq!(found, expected);
}

/// Changes of all kinds to the recorded orders. 90 has the refund 91, 81 has 82.
fn change_everything(recorded: &Recorded) {
    recorded.change(&[77], |conn| {
        let mut row = order::get(conn, 77)?.unwrap();
        "cancelled".clone_into(&mut row.status);
        row.total += Amount::ONE;
        order::update(conn, &row).map(drop)
    });
    recorded.change(&[81], |conn| {
        let mut row = order::get(conn, 81)?.unwrap();
        "trash".clone_into(&mut row.status);
        order::update(conn, &row).map(drop)
    });
    recorded.change(&[91, 90], |conn| order::delete(conn, 91).map(drop));
    recorded.change(&[80], |conn| order::delete(conn, 80).map(drop));
    recorded.change(&[], |conn| {
        let mut copy = order::get_with_items(conn, 84)?.unwrap();
        copy.row.number = String::new();
        // The first order of its customer, from now on.
        copy.row.created = Timestamp::from_micros(1_000_000);
        copy.items.iter_mut().for_each(|item| item.item_id = 0);
        let id = order::insert(conn, &copy)?;
        let event = Event::of_site("order.created", id, "{}".to_owned(), Timestamp::default());
        outbox::append(conn, &event)?;
        outbox::sequence(conn, 10).map(drop)
    });
}

#[test]
fn facts_follow_every_change() {
    let recorded = Recorded::new();
    let (mut feed, facts) = opened(&recorded, None);
    let before = all(&facts.snapshot());
    change_everything(&recorded);
    feed.catch_up().unwrap();
    let followed = all(&facts.snapshot());
    let (_, rebuilt) = opened(&recorded, None);
    agree(&followed, &all(&rebuilt.snapshot()));
    assert!(before != followed);
    let has = |id: i64| followed.iter().any(|fact| fact.order_id == id);
    assert_eq!([77, 81, 82, 90, 91, 80].map(has), [true, false, false, true, false, false]);
}

#[test]
fn a_file_of_facts_saves_reading_the_records() {
    let recorded = Recorded::new();
    recorded.change(&[77], |_| Ok(()));
    std::fs::write(recorded.file().with_extension("new"), "left behind").unwrap();
    let (mut feed, facts) = opened(&recorded, Some(recorded.file()));
    feed.save();
    // A record that changed without an event: only who reads the records sees it.
    recorded.store().write_blocking(|conn| order::delete(conn, 79)).unwrap();
    let mode = std::fs::metadata(recorded.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else reads the sales, not even of a leftover file");
    let (_, kept) = opened(&recorded, Some(recorded.file()));
    agree(&all(&kept.snapshot()), &all(&facts.snapshot()));
    assert!(kept.snapshot().downloads() == facts.snapshot().downloads());
    assert_eq!(kept.snapshot().catalog(), facts.snapshot().catalog());
    change_everything(&recorded);
    let (_, caught_up) = opened(&recorded, Some(recorded.file()));
    let without = |mut facts: Vec<OrderFact>| {
        facts.retain(|fact| fact.order_id != 79);
        facts
    };
    let (_, rebuilt) = opened(&recorded, None);
    agree(&without(all(&caught_up.snapshot())), &all(&rebuilt.snapshot()));
}

#[test]
fn a_damaged_or_foreign_file_is_not_used() {
    let recorded = Recorded::new();
    recorded.change(&[77], |_| Ok(()));
    let (mut feed, _) = opened(&recorded, Some(recorded.file()));
    feed.save();
    let whole = std::fs::read(recorded.file()).unwrap();
    recorded.store().write_blocking(|conn| order::delete(conn, 79)).unwrap();
    let is_used = |bytes: &[u8]| {
        std::fs::write(recorded.file(), bytes).unwrap();
        let (_, facts) = opened(&recorded, Some(recorded.file()));
        all(&facts.snapshot()).iter().any(|fact| fact.order_id == 79)
    };
    assert!(is_used(&whole));
    for place in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        assert!(!is_used(&damaged), "byte {place}");
    }
    for length in [0, 1, 60, whole.len() / 2, whole.len() - 1] {
        assert!(!is_used(&whole[..length]), "{length} bytes");
    }
    // The same database with another history.
    recorded
        .store()
        .write_blocking(|conn| conn.script("UPDATE outbox SET object_id = '1'"))
        .unwrap();
    assert!(!is_used(&whole));
}

fn orders_count(facts: &Facts) -> i64 {
    let mut query = Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS);
    query.measures = vec![Measure::Rows(When::Order)];
    facts.snapshot().answer(&Scope::everything(), &query).totals(0)[0]
}

/// Waits for something that another thread does.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("never: {what}");
}

/// Asks for facts as an import does, and numbers the events.
fn ask(recorded: &Recorded, portions: &[Portion], clears: bool) {
    let portions = portions.to_vec();
    let asked = recorded.store().write_blocking(move |conn| {
        if clears {
            feed::ask_to_clear(conn, Timestamp::default())?;
        }
        for portion in &portions {
            feed::ask(conn, portion, Timestamp::default())?;
        }
        outbox::sequence(conn, 1_000).map(drop)
    });
    asked.unwrap();
}

const EVERYTHING: Portion =
    Portion { after: 0, through: i64::MAX, since_us: None, skips_existing: false };

#[test]
fn facts_are_forgotten_and_made_anew_on_demand() {
    let recorded = Recorded::new();
    let (mut feed, facts) = opened(&recorded, Some(recorded.file()));
    let (whole, downloads) = (all(&facts.snapshot()), facts.snapshot().downloads().len());
    assert_eq!(orders_count(&facts), 298);
    ask(&recorded, &[], true);
    feed.catch_up().unwrap();
    assert_eq!(facts.snapshot().orders(), 0);
    assert_eq!(facts.snapshot().downloads().len(), downloads, "they are no facts about orders");
    // A change of an order brings back that one.
    recorded.change(&[77], |_| Ok(()));
    feed.catch_up().unwrap();
    assert_eq!(orders_count(&facts), 1);
    let since = Timestamp::parse("2026-09-01T00:00:00Z").unwrap();
    ask(&recorded, &[Portion { since_us: Some(since.as_micros()), ..EVERYTHING }], false);
    feed.catch_up().unwrap();
    let some = all(&facts.snapshot());
    assert_eq!(some.len(), total_since(&whole, since) + 1);
    assert!(some.iter().all(|fact| fact.created >= since || fact.order_id == 77));
    assert_eq!(facts.snapshot().orders_since(since), total_since(&whole, since));
    // What is there is left alone, be it wrong.
    let right = recorded.store().read_blocking(|conn| order::get(conn, 77)).unwrap().unwrap();
    recorded.store().write_blocking(|conn| double(conn, 77)).unwrap();
    let halves = [
        Portion { through: 200, skips_existing: true, ..EVERYTHING },
        Portion { after: 200, skips_existing: true, ..EVERYTHING },
    ];
    ask(&recorded, &halves, false);
    feed.catch_up().unwrap();
    agree(&all(&facts.snapshot()), &whole);
    // Who comes back with an old file makes the same facts of the same records.
    recorded.store().write_blocking(move |conn| order::update(conn, &right).map(drop)).unwrap();
    let (_, kept) = opened(&recorded, Some(recorded.file()));
    agree(&all(&kept.snapshot()), &whole);
}

#[test]
fn facts_that_were_damaged_are_mended() {
    let recorded = Recorded::new();
    let (mut feed, facts) = opened(&recorded, None);
    // Records that changed without an event: the facts do not know.
    let damage = |conn: &mut dyn Conn| {
        double(conn, 77)?;
        order::delete(conn, 80)
    };
    recorded.store().write_blocking(damage).unwrap();
    feed.catch_up().unwrap();
    let (_, right) = opened(&recorded, None);
    let right = all(&right.snapshot());
    assert!(all(&facts.snapshot()) != right);
    ask(&recorded, &[EVERYTHING], false);
    feed.catch_up().unwrap();
    agree(&all(&facts.snapshot()), &right);
}

/// Makes an order twice as expensive, and tells nobody.
fn double(conn: &mut dyn Conn, order_id: i64) -> Result<()> {
    let mut row = order::get(conn, order_id)?.unwrap();
    row.total += row.total;
    order::update(conn, &row).map(drop)
}

#[test]
fn who_forgets_in_between_keeps_what_comes_after() {
    let recorded = Recorded::new();
    let (mut feed, facts) = opened(&recorded, None);
    recorded.change(&[78], |_| Ok(()));
    ask(&recorded, &[EVERYTHING], false);
    ask(&recorded, &[Portion { after: 76, through: 77, ..EVERYTHING }], true);
    recorded.change(&[79], |_| Ok(()));
    // All of it is read at once.
    feed.catch_up().unwrap();
    let ids: Vec<i64> = all(&facts.snapshot()).iter().map(|fact| fact.order_id).collect();
    assert_eq!(ids, [77, 79]);
}

#[test]
fn events_that_wait_are_not_read_after_the_records() {
    let recorded = Recorded::new();
    let waiting = recorded.store().write_blocking(|conn| {
        let event = Event::of_site("order.updated", 77, "{}".to_owned(), Timestamp::from_micros(1));
        outbox::append(conn, &event)?;
        outbox::has_unsequenced(conn)
    });
    assert!(waiting.unwrap());
    let (_, facts) = opened(&recorded, None);
    let store = recorded.store();
    assert!(!store.read_blocking(outbox::has_unsequenced).unwrap());
    assert_eq!(facts.position(), Some(store.read_blocking(outbox::head).unwrap()));
}

#[test]
fn the_end_of_the_server_ends_the_reading_of_records() {
    let recorded = Recorded::new();
    let folder = testkit::temp_dir().unwrap();
    let file = folder.path().join("facts");
    let facts = Arc::new(Facts::default());
    facts.stop();
    assert!(Feed::open(recorded.store(), Arc::clone(&facts), Some(file.clone())).is_err());
    assert!(!facts.are_ready());
    assert!(!file.exists(), "half of the facts were saved");
}

fn total_since(facts: &[OrderFact], since: Timestamp) -> usize {
    facts.iter().filter(|fact| fact.created >= since).count()
}

#[test]
fn a_change_is_seen_within_a_second() {
    let recorded = Recorded::new();
    let facts = Arc::new(Facts::default());
    let _handle = feed::start(recorded.store(), &facts, None).unwrap();
    eventually("loaded", || facts.are_ready());
    let total = || {
        let mut query = Query::of(Table::Orders, DateColumn::Created, Span::ALWAYS);
        query.measures = vec![Measure::Sum(
            analytics::query::Column::Order(analytics::facts::OrderNumber::Total),
            When::Always,
            Per::Row,
        )];
        facts.snapshot().answer(&Scope::everything(), &query).totals(0)[0]
    };
    let before = total();
    recorded.change(&[77], |conn| {
        let mut row = order::get(conn, 77)?.unwrap();
        row.total += Amount::ONE;
        order::update(conn, &row).map(drop)
    });
    let head = recorded.store().read_blocking(outbox::head).unwrap();
    assert!(facts.wait_until_blocking(head, Duration::from_secs(1)));
    assert_eq!(total() - before, 1_000_000);
    assert!(!facts.wait_until_blocking(head + 1, Duration::from_millis(10)));
}
