//! Which engine answers reports: the setting, and the facts that follow from it.

use std::collections::BTreeSet;
use std::sync::Arc;

use frame::outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Environment, Error, Result};

use crate::clickhouse::{Cluster, HttpShard, Shard};
use crate::current::Facts;

/// What the setting says for the columns in memory.
const MEMORY: &str = "memory";
/// The first part of a database's name, unless the address names one.
const DATABASE: &str = "boardwalk";

/// Where reports are answered from: `memory`, or the URLs of `ClickHouse` servers, each of which
/// holds the orders of some customers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Engine {
    /// `memory`, or one URL.
    One(String),
    Shards(Vec<String>),
}

impl Default for Engine {
    fn default() -> Self {
        Self::One(MEMORY.to_owned())
    }
}

impl Engine {
    /// The facts of an environment's site, where they are to be. No server is asked yet.
    pub fn facts(
        &self,
        outbound: &Arc<dyn Outbound>,
        environment: Environment,
    ) -> Result<Arc<Facts>> {
        let urls = self.urls();
        if urls.is_empty() {
            return Ok(Arc::default());
        }
        let servers = urls.iter().map(|url| split(url)).collect::<Result<Vec<_>>>()?;
        let places: BTreeSet<_> = servers.iter().map(place).collect();
        if places.len() < servers.len() {
            return Err(Error::invalid("analytics.engine names one ClickHouse database twice"));
        }
        let shard = |(address, name): &(String, String)| -> Result<Box<dyn Shard>> {
            let database = format!("{name}_{environment}");
            Ok(Box::new(HttpShard::new(Arc::clone(outbound), address, &database)?))
        };
        let shards = servers.iter().map(shard).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Facts::on(Arc::new(Cluster::new(shards)?))))
    }

    /// The servers; none for the columns in memory.
    pub fn urls(&self) -> &[String] {
        match self {
            Self::One(one) if one == MEMORY => &[],
            Self::One(one) => std::slice::from_ref(one),
            Self::Shards(urls) => urls,
        }
    }

    /// The same with the URLs changed, for showing them.
    #[must_use]
    pub fn with_urls(&self, change: impl Fn(&str) -> String) -> Self {
        match self {
            Self::One(one) if one == MEMORY => self.clone(),
            Self::One(one) => Self::One(change(one)),
            Self::Shards(urls) => Self::Shards(urls.iter().map(|url| change(url)).collect()),
        }
    }
}

/// The address of the server, and the first part of the database's name: the path, if there is one.
fn split(url: &str) -> Result<(String, String)> {
    let invalid = "analytics.engine must be memory or URLs such as http://host:8123/boardwalk";
    let mut parsed =
        url::Url::parse(url).map_err(|error| Error::invalid(invalid).because(error))?;
    let name = parsed.path().trim_matches('/').to_owned();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.chars().all(is_name) {
        return Err(Error::invalid(invalid));
    }
    parsed.set_path("/");
    Ok((parsed.into(), if name.is_empty() { DATABASE.to_owned() } else { name }))
}

/// What two addresses of one database have in common.
fn place((address, name): &(String, String)) -> Option<(String, Option<u16>, String)> {
    let url = url::Url::parse(address).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_name_a_database() {
        let of = |url: &str| split(url).ok();
        let pair = |address: &str, name: &str| Some((address.to_owned(), name.to_owned()));
        assert_eq!(of("http://a:8123"), pair("http://a:8123/", "boardwalk"));
        assert_eq!(of("https://u:p@a/shop_1/"), pair("https://u:p@a/", "shop_1"));
        assert_eq!(of("http://a/x;DROP"), None);
        assert_eq!(of("a:8123/x-y"), None);
    }

    #[test]
    fn no_database_is_named_twice() {
        let of = |url: &str| place(&split(url).unwrap());
        assert_eq!(of("http://a/x"), of("http://u:p@A:80/x/"));
        assert_ne!(of("http://a:8123/x"), of("http://a:8123/y"));
        assert_ne!(of("http://a:8123"), of("http://a:8124"));
    }

    #[test]
    fn memory_has_no_servers() {
        assert!(Engine::default().urls().is_empty());
        assert_eq!(Engine::One("http://a".to_owned()).urls().len(), 1);
    }
}
