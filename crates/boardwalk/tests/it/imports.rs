//! Imports: what is cut goes on, what is bad is told of, and two shops become one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use db::filter::Page;
use serde_json::{Value, json};
use shop_rows::order::{self, Order, OrderFilter, OrderSort};

use crate::support::{Site, complaint, eventually, text};

/// Several batches.
const ORDERS: i64 = 9_000;
const PATIENCE: Duration = Duration::from_mins(3);

fn order(id: i64) -> Value {
    let lines: Vec<Value> = (0..=id % 3)
        .map(|place| {
            json!({
                "id": id * 10 + place, "product_id": 11 + place, "name": format!("Thing {place}"),
                "quantity": 2, "subtotal": "20.00", "total": "20.00",
                "meta_data": [{ "key": "size", "value": place }],
            })
        })
        .collect();
    json!({
        "id": id, "status": "completed", "currency": "USD", "order_key": format!("wc_order_{id}"),
        "date_created_gmt": format!("2025-{:02}-{:02}T10:00:00", 1 + id % 12, 1 + id % 28),
        "total": format!("{}.00", 20 * (1 + id % 3)), "line_items": lines,
        "billing": { "first_name": "Ada", "email": format!("a{}@example.com", id % 700) },
    })
}

fn write_orders(path: &Path, count: i64) {
    let mut text = String::from("{\"record\":\"product\",\"id\":11,\"name\":\"Lamp\"}\n");
    for id in 0..count {
        let _ = writeln!(text, "{}", order(1_000 + id));
        if id % 100 == 0 {
            let refund = json!({ "record": "refund", "id": 500_000 + id, "parent_id": 1_000 + id,
                "amount": "5.00", "date_created_gmt": "2025-12-30T00:00:00" });
            let _ = writeln!(text, "{refund}");
        }
    }
    fs::write(path, text).unwrap();
}

/// All orders and refunds with their lines.
fn orders_of(site: &Site) -> Vec<Order> {
    let store = site.store();
    let mut all = Vec::new();
    loop {
        let page = Page { offset: i64::try_from(all.len()).unwrap(), limit: 1_000 };
        let found = store.read_blocking(move |conn| {
            let wanted = OrderFilter { sort: OrderSort::Id, page, ..OrderFilter::default() };
            let (rows, _) = order::list(conn, &wanted)?;
            order::with_items(conn, rows)
        });
        let found = found.unwrap();
        if found.is_empty() {
            return all;
        }
        all.extend(found);
    }
}

fn count_of(site: &Site) -> i64 {
    let wanted = OrderFilter { page: Page { offset: 0, limit: 1 }, ..OrderFilter::default() };
    site.store().read_blocking(move |conn| Ok(order::list(conn, &wanted)?.1)).unwrap()
}

fn spawn(site: &Site, arguments: &[&str]) -> Child {
    let mut command = site.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

#[test]
fn a_killed_import_is_finished_on_sqlite() {
    kill_and_resume(&Site::sqlite(), &Site::sqlite());
}

#[test]
fn a_killed_import_is_finished_on_postgres() {
    kill_and_resume(&Site::postgres(), &Site::postgres());
}

fn kill_and_resume(cut: &Site, whole: &Site) {
    let folder = testkit::temp_dir().unwrap();
    let path = file(&folder, "orders.jsonl");
    write_orders(&path, ORDERS);
    let path = path.to_str().unwrap();
    // The database is there before anybody looks into it.
    cut.iso("Harbor");
    let mut import = spawn(cut, &["import", "orders", path]);
    eventually("some orders are there", PATIENCE, || count_of(cut) > 0);
    import.kill().unwrap();
    import.wait().unwrap();
    let done = count_of(cut);
    assert!(done < ORDERS, "it was too fast to be cut: {done}");
    let again = complaint(&cut.run(&["import", "orders", path]), 1);
    assert!(again.contains("--resume"), "{again}");
    let resumed = cut.json(&["import", "orders", path, "--resume"]);
    assert_eq!(resumed["resumed"], true);
    assert_eq!(resumed["imported"]["order"].as_i64(), Some(ORDERS - done));
    let imported = whole.json(&["import", "orders", path]);
    assert_eq!(imported["imported"], json!({ "order": ORDERS, "product": 1, "refund": 90 }));
    assert!(orders_of(cut) == orders_of(whole), "the two imports differ");
    let nothing = cut.json(&["import", "orders", path, "--resume"]);
    assert_eq!((&nothing["imported"], &nothing["present"]), (&json!({}), &json!(0)));
}

#[test]
fn a_file_with_errors_changes_nothing_unless_told_to_skip() {
    let site = Site::sqlite();
    let folder = testkit::temp_dir().unwrap();
    let path = file(&folder, "orders.jsonl");
    let rows = [
        order(1_000).to_string(),
        String::from("{\"line_items\":[],\"status\":\"sold\"}"),
        String::from("{\"line_items\":"),
        json!({ "record": "refund", "parent_id": 77, "amount": "1" }).to_string(),
        order(1_001).to_string(),
    ];
    fs::write(&path, rows.join("\n")).unwrap();
    let path = path.to_str().unwrap();
    let output = site.run(&["import", "orders", path, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let refused: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines: Vec<i64> = refused["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["line"].as_i64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 4], "{refused}");
    assert_eq!(refused["faults"][0]["field"], "status");
    assert_eq!(count_of(&site), 0);
    let skipped = site.json(&["import", "orders", path, "--skip-bad"]);
    assert_eq!(skipped["imported"], json!({ "order": 2 }));
    assert_eq!(skipped["fault_count"], 3, "{skipped}");
    assert_eq!(count_of(&site), 2);
}

#[test]
fn csv_and_json_lines_are_the_same() {
    let (as_json, as_csv) = (Site::sqlite(), Site::sqlite());
    let folder = testkit::temp_dir().unwrap();
    let (lines, table) = (file(&folder, "o.jsonl"), file(&folder, "o.csv"));
    let orders: Vec<Value> = (1..=40).map(|id| order(1_000 + id)).collect();
    let text: Vec<String> = orders.iter().map(Value::to_string).collect();
    fs::write(&lines, text.join("\n")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = orders.iter().map(flat).collect();
    let mut columns: Vec<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
    columns.sort();
    columns.dedup();
    let mut csv = columns.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(",");
    for row in &rows {
        let cells = columns.iter().map(|name| row.get(*name).map_or("", String::as_str));
        let _ = write!(csv, "\n{}", cells.collect::<Vec<_>>().join(","));
    }
    fs::write(&table, csv).unwrap();
    as_json.json(&["import", "orders", lines.to_str().unwrap()]);
    as_csv.json(&["import", "orders", table.to_str().unwrap()]);
    let orders = orders_of(&as_json);
    assert_eq!(orders.len(), 40);
    assert!(orders == orders_of(&as_csv), "the two imports differ");
}

/// The scalars of a value by their paths.
fn flat(value: &Value) -> BTreeMap<String, String> {
    fn walk(found: &mut BTreeMap<String, String>, path: String, value: &Value) {
        let inner =
            |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| walk(found, inner(name), value));
            }
            Value::Array(items) => (0..).zip(items).for_each(|(place, value): (usize, _)| {
                walk(found, inner(&place.to_string()), value);
            }),
            Value::String(text) => drop(found.insert(path, text.clone())),
            other => drop(found.insert(path, other.to_string())),
        }
    }
    let mut found = BTreeMap::new();
    walk(&mut found, String::new(), value);
    found
}

/// A way to a server on which every third connection is cut, and which stalls after so many.
struct BadRoad {
    url: String,
    passed: Arc<AtomicUsize>,
    stall_after: Arc<AtomicUsize>,
}

impl BadRoad {
    fn to(url: &str) -> Self {
        let target = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (passed, stall_after) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
        let (count, limit) = (Arc::clone(&passed), Arc::clone(&stall_after));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::Relaxed) + 1;
                if number > limit.load(Ordering::Relaxed) {
                    // Whoever waits here is killed.
                    thread::spawn(move || {
                        thread::sleep(PATIENCE);
                        drop(client);
                    });
                } else if number % 3 == 0 {
                    drop(client);
                } else {
                    let server = TcpStream::connect(&target).unwrap();
                    thread::spawn(move || pass_on(client, server));
                }
            }
        });
        Self { url, passed, stall_after }
    }
}

fn pass_on(mut client: TcpStream, mut server: TcpStream) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        match client.read(&mut piece) {
            Ok(read @ 1..) => request.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let _ = server.write_all(&request);
    let _ = std::io::copy(&mut server, &mut client);
}

#[test]
fn a_live_store_is_brought_over_a_bad_road() {
    let (old, new) = (Site::sqlite(), Site::sqlite());
    let folder = testkit::temp_dir().unwrap();
    let path = file(&folder, "orders.jsonl");
    write_orders(&path, 250);
    old.json(&["import", "orders", path.to_str().unwrap()]);
    let admin = ["--login", "boss", "--email", "boss@example.com", "--role", "administrator"];
    old.json(&[&["user", "create"], &admin[..]].concat());
    let key = ["user", "consumer-key", "--login", "boss", "--permissions", "read"];
    let key = old.json(&key);
    let (key, secret) = (text(&key, "consumer_key"), text(&key, "consumer_secret"));
    let running = old.serve();
    let road = BadRoad::to(&running.url);
    let import = [
        "import",
        "woocommerce",
        "--url",
        &road.url,
        "--consumer-key",
        &key,
        "--consumer-secret",
        &secret,
    ];
    let refused = complaint(&new.run(&import), 1);
    assert!(refused.contains("https"), "{refused}");
    let import = [&import[..], &["--allow-private"]].concat();
    road.stall_after.store(14, Ordering::Relaxed);
    let mut first = spawn(&new, &import);
    eventually("the road is blocked", PATIENCE, || road.passed.load(Ordering::Relaxed) > 14);
    first.kill().unwrap();
    first.wait().unwrap();
    road.stall_after.store(usize::MAX, Ordering::Relaxed);
    let report = new.json(&[&import[..], &["--resume"]].concat());
    assert_eq!((&report["resumed"], &report["fault_count"]), (&json!(true), &json!(0)), "{report}");
    let brought = orders_of(&new);
    assert_eq!(brought.len(), 253);
    let figures = |orders: &[Order]| -> Vec<(i64, String, i64, usize)> {
        let row = |order: &Order| {
            let row = &order.row;
            (row.order_id, row.status.clone(), row.total.as_millionths(), order.items.len())
        };
        orders.iter().map(row).collect()
    };
    assert_eq!(figures(&brought), figures(&orders_of(&old)));
    let again = new.json(&import);
    assert_eq!(again["imported"], json!({}), "{again}");
    let changed = [&import[..], &["--since", "2100-01-01T00:00:00Z"]].concat();
    assert_eq!(new.json(&changed)["imported"].get("order"), None);
}
