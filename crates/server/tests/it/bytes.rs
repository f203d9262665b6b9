//! Replays the corpus of the fuzz targets, and adds random bytes of its own.

use std::path::PathBuf;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::Sandbox;

struct Setup {
    runtime: tokio::runtime::Runtime,
    sandbox: Sandbox,
    _folder: tempfile::TempDir,
}

fn setup() -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let guard = runtime.enter();
    let sandbox = Sandbox::new(folder.path()).unwrap();
    drop(guard);
    Setup { runtime, sandbox, _folder: folder }
}

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no corpus in {}", folder.display());
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_corpus_of_requests_is_answered() {
    let setup = setup();
    for (path, bytes) in corpus("request") {
        let status = setup.runtime.block_on(setup.sandbox.check_request(&bytes));
        let name = path.file_stem().unwrap().to_str().unwrap();
        let expected = match name {
            "onboard" | "errors" | "head" | "absolute" | "http10" | "pipelined" => Some(200),
            "chunked" | "two-lengths" | "short-body" | "chunk-size-huge" => Some(400),
            "no-key" => Some(401),
            "merchant" | "merchant-nul" | "merchant-utf8" | "query" | "options" => Some(404),
            "form" => Some(415),
            "many-headers" | "long-header" => Some(431),
            _ => status,
        };
        assert_eq!(status, expected, "{name}");
    }
}

#[test]
fn the_corpus_of_bodies_is_answered() {
    let setup = setup();
    for (path, bytes) in corpus("body") {
        let status = setup.runtime.block_on(setup.sandbox.check_body(&bytes));
        let name = path.file_stem().unwrap().to_str().unwrap();
        let expected = if name.starts_with("full-") { 200 } else { 400 };
        assert_eq!(status, Some(expected), "{name}");
    }
}

#[test]
fn the_corpus_of_the_rest_interface_is_answered() {
    let setup = setup();
    for (path, bytes) in corpus("rest") {
        let status = setup.runtime.block_on(setup.sandbox.check_rest(&bytes));
        let name = path.file_stem().unwrap().to_str().unwrap();
        let expected = match name {
            "index"
            | "index-envelope-pretty"
            | "jsonp"
            | "rest-route"
            | "options"
            | "head"
            | "list"
            | "fields"
            | "docs-search" => Some(200),
            "post" | "post-form" | "post-multipart" => Some(201),
            "batch" | "batch-validate" => Some(207),
            "jsonp-hostile" | "rest-route-list" | "list-invalid" | "post-malformed"
            | "post-types" | "user" | "batch-many" => Some(400),
            "no-route" => Some(404),
            _ => status,
        };
        assert_eq!(status, expected, "{name}");
    }
}

#[test]
fn random_bytes_are_answered() {
    let setup = setup();
    let check = |bytes: &[u8]| {
        setup.runtime.block_on(setup.sandbox.check_request(bytes));
    };
    check_mutations(corpus("request"), &check);
}

#[test]
fn random_requests_of_the_rest_interface_are_answered() {
    let setup = setup();
    let check = |bytes: &[u8]| {
        setup.runtime.block_on(setup.sandbox.check_rest(bytes));
    };
    check_mutations(corpus("rest"), &check);
}

/// Changes some bytes of the seeds, or makes up all of them.
fn check_mutations(seeds: Vec<(PathBuf, Vec<u8>)>, check: &dyn Fn(&[u8])) {
    let mutated = (0..seeds.len(), prop::collection::vec((any::<u16>(), any::<u8>()), 0..12))
        .prop_map(move |(seed, changes)| {
            let mut bytes = seeds[seed].1.clone();
            for (place, byte) in changes {
                let place = usize::from(place) % bytes.len();
                bytes[place] = byte;
            }
            bytes
        });
    let noise = prop::collection::vec(any::<u8>(), 0..2000);
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    runner
        .run(&prop_oneof![3 => mutated, 1 => noise], |bytes| {
            check(&bytes);
            Ok(())
        })
        .unwrap();
}
