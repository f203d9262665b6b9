//! Backups taken beside a running server, restored into either engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::load::{Ids, read_back};
use crate::support::{Site, body, complaint};

const MERCHANTS: usize = 10;

/// A site with merchants on it, its backup, its API key and what was onboarded.
struct Original {
    site: Site,
    file: PathBuf,
    key: String,
    onboarded: BTreeMap<String, Ids>,
}

impl Original {
    fn new(site: Site) -> Self {
        let key = site.key(&site.iso("Original"));
        let running = site.serve();
        let onboarded = (0..MERCHANTS).map(|number| {
            let dba = format!("Kept {number}");
            let answer = running.onboard(&key, &body(&dba));
            assert_eq!(answer.status, 200, "{}", answer.text());
            (dba, Ids::of(&answer))
        });
        let onboarded = onboarded.collect();
        let file = site.data().join("copy.backup");
        let told = site.json(&["backup", file.to_str().unwrap()]);
        assert_eq!(told["rows"]["merchants"], MERCHANTS, "{told}");
        assert_eq!(told["environment"], "sandbox", "{told}");
        Self { site, file, key, onboarded }
    }

    /// Restores into an empty site, which is then the same as the original.
    fn restore_into(&self, site: &Site) {
        let file = self.file.to_str().unwrap();
        assert!(complaint(&site.run(&["restore", file]), 1).contains("master key"));
        fs::copy(self.site.data().join("master.key"), site.data().join("master.key")).unwrap();
        complaint(&site.run(&["restore", file, "--environment", "production"]), 1);
        assert!(!site.data().join("production.db").exists(), "what is refused leaves nothing");
        let told = site.json(&["restore", file]);
        assert_eq!(told["rows"]["merchants"], MERCHANTS, "{told}");
        complaint(&site.run(&["restore", file]), 1);
        let running = site.serve();
        read_back(&running, &self.key, &self.onboarded);
        assert_eq!(running.onboard(&self.key, &body("Kept 0")).status, 400, "the name is taken");
        let answer = running.onboard(&self.key, &body("After the restore"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let fresh = Ids::of(&answer);
        assert!(self.onboarded.values().all(|ids| ids.tpn != fresh.tpn), "an id came twice");
    }
}

#[test]
fn a_backup_moves_from_sqlite_to_both_engines() {
    let original = Original::new(Site::sqlite());
    original.restore_into(&Site::sqlite());
    original.restore_into(&Site::postgres());
}

#[test]
fn a_backup_moves_from_postgres_to_both_engines() {
    let original = Original::new(Site::postgres());
    original.restore_into(&Site::postgres());
    original.restore_into(&Site::sqlite());
}

#[test]
fn a_backup_is_never_overwritten_nor_half_restored() {
    let original = Original::new(Site::sqlite());
    let file = original.file.to_str().unwrap();
    let whole = fs::read(&original.file).unwrap();
    assert!(complaint(&original.site.run(&["backup", file]), 1).contains("already exists"));
    assert_eq!(fs::read(&original.file).unwrap(), whole);

    let empty = Site::sqlite();
    fs::copy(original.site.data().join("master.key"), empty.data().join("master.key")).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let cut_off = whole[..middle].to_vec();
    for bytes in [damaged, cut_off, b"no backup".to_vec()] {
        fs::write(&original.file, bytes).unwrap();
        complaint(&empty.run(&["restore", file]), 1);
    }
    fs::write(&original.file, &whole).unwrap();
    let production = ["--environment", "production", "restore", file];
    complaint(&empty.run(&production), 1);
    empty.json(&["restore", file]);
}
