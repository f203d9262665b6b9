//! Marketing: what the catalogue recommends, and what active plugins contribute: channels,
//! campaigns and kinds of campaigns.

mod answers;

use std::sync::Arc;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Later, Outcome, later, read};
use frame::managers::may_view;
use frame::moments;
use frame::paging::with_totals;
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::{Capability, Error};

use crate::catalogue::{Catalogue, Offer};
use crate::package::manifest::Money;
use crate::plugins::lifecycle::{self, Installed};
use crate::plugins::{CatalogueRequest, activate_one, may_install, with_offers};
use crate::suggestions::are_enabled;

/// What is recommended unless somebody asks for something else.
const MARKETING: &str = "marketing";
/// The subcategory that makes a plugin a channel.
const CHANNELS: &str = "sales-channels";
const PER_PAGE_MAX: i64 = 100;
/// Pages that the knowledge base shows.
const PAGES_MAX: usize = 8;
/// Words of a description in the overview.
const WORDS_MAX: usize = 20;

pub(crate) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path);
    let text = Schema::text;
    let per_page = Schema::integer().default(10).min(1).max(PER_PAGE_MAX);
    let per_page = per_page.about("Maximum number of items per page.");
    let page = Schema::integer().default(1).min(1).about("Page of the collection.");
    let paged = || {
        let context = text().choices(&["view"]).about("Section of items to return.");
        let args = Args::new().arg("context", context).arg("page", page.clone());
        args.arg("per_page", per_page.clone())
    };
    let category = text;
    let kind = category().choices(&["channels", "extensions"]).required();
    vec![
        at("/marketing/recommended")
            .on(
                READ,
                Args::new().arg("per_page", per_page.clone()).arg("category", category()),
                with_offers(catalogue, may_install, recommended),
            )
            .shows(Schema::list(answers::recommendation())),
        at("/marketing/knowledge-base")
            .on(READ, Args::new().arg("category", category()), read(may_view, knowledge_base))
            .shows(Schema::list(answers::page())),
        at("/marketing/misc-recommendations")
            .on(READ, Args::new(), with_offers(catalogue, may_install, miscellaneous))
            .shows(Schema::list(answers::miscellaneous())),
        at("/marketing/recommendations")
            .on(
                READ,
                Args::new().arg("category", kind),
                with_offers(catalogue, may_see_recommendations, recommendations),
            )
            .shows(Schema::list(answers::recommendation())),
        at("/marketing/channels")
            .on(READ, Args::new(), read(may_view, channels))
            .shows(Schema::list(answers::channel())),
        at("/marketing/campaigns")
            .on(READ, paged(), read(may_view, campaigns))
            .shows(Schema::list(answers::campaign())),
        at("/marketing/campaign-types")
            .on(READ, paged(), read(may_view, campaign_types))
            .shows(Schema::list(answers::campaign_type())),
        at("/marketing/overview/installed-plugins")
            .on(READ, Args::new(), with_offers(catalogue, may_view, installed))
            .shows(Schema::list(answers::installed())),
        at("/marketing/overview/activate-plugin")
            .on(EDIT, Args::new().arg("plugin", text().required()), later(may_install, activate))
            .shows(answers::activated()),
    ]
}

fn may_see_recommendations(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view this.";
    call.need(Capability::InstallPlugins, "woocommerce_rest_cannot_view", message)
}

/// The offers of a category that are not installed.
fn of_category<'a>(
    conn: &mut dyn Conn,
    request: &'a CatalogueRequest<'_>,
    category: &str,
) -> Result<Vec<&'a Offer>, Error> {
    let installed = lifecycle::all(conn)?;
    let is_new = |offer: &&Offer| {
        let slug = offer.manifest.slug();
        !installed.iter().any(|plugin| plugin.row.slug == slug)
    };
    let is_in = |offer: &&Offer| {
        offer.plugin().is_some_and(|plugin| plugin.categories.iter().any(|one| one == category))
    };
    Ok(request.offers.iter().filter(is_in).filter(is_new).collect())
}

fn recommendation(offer: &Offer) -> Value {
    let Some(plugin) = offer.plugin() else { return Value::Null };
    json!({
        "title": plugin.name,
        "description": plugin.description,
        "url": plugin.uri,
        "direct_install": true,
        "icon": offer.icon,
        "product": plugin.slug,
        "plugin": format!("{0}/{0}", plugin.slug),
        "categories": plugin.categories,
        "subcategories": plugin.subcategories,
        "tags": plugin.tags,
    })
}

fn recommended(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let params = &request.later.params;
    let category = params.text("category").unwrap_or(MARKETING);
    let limit = params.int("per_page").unwrap_or(10).clamp(1, PER_PAGE_MAX);
    let offers = of_category(conn, request, category)?;
    let items = offers.into_iter().take(usize::try_from(limit).unwrap_or(0)).map(recommendation);
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

fn recommendations(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let wants_channels = request.later.params.text("category") == Some("channels");
    let is_channel = |offer: &&Offer| {
        let labels = offer.plugin().map(|plugin| plugin.subcategories.as_slice());
        labels.unwrap_or_default().iter().any(|label| label.slug == CHANNELS)
    };
    let offers = of_category(conn, request, MARKETING)?;
    let items = offers.into_iter().filter(|offer| is_channel(offer) == wants_channels);
    Ok(Reply::new(items.map(recommendation).collect::<Vec<Value>>()))
}

/// What the catalogue offers besides marketing.
fn miscellaneous(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    if !are_enabled(&request.later.visit.options) {
        return Ok(Reply::new(json!([])));
    }
    let installed = lifecycle::all(conn)?;
    let items = request.offers.iter().filter_map(|offer| {
        let plugin = offer.plugin()?;
        let is_new = !installed.iter().any(|one| one.row.slug == plugin.slug);
        let is_other = !plugin.categories.iter().any(|category| category == MARKETING);
        (is_new && is_other).then(|| {
            json!({ "id": plugin.slug, "title": plugin.name, "description": plugin.description })
        })
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

/// The documentation that active plugins of the category bring along.
fn knowledge_base(call: &mut Call<'_>) -> Outcome {
    let category = call.params.text("category").unwrap_or(MARKETING).to_owned();
    let mut posts = Vec::new();
    for plugin in lifecycle::active(call.conn()?)? {
        if !plugin.manifest.categories.contains(&category) {
            continue;
        }
        let [_, date] = moments::pair(call.options(), Some(plugin.row.installed));
        posts.extend(plugin.manifest.contributes.pages.iter().map(|page| {
            let path = format!("/plugins/{}/{}/", plugin.row.slug, page.slug);
            json!({
                "title": page.title,
                "date": date,
                "link": call.visit.page(&path),
                "author_name": plugin.manifest.author,
                "author_avatar": "",
            })
        }));
    }
    posts.truncate(PAGES_MAX);
    Ok(Reply::new(posts))
}

fn channels(call: &mut Call<'_>) -> Outcome {
    let plugins = lifecycle::active(call.conn()?)?;
    let of_plugin = |plugin: &Installed| {
        let channels = plugin.manifest.contributes.channels.iter().map(|channel| {
            let is_set_up =
                channel.set_up_with.as_deref().is_none_or(|name| plugin.has_value(name));
            json!({
                "slug": channel.slug,
                "is_setup_completed": is_set_up,
                "settings_url": call.visit.page(&channel.settings_url),
                "name": channel.name,
                "description": channel.description,
                "product_listings_status": "not-applicable",
                "errors_count": 0,
                "icon": "",
            })
        });
        channels.collect::<Vec<Value>>()
    };
    Ok(Reply::new(plugins.iter().flat_map(of_plugin).collect::<Vec<Value>>()))
}

fn money(sum: &Money) -> Value {
    let formatted = format!("{} {}", sum.value, sum.currency);
    json!({ "value": sum.value, "currency": sum.currency, "formatted": formatted })
}

fn campaigns(call: &mut Call<'_>) -> Outcome {
    let plugins = lifecycle::active(call.conn()?)?;
    let mut all = Vec::new();
    for campaign in plugins.iter().flat_map(|plugin| &plugin.manifest.contributes.campaigns) {
        let mut item = json!({
            "id": campaign.id,
            "channel": campaign.channel,
            "title": campaign.title,
            "manage_url": call.visit.page(&campaign.manage_url),
        });
        let sums = [("cost", &campaign.cost), ("sales", &campaign.sales)];
        if let Some(members) = item.as_object_mut() {
            let known = sums.into_iter().filter_map(|(name, sum)| Some((name, sum.as_ref()?)));
            members.extend(known.map(|(name, sum)| (name.to_owned(), money(sum))));
        }
        all.push(item);
    }
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let limit = call.params.int("per_page").unwrap_or(10).clamp(1, PER_PAGE_MAX);
    let page = call.params.int("page").unwrap_or(1).max(1);
    let whole = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let skipped = whole((page - 1).saturating_mul(limit));
    let shown: Vec<Value> = all.into_iter().skip(skipped).take(whole(limit)).collect();
    let path = format!("/{}/marketing/campaigns", call.site.settings().names.admin);
    Ok(with_totals(Reply::new(shown), call, &path, total))
}

/// All of them: clients know that this list has no pages.
fn campaign_types(call: &mut Call<'_>) -> Outcome {
    let plugins = lifecycle::active(call.conn()?)?;
    let of_plugin = |plugin: &Installed| {
        let contributes = &plugin.manifest.contributes;
        let kinds = contributes.campaign_types.iter().map(|kind| {
            let channel = contributes.channels.iter().find(|one| one.slug == kind.channel);
            json!({
                "id": kind.id,
                "name": kind.name,
                "description": kind.description,
                "channel": {
                    "slug": kind.channel, "name": channel.map(|channel| &channel.name),
                },
                "create_url": call.visit.page(&kind.create_url),
                "icon_url": "",
            })
        });
        kinds.collect::<Vec<Value>>()
    };
    Ok(Reply::new(plugins.iter().flat_map(of_plugin).collect::<Vec<Value>>()))
}

/// The plugins for marketing that are installed.
fn installed(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let plugins = lifecycle::all(conn)?;
    let for_marketing = plugins
        .iter()
        .filter(|plugin| plugin.manifest.categories.iter().any(|one| one == MARKETING));
    let items = for_marketing.map(|plugin| {
        let manifest = &plugin.manifest;
        let offer = request.offers.iter().find(|offer| offer.manifest.slug() == manifest.slug);
        let mut channels = manifest.contributes.channels.iter();
        let is_set_up = channels.all(|channel| {
            channel.set_up_with.as_deref().is_none_or(|name| plugin.has_value(name))
        });
        let status = match (plugin.row.is_active, is_set_up) {
            (false, _) => "installed",
            (true, false) => "activated",
            (true, true) => "configured",
        };
        let words: Vec<&str> = manifest.description.split_whitespace().take(WORDS_MAX).collect();
        let page = |path: &str| request.later.visit.page(path);
        json!({
            "slug": manifest.slug,
            "status": status,
            "name": manifest.name,
            "description": words.join(" "),
            "supportUrl": page(&manifest.support),
            "docsUrl": page(&manifest.documentation),
            "settingsUrl": page(&format!("/portal/plugins/{}", manifest.slug)),
            "icon": offer.map(|offer| offer.icon.as_str()).unwrap_or_default(),
        })
    });
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

async fn activate(request: Later) -> Outcome {
    let slug = request.params.text("plugin").unwrap_or_default();
    let slug = frame::text::slugify(slug);
    let user = request.visit.identity.user.as_ref();
    let user = user.ok_or_else(|| Error::internal("no user is signed in"))?.row.clone();
    match activate_one(&request.site, user, &slug, request.visit.now).await? {
        Ok(_) => Ok(Reply::new(json!({ "status": "success" }))),
        Err(error) => {
            let message = error.to_string();
            Err(Refusal::new(404, "woocommerce_rest_invalid_plugin", message).into())
        }
    }
}
