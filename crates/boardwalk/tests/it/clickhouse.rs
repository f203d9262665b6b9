//! Reports on ClickHouse as operators run them: a shard that goes away, and facts that the command
//! line makes anew. **What comes of it is what the facts in memory say, or nothing.**

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use db::outbox::{self, Event};
use serde_json::Value;
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use shop_rows::order::figures;
use shop_rows::order::{self, ItemKind, Order, OrderItemRow, OrderRow};
use testkit::clickhouse::Shards;
use testkit::http::{self, Request, Response};
use types::{Amount, Timestamp};

use crate::rest_site::RestSite;
use crate::support::{Running, Site, basic, complaint, eventually};

/// On a busy machine a small cluster is filled within seconds.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// What was answered a moment ago is answered again for half a second.
const KEPT_FOR: Duration = Duration::from_millis(600);
const RANGE: &str = "after=2020-01-01T00:00:00&before=2040-01-01T00:00:00&per_page=100";
/// Reports of each kind: sums, groups of each table, lists.
const REPORTS: [&str; 7] = [
    "revenue/stats?interval=year",
    "orders/stats?segmentby=customer_type&interval=year",
    "orders?orderby=net_total",
    "products?orderby=items_sold",
    "coupons/stats?interval=year",
    "taxes?orderby=total_tax",
    "categories?orderby=items_sold",
];

/// The setting by which reports are answered from a database of these servers.
pub(crate) fn engine(urls: &[String], database: &str) -> String {
    let urls: Vec<String> = urls.iter().map(|url| format!("\"{url}/{database}\"")).collect();
    format!("[{}]", urls.join(", "))
}

/// Waits until reports are ready, and returns where one says that its facts are.
pub(crate) fn facts_header(url: &str, pair: &str) -> Option<String> {
    let mut header = None;
    eventually("the reports are ready", READY_WITHIN, || {
        let response = ask(url, pair, "orders/stats");
        if response.status != 200 {
            is_refused_for_now(&response);
            return false;
        }
        header = response.header("x-boardwalk-facts");
        true
    });
    header
}

fn ask(url: &str, pair: &str, report: &str) -> Response {
    let joint = if report.contains('?') { '&' } else { '?' };
    let path = format!("/wp-json/wc-analytics/reports/{report}{joint}{RANGE}");
    http::get(url, &path, &[("Authorization", &basic(pair))]).unwrap()
}

#[track_caller]
fn is_refused_for_now(response: &Response) {
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(response.header("retry-after").as_deref(), Some("5"));
}

/// What the reports say, once they are ready, without the server's address.
fn reports(running: &Running, pair: &str) -> Vec<String> {
    facts_header(&running.url, pair);
    let answers = REPORTS.map(|report| {
        let response = ask(&running.url, pair, report);
        assert_eq!(response.status, 200, "{report}: {}", response.text());
        response.text().replace(&running.url, "")
    });
    answers.to_vec()
}

#[test]
fn a_shard_that_is_away_is_a_503_and_never_a_smaller_sum() {
    let mut servers = Shards::start(2).unwrap();
    let RestSite { site, identities } = RestSite::import(Site::sqlite());
    let site = site.set("analytics.engine", engine(&servers.urls(), "away"));
    let (running, admin) = (site.serve(), &identities["admin"]);
    let before = reports(&running, admin);
    for away in [0, 1] {
        servers.kill(away);
        thread::sleep(KEPT_FOR);
        for report in REPORTS {
            is_refused_for_now(&ask(&running.url, admin, report));
        }
        let products = "/wp-json/wc/v3/products";
        let shop = http::get(&running.url, products, &[("Authorization", &basic(admin))]).unwrap();
        assert_eq!(shop.status, 200, "the shop goes on");
        servers.resume(away).unwrap();
        assert_eq!(reports(&running, admin), before);
    }
}

/// Orders and refunds that are read together while facts are made of all of them.
const AT_ONCE: i64 = 500;
const ORDERS_MORE: i64 = 1_200;
const CUSTOMERS: i64 = 70;

#[test]
fn rebuild_fills_an_emptied_cluster_and_goes_on_where_it_ended() {
    let servers = testkit::clickhouse::shared();
    let (urls, database) = (servers.urls(), servers.database());
    let RestSite { site, identities } = RestSite::import(Site::sqlite());
    let admin = &identities["admin"];
    sell(&site);
    let expected = reports(&site.serve(), admin);

    let door = Door::open(&urls[1]);
    let site = site.set("analytics.engine", engine(&[urls[0].clone(), door.url()], &database));
    let rebuild = ["analytics", "rebuild", "--batch", "100"];
    // The second shard takes the first orders, and goes away.
    door.let_in(1);
    let said = complaint(&site.run(&rebuild), 1);
    assert!(said.contains("a ClickHouse server does not answer"), "{said}");
    door.let_in(usize::MAX);
    let rest = written(&site.json(&rebuild));

    let empty = |url: &String| {
        let statement = format!("DROP DATABASE {database}_sandbox");
        let request = Request::new("POST", "/").body(statement);
        assert_eq!(http::send(url, &request).unwrap().status, 200);
    };
    let check = || {
        let running = site.serve();
        assert_eq!(reports(&running, admin), expected);
        let log = running.server.stderr();
        assert!(!log.contains("filling it from the records"), "the command has done it: {log}");
    };
    check();
    urls.iter().for_each(empty);
    assert_eq!(written(&site.json(&["analytics", "rebuild"])), rest + first_orders(&site));
    check();
}

/// Where nobody sees how far it is, the command says nothing; on a terminal it does.
#[test]
fn rebuild_shows_how_far_it_is() {
    let servers = testkit::clickhouse::shared();
    let site = Site::sqlite();
    sell(&site);
    let site = site.set("analytics.engine", engine(&servers.urls(), &servers.database()));
    let command = site.command(&["analytics", "rebuild", "--batch", "100"]);
    let mut on_terminal = std::process::Command::new("script");
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    on_terminal.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]);
    on_terminal.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = testkit::process::run_command(on_terminal, b"").unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Filling ClickHouse"), "{said}");
    assert!(said.contains(&format!("{ORDERS_MORE} of {ORDERS_MORE}")), "{said}");
    assert!(said.contains(&format!("Wrote {ORDERS_MORE} orders")), "{said}");
}

/// The orders among the first that are read together.
fn first_orders(site: &Site) -> usize {
    let found = site.store().read_blocking(|conn| {
        let end = figures::end_of(conn, 0, AT_ONCE)?.expect("there are more");
        figures::between(conn, (0, end), order::ITEMS_MAX)
    });
    found.unwrap().expect("they have few lines").len()
}

fn written(result: &Value) -> usize {
    result["orders"].as_u64().unwrap().try_into().unwrap()
}

/// Adds orders, as fast as the database takes them.
fn sell(site: &Site) {
    // The command before has made the database.
    site.json(&["iso", "create", "--name", "Harbor Partners"]);
    let sold = site.store().write_blocking(|conn| {
        let of_email = |email| CustomerLookupRow { email, ..CustomerLookupRow::default() };
        let customers: Vec<_> = (0..CUSTOMERS).map(email).map(of_email).collect();
        customer_lookup::ensure_many(conn, &customers)?;
        for number in 0..ORDERS_MORE {
            let id = order::insert(conn, &order(number))?;
            let at = Timestamp::from_micros(number);
            outbox::append(conn, &Event::of_site("order.created", id, "{}".to_owned(), at))?;
        }
        Ok(())
    });
    sold.unwrap();
}

/// Of a customer; these are on both shards.
fn email(number: i64) -> String {
    format!("{}@example.com", number % CUSTOMERS)
}

fn order(number: i64) -> Order {
    let total = Amount::from_whole(10 + number % 90);
    let line = OrderItemRow {
        kind: ItemKind::Line,
        product_id: 11 + number % 5,
        quantity: Amount::from_whole(1 + number % 3),
        total,
        subtotal: total,
        details: "{}".to_owned(),
        ..OrderItemRow::default()
    };
    let created = Timestamp::from_micros((1_700_000_000 + number * 3_600) * 1_000_000);
    let row = OrderRow {
        status: "completed".into(),
        currency: "USD".to_owned(),
        billing_email: email(number),
        total,
        created,
        details: "{}".to_owned(),
        ..OrderRow::default()
    };
    Order { row, items: vec![line] }
}

/// A way to a shard that lets in so many batches of orders, and then nobody.
struct Door {
    port: u16,
    batches_left: Arc<AtomicUsize>,
}

impl Door {
    fn open(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let batches_left = Arc::new(AtomicUsize::new(usize::MAX));
        let (address, left) =
            (url.trim_start_matches("http://").to_owned(), Arc::clone(&batches_left));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (address, left) = (address.clone(), Arc::clone(&left));
                thread::spawn(move || pass_on(&client.unwrap(), &address, &left));
            }
        });
        Self { port, batches_left }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn let_in(&self, batches: usize) {
        self.batches_left.store(batches, Ordering::SeqCst);
    }
}

/// Each statement has a connection of its own.
fn pass_on(client: &TcpStream, address: &str, batches_left: &AtomicUsize) {
    let mut head = [0; 256];
    let length = client.peek(&mut head).unwrap_or_default();
    let is_batch = String::from_utf8_lossy(&head[..length]).contains("INTO+orders_");
    let take_one = |left: usize| left.checked_sub(usize::from(is_batch));
    if batches_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take_one).is_err() {
        return;
    }
    let Ok(server) = TcpStream::connect(address) else { return };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = copy(&mut &*client, &mut &server);
            let _ = server.shutdown(Shutdown::Write);
        });
        let _ = copy(&mut &server, &mut &*client);
        let _ = client.shutdown(Shutdown::Both);
    });
}
