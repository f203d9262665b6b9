//! Shards at addresses on this machine, by the small client of the tests.

use std::sync::Arc;

use analytics::clickhouse::{Cluster, HttpShard, Shard};
use frame::outbound::{Fetch, FetchError, Fetched, Fetching, Outbound};
use testkit::http;
use url::Position;

/// The way to servers on this machine.
#[derive(Debug)]
struct Plain;

impl Outbound for Plain {
    fn fetch(&self, request: Fetch) -> Fetching<'_> {
        Box::pin(async move {
            let base = &request.url[..Position::BeforePath];
            let path = &request.url[Position::BeforePath..];
            let mut message = http::Request::new(request.method.name(), path).body(request.body);
            message.headers = request.headers;
            let response = http::send(base, &message).map_err(|_| FetchError::Unreachable)?;
            let http::Response { status, headers, body } = response;
            Ok(Fetched { status, headers, body, final_url: request.url })
        })
    }
}

/// The servers at these addresses, with a database of this name each.
pub(crate) fn cluster_at(urls: &[String], database: &str) -> Arc<Cluster> {
    cluster_of(urls.iter().map(|url| shard_at(url, database)).collect())
}

/// These shards, ready to be asked.
pub(crate) fn cluster_of(shards: Vec<Box<dyn Shard>>) -> Arc<Cluster> {
    let cluster = Cluster::new(shards).unwrap();
    cluster.open().unwrap();
    Arc::new(cluster)
}

pub(crate) fn shard_at(url: &str, database: &str) -> Box<dyn Shard> {
    let outbound: Arc<dyn Outbound> = Arc::new(Plain);
    Box::new(HttpShard::new(outbound, url, database).unwrap())
}
