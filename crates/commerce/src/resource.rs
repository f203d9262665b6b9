//! What commerce records have in common: the routes of a collection, of an item and of a batch,
//! with the permissions, codes and order of checks that clients of the commerce family know.

mod batch;
mod permit;
mod requests;

use std::fmt::Debug;
use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{
    Args, CompiledItem, Fields, Item, Links, Refusal, Reply, Schema, Stop, loose,
};
use frame::action::{BatchItem, read, write};
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use types::Capability;

pub use self::batch::ITEMS_MAX;

/// The capabilities that the operations need.
#[derive(Clone, Copy, Debug)]
pub struct Rights {
    pub read: Capability,
    pub create: Capability,
    pub edit: Capability,
    pub delete: Capability,
    pub batch: Capability,
}

/// What a list gives: a page of records, and how many there are in all.
#[derive(Debug)]
pub struct Listed<T> {
    pub records: Vec<T>,
    pub total: i64,
}

/// What is to be done with an item that a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Read,
    Edit,
    Delete,
}

/// What the reply to a deletion contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionReply {
    /// The item as it was.
    AsItWas,
    /// The item as it was, with hints on what the caller can do.
    WithHints,
    /// The item as `previous`, with `deleted`; an item in the trash as it is.
    Noted,
}

/// Whether the caller may do with this record what needs the capability.
pub type ItemRule<T> = fn(&mut Call<'_>, &T, Capability) -> bool;

/// A kind of record with the usual operations.
pub trait Resource: Send + Sync + Debug + 'static {
    type Record: Send + 'static;

    /// The word for it in error codes, such as `shop_coupon`.
    fn word(&self) -> &'static str;

    fn rights(&self) -> Rights;

    /// The schema of an item; create and update parameters are derived from it.
    fn item(&self) -> &Item;

    /// The parameters of a creation: those of the schema, unless more of them are required.
    fn create_args(&self) -> Args {
        self.item().create_args()
    }

    /// The parameters of a change.
    fn update_args(&self) -> Args {
        self.item().update_args()
    }

    /// What a deletion takes besides `force`.
    fn delete_args(&self) -> Args {
        Args::new()
    }

    /// The parameters of a list, but for `context`.
    fn list_args(&self) -> Args;

    /// Parameters of every operation on the collection that stand in its path.
    fn path_args(&self) -> Args {
        Args::new()
    }

    /// What an item of a batch is created with that says nothing else.
    fn batch_defaults(&self) -> Map<String, Value> {
        defaults(&self.create_args())
    }

    /// Whether several can be changed at once.
    fn has_batch(&self) -> bool {
        true
    }

    /// Whether a list has pages; else it is whole.
    fn has_pages(&self) -> bool {
        true
    }

    /// Whether deleting can mean to put aside.
    fn has_trash(&self) -> bool {
        true
    }

    /// Whether deleting is for good unless the request says otherwise.
    fn is_forced(&self) -> bool {
        false
    }

    /// What becomes of the answer to a deletion.
    fn deletion_reply(&self) -> DeletionReply {
        DeletionReply::AsItWas
    }

    /// What must hold of the path before anything else is looked at, even for nobody.
    fn check_path(&self, call: &mut Call<'_>) -> Result<(), Stop> {
        let _ = call;
        Ok(())
    }

    /// Whether an id that is nobody's is refused before any permission is looked at, so that no
    /// method is allowed there.
    fn refuses_unknown_first(&self) -> bool {
        false
    }

    /// The code for somebody who may not change an item.
    fn edit_refusal(&self) -> &'static str {
        "woocommerce_rest_cannot_edit"
    }

    /// The REST path below which a new record is said to be: that of the collection.
    fn location(&self, base: &str) -> String {
        base.to_owned()
    }

    /// The record of this id, if it is one of these. The path's other variables are parameters.
    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Self::Record>, Stop>;

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Self::Record>, Stop>;

    /// The body of an item, all fields; those of other contexts are taken out afterwards.
    fn show(&self, call: &mut Call<'_>, record: &Self::Record) -> Result<Value, Stop>;

    /// The same, for records of which nothing more has to be read to show them.
    fn show_alone(&self) -> Option<ShowAlone<Self>> {
        None
    }

    fn links(&self, call: &Call<'_>, record: &Self::Record, base: &str) -> Links;

    fn id(&self, record: &Self::Record) -> i64;

    /// Whether requests may name pictures by their addresses, which are fetched first.
    fn has_pictures(&self) -> bool {
        false
    }

    /// Whether the record is in the trash.
    fn is_trashed(&self, record: &Self::Record) -> bool {
        let _ = record;
        false
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Self::Record, Stop>;

    fn update(&self, call: &mut Call<'_>, record: Self::Record) -> Result<Self::Record, Stop>;

    fn trash(&self, call: &mut Call<'_>, record: Self::Record) -> Result<(), Stop>;

    fn delete(&self, call: &mut Call<'_>, record: Self::Record) -> Result<(), Stop>;

    /// The status and the code of the refusal for an id that is none of these.
    fn unknown_id(&self, act: Act) -> (u16, String) {
        let status = if act == Act::Edit { 400 } else { 404 };
        (status, format!("woocommerce_rest_{}_invalid_id", self.word()))
    }

    /// Whether anybody at all is told that there is no record of an id. Otherwise callers without
    /// the right are refused first.
    fn reports_unknown_ids(&self) -> bool {
        true
    }

    /// What decides, of a record, whether the caller may do with it what needs the capability; none
    /// where the capability is all that counts, so that no record is read to know it.
    fn item_rule(&self) -> Option<ItemRule<Self::Record>> {
        None
    }
}

/// The parameters of a request from those of an item, for operations of a resource's own.
pub fn request_args(args: Args) -> Args {
    requests::args(args)
}

/// What the parameters are if nobody gives them.
pub(crate) fn defaults(args: &Args) -> Map<String, Value> {
    requests::defaults(args)
}

/// How a record is shown without storage.
pub type ShowAlone<R> = fn(&R, &Call<'_>, &<R as Resource>::Record) -> Value;

/// A resource with the namespace and the path at which it is served.
#[derive(Debug)]
struct Endpoint<R> {
    resource: R,
    namespace: String,
    /// After the namespace, such as `/coupons`; may hold path variables.
    path: String,
    item: CompiledItem,
    /// What is created without these is created with them.
    defaults: Map<String, Value>,
}

/// The routes of a resource: its collection, its items, and batches of them. An error tells the
/// programmer what is wrong with the schema.
pub fn routes<R: Resource>(
    namespace: &str,
    path: &str,
    resource: R,
) -> Result<Vec<Route<Action>>, String> {
    let item = resource.item().compile()?;
    let document = resource.item().document();
    let defaults = resource.batch_defaults();
    let names = (namespace.to_owned(), path.to_owned());
    let endpoint = Endpoint { resource, namespace: names.0, path: names.1, item, defaults };
    let endpoint = Arc::new(endpoint);
    let id = || Schema::integer().about("Resource ID.");
    let context = || endpoint.resource.item().context_arg();
    let on_path = || endpoint.resource.path_args();
    let with_id = || on_path().arg("id", id());
    let force = force_arg(&endpoint.resource);
    macro_rules! on_endpoint {
        ($operation:path) => {{
            let endpoint = Arc::clone(&endpoint);
            move |call: &mut Call<'_>| $operation(&endpoint, call)
        }};
    }
    let has_pictures = endpoint.resource.has_pictures();
    let with_pictures = |action: Action| {
        if has_pictures { action.after(frame::library::fetch::before) } else { action }
    };
    let list_args = on_path().arg("context", context()).with(endpoint.resource.list_args());
    let create_args = on_path().with(requests::args(endpoint.resource.create_args()));
    let update_args = || requests::args(endpoint.resource.update_args());
    let collection = Route::at(namespace, path)
        .on(READ, list_args, read(on_endpoint!(permit::may_list), on_endpoint!(list)))
        .lists()
        .on(
            CREATE,
            create_args,
            with_pictures(write(on_endpoint!(permit::may_create), on_endpoint!(create))),
        )
        .creates()
        .schema(document.clone());
    let one = Route::at(namespace, &format!(r"{path}/(?P<id>[\d]+)"))
        .on(
            READ,
            with_id().arg("context", context()),
            read(on_endpoint!(permit::may_read), on_endpoint!(get)),
        )
        .on(
            EDIT,
            with_id().with(update_args()),
            with_pictures(write(on_endpoint!(permit::may_edit), on_endpoint!(update))),
        )
        .on(
            DELETE,
            with_id().arg("force", force).with(endpoint.resource.delete_args()),
            write(on_endpoint!(permit::may_delete), on_endpoint!(delete)),
        )
        .refuses_with(&[410]);
    let one = noting_deletion(&endpoint.resource, one).schema(document.clone());
    if !endpoint.resource.has_batch() {
        return Ok(vec![collection, one]);
    }
    let batch_args = on_path().with(update_args());
    let of_items = Arc::clone(&endpoint);
    let run = move |item: &BatchItem, call: &mut Call<'_>| batch::run(&of_items, item, call);
    let (permit, plan) = (on_endpoint!(permit::may_batch), on_endpoint!(batch::plan));
    let run_all = with_pictures(frame::action::batch(permit, plan, run, batch::gather));
    let batch = Route::at(namespace, &format!("{path}/batch"))
        .on(EDIT, batch_args, run_all)
        .batches(document);
    Ok(vec![collection, one, batch])
}

fn force_arg(resource: &impl Resource) -> Schema {
    Schema::boolean()
        .default(resource.is_forced())
        .about("Whether to delete permanently instead of moving to the trash.")
}

fn noting_deletion(resource: &impl Resource, one: Route<Action>) -> Route<Action> {
    match resource.deletion_reply() {
        DeletionReply::Noted => one.notes_deletion(),
        DeletionReply::AsItWas | DeletionReply::WithHints => one,
    }
}

impl<R: Resource> Endpoint<R> {
    /// The collection's REST path, with the path variables of the call filled in.
    fn base(&self, call: &Call<'_>) -> String {
        let mut path = format!("/{}{}", self.namespace, self.path);
        for (name, value) in call.params.path() {
            let Some(start) = path.find(&format!("(?P<{name}>")) else { continue };
            let Some(length) = path.get(start..).and_then(|rest| rest.find(')')) else { continue };
            let text = loose::scalar_text(value).unwrap_or_default();
            path.replace_range(start..=start + length, &text);
        }
        path
    }

    fn body(&self, call: &mut Call<'_>, record: &R::Record, context: &str) -> Result<Value, Stop> {
        let body = self.resource.show(call, record)?;
        Ok(self.item.filter_by_context(body, context))
    }

    /// The item of the call's id.
    fn item_of(&self, call: &mut Call<'_>, act: Act) -> Result<R::Record, Stop> {
        let id = call.params.int("id").unwrap_or_default();
        let found = self.resource.find(call, id)?;
        found.ok_or_else(|| self.unknown(act).into())
    }

    fn unknown(&self, act: Act) -> Refusal {
        let (status, code) = self.resource.unknown_id(act);
        Refusal::new(status, code, "Resource not found.")
    }

    fn reply(&self, call: &mut Call<'_>, record: &R::Record, context: &str) -> Result<Reply, Stop> {
        // Fields that differ by context are shown by the one of the call.
        call.params.set("context", context);
        let base = self.base(call);
        let links = self.resource.links(call, record, &base);
        Ok(Reply::new(self.body(call, record, context)?).links(links))
    }

    /// The reply to what has changed the record, shown when that is stored, if it can be.
    fn reply_later(
        self: &Arc<Self>,
        call: &mut Call<'_>,
        record: R::Record,
    ) -> Result<Reply, Stop> {
        const CONTEXT: &str = "edit";
        let Some(show) = self.resource.show_alone() else {
            return self.reply(call, &record, CONTEXT);
        };
        // Fields that differ by context are shown by the one of the call.
        call.params.set("context", CONTEXT);
        let links = self.resource.links(call, &record, &self.base(call));
        let endpoint = Arc::clone(self);
        let show = move |call: &Call<'_>| {
            let body = show(&endpoint.resource, call, &record);
            endpoint.item.filter_by_context(body, CONTEXT)
        };
        Ok(Reply::new(call.show(Box::new(show))).links(links))
    }
}

fn list<R: Resource>(endpoint: &Endpoint<R>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let Listed { records, total } = endpoint.resource.list(call)?;
    let (base, context) = (endpoint.base(call), call.context());
    let wants_links = Fields::read(&call.params).is_none_or(|fields| fields.includes("_links"));
    let mut items = Vec::with_capacity(records.len());
    for record in &records {
        let mut body = endpoint.body(call, record, &context)?;
        let links = endpoint.resource.links(call, record, &base).into_value();
        if let (true, Value::Object(members), Some(links)) = (wants_links, &mut body, links) {
            members.insert(String::from("_links"), links);
        }
        items.push(body);
    }
    let reply = Reply::new(items);
    if !endpoint.resource.has_pages() {
        return Ok(reply.header("x-wp-total", total.to_string()).header("x-wp-totalpages", "1"));
    }
    Ok(with_totals(reply, call, &base, total))
}

fn get<R: Resource>(endpoint: &Endpoint<R>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let record = endpoint.item_of(call, Act::Read)?;
    let context = call.context();
    endpoint.reply(call, &record, &context)
}

fn create<R: Resource>(endpoint: &Arc<Endpoint<R>>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) && call.kept_id().is_none() {
        let code = format!("woocommerce_rest_{}_exists", endpoint.resource.word());
        let message = "The ID of a new resource cannot be set.";
        return Err(Refusal::new(400, code, message).into());
    }
    let record = endpoint.resource.create(call)?;
    let base = endpoint.resource.location(&endpoint.base(call));
    let location = format!("{base}/{}", endpoint.resource.id(&record));
    let location = call.visit.rest(&location);
    let reply = endpoint.reply_later(call, record)?;
    Ok(Reply { status: 201, ..reply }.header("location", location))
}

fn update<R: Resource>(endpoint: &Arc<Endpoint<R>>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let record = endpoint.item_of(call, Act::Edit)?;
    let record = endpoint.resource.update(call, record)?;
    endpoint.reply_later(call, record)
}

fn delete<R: Resource>(endpoint: &Arc<Endpoint<R>>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let record = endpoint.item_of(call, Act::Delete)?;
    let id = endpoint.resource.id(&record);
    let mut reply = endpoint.reply(call, &record, "edit")?;
    let deletion_reply = endpoint.resource.deletion_reply();
    if deletion_reply == DeletionReply::WithHints {
        reply = with_hints(reply, call, &format!("{}/{id}", endpoint.base(call)))?;
    }
    if call.params.flag("force") {
        endpoint.resource.delete(call, record)?;
        if deletion_reply == DeletionReply::Noted {
            let previous = Reply { links: Links::default(), ..reply }.into_json().2;
            return Ok(Reply::new(json!({ "deleted": true, "previous": previous })));
        }
        return Ok(reply);
    }
    if !endpoint.resource.has_trash() {
        // No answer of ours is a 5xx: those are for failures.
        let message = "This resource cannot be moved to the trash; set force to delete it.";
        return Err(Refusal::new(400, "woocommerce_rest_trash_not_supported", message).into());
    }
    if endpoint.resource.is_trashed(&record) {
        let message = "This resource is already in the trash; set force to delete it permanently.";
        return Err(Refusal::new(410, "woocommerce_rest_already_trashed", message).into());
    }
    endpoint.resource.trash(call, record)?;
    match deletion_reply {
        DeletionReply::Noted => get_again(endpoint, call),
        _ => Ok(reply),
    }
}

fn get_again<R: Resource>(endpoint: &Endpoint<R>, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let record = endpoint.item_of(call, Act::Delete)?;
    endpoint.reply(call, &record, "edit")
}

/// What is allowed at a path is known only as long as the item is there.
fn with_hints(reply: Reply, call: &mut Call<'_>, path: &str) -> Result<Reply, Stop> {
    let allowed = call.allowed_at(path, Map::new())?;
    let links = reply.links.clone().hint("self", &allowed);
    Ok(reply.links(links).header("allow", allowed.join(", ")))
}
