//! Data of the first version, on both engines and as a backup: it is opened, brought up to date and
//! read through the interfaces. The files, and how they were made, are in `tests/first_version`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::http::{self, Response};

use crate::support::{Running, Site, authorization, basic, body, text};

/// What the first version made, by the names of the files.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/first_version");
/// Migrations that the first version knew.
const MIGRATIONS: usize = 6;

fn file(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The content of a file that is kept compressed.
fn unpacked(name: &str) -> Vec<u8> {
    let output = Command::new("gzip").arg("-dc").arg(file(name)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Credentials and answers of the first version.
fn known() -> Value {
    serde_json::from_str(&fs::read_to_string(file("known.json")).unwrap()).unwrap()
}

fn with_master_key(site: Site) -> Site {
    let path = site.data().join("master.key");
    fs::copy(file("master.key"), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    site
}

fn first_on_sqlite() -> Site {
    let site = with_master_key(Site::sqlite());
    fs::write(site.data().join("sandbox.db"), unpacked("sandbox.db.gz")).unwrap();
    site
}

fn first_on_postgres() -> Site {
    let cluster = testkit::postgres::shared();
    let url = cluster.create_database().unwrap();
    let database = url.rsplit('/').next().unwrap();
    let site = with_master_key(Site::on_database(url.clone()));
    let dump = site.data().join("postgres.sql");
    fs::write(&dump, unpacked("postgres.sql.gz")).unwrap();
    cluster.psql(database, &format!("\\i {}", dump.display())).unwrap();
    site
}

/// How many migrations a database has gone through.
fn migrations_of(site: &Site) -> usize {
    let store = site.store();
    let count = store.read_blocking(|conn| {
        let mut count = 0;
        conn.query_text("SELECT version FROM schema_migrations", &[], &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    });
    count.unwrap()
}

fn newest() -> usize {
    migrations_of(&with_master_key(Site::sqlite()))
}

fn ask(running: &Running, path: &str, authorization: &str) -> Response {
    let answer = http::get(&running.url, path, &[("Authorization", authorization)]).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer
}

/// Everything that the first version answered is still answered so, new members aside.
fn assert_kept(before: &Value, now: &Value, way: &str) {
    match (before, now) {
        (Value::Object(members), Value::Object(others)) => {
            for (name, member) in members {
                let other = others.get(name).unwrap_or(&Value::Null);
                assert_kept(member, other, &format!("{way}.{name}"));
            }
        }
        _ => assert_eq!(before, now, "{way}"),
    }
}

/// The records of the first version are there, and new ones go beside them.
fn serves_what_was(site: &Site) {
    let known = known();
    let running = site.serve();
    let key = text(&known, "key");
    for (path, before) in known["onboarding"].as_object().unwrap() {
        let now = ask(&running, path, &authorization(&key)).json().unwrap();
        assert_kept(before, &now, path);
    }
    let pair = format!("{}:{}", text(&known, "login"), text(&known, "password"));
    for (path, before) in known["rest"].as_object().unwrap() {
        let now = ask(&running, path, &basic(&pair)).json().unwrap();
        assert_kept(before, &now, path);
    }
    let orders = ask(&running, "/wp-json/wc/v3/orders?per_page=100", &basic(&pair));
    assert_eq!(
        orders.header("x-wp-total"),
        known["orders"].as_i64().map(|count| count.to_string())
    );
    let answer = running.onboard(&key, &body("After the upgrade"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(running.onboard(&key, &body("After the upgrade")).status, 400, "the name is taken");
}

#[test]
fn a_data_folder_of_the_first_version_is_brought_up_to_date() {
    let site = first_on_sqlite();
    serves_what_was(&site);
    assert!(newest() > MIGRATIONS);
    assert_eq!(migrations_of(&site), newest());
}

#[test]
fn a_postgres_schema_of_the_first_version_is_brought_up_to_date() {
    let site = first_on_postgres();
    serves_what_was(&site);
    assert_eq!(migrations_of(&site), newest());
}

#[test]
fn a_backup_of_the_first_version_is_restored_on_both_engines() {
    let backup = testkit::temp_dir().unwrap();
    let path = backup.path().join("first.backup");
    fs::write(&path, unpacked("sandbox.backup.gz")).unwrap();
    let header = format!(r#""schema":{MIGRATIONS},"#);
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.lines().next().unwrap().contains(&header), "it is of the first version");
    for site in [Site::sqlite(), Site::postgres()].map(with_master_key) {
        let told = site.json(&["restore", path.to_str().unwrap()]);
        assert_eq!(told["environment"], "sandbox", "{told}");
        serves_what_was(&site);
    }
}
