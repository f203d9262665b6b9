//! Plugins: what can be installed, what is, and what the active ones contribute.
//!
//! A plugin is a package ([`crate::package`]) that the catalogue ([`crate::catalogue`]) offers.
//! [`crate::installation`] installs one and [`lifecycle`] activates it, each in a transaction;
//! [`mod@job`] does both in the background, [`now`] while the client waits. [`own`] has the routes
//! that clients of other products do not know: deactivating, settings, removing.

mod doing;
pub mod emails;
mod extensions;
mod gateways;
mod installed;
pub(crate) mod job;
mod label_pdf;
pub(crate) mod lifecycle;
mod now;
mod own;
mod pages;
mod parcels;
mod secrets;
mod shapes;
mod site;

use std::sync::Arc;

use contract::rest::route::{CREATE, EDIT, READ, Route};
use contract::rest::{Args, Body, Params, Refusal, Reply, Schema, Stop};
use db::Conn;
use db::background_job::{self, JobRow};
use db::filter::Page;
use frame::action::{Later, Outcome, later, read};
use frame::managers::may_view;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use types::{Capability, Error};

use self::job::{Arguments, Task};
use crate::catalogue::{Catalogue, Offer};
use crate::package::manifest::Template;

pub(crate) use self::now::activate_one;
pub use self::pages::PluginPages;
pub(crate) use self::shapes::with_shop;

/// Plugins that one request or job may name.
const PLUGINS_MAX: usize = 50;
/// Jobs that a list shows.
const JOBS_MAX: i64 = 50;
/// Bytes of a job's name, which is shown in hex without the last digit.
const JOB_ID_BYTES: usize = 7;
const JOB_ID_LENGTH: usize = 13;
/// Permission of everything that changes which plugins there are.
pub(crate) fn may_install(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to manage plugins.";
    call.need(Capability::InstallPlugins, "woocommerce_rest_cannot_update", message)
}

fn may_install_and_activate(call: &mut Call<'_>) -> Result<(), Stop> {
    may_install(call)?;
    let message = "You are not allowed to activate plugins.";
    call.need(Capability::ActivatePlugins, "woocommerce_rest_cannot_update", message)
}

pub(crate) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path).schema(plugin_schema());
    let slugs = || Schema::object([("plugins", slug_list())]);
    let list_args = Args::new()
        .arg("plugins", slug_list().required())
        .arg("source", Schema::text().about("Source of the request."));
    let mut routes = vec![
        at("/plugins/install")
            .on(EDIT, Args::new(), at_once(catalogue, Task::Install))
            .shows(outcome()),
        at("/plugins/install/status")
            .on(READ, Args::new(), jobs(Task::Install))
            .shows(Schema::list(job_answer())),
        at(r"/plugins/install/status/(?P<job_id>[a-z0-9_\-]+)")
            .on(READ, Args::new(), job(Task::Install))
            .shows(job_or_false()),
        at("/plugins/active").on(READ, Args::new(), read(may_view, active)).shows(slugs()),
        at("/plugins/installed").on(READ, Args::new(), read(may_view, installed)).shows(slugs()),
        at("/plugins/activate")
            .on(EDIT, Args::new(), at_once(catalogue, Task::Activate))
            .shows(outcome()),
        at("/plugins/activate/status")
            .on(READ, Args::new(), jobs(Task::Activate))
            .shows(Schema::list(job_answer())),
        at(r"/plugins/activate/status/(?P<job_id>[a-z0-9_\-]+)")
            .on(READ, Args::new(), job(Task::Activate))
            .shows(job_or_false()),
        at("/onboarding/plugins/install-and-activate-async")
            .on(CREATE, list_args, later(may_install_and_activate, in_background))
            .shows(job_answer()),
        at("/onboarding/plugins/install-and-activate")
            .on(CREATE, Args::new(), install_and_activate(catalogue))
            .shows(Schema::object([("install", Schema::map()), ("activate", Schema::map())])),
        at(r"/onboarding/plugins/scheduled-installs/(?P<job_id>\w+)")
            .on(READ, Args::new(), read(may_install, scheduled))
            .shows(job_answer())
            .refuses_like(Schema::typed("null")),
        Route::at(&names.admin, "/onboarding/free-extensions")
            .on(READ, Args::new(), with_offers(catalogue, may_view, extensions::list))
            .shows(Schema::list(extensions::group_schema())),
    ];
    routes.extend(own::routes(names, catalogue));
    routes.extend(parcels::routes(names));
    routes.extend(site::routes(names, catalogue));
    routes
}

fn slug_list() -> Schema {
    Schema::list(Schema::text()).about("Plugin slugs.")
}

/// What became of the plugins of a request, in the words of an error bag.
fn outcome() -> Schema {
    Schema::object([
        ("data", Schema::map().about("What was done, by plugin.")),
        ("errors", Schema::map().about("Errors by plugin.")),
        ("success", Schema::boolean().about("Whether all of it was done.")),
        ("message", Schema::text().about("Result message.")),
    ])
}

fn job_answer() -> Schema {
    Schema::object([
        ("job_id", Schema::text().about("Job ID.")),
        ("plugins", Schema::types(&["array", "object"]).about("Plugins of the job.")),
        ("status", Schema::text().about("State of the job.")),
        ("error", Schema::text().about("Why the job failed.")),
    ])
}

/// False stands for a job that is not there.
fn job_or_false() -> Schema {
    Schema::any_of([job_answer(), Schema::boolean()])
}

fn plugin_schema() -> Value {
    let text = |about: &'static str| Schema::text().about(about).readonly();
    let schema = Schema::object([
        ("slug", text("Plugin slug.")),
        ("name", text("Plugin name.")),
        ("status", text("Whether the plugin is installed or active.")),
    ]);
    contract::rest::Item::new("plugins", schema).document()
}

/// A request with the packages that the catalogue offers.
pub(crate) struct CatalogueRequest<'a> {
    pub(crate) later: &'a Later,
    pub(crate) offers: &'a [Offer],
}

type Look = fn(&mut dyn Conn, &CatalogueRequest<'_>) -> Outcome;

/// An operation that reads what the catalogue offers now, and the storage.
pub(crate) fn with_offers<P>(catalogue: &Arc<Catalogue>, permit: P, look: Look) -> Action
where
    P: Fn(&mut Call<'_>) -> Result<(), Stop> + Send + Sync + 'static,
{
    let catalogue = Arc::clone(catalogue);
    later(permit, move |request: Later| {
        let catalogue = Arc::clone(&catalogue);
        async move {
            let offers = catalogue.offers(&request.site).await;
            let store = request.site.store().clone();
            let looked = store.read(move |conn| {
                let request = CatalogueRequest { later: &request, offers: &offers };
                split_refusal(look(conn, &request))
            });
            looked.await?.map_err(Stop::from)
        }
    })
}

/// Separates a refusal, which the caller can fix, from a failure.
pub(crate) fn split_refusal<T>(outcome: Result<T, Stop>) -> Result<Result<T, Refusal>, Error> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Refused(refusal)) => Ok(Err(*refusal)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// The plugins that a request names: a list, or a text with commas. Each is named once.
pub(crate) fn named(params: &Params) -> Result<Vec<String>, Stop> {
    let mut slugs: Vec<String> = Vec::new();
    for slug in params.texts("plugins") {
        let slug = slug.trim().to_ascii_lowercase();
        if !slug.is_empty() && !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    if slugs.is_empty() || slugs.len() > PLUGINS_MAX {
        let message = format!("List 1 to {PLUGINS_MAX} plugins.");
        return Err(Refusal::new(404, "woocommerce_rest_invalid_plugins", message).into());
    }
    Ok(slugs)
}

/// Installs or activates while the client waits, unless it does not want to.
fn at_once(catalogue: &Arc<Catalogue>, task: Task) -> Action {
    let catalogue = Arc::clone(catalogue);
    later(may_install, move |request: Later| {
        let catalogue = Arc::clone(&catalogue);
        async move {
            let plugins = named(&request.params)?;
            if request.params.flag("async") {
                let (job_id, _) = enqueue(&request, task, plugins.clone()).await?;
                let message = match task {
                    Task::Activate => "The plugins will be activated in the background.",
                    Task::Install | Task::Both => {
                        "The plugins will be installed in the background."
                    }
                };
                let data = json!({ "job_id": job_id, "plugins": plugins });
                return Ok(Reply::new(json!({ "data": data, "message": message })));
            }
            let body = match task {
                Task::Activate => now::activate(&request, &plugins).await?,
                Task::Install | Task::Both => now::install(&request, &catalogue, &plugins).await?,
            };
            Ok(Reply::new(body))
        }
    })
}

fn install_and_activate(catalogue: &Arc<Catalogue>) -> Action {
    let catalogue = Arc::clone(catalogue);
    later(may_install_and_activate, move |request: Later| {
        let catalogue = Arc::clone(&catalogue);
        async move {
            let plugins = named(&request.params)?;
            now::install_and_activate(&request, &catalogue, &plugins).await.map(Reply::new)
        }
    })
}

async fn in_background(request: Later) -> Outcome {
    let plugins = named(&request.params)?;
    let pending: Map<String, Value> = plugins
        .iter()
        .map(|slug| (slug.clone(), json!({ "status": "pending", "errors": [] })))
        .collect();
    let (job_id, status) = enqueue(&request, Task::Both, plugins).await?;
    Ok(Reply::new(json!({ "job_id": job_id, "status": status, "plugins": pending })))
}

/// Starts a job, and returns what it is called and its state.
async fn enqueue(
    request: &Later,
    task: Task,
    plugins: Vec<String>,
) -> Result<(String, &'static str), Stop> {
    let mut random = [0; JOB_ID_BYTES];
    vault::fill_random(&mut random)?;
    let mut job_id = data_encoding::HEXLOWER.encode(&random);
    job_id.truncate(JOB_ID_LENGTH);
    let arguments = Arguments {
        plugins,
        source: request.params.text("source").map(str::to_owned),
        user_id: request.visit.identity.user.as_ref().map_or(0, |user| user.id()),
    };
    let (key, now) = (job_id.clone(), request.visit.now);
    let start = move |conn: &mut dyn Conn| {
        frame::jobs::enqueue(conn, task.kind(), Some(&key), &arguments, now)
    };
    request.site.store().write(start).await?;
    Ok((job_id, job::state_name(background_job::JobState::Queued)))
}

fn jobs(task: Task) -> Action {
    read(may_install, move |call: &mut Call<'_>| {
        let page = Page { offset: 0, limit: JOBS_MAX };
        let (jobs, _) = background_job::list(call.conn()?, task.kind(), &[], page)?;
        Ok(Reply::new(jobs.iter().map(job::summary).collect::<Vec<Value>>()))
    })
}

/// One job of the kind; `false` for a name that none has.
fn job(task: Task) -> Action {
    read(may_install, move |call: &mut Call<'_>| {
        let found = find_job(call, task)?;
        Ok(Reply::new(found.map_or(Value::Bool(false), |job| job::summary(&job))))
    })
}

fn find_job(call: &mut Call<'_>, task: Task) -> Result<Option<JobRow>, Stop> {
    let job_id = call.params.text("job_id").unwrap_or_default().to_owned();
    Ok(background_job::find(call.conn()?, task.kind(), &job_id)?)
}

fn scheduled(call: &mut Call<'_>) -> Outcome {
    let Some(found) = find_job(call, Task::Both)? else {
        return Ok(Reply::of(404, Body::Json(Value::Null)));
    };
    let mut body = json!({ "job_id": found.key, "status": job::state_name(found.state) });
    if let (Some(members), Some(plugins)) = (body.as_object_mut(), job::plugins_of(&found)) {
        members.insert(String::from("plugins"), plugins);
    }
    Ok(Reply::new(body))
}

fn active(call: &mut Call<'_>) -> Outcome {
    let plugins = lifecycle::active(call.conn()?)?;
    Ok(Reply::new(json!({ "plugins": with_shop(&plugins) })))
}

fn installed(call: &mut Call<'_>) -> Outcome {
    let plugins = lifecycle::all(call.conn()?)?;
    Ok(Reply::new(json!({ "plugins": with_shop(&plugins) })))
}

/// The templates of terminals that active plugins offer, each with the plugin's name.
pub fn templates(conn: &mut dyn Conn) -> Result<Vec<(String, Template)>, Error> {
    let of_plugin = |plugin: lifecycle::Installed| {
        let slug = plugin.row.slug;
        let own = plugin.manifest.contributes.templates.into_iter();
        own.map(move |template| (slug.clone(), template))
    };
    Ok(lifecycle::active(conn)?.into_iter().flat_map(of_plugin).collect())
}
