//! A shop that is made over the interface itself, by recorded requests, and the ids that a server
//! gave to what they made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::http;

use super::case::Plan;
use super::ids::Ids;
use super::runner::{Identities, Runner};

/// The answer to a path or a method that nobody serves.
const NO_ROUTE: &str = "rest_no_route";

/// The recorded requests, in their order.
#[derive(Debug, Deserialize)]
pub struct Seed {
    requests: Vec<SeedRequest>,
}

#[derive(Debug, Deserialize)]
struct SeedRequest {
    method: String,
    path: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    /// The id that the recorded server gave.
    id: Option<Value>,
    /// The member of the answer that has the id; `id` unless this says otherwise.
    id_in: Option<String>,
    name: Option<String>,
}

/// What a server made of a seed.
#[derive(Clone, Debug, Default)]
pub struct Seeded {
    /// From recorded ids to the server's.
    pub ids: BTreeMap<i64, i64>,
    /// The logins of the users that were made, with the ids that the server gave them.
    pub users: BTreeMap<String, i64>,
    /// The requests that the server refused, and how. One whose route is not there is left out, as
    /// cases wait for theirs.
    pub refused: Vec<String>,
}

impl Seed {
    pub fn load(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no seed", path.display()))
    }

    /// Sends the requests to a server, as an administrator who is `admin` among the identities.
    pub fn send(&self, site: &str, identities: &Identities) -> Result<Seeded> {
        let runner = Runner::new(site, identities.clone())?;
        let mut seeded = Seeded::default();
        for entry in &self.requests {
            let ids = Ids::seeded(&seeded.ids);
            let request =
                runner.request(&entry.plan(), &ids, &super::visitor::Visitor::default())?;
            let answer = http::send(site, &request)?;
            let SeedRequest { method, path, .. } = entry;
            if answer.status == 404 && answer.text().contains(NO_ROUTE) {
                continue;
            }
            if answer.status >= 300 {
                let text: String = answer.text().chars().take(200).collect();
                seeded.refused.push(format!("{method} {path}: {} {text}", answer.status));
                continue;
            }
            let Some(recorded) = entry.id.as_ref().and_then(Value::as_i64) else { continue };
            let Some(given) = entry.given(&answer.json()?) else { continue };
            seeded.ids.insert(recorded, given);
            if let Some(login) = entry.name.as_deref().and_then(|name| name.strip_prefix("user:")) {
                seeded.users.insert(login.to_owned(), given);
            }
        }
        Ok(seeded)
    }
}

impl SeedRequest {
    fn plan(&self) -> Plan {
        Plan {
            method: self.method.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            auth: "admin".to_owned(),
            client: String::new(),
            cookies: false,
            web: false,
        }
    }

    /// The id in an answer. That of a theme's styles is the end of a link.
    fn given(&self, answer: &Value) -> Option<i64> {
        match self.id_in.as_deref() {
            Some("_links") => {
                let link = answer.pointer("/_links/wp:user-global-styles/0/href")?.as_str()?;
                link.rsplit('/').next()?.parse().ok()
            }
            name => answer.get(name.unwrap_or("id"))?.as_i64(),
        }
    }
}
