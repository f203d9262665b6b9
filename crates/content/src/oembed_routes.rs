//! The two oEmbed routes: what this site says of its own pages, and what others say of theirs.

use contract::rest::args::absint;
use contract::rest::clean;
use contract::rest::route::{READ, Route};
use contract::rest::{Args, Body, Params, Refusal, Reply, Schema, Stop, Treatment};
use db::Conn;
use frame::action::{Action, Later, anyone, later, read};
use frame::{Call, Names, Site, Visit};
use serde_json::{Map, Value};
use site_rows::oembed_cache;
use types::{Capability, Error};

use crate::docs::docs;
use crate::oembed::{self, Author, Format, LocalPage, ProxyRequest, SizeMax};
use crate::posts;

const XML: &str = "text/xml; charset=UTF-8";
const XML_TYPE: &str = "text/xml";
/// Of a frame, unless the request says another.
const WIDTH_USUAL: u64 = 600;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let url = || Schema::text().format("uri").required().about("URL of the page to embed.");
    let embed_args = Args::new()
        .arg("url", url())
        .arg("format", Schema::any().default("json"))
        .treat("format", Treatment::None)
        .arg("maxwidth", Schema::any().default(WIDTH_USUAL))
        .treat("maxwidth", Treatment::Own(absint));
    let proxy_args = Args::new()
        .arg("url", url())
        .arg(
            "format",
            Schema::text().default("json").choices(&["json", "xml"]).about("Response format."),
        )
        .arg(
            "maxwidth",
            Schema::integer().default(WIDTH_USUAL).about("Maximum width of the frame."),
        )
        .treat("maxwidth", Treatment::Own(absint))
        .arg("maxheight", Schema::integer().about("Maximum height of the frame."))
        .treat("maxheight", Treatment::Own(absint))
        .arg(
            "discover",
            Schema::boolean().default(true).about("Whether to discover a provider in the page."),
        );
    vec![
        Route::at(&names.oembed, "/embed")
            .on(READ, embed_args, read(anyone, embed))
            .refuses_with(&[404, 501])
            .shows(local_schema())
            .or_text(XML_TYPE),
        Route::at(&names.oembed, "/proxy")
            .on(READ, proxy_args, later(may_proxy, proxy))
            .refuses_with(&[404, 501])
            .shows(Schema::map().about("What the provider says, with `html` made safe."))
            .or_text(XML_TYPE),
    ]
}

/// What this site says of its own pages.
fn local_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let pixels = |about: &str| Schema::integer().about(about);
    Schema::object([
        ("version", text("Version of oEmbed.")),
        ("provider_name", text("Name of the site.")),
        ("provider_url", text("Address of the site.")),
        ("author_name", text("Author of the page.")),
        ("author_url", text("Address of the author's page.")),
        ("title", text("Page title.")),
        ("type", text("How the page can be shown.").choices(&["rich", "link"])),
        ("width", pixels("Width of the frame.")),
        ("height", pixels("Height of the frame.")),
        ("html", text("The frame.")),
        ("thumbnail_url", text("Picture of the page.")),
        ("thumbnail_width", pixels("Width of the picture.")),
        ("thumbnail_height", pixels("Height of the picture.")),
    ])
}

fn unsigned(params: &Params, name: &str) -> Option<u64> {
    params.int(name).and_then(|number| u64::try_from(number).ok())
}

fn not_embeddable() -> Refusal {
    let message = "This URL cannot be embedded.";
    Refusal::new(oembed::STATUS_INVALID_URL, oembed::CODE_INVALID_URL, message)
}

fn embed(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (site, visit) = (call.site, call.visit);
    let url = call.params.text("url").unwrap_or_default().to_owned();
    // This route has never had a height.
    let size = SizeMax { height: None, ..size_in(&call.params) };
    let format = format_in(&call.params);
    let found = describe_local(site, visit, &url, size, call.conn()?)?;
    answered(found, format)
}

fn format_in(params: &Params) -> Format {
    if params.text("format") == Some("xml") { Format::Xml } else { Format::Json }
}

fn size_in(params: &Params) -> SizeMax {
    let width = unsigned(params, "maxwidth").unwrap_or(WIDTH_USUAL);
    SizeMax { width, height: unsigned(params, "maxheight") }
}

/// The answer in the format that was asked for; errors are told in it, too.
fn answered(found: Option<Map<String, Value>>, format: Format) -> Result<Reply, Stop> {
    let status = if found.is_some() { 200 } else { oembed::STATUS_INVALID_URL };
    if format == Format::Json {
        return found.map(Reply::new).ok_or_else(|| not_embeddable().into());
    }
    let refused = || not_embeddable().body().as_object().cloned().unwrap_or_default();
    let Some(text) = oembed::xml::render(&found.unwrap_or_else(refused)) else {
        let message = "This page is not available as XML; request JSON.";
        return Err(Refusal::new(501, "oembed_no_xml", message).into());
    };
    Ok(Reply::of(status, Body::Text { media_type: XML, text }))
}

fn may_proxy(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::EditPosts) { Ok(()) } else { Err(call.forbidden().into()) }
}

async fn proxy(later: Later) -> Result<Reply, Stop> {
    let Later { site, visit, params, .. } = later;
    let request = ProxyRequest {
        url: params.text("url").unwrap_or_default().to_owned(),
        format: format_in(&params),
        maxwidth: unsigned(&params, "maxwidth"),
        maxheight: unsigned(&params, "maxheight"),
        discover: params.flag("discover"),
    };
    let (key, now, size) = (request.cache_key(), visit.now, size_in(&params));
    let (wanted, asked) = (key.clone(), request.clone());
    let (shared_site, shared_visit) = (std::sync::Arc::clone(&site), std::sync::Arc::clone(&visit));
    let known = site.store().read(move |conn| {
        let local = describe_local(&shared_site, &shared_visit, &asked.url, size, conn)?;
        if local.is_some() {
            return Ok(local);
        }
        let kept = oembed_cache::get(conn, wanted.as_bytes(), now)?;
        Ok(kept.and_then(|text| serde_json::from_str(&text).ok()))
    });
    let known: Option<Map<String, Value>> = known.await?;
    // An address of our own that is no page is not asked for over the network.
    if known.is_some() || local_part(&visit.home, &request.url).is_some() {
        return answered(known, request.format);
    }
    let secret = oembed::new_secret()?;
    match oembed::proxy(&request, site.outbound(), &secret).await {
        Ok(answer) => {
            let text = Value::Object(answer.clone()).to_string();
            let expires = now.plus(oembed::proxy::CACHE_LIFE);
            let keep =
                move |conn: &mut dyn Conn| oembed_cache::put(conn, key.as_bytes(), &text, expires);
            site.store().write(keep).await?;
            answered(Some(answer), request.format)
        }
        Err(error) => {
            tracing::debug!(%error, "an address cannot be embedded");
            answered(None, request.format)
        }
    }
}

/// Path and query of an address of this site, whichever way it is asked for.
fn local_part<'a>(home: &str, url: &'a str) -> Option<&'a str> {
    let bare = |text: &'a str| text.split_once("://").map(|(_, rest)| rest);
    let host = home.split_once("://").map_or(home, |(_, rest)| rest);
    let rest = bare(url)?.strip_prefix(host)?;
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(rest)
}

/// Where the portal shows the reference of the interfaces.
const REFERENCE_PATH: &str = "portal/reference";
const REFERENCE: &str = "API reference";
const OPERATION_LENGTH_MAX: usize = 200;

/// What the reference's page is called: after the operation that its address names, if any.
fn reference_title(local: &str) -> String {
    let query = local.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let operation = pairs.find(|(name, _)| name == "operation").map(|(_, value)| value);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = |text: &str| !text.is_empty() && text.len() <= OPERATION_LENGTH_MAX;
    match operation.filter(|text| fits(text) && text.chars().all(is_plain)) {
        Some(operation) => format!("{REFERENCE}: {operation}"),
        None => REFERENCE.to_owned(),
    }
}

/// The description of one of the site's own pages: a guide, a post, a page, or what a crate above
/// keeps.
fn describe_local(
    site: &Site,
    visit: &Visit,
    url: &str,
    size: SizeMax,
    conn: &mut dyn Conn,
) -> Result<Option<Map<String, Value>>, Error> {
    let Some(local) = local_part(&visit.home, url) else { return Ok(None) };
    let name = visit.options.text("blogname");
    let secret = oembed::new_secret()?;
    let page = |title: &str, permalink: &str, author: Option<Author<'_>>| {
        let site_url = &visit.home;
        let page =
            LocalPage { title, permalink, site_name: &name, site_url, author, thumbnail: None };
        oembed::describe(&page, size, &secret)
    };
    let path = local.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    if let Some(guide) = path.strip_prefix("docs/").and_then(|slug| docs().page(slug)) {
        return Ok(Some(page(&guide.title, &visit.page(&guide.path()), None)));
    }
    if path == REFERENCE_PATH {
        let title = reference_title(local);
        let permalink = visit.page(local);
        let page = LocalPage {
            title: &title,
            permalink: &permalink,
            site_name: &name,
            site_url: &visit.home,
            author: None,
            thumbnail: None,
        };
        return Ok(Some(oembed::describe_link(&page)));
    }
    let found = posts::find_by_path(conn, &visit.options, local)?;
    let found = found.filter(posts::is_publicly_viewable);
    let (title, permalink, author_id) = match found {
        Some(post) => {
            let permalink = posts::permalink(conn, visit, &post)?;
            (post.title, permalink, post.author_id)
        }
        None => match site.page_at(conn, visit, local)? {
            Some(other) => (other.title, other.permalink, other.author_id),
            None => return Ok(None),
        },
    };
    let author = site_rows::user::get(conn, author_id)?;
    let author_url = author.as_ref().map(|user| visit.page(&format!("/author/{}/", user.nicename)));
    let author = author
        .as_ref()
        .zip(author_url.as_ref())
        .map(|(user, url)| Author { name: &user.display_name, url });
    let title = oembed::decoded(&clean::text_field(&title));
    Ok(Some(page(&title, &permalink, author)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_called_after_its_operation() {
        for (local, expected) in [
            ("/portal/reference", "API reference"),
            ("/portal/reference?interface=wc%2Fv3", "API reference"),
            ("/portal/reference?interface=v1&operation=listErrors#a", "API reference: listErrors"),
            ("/portal/reference?operation=%3Cscript%3E", "API reference"),
            ("/portal/reference?operation=", "API reference"),
        ] {
            assert_eq!(reference_title(local), expected, "{local}");
        }
        let long = format!("/portal/reference?operation={}", "a".repeat(201));
        assert_eq!(reference_title(&long), "API reference");
    }
}
