//! Hashes the passwords of a request before its transaction begins: hashing takes long, and inside
//! of it everybody would wait.

use std::sync::Arc;

use contract::rest::Stop;
use serde_json::Value;
use types::{Error, Secret};

use super::invocation::Invocation;
use crate::password;
use crate::{Call, Site, Visit};

/// Passwords of one request; a batch has at most as many items.
const PASSWORDS_MAX: usize = 100;

impl Site {
    /// The visit with the hashes that its request will need. Of anonymous callers only the password
    /// of an account that a checkout makes is hashed: they set no other.
    pub(super) async fn with_hashes(
        self: &Arc<Self>,
        invocation: &Invocation,
        visit: &Arc<Visit>,
    ) -> Result<Arc<Visit>, Error> {
        let mut given = Vec::new();
        if let Some(password) = new_buyer(invocation)
            && self.is_worth_hashing(invocation, visit).await?
        {
            given.push(password);
        }
        let mut visit = Arc::clone(visit);
        if !visit.identity.is_anonymous() {
            given = [given, passwords_in(invocation)].concat();
        }
        for given in given {
            let password = Secret::new(given.clone());
            // What breaks the rule is refused by the operation, which says so in its own words.
            if password::check(&password).is_ok() {
                let hash = self.hasher().hash(password).await?;
                Arc::make_mut(&mut visit).hashes.insert(given, hash);
            }
        }
        Ok(visit)
    }

    /// Whether the operation would get as far as the stranger's password.
    async fn is_worth_hashing(
        self: &Arc<Self>,
        invocation: &Invocation,
        visit: &Arc<Visit>,
    ) -> Result<bool, Error> {
        let (site, visit) = (Arc::clone(self), Arc::clone(visit));
        let (verb, path) = (invocation.verb, invocation.path.clone());
        let params = invocation.params.clone();
        let looked = self.store().write(move |conn| {
            let found = site.table().find(verb, &path);
            let Some(check) = found.and_then(|found| found.endpoint.operation.hashing_if.as_ref())
            else {
                return Ok(false);
            };
            let mut call = Call::new(&site, &visit, verb, false, params.clone(), Some(conn));
            match check(&mut call) {
                Ok(is_worth) => Ok(is_worth),
                Err(Stop::Refused(_)) => Ok(false),
                Err(Stop::Failed(error)) => Err(error),
            }
        });
        looked.await
    }
}

/// The password of the account that a checkout is to make.
fn new_buyer(invocation: &Invocation) -> Option<String> {
    let makes_account = invocation.path.ends_with("/checkout");
    let given = invocation.params.text("customer_password").filter(|_| makes_account)?;
    invocation.params.flag("create_account").then(|| given.to_owned())
}

/// Whether operations at the path set the password of an account.
fn is_of_accounts(path: &str) -> bool {
    path.split(['/', '?']).any(|part| matches!(part, "users" | "customers"))
}

/// The passwords that a request wants to set: its own, and those of the items of a batch.
fn passwords_in(invocation: &Invocation) -> Vec<String> {
    let own = invocation.params.text("password").filter(|_| is_of_accounts(&invocation.path));
    let mut found: Vec<String> = own.map(str::to_owned).into_iter().collect();
    let password_of = |item: &Value| item.get("password")?.as_str().map(str::to_owned);
    let groups = ["requests", "create", "update"].into_iter();
    for item in groups.filter_map(|name| invocation.params.get(name)?.as_array()).flatten() {
        let item_path = item.get("path").and_then(Value::as_str).unwrap_or(&invocation.path);
        if is_of_accounts(item_path) {
            found.extend(item.get("body").and_then(password_of).or_else(|| password_of(item)));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(PASSWORDS_MAX);
    found
}
