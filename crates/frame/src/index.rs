//! Discovery: the index of the whole interface, and of each namespace.
//!
//! An index is hundreds of kilobytes and changes only when an option does: it is serialised and
//! compressed once, and sent with a tag by which clients keep it.

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Body, Fields, Links, Refusal, Reply, Schema, Stop, Treatment};
use serde_json::{Map, Value, json};

use crate::action::{Action, anyone, memory};
use crate::{Call, Names, Site, Visit};

/// The route of the whole index. It comes first of all.
pub(crate) fn root() -> Route<Action> {
    Route::at("", "")
        .on(READ, context_arg(Args::new()), memory(anyone, show_root))
        .shows(site_index())
}

/// What is said of the site, and of all its routes.
fn site_index() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let number = |about: &str| Schema::integer().about(about);
    let offset = Schema::types(&["string", "number"]).about("Hours ahead of UTC.");
    let authentication = Schema::types(&["object", "array"])
        .about("Where programs get credentials, by kind; an empty list for nowhere.");
    Schema::object([
        ("name", text("Site title.")),
        ("description", text("Site tagline.")),
        ("url", text("Address of the site.")),
        ("home", text("Address of the front page.")),
        ("gmt_offset", offset),
        ("timezone_string", text("Time zone, such as America/New_York.")),
        ("page_for_posts", number("Page that lists posts.")),
        ("page_on_front", number("Page that is the front page.")),
        ("show_on_front", text("What the front page shows.")),
        ("namespaces", Schema::list(Schema::text()).about("All namespaces.")),
        ("authentication", authentication),
        ("routes", routes_index()),
        ("site_logo", number("Media ID of the logo.")),
        ("site_icon", number("Media ID of the icon.")),
        ("site_icon_url", text("Address of the icon.")),
        ("_links", Schema::map().about("Where to read more.")),
    ])
}

/// What is said of one namespace.
fn namespace_index() -> Schema {
    Schema::object([
        ("namespace", Schema::text().about("Name of the namespace.")),
        ("routes", routes_index()),
        ("_links", Schema::map().about("The index of the site.")),
    ])
}

/// Routes by their patterns.
fn routes_index() -> Schema {
    let methods = || Schema::list(Schema::text()).about("Methods.");
    let args =
        Schema::types(&["object", "array"]).about("Parameters by name; an empty list for none.");
    let allow_batch = Schema::map().about("Versions of batches that take it.");
    let endpoint =
        Schema::object([("methods", methods()), ("allow_batch", allow_batch), ("args", args)]);
    let route = Schema::object([
        ("namespace", Schema::text().about("Its namespace.")),
        ("methods", methods()),
        ("endpoints", Schema::list(endpoint).about("Its operations.")),
        ("schema", Schema::map().about("Its items, with `context=help`.")),
        ("_links", Schema::map().about("Its own address, if its pattern has no variables.")),
    ]);
    Schema::map().additional(route).about("Routes by their patterns.")
}

/// The routes of the namespaces' own indexes.
pub(crate) fn of_namespace(namespace: &str) -> Route<Action> {
    let default = namespace.to_owned();
    let args = Args::new()
        .arg("namespace", Schema::any().default(default))
        .treat("namespace", Treatment::None);
    Route::at(namespace, "")
        .on(READ, context_arg(args), memory(anyone, show_namespace))
        .shows(namespace_index())
        .refuses_with(&[404])
}

fn context_arg(args: Args) -> Args {
    args.arg("context", Schema::any().default("view")).treat("context", Treatment::None)
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn show_root(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let help = call.params.text("context") == Some("help");
    if let Some(fields) = Fields::read(&call.params) {
        let document = root_document(call.site, call.visit, help, &|name| fields.includes(name));
        return Ok(Reply::new(document));
    }
    let (site, visit) = (call.site, call.visit);
    let application_passwords = visit.application_passwords;
    // The offset from UTC changes with the seasons, not only with the options.
    let offset = visit.options.seconds_ahead(visit.now);
    let version = visit.options.version;
    let key = format!("/ {version} {offset} {application_passwords} {help}");
    let make = |home: &str| root_document(site, &visit.called(home), help, &|_| true);
    Ok(Reply::of(200, Body::Prepared(site.documents().get(&key, &visit.home, make))))
}

fn root_document(site: &Site, visit: &Visit, help: bool, wants: &dyn Fn(&str) -> bool) -> Value {
    let options = &visit.options;
    let authentication = if visit.application_passwords {
        let page = visit.page(AUTHORIZE_PATH);
        json!({ "application-passwords": { "endpoints": { "authorization": page } } })
    } else {
        json!([])
    };
    let mut document = Map::new();
    let mut say = |name: &str, value: &dyn Fn() -> Value| {
        if wants(name) {
            document.insert(name.to_owned(), value());
        }
    };
    say("name", &|| json!(options.text("blogname")));
    say("description", &|| json!(options.text("blogdescription")));
    say("url", &|| json!(visit.home));
    say("home", &|| json!(visit.home));
    say("gmt_offset", &|| options.gmt_offset(visit.now));
    say("timezone_string", &|| json!(options.text("timezone_string")));
    say("page_for_posts", &|| json!(options.integer("page_for_posts")));
    say("page_on_front", &|| json!(options.integer("page_on_front")));
    say("show_on_front", &|| json!(options.text("show_on_front")));
    say("namespaces", &|| json!(site.table().namespaces()));
    say("authentication", &|| authentication.clone());
    say("routes", &|| Value::Object(site.table().documents(None, &visit.rest_url, help)));
    say("site_logo", &|| json!(options.integer("site_logo")));
    say("site_icon", &|| json!(options.integer("site_icon")));
    say("site_icon_url", &|| json!(""));
    let links = Links::new().to("help", visit.page("/docs/"));
    say("_links", &|| links.clone().into_value().unwrap_or_default());
    Value::Object(document)
}

/// Where a user lets a program act for them.
pub const AUTHORIZE_PATH: &str = "/wp-admin/authorize-application.php";

fn show_namespace(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, visit) = (call.site, call.visit);
    let namespace = call.params.text("namespace").unwrap_or_default().to_owned();
    if !site.table().namespaces().contains(&namespace) {
        let message = "Namespace not found.";
        return Err(Refusal::new(404, "rest_invalid_namespace", message).into());
    }
    let help = call.params.text("context") == Some("help");
    let make = |home: &str| {
        let visit = visit.called(home);
        let routes = site.table().documents(Some(&namespace), &visit.rest_url, help);
        let links = Links::new().to("up", visit.rest("/")).into_value();
        json!({ "namespace": namespace, "routes": routes, "_links": links })
    };
    if Fields::read(&call.params).is_some() {
        return Ok(Reply::new(make(&visit.home)));
    }
    let key = format!("{namespace} {help}");
    Ok(Reply::of(200, Body::Prepared(site.documents().get(&key, &visit.home, make))))
}

/// The index of every namespace, whether or not a route of it is built.
pub(crate) fn namespaces(names: &Names) -> Vec<Route<Action>> {
    names.namespaces().map(of_namespace).collect()
}
