//! Abilities: what programs may do here, by name, each with schemas of what it takes and gives.
//! **An ability is a request to a route of the site under another name**: who may, what it takes
//! and what it gives are those of the route, or those that another crate says.

mod offered;
mod table;

use std::sync::Arc;

use contract::rest::route::{READ, Route, Verb};
use contract::rest::{Args, CompiledItem, Item, Links, Params, Refusal, Reply, Schema, Stop};
use frame::action::{Action, Later, later, read};
use frame::{AbilityCategory, Call, Names, Site, paging};
use serde_json::{Map, Value, json};
use types::Capability;

use self::offered::Offered;
use self::table::{Ability, CATEGORIES, Fact, Runs};

const ALL: &[&str] = &["view", "edit", "embed"];
const FULL: &[&str] = &["view", "edit"];
const PER_PAGE: i64 = 50;
const PER_PAGE_MAX: i64 = 100;
const ANY_METHOD: &[Verb] = &[Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];
const NAME_PATTERN: &str = r"^[a-zA-Z0-9\-\/]+$";
const CANNOT_RUN: &str = "rest_ability_cannot_execute";
const NOT_ALLOWED: &str = "You are not allowed to run this ability.";
const SLUG_PATTERN: &str = "^[a-z0-9]+(?:-[a-z0-9]+)*$";

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
        at(r"/abilities/(?P<name>[a-zA-Z0-9\-\/]+?)/run")
            .on(
                ANY_METHOD,
                Args::new().arg("name", name.clone()).arg("input", input),
                later(may_run, run_ability),
            )
            .refuses_with(&[405])
            .shows(Schema::types(&types).about(
                "Any JSON value: what the ability gives, as its `output_schema` describes it.",
            )),
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
    let meta = Schema::map().about("More about it.").context(FULL).readonly();
    Item::new(
        "ability-category",
        Schema::object([
            ("slug", text("Its name.").context(ALL)),
            ("label", text("Its title.").context(ALL)),
            ("description", text("What its abilities are about.").context(FULL)),
            ("meta", meta.shown_as(Schema::types(&["object", "array"]))),
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

fn ability_of<'s>(site: &'s Site, params: &Params) -> Result<Offered<'s>, Stop> {
    let name = params.text("name").unwrap_or_default();
    let found = Offered::all(site).find(|ability| ability.name() == name);
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
    let fits =
        |ability: &Offered<'_>| category.is_none_or(|category| ability.category().slug == category);
    let (page, total) = paged(call, Offered::all(call.site).filter(fits).collect());
    let items: Vec<Value> =
        page.into_iter().map(|one| listed(show_ability(shared, call, one))).collect();
    let path = format!("/{}/abilities", shared.namespace);
    Ok(paging::with_totals(Reply::new(items), call, &path, total))
}

fn read_ability(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (fields, links) = show_ability(shared, call, ability_of(call.site, &call.params)?);
    Ok(Reply::new(fields).links(links))
}

fn show_ability(shared: &Shared, call: &Call<'_>, ability: Offered<'_>) -> (Value, Links) {
    let readonly = ability.is_readonly();
    let annotations = json!({ "readonly": readonly, "destructive": false, "idempotent": readonly });
    let fields = json!({
        "name": ability.name(),
        "label": ability.label(),
        "description": ability.about(),
        "category": ability.category().slug,
        "input_schema": ability.input_schema(call.site),
        "output_schema": ability.output_schema(call.site),
        "meta": { "annotations": annotations, "show_in_rest": true },
    });
    let at = |path: &str| call.visit.rest(&format!("/{}/abilities{path}", shared.namespace));
    let links = Links::new()
        .to("self", at(&format!("/{}", ability.name())))
        .to("collection", at(""))
        .to("wp:action-run", at(&format!("/{}/run", ability.name())));
    (shared.ability.filter_by_context(fields, &call.context()), links)
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every operation")]
fn list_categories(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (page, total) = paged(call, categories(call.site));
    let items: Vec<Value> =
        page.into_iter().map(|one| listed(show_category(shared, call, one))).collect();
    let path = format!("/{}/categories", shared.namespace);
    Ok(paging::with_totals(Reply::new(items), call, &path, total))
}

fn read_category(shared: &Shared, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let slug = call.params.text("slug").unwrap_or_default();
    let Some(category) = categories(call.site).into_iter().find(|one| one.slug == slug) else {
        let message = "Ability category not found.";
        return Err(Refusal::new(404, "rest_ability_category_not_found", message).into());
    };
    let (fields, links) = show_category(shared, call, category);
    Ok(Reply::new(fields).links(links))
}

/// The groups of all abilities.
fn categories(site: &Site) -> Vec<AbilityCategory> {
    let mut all = CATEGORIES.to_vec();
    for category in site.abilities().map(frame::SiteAbility::category) {
        if !all.contains(&category) {
            all.push(category);
        }
    }
    all
}

fn show_category(shared: &Shared, call: &Call<'_>, category: AbilityCategory) -> (Value, Links) {
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

fn input_of(params: &Params) -> Map<String, Value> {
    params.get("input").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn invalid_input(message: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::new(400, "ability_invalid_input", message)
}

/// An unknown name is found out before rights are looked at, then the method, then the input.
fn may_run(call: &mut Call<'_>) -> Result<(), Stop> {
    let ability = ability_of(call.site, &call.params)?;
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
    let may = match ability {
        Offered::Own(own) => {
            check_input(own, &input_of(&call.params))?;
            match &own.runs {
                Runs::Facts(_) => call.can(Capability::ManageOptions),
                // The route decides more exactly when it is asked.
                Runs::Request(_) => call.can(Capability::Read),
            }
        }
        // So does whoever brought it along.
        Offered::Other(_) => call.can(Capability::Read),
    };
    if may {
        return Ok(());
    }
    Err(call.deny(CANNOT_RUN, NOT_ALLOWED).into())
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

async fn run_ability(call: Later) -> Result<Reply, Stop> {
    let input = input_of(&call.params);
    match ability_of(&call.site, &call.params)? {
        Offered::Own(own) if own.is_readonly() => {
            call.look(move |call| run_own(own, call, input.clone())).await
        }
        Offered::Own(own) => call.attempt(move |call| run_own(own, call, input.clone())).await,
        Offered::Other(other) => match other.run(Arc::clone(&call.visit), input).await {
            Ok(answer) => Ok(Reply::new(answer)),
            Err(Stop::Refused(refusal)) if refusal.status == 403 => {
                Err(Refusal::new(403, CANNOT_RUN, NOT_ALLOWED).into())
            }
            Err(stop) => Err(stop),
        },
    }
}

fn run_own(
    ability: &Ability,
    call: &mut Call<'_>,
    input: Map<String, Value>,
) -> Result<Reply, Stop> {
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
                    Err(call.deny(CANNOT_RUN, NOT_ALLOWED).into())
                }
                Err(refusal) if refusal.code == "rest_invalid_param" => {
                    Err(invalid_input(refusal.message).into())
                }
                Err(refusal) => Err(refusal.into()),
            }
        }
    }
}
