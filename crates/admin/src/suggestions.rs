//! Suggestions: whom the shop could let handle payments and parcels. They come from the processors
//! of onboarding and from plugins, and only those that serve the shop's country are shown.

use std::sync::Arc;

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Outcome, write};
use frame::{Action, Call, Names, Options, Visit, options};
use serde_json::{Value, json};
use types::processors::PROCESSORS;
use types::{Capability, Result};

use crate::catalogue::{Catalogue, Offer};
use crate::country;
use crate::package::manifest::ShippingPartner;
use crate::plugins::lifecycle;
use crate::plugins::{CatalogueRequest, may_install, with_offers};

/// Whether people have had enough of suggestions for payments.
const HIDDEN: &str = "woocommerce_setting_payments_recommendations_hidden";
/// Whether they want any suggestion at all.
const WANTED: &str = "woocommerce_show_marketplace_suggestions";
/// What stands for somebody without a picture.
const PICTURE: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 72 72'%3E%3Crect width='72' height='72' rx='12' fill='%230b5f70'/%3E\
    %3Cpath d='M14 26h44v22H14z' fill='%23fff'/%3E%3C/svg%3E";

pub(crate) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path);
    let forced = || {
        let about = "Return the default suggestions, regardless of the user's choices.";
        Args::new().arg("force_default_suggestions", Schema::boolean().about(about))
    };
    vec![
        at("/payment-gateway-suggestions")
            .on(READ, forced(), with_offers(catalogue, may_manage, gateways))
            .shows(Schema::list(gateway_schema())),
        at("/payment-gateway-suggestions/dismiss")
            .on(CREATE, Args::new(), write(may_install, dismiss))
            .shows(Schema::boolean().about("Whether suggestions were shown until now.")),
        at("/shipping-partner-suggestions")
            .on(READ, forced(), with_offers(catalogue, may_install, partners))
            .shows(Schema::list(partner_schema())),
    ]
}

/// A suggestion, as [`gateway`] shows it.
pub(crate) fn gateway_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let texts = |about: &str| Schema::list(Schema::text()).about(about);
    Schema::object([
        ("id", text("Suggestion ID.")),
        ("title", text("Name of the service.")),
        ("content", text("What the service does.")),
        ("image", text("Picture.")),
        ("image_72x72", text("Picture of 72 by 72 pixels.")),
        ("plugins", texts("Plugins to install for it.")),
        ("is_visible", Schema::boolean().about("Always true.")),
        ("recommendation_priority", Schema::integer().about("Position.").or_null()),
        ("category_other", texts("Countries where it is one of several.")),
        ("category_additional", texts("Countries where it is an addition.")),
        ("external_link", text("Where to read more.")),
    ])
}

/// A suggestion, as [`shown`] shows it.
fn partner_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let texts = |about: &str| Schema::list(Schema::text()).about(about);
    let layout = || {
        let feature = Schema::object([
            ("icon", text("Picture.")),
            ("title", text("Title of the feature.")),
            ("description", text("What it does.")),
        ]);
        let features = Schema::list(feature).about("What it can do.");
        Schema::object([("image", text("Picture.")), ("features", features)])
    };
    Schema::object([
        ("id", text("Suggestion ID.")),
        ("name", text("Name of the partner.")),
        ("slug", text("Plugin of the partner.")),
        ("description", text("What the partner does.")),
        ("layout_column", layout().about("How it looks in a column.")),
        ("layout_row", layout().about("How it looks in a row.")),
        ("learn_more_link", text("Where to read more.")),
        ("is_visible", Schema::boolean().about("Always true.")),
        ("available_layouts", texts("Layouts that it has.")),
        ("countries_where_primary", texts("Countries where it comes first.")),
    ])
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view suggestions.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_invalid_user", message)
}

/// Whether people want suggestions; they do until they say otherwise.
pub(crate) fn are_enabled(options: &Options) -> bool {
    options.text(WANTED) != "no"
}

fn gateways(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let options = &request.later.visit.options;
    let is_forced = request.later.params.flag("force_default_suggestions");
    let from = (&*request.later.visit, request.offers);
    Ok(Reply::new(suggested(conn, from, &country::of(options), is_forced)?))
}

/// The ways to be paid that are suggested to a shop in this country. Who wants no suggestions gets
/// none, unless those that come with the shop are forced.
pub(crate) fn suggested(
    conn: &mut dyn Conn,
    (visit, offers): (&Visit, &[Offer]),
    country: &str,
    is_forced: bool,
) -> Result<Vec<Value>> {
    let options = &visit.options;
    let is_shown = options.text(HIDDEN) != "yes" && are_enabled(options);
    if !is_shown && !is_forced {
        return Ok(Vec::new());
    }
    let mut items: Vec<(i64, Value)> = Vec::new();
    for (place, processor) in (1..).zip(PROCESSORS) {
        if processor.countries.contains(&country) {
            let id = format!("boardwalk_{}", processor.name.to_ascii_lowercase());
            let words = (processor.title, processor.about);
            items.push((place, gateway(&id, words, &[], Some(place))));
        }
    }
    if is_shown {
        items.extend(from_plugins(conn, (visit, offers), country)?);
    }
    items.sort_by_key(|(priority, _)| *priority);
    Ok(items.into_iter().map(|(_, item)| item).collect())
}

/// What active plugins suggest, and what those would that can be installed.
fn from_plugins(
    conn: &mut dyn Conn,
    (visit, offers): (&Visit, &[Offer]),
    country: &str,
) -> Result<Vec<(i64, Value)>> {
    let installed = lifecycle::all(conn)?;
    let active = installed.iter().filter(|plugin| plugin.row.is_active);
    let active = active.map(|plugin| (&plugin.manifest, Vec::new()));
    let offered = offers.iter().filter_map(|offer| {
        let manifest = offer.plugin()?;
        let is_new = !installed.iter().any(|plugin| plugin.row.slug == manifest.slug);
        is_new.then(|| (manifest, vec![manifest.slug.as_str()]))
    });
    let mut items = Vec::new();
    for (manifest, plugins) in active.chain(offered) {
        for wanted in &manifest.contributes.payment_gateways {
            if country::is_served(&wanted.countries, country) {
                let words = (wanted.title.as_str(), wanted.content.as_str());
                let mut item = gateway(&wanted.id, words, &plugins, wanted.priority);
                if let (false, Some(members)) =
                    (wanted.external_link.is_empty(), item.as_object_mut())
                {
                    let link = visit.page(&wanted.external_link);
                    members.insert(String::from("external_link"), json!(link));
                }
                items.push((wanted.priority.unwrap_or(i64::MAX), item));
            }
        }
    }
    Ok(items)
}

fn gateway(
    id: &str,
    (title, content): (&str, &str),
    plugins: &[&str],
    priority: Option<i64>,
) -> Value {
    json!({
        "id": id,
        "title": title,
        "content": content,
        "image": PICTURE,
        "image_72x72": PICTURE,
        "plugins": plugins,
        "is_visible": true,
        "recommendation_priority": priority,
        "category_other": [],
        "category_additional": [],
    })
}

/// Says whether that was news.
fn dismiss(call: &mut Call<'_>) -> Outcome {
    let conn = call.conn()?;
    let is_news = Options::read(conn)?.text(HIDDEN) != "yes";
    options::set(conn, HIDDEN, &json!("yes"))?;
    Ok(Reply::new(is_news))
}

/// Those who are at home in the shop's country come first. Where suggestions are off, those that
/// come with the shop are shown still, as clients know it.
fn partners(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let options = &request.later.visit.options;
    let only_bundled =
        !are_enabled(options) || request.later.params.flag("force_default_suggestions");
    let country = country::of(options);
    let mut found: Vec<(ShippingPartner, String, String)> = Vec::new();
    for plugin in lifecycle::active(conn)?.into_iter().filter(|_| !only_bundled) {
        let slug = plugin.row.slug;
        let partners = plugin.manifest.contributes.shipping_partners.into_iter();
        found.extend(partners.map(|partner| (partner, slug.clone(), String::new())));
    }
    let offers = request.offers.iter().filter(|offer| !only_bundled || offer.is_bundled());
    for (offer, plugin) in offers.filter_map(|offer| Some((offer, offer.plugin()?))) {
        for partner in &plugin.contributes.shipping_partners {
            match found.iter_mut().find(|(known, _, _)| known.id == partner.id) {
                Some((_, _, icon)) => offer.icon.clone_into(icon),
                None => found.push((partner.clone(), plugin.slug.clone(), offer.icon.clone())),
            }
        }
    }
    found.retain(|(partner, _, _)| country::is_served(&partner.countries, &country));
    found.sort_by_key(|(partner, _, _)| !partner.primary_in.contains(&country));
    let items = found.iter().map(|(partner, slug, icon)| shown(partner, slug, icon));
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

fn shown(partner: &ShippingPartner, slug: &str, icon: &str) -> Value {
    let image = if icon.is_empty() { PICTURE } else { icon };
    let features = partner.features.iter().map(|feature| {
        json!({ "icon": image, "title": feature.title, "description": feature.description })
    });
    let features: Vec<Value> = features.collect();
    json!({
        "id": partner.id,
        "name": partner.name,
        "slug": slug,
        "description": partner.description,
        "layout_column": { "image": image, "features": features },
        "layout_row": { "image": image, "features": features },
        "learn_more_link": partner.learn_more,
        "is_visible": true,
        "available_layouts": ["row", "column"],
        "countries_where_primary": partner.primary_in,
    })
}
