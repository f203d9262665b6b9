//! One operation being carried out: its parameters, its circumstances, and the transaction.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use contract::rest::{Params, Refusal, Stop, Verb};
use db::Conn;
use serde_json::{Map, Value};
use types::{Capability, Error, Timestamp};

use crate::lock::Guess;
use crate::{Options, Site, User, Via, Visit};

/// Makes the body of a reply of what was changed and read, without storage.
pub(crate) type Show = Box<dyn FnOnce(&Call<'_>) -> Value + Send>;

/// When the body of a reply is made.
enum Showing {
    Now,
    /// After the transaction, by this.
    Later(Option<Show>),
}

/// What permissions and operations are handed.
pub struct Call<'c> {
    pub site: &'c Site,
    pub visit: &'c Visit,
    pub params: Params,
    pub verb: Verb,
    head_only: bool,
    is_shortened: Cell<bool>,
    pub(crate) guess: RefCell<Option<Guess>>,
    showing: Showing,
    conn: Option<&'c mut dyn Conn>,
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Call").field("verb", &self.verb).finish_non_exhaustive()
    }
}

impl<'c> Call<'c> {
    pub(crate) fn new(
        site: &'c Site,
        visit: &'c Visit,
        verb: Verb,
        head_only: bool,
        params: Params,
        conn: Option<&'c mut dyn Conn>,
    ) -> Self {
        let (is_shortened, guess) = (Cell::new(false), RefCell::new(None));
        let showing = Showing::Now;
        Self { site, visit, params, verb, head_only, is_shortened, guess, showing, conn }
    }

    /// Lets the operation leave the body of its reply to whoever has ended the transaction.
    pub(crate) fn may_show_later(&mut self) {
        self.showing = Showing::Later(None);
    }

    /// What makes the body, if it was left.
    pub(crate) fn take_show(&mut self) -> Option<Show> {
        match &mut self.showing {
            Showing::Later(show) => show.take(),
            Showing::Now => None,
        }
    }

    /// The body of the reply, or an empty one if it is made when the transaction is over, because
    /// others wait for that.
    pub fn show(&mut self, show: Show) -> Value {
        match &mut self.showing {
            Showing::Later(left) => {
                *left = Some(show);
                Value::Object(Map::new())
            }
            Showing::Now => show(self),
        }
    }

    /// Whether only the headers are wanted, so that a list need not read its items. **Who asks
    /// leaves them out**: the length of the body is unknown from then on.
    pub fn leaves_out_items(&self) -> bool {
        self.is_shortened.set(self.is_shortened.get() || self.head_only);
        self.head_only
    }

    /// Whether items were left out because only the headers are wanted.
    pub(crate) fn is_shortened(&self) -> bool {
        self.is_shortened.get()
    }

    /// The transaction. Operations that said they need none have none.
    pub fn conn(&mut self) -> Result<&mut dyn Conn, Error> {
        match &mut self.conn {
            Some(conn) => Ok(&mut **conn),
            None => Err(Error::internal("an operation without storage asked for it")),
        }
    }

    pub(crate) fn conn_if_any(&mut self) -> Option<&mut dyn Conn> {
        match &mut self.conn {
            Some(conn) => Some(&mut **conn),
            None => None,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.visit.now
    }

    /// The number that a new record brings along and keeps; only imports bring one.
    pub fn kept_id(&self) -> Option<i64> {
        self.params.int("id").filter(|id| self.visit.is_import && *id > 0)
    }

    pub fn options(&self) -> &Options {
        &self.visit.options
    }

    pub fn user(&self) -> Option<&Arc<User>> {
        self.visit.identity.user.as_ref()
    }

    /// Zero for nobody, as clients expect.
    pub fn user_id(&self) -> i64 {
        self.user().map_or(0, |user| user.id())
    }

    /// Whether the caller sees the sales of one merchant or store only.
    pub fn is_bound(&self) -> bool {
        self.user().is_some_and(|user| user.is_bound())
    }

    pub fn can(&self, capability: Capability) -> bool {
        self.visit.identity.can(capability)
    }

    /// The refusal of a caller who lacks a right: 401 for nobody, 403 for somebody.
    pub fn deny(
        &self,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        let status = if self.visit.identity.is_anonymous() { 401 } else { 403 };
        Refusal::new(status, code, message)
    }

    /// Lets the caller pass only with the capability.
    pub fn need(
        &self,
        capability: Capability,
        code: &'static str,
        message: &'static str,
    ) -> Result<(), Stop> {
        if self.can(capability) { Ok(()) } else { Err(self.deny(code, message).into()) }
    }

    /// The permission of an operation that simply says no.
    pub fn forbidden(&self) -> Refusal {
        self.deny("rest_forbidden", "You are not allowed to do that.")
    }

    /// The permission to make or approve a credential of the caller. **No credential hands out more
    /// than it has**: a consumer key may be good for reading or writing alone, while an application
    /// password or a session acts for its user in everything.
    pub fn may_issue_credentials(&self) -> Result<(), Stop> {
        if !matches!(self.visit.identity.via, Via::ConsumerKey { .. }) {
            return Ok(());
        }
        let message = "A consumer key cannot create or approve credentials; sign in, or use an \
                       application password.";
        Err(Refusal::new(403, "rest_cannot_issue_credentials", message).into())
    }

    /// Looks for what a secret of the caller stands for: a code, or a token of a link. An address
    /// that waits is refused first, and a secret that stands for nothing is counted.
    pub fn look_up_secret<T>(
        &mut self,
        look_up: impl FnOnce(&mut Self) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, Stop> {
        let (site, client) = (self.site, self.visit.client);
        site.check_client(client)?;
        let found = look_up(self)?;
        if found.is_none() {
            site.count_guess(client);
        }
        Ok(found)
    }

    /// The context in which the item is shown: `view` unless asked for otherwise.
    pub fn context(&self) -> String {
        self.params.text("context").unwrap_or("view").to_owned()
    }

    /// Runs a part of this operation with other parameters; `run` says whether its changes stay.
    pub fn nested(
        &mut self,
        params: Params,
        run: &mut dyn FnMut(&mut Call<'_>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let (site, visit, verb) = (self.site, self.visit, self.verb);
        self.conn()?.nested(&mut |conn| {
            let mut inner = Call::new(site, visit, verb, false, params.clone(), Some(conn));
            run(&mut inner)
        })
    }
}
