//! Abilities: what programs may do here, by name, each with schemas of what it takes and gives.
//! **An ability is a request to a route of the site under another name**: who may, what it takes
//! and what it gives are those of the route.

use std::sync::Arc;

use contract::rest::route::{READ, Route, Verb};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Action, read, write};
use frame::{Call, Names, Site, paging};
use serde_json::{Map, Value, json};
use types::Capability;

const ALL: &[&str] = &["view", "edit", "embed"];
const FULL: &[&str] = &["view", "edit"];
const PER_PAGE: i64 = 50;
const PER_PAGE_MAX: i64 = 100;
const ANY_METHOD: &[Verb] = &[Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];
const NAME_PATTERN: &str = r"^[a-zA-Z0-9\-\/]+$";
const SLUG_PATTERN: &str = "^[a-z0-9]+(?:-[a-z0-9]+)*$";

/// A group of abilities.
#[derive(Debug)]
struct Category {
    slug: &'static str,
    label: &'static str,
    about: &'static str,
}

const CATEGORIES: &[Category] = &[
    Category { slug: "site", label: "Site", about: "What is known about the site." },
    Category { slug: "content", label: "Content", about: "Posts, pages and what readers search." },
    Category { slug: "orders", label: "Orders", about: "Orders of the store." },
    Category { slug: "reports", label: "Reports", about: "Figures of the store." },
];

/// Something that a program may do.
#[derive(Debug)]
struct Ability {
    name: &'static str,
    label: &'static str,
    about: &'static str,
    category: &'static str,
    runs: Runs,
}

/// How an ability is carried out.
#[derive(Debug)]
enum Runs {
    /// What is known about the site, by these names.
    Facts(&'static [Fact]),
    /// A request to a route.
    Request(Target),
}

/// A fact about the site.
#[derive(Debug)]
struct Fact {
    name: &'static str,
    about: &'static str,
    value: fn(&Call<'_>) -> String,
}

/// A route, and which of its parameters an ability takes.
#[derive(Debug)]
struct Target {
    verb: Verb,
    namespace: fn(&Names) -> &str,
    /// Below the namespace; a parameter in braces is a part of the path.
    path: &'static str,
    inputs: &'static [&'static str],
}

const SITE_FACTS: &[Fact] = &[
    Fact { name: "name", about: "Site name.", value: |call| call.options().text("blogname") },
    Fact {
        name: "description",
        about: "Site tagline.",
        value: |call| call.options().text("blogdescription"),
    },
    Fact { name: "url", about: "Address of the site.", value: |call| call.visit.home.clone() },
    Fact { name: "wpurl", about: "Address of the site.", value: |call| call.visit.home.clone() },
    Fact {
        name: "admin_email",
        about: "E-mail address of the administrator.",
        value: |call| call.options().text("admin_email"),
    },
    Fact { name: "charset", about: "Character set.", value: |_| String::from("UTF-8") },
    Fact {
        name: "language",
        about: "Language.",
        value: |call| call.options().text("WPLANG").replace('_', "-"),
    },
    Fact { name: "version", about: "Version of the program.", value: |_| VERSION.to_owned() },
];
const VERSION: &str = env!("CARGO_PKG_VERSION");

const ENVIRONMENT_FACTS: &[Fact] = &[
    Fact {
        name: "environment",
        about: "Sandbox or production.",
        value: |call| call.site.environment().name().to_owned(),
    },
    Fact {
        name: "time_zone",
        about: "Time zone of the site.",
        value: |call| call.options().zone_name(),
    },
    Fact { name: "version", about: "Version of the program.", value: |_| VERSION.to_owned() },
];

const ABILITIES: &[Ability] = &[
    Ability {
        name: "core/get-site-info",
        label: "Get site information",
        about: "Returns facts about the site.",
        category: "site",
        runs: Runs::Facts(SITE_FACTS),
    },
    Ability {
        name: "core/get-environment-info",
        label: "Get environment information",
        about: "Returns facts about the environment in which the site runs.",
        category: "site",
        runs: Runs::Facts(ENVIRONMENT_FACTS),
    },
    Ability {
        name: "boardwalk/search",
        label: "Search the site",
        about: "Searches posts, pages, products and terms.",
        category: "content",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.content,
            path: "/search",
            inputs: &["search", "type", "subtype", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/list-orders",
        label: "List orders",
        about: "Lists orders of the store.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.commerce_v3,
            path: "/orders",
            inputs: &["status", "customer", "search", "after", "before", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/read-order",
        label: "Read an order",
        about: "Returns an order of the store.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.commerce_v3,
            path: "/orders/{id}",
            inputs: &["id"],
        }),
    },
    Ability {
        name: "boardwalk/add-order-note",
        label: "Add a note to an order",
        about: "Adds a note to an order, for the staff or for the customer.",
        category: "orders",
        runs: Runs::Request(Target {
            verb: Verb::Post,
            namespace: |names| &names.commerce_v3,
            path: "/orders/{order_id}/notes",
            inputs: &["order_id", "note", "customer_note"],
        }),
    },
    Ability {
        name: "boardwalk/revenue-report",
        label: "Run the revenue report",
        about: "Returns revenue by interval.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/revenue/stats",
            inputs: &["after", "before", "interval", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/orders-report",
        label: "Run the orders report",
        about: "Returns figures about orders by interval.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/orders/stats",
            inputs: &["after", "before", "interval", "page", "per_page"],
        }),
    },
    Ability {
        name: "boardwalk/products-report",
        label: "Run the products report",
        about: "Returns what each product sold.",
        category: "reports",
        runs: Runs::Request(Target {
            verb: Verb::Get,
            namespace: |names| &names.analytics,
            path: "/reports/products",
            inputs: &["after", "before", "orderby", "order", "page", "per_page"],
        }),
    },
];

impl Target {
    /// The path of a request, with what the input says about it.
    fn path_for(&self, names: &Names, input: &Map<String, Value>) -> String {
        let mut path = format!("/{}{}", (self.namespace)(names), self.path);
        for name in self.inputs {
            let value = match input.get(*name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => String::from("0"),
            };
            // What is no plain word finds no route.
            let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            let value = if plain { value } else { String::from("-") };
            path = path.replace(&format!("{{{name}}}"), &value);
        }
        path
    }
}

impl Ability {
    fn is_readonly(&self) -> bool {
        match &self.runs {
            Runs::Facts(_) => true,
            Runs::Request(target) => target.verb == Verb::Get,
        }
    }

    /// What it takes, as its route says.
    fn input_schema(&self, site: &Site) -> Value {
        let properties = match &self.runs {
            Runs::Facts(facts) => {
                let names: Vec<&str> = facts.iter().map(|fact| fact.name).collect();
                let items = json!({ "type": "string", "enum": names });
                let about = "The facts that are wanted; all of them without it.";
                json!({ "fields": { "type": "array", "items": items, "description": about } })
            }
            Runs::Request(target) => {
                let args = route_document(site, target).and_then(|document| {
                    let endpoints = document.get("endpoints")?.as_array()?.clone();
                    let takes = |endpoint: &&Value| {
                        let methods = endpoint.get("methods").and_then(Value::as_array);
                        methods.is_some_and(|all| all.contains(&json!(target.verb.name())))
                    };
                    endpoints.iter().find(takes)?.get("args").cloned()
                });
                let known = args.as_ref().and_then(Value::as_object);
                let property =
                    |name: &&'static str| Some(((*name).to_owned(), known?.get(*name)?.clone()));
                Value::Object(target.inputs.iter().filter_map(property).collect())
            }
        };
        json!({
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "default": {},
        })
    }

    /// What it gives, as its route says.
    fn output_schema(&self, site: &Site) -> Value {
        match &self.runs {
            Runs::Facts(facts) => {
                let property = |fact: &Fact| {
                    let about = json!({ "type": "string", "description": fact.about });
                    (fact.name.to_owned(), about)
                };
                let properties: Map<String, Value> = facts.iter().map(property).collect();
                json!({
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": false,
                })
            }
            Runs::Request(target) => {
                let document = route_document(site, target);
                document.and_then(|document| document.get("schema").cloned()).unwrap_or(json!({}))
            }
        }
    }
}

/// What the route of an ability publishes about itself.
fn route_document(site: &Site, target: &Target) -> Option<Value> {
    let path = target.path_for(&site.settings().names, &Map::new());
    Some(site.table().find(target.verb, &path)?.route.description())
}

/// What the operations share.
#[derive(Debug)]
struct Shared {
    ability: CompiledItem,
    category: CompiledItem,
    namespace: String,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let (ability, category) = (ability_item(), category_item());
    let compile = |item: &Item| item.compile().expect("the schemas of abilities are well formed");
    let shared = Arc::new(Shared {
        ability: compile(&ability),
        category: compile(&category),
        namespace: names.abilities.clone(),
    });
    let run = |operation: fn(&Shared, &mut Call<'_>) -> Result<Reply, Stop>| {
        let shared = Arc::clone(&shared);
        move |call: &mut Call<'_>| operation(&shared, call)
    };
    let at = |path: &str| Route::at(&names.abilities, path);
    let name = Schema::text().about("Name of the ability.").pattern(NAME_PATTERN);
    let slug = Schema::text().about("Name of the category.").pattern(SLUG_PATTERN);
    let types = ["integer", "number", "boolean", "string", "array", "object", "null"];
    let input = Schema::types(&types).about("What the ability takes.").default(Value::Null);
    let of_category = Schema::text().about("Only abilities of this category.");
    vec![
        at("/categories")
            .on(READ, page_args(&category), read(may_read, run(list_categories)))
            .schema(category.document()),
        at("/categories/(?P<slug>[a-z0-9]+(?:-[a-z0-9]+)*)")
            .on(READ, Args::new().arg("slug", slug), read(may_read, run(read_category)))
            .schema(category.document()),
        at(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+?)/run").on(
            ANY_METHOD,
            Args::new().arg("name", name.clone()).arg("input", input),
            write(may_run, run_ability),
        ),
        at("/abilities")
            .on(
                READ,
                page_args(&ability).arg("category", of_category),
                read(may_read, run(list_abilities)),
            )
            .schema(ability.document()),
        at(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+)")
            .on(READ, Args::new().arg("name", name), read(may_read, run(read_ability)))
            .schema(ability.document()),
    ]
}

fn ability_item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    let object = |about: &str| Schema::map().about(about).context(FULL).readonly();
    Item::new(
        "ability",
        Schema::object([
            ("name", text("Its name.").context(ALL)),
            ("label", text("Its title.").context(ALL)),
            ("description", text("What it does.").context(FULL)),
            ("category", text("Its category.").context(ALL)),
            ("input_schema", object("What it takes.")),
            ("output_schema", object("What it gives.")),
            ("meta", object("More about it.")),
        ]),
    )
}

fn category_item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    Item::new(
        "ability-category",
        Schema::object([
            ("slug", text("Its name.").context(ALL)),
            ("label", text("Its title.").context(ALL)),
            ("description", text("What its abilities are about.").context(FULL)),
            ("meta", Schema::map().about("More about it.").context(FULL).readonly()),
        ]),
    )
}

fn page_args(item: &Item) -> Args {
    let size = Schema::integer().about("Items on a page.").default(PER_PAGE);
    Args::new()
        .arg("context", item.context_arg())
        .arg("page", Schema::integer().about("Page of the list.").default(1).min(1))
        .arg("per_page", size.min(1).max(PER_PAGE_MAX))
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::Read) { Ok(()) } else { Err(call.forbidden().into()) }
}

fn ability_of(call: &Call<'_>) -> Result<&'static Ability, Stop> {
    let name = call.params.text("name").unwrap_or_default();
    let found = ABILITIES.iter().find(|ability| ability.name == name);
    let missing = || Refusal::new(404, "rest_ability_not_found", "Ability not found.");
    found.ok_or_else(|| missing().into())
}

/// A page of a list, and how long the list is.
fn paged<T>(call: &Call<'_>, all: Vec<T>) -> (Vec<T>, i64) {
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let page = crate::posts::page(&call.params);
    let skip = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let take = usize::try_from(page.limit).unwrap_or(usize::MAX);
    (all.into_iter().skip(skip).take(take).collect(), total)
}

fn listed((mut fields, links): (Value, Links)) -> Value {
    if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
        members.insert(String::from("_links"), links);
    }
    fields
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list_abilities(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let category = call.params.text("category").filter(|text| !text.is_empty());
    let fits = |ability: &&Ability| category.is_none_or(|category| ability.category == category);
    let (page, total) = paged(call, ABILITIES.iter().filter(fits).collect());
    let items: Vec<Value> =
        page.into_iter().map(|one| listed(show_ability(shared, call, one))).collect();
    let path = format!("/{}/abilities", shared.namespace);
    Ok(paging::with_totals(Reply::new(items), call, &path, total))
}

fn read_ability(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (fields, links) = show_ability(shared, call, ability_of(call)?);
    Ok(Reply::new(fields).links(links))
}

fn show_ability(shared: &Shared, call: &Call<'_>, ability: &Ability) -> (Value, Links) {
    let readonly = ability.is_readonly();
    let annotations = json!({ "readonly": readonly, "destructive": false, "idempotent": readonly });
    let fields = json!({
        "name": ability.name,
        "label": ability.label,
        "description": ability.about,
        "category": ability.category,
        "input_schema": ability.input_schema(call.site),
        "output_schema": ability.output_schema(call.site),
        "meta": { "annotations": annotations, "show_in_rest": true },
    });
    let at = |path: &str| call.visit.rest(&format!("/{}/abilities{path}", shared.namespace));
    let links = Links::new()
        .to("self", at(&format!("/{}", ability.name)))
        .to("collection", at(""))
        .to("wp:action-run", at(&format!("/{}/run", ability.name)));
    (shared.ability.filter_by_context(fields, &call.context()), links)
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list_categories(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (page, total) = paged(call, CATEGORIES.iter().collect());
    let items: Vec<Value> =
        page.into_iter().map(|one| listed(show_category(shared, call, one))).collect();
    let path = format!("/{}/categories", shared.namespace);
    Ok(paging::with_totals(Reply::new(items), call, &path, total))
}

fn read_category(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let slug = call.params.text("slug").unwrap_or_default();
    let Some(category) = CATEGORIES.iter().find(|category| category.slug == slug) else {
        let message = "Ability category not found.";
        return Err(Refusal::new(404, "rest_ability_category_not_found", message).into());
    };
    let (fields, links) = show_category(shared, call, category);
    Ok(Reply::new(fields).links(links))
}

fn show_category(shared: &Shared, call: &Call<'_>, category: &Category) -> (Value, Links) {
    let fields = json!({
        "slug": category.slug,
        "label": category.label,
        "description": category.about,
        "meta": [],
    });
    let at = |path: &str| call.visit.rest(&format!("/{}{path}", shared.namespace));
    let links = Links::new()
        .to("self", at(&format!("/categories/{}", category.slug)))
        .to("collection", at("/categories"))
        .to("abilities", at(&format!("/abilities?category={}", category.slug)));
    (shared.category.filter_by_context(fields, &call.context()), links)
}

fn input_of(call: &Call<'_>) -> Map<String, Value> {
    call.params.get("input").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn invalid_input(message: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::new(400, "ability_invalid_input", message)
}

/// An unknown name is found out before rights are looked at, then the method, then the input.
fn may_run(call: &mut Call<'_>) -> Result<(), Stop> {
    let ability = ability_of(call)?;
    let wanted = if ability.is_readonly() { Verb::Get } else { Verb::Post };
    if call.verb != wanted {
        let message = format!("This ability is run with {}.", wanted.name());
        return Err(Refusal::new(405, "rest_ability_invalid_method", message).into());
    }
    let given = call.params.get("input").filter(|input| !input.is_null());
    if given
        .is_some_and(|input| !input.is_object() && input.as_array().is_none_or(|l| !l.is_empty()))
    {
        return Err(invalid_input("input must be an object.").into());
    }
    check_input(ability, &input_of(call))?;
    let may = match &ability.runs {
        Runs::Facts(_) => call.can(Capability::ManageOptions),
        // The route decides more exactly when it is asked.
        Runs::Request(_) => call.can(Capability::Read),
    };
    if may {
        return Ok(());
    }
    let message = "You are not allowed to run this ability.";
    Err(call.deny("rest_ability_cannot_execute", message).into())
}

fn check_input(ability: &Ability, input: &Map<String, Value>) -> Result<(), Stop> {
    let known: Vec<&str> = match &ability.runs {
        Runs::Facts(_) => vec!["fields"],
        Runs::Request(target) => target.inputs.to_vec(),
    };
    if let Some(unknown) = input.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(invalid_input(format!("{unknown} is not a valid property of input.")).into());
    }
    let Runs::Facts(facts) = &ability.runs else { return Ok(()) };
    let asked = input.get("fields").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_fact = |value: &Value| facts.iter().any(|fact| value.as_str() == Some(fact.name));
    if asked.iter().all(is_fact) {
        return Ok(());
    }
    Err(invalid_input("fields must name facts that there are.").into())
}

fn run_ability(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let ability = ability_of(call)?;
    let input = input_of(call);
    match &ability.runs {
        Runs::Facts(facts) => {
            let asked = input.get("fields").and_then(Value::as_array);
            let wanted = |fact: &&Fact| {
                asked.is_none_or(|asked| asked.iter().any(|name| name.as_str() == Some(fact.name)))
            };
            let known: Map<String, Value> = facts
                .iter()
                .filter(wanted)
                .map(|fact| (fact.name.to_owned(), json!((fact.value)(call))))
                .collect();
            Ok(Reply::new(Value::Object(known)))
        }
        Runs::Request(target) => {
            let (site, visit) = (call.site, call.visit);
            let path = target.path_for(&site.settings().names, &input);
            match site.import(call.conn()?, visit, target.verb, (&path, input))? {
                Ok(answer) => Ok(Reply::new(answer)),
                Err(refusal) if matches!(refusal.status, 401 | 403) => {
                    let message = "You are not allowed to run this ability.";
                    Err(call.deny("rest_ability_cannot_execute", message).into())
                }
                Err(refusal) if refusal.code == "rest_invalid_param" => {
                    Err(invalid_input(refusal.message).into())
                }
                Err(refusal) => Err(refusal.into()),
            }
        }
    }
}
