//! What the editor asks for beside content: what a page elsewhere is, the theme as an archive, and
//! the menu that a site without a chosen one shows.

use std::io::{Cursor, Write as _};
use std::net::IpAddr;
use std::time::Duration;

use contract::rest::route::{READ, Route};
use contract::rest::{
    Args, Body, Item, Links, ParamError, Refusal, Reply, Schema, Stop, Treatment,
};
use db::filter::{Direction, Page};
use frame::action::{Action, Later, later, read, write};
use frame::appearance::{active_name, active_stylesheet};
use frame::dates::Moment;
use frame::outbound::{Fetch, Overlong};
use frame::{Call, Names};
use serde_json::{Value, json};
use site_rows::post::{self, PostFilter, PostOrder, PostRow};
use types::{Capability, Error, address_range};
use url::{Host, Url};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{template, theme};
use crate::oembed::details::{self, PageDetails};
use crate::oembed::discover::PAGE_BYTES_MAX;
use crate::posts::kind::{ALL_KINDS, NAVIGATION, TEMPLATE, TEMPLATE_PART};
use crate::posts::{first_menu, status};

const FETCH_TIME: Duration = Duration::from_secs(5);
const ZIP: &str = "application/zip";

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.editor, path);
    let url = Schema::text().format("uri").required().about("Address of the page.");
    let url_args = Args::new().treated("url", url, Treatment::Custom(check_url, as_it_is));
    let content = names.content.clone();
    vec![
        at("/url-details")
            .on(READ, url_args, later(may_look_up, url_details))
            .refuses_with(&[404])
            .schema(details_item().document()),
        at("/export").on(READ, Args::new(), read(may_export, export)).sends_file(ZIP),
        at("/navigation-fallback")
            .on(
                READ,
                Args::new(),
                write(may_make_menu, move |call: &mut Call<'_>| fallback(call, &content)),
            )
            .schema(menu_item().document()),
    ]
}

fn details_item() -> Item {
    let text = |about: &str| Schema::text().about(about).readonly();
    Item::new(
        "url-details",
        Schema::object([
            ("title", text("Title of the page.")),
            ("icon", text("Address of its icon.")),
            ("description", text("What it says about itself.")),
            ("image", text("Address of its picture.")),
        ]),
    )
}

fn menu_item() -> Item {
    let id = Schema::integer().about("Number of the menu.").readonly();
    Item::new("navigation-fallback", Schema::object([("id", id)]))
}

/// An address that could be asked: of another site, by its name or a public number.
fn check_url(value: &Value, _: &str) -> Result<(), Option<ParamError>> {
    let url = value.as_str().and_then(|text| Url::parse(text).ok()).ok_or(None)?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_plain = url.username().is_empty() && url.password().is_none();
    let is_public = match url.host() {
        Some(Host::Domain(name)) => name.contains('.'),
        Some(Host::Ipv4(address)) => address_range::is_public(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => address_range::is_public(IpAddr::V6(address)),
        None => false,
    };
    if is_web && is_plain && is_public { Ok(()) } else { Err(None) }
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every converter")]
fn as_it_is(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(value.clone())
}

fn may_look_up(call: &mut Call<'_>) -> Result<(), Stop> {
    if ALL_KINDS.iter().any(|kind| call.can(kind.may.edit)) {
        return Ok(());
    }
    let message = "You are not allowed to look up other pages.";
    Err(call.deny("rest_cannot_view_url_details", message).into())
}

/// What a page elsewhere says about itself. It is asked through the guard of all such requests.
async fn url_details(request: Later) -> Result<Reply, Stop> {
    let none = || Refusal::new(404, "no_response", "The page did not answer.");
    let url = request.params.text("url").and_then(|text| Url::parse(text).ok());
    let url = url.ok_or_else(none)?;
    let wanted = Fetch { overlong: Overlong::Cut, ..Fetch::get(url, PAGE_BYTES_MAX, FETCH_TIME) };
    let fetched = request.site.outbound().fetch(wanted).await.map_err(|error| {
        tracing::debug!(%error, "a page cannot be looked up");
        none()
    })?;
    if fetched.status != 200 || fetched.body.is_empty() {
        return Err(none().into());
    }
    let PageDetails { title, icon, description, image } =
        details::read(&fetched.body, &fetched.final_url);
    Ok(Reply::new(json!({
        "title": title, "icon": icon, "description": description, "image": image,
    })))
}

fn may_export(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to export templates and styles.";
    call.need(Capability::EditThemeOptions, "rest_cannot_export_templates", message)
}

/// The theme as an archive: its settings and styles with what people changed, and all templates.
fn export(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let stylesheet = active_stylesheet(call.options());
    let name = active_name(call.options());
    let mut files = vec![
        (String::from("theme.json"), pretty(&exported_settings(call, &stylesheet)?)?),
        (String::from("style.css"), format!("/*\nTheme Name: {}\n*/\n", name.replace("*/", ""))),
    ];
    for kind in [&TEMPLATE, &TEMPLATE_PART] {
        let folder = if kind.name == TEMPLATE.name { "templates" } else { "parts" };
        for template in template::all(call, kind)? {
            let path = format!("{folder}/{}.html", template.slug);
            files.push((path, template.content().to_owned()));
        }
    }
    let bytes = archive(&stylesheet, &files)?;
    let disposition = format!("attachment; filename={stylesheet}.zip");
    let reply = Reply::of(200, Body::File { media_type: ZIP, bytes });
    Ok(reply.header("content-disposition", disposition))
}

fn exported_settings(call: &mut Call<'_>, stylesheet: &str) -> Result<Value, Error> {
    let mut settings = theme::json(call.options());
    let slug = frame::appearance::styles_slug(stylesheet);
    let row = post::find_by_slug(call.conn()?, frame::appearance::STYLES_KIND, &slug)?;
    let changed: Value =
        row.and_then(|row| serde_json::from_str(&row.content).ok()).unwrap_or_default();
    for part in ["settings", "styles"] {
        if let (Some(own), Some(changed)) = (settings.get_mut(part), changed.get(part)) {
            merge(own, changed);
        }
    }
    Ok(settings)
}

/// What people changed goes before what the theme says, member by member.
fn merge(own: &mut Value, changed: &Value) {
    match (own, changed) {
        (Value::Object(own), Value::Object(changed)) => {
            for (name, value) in changed {
                merge(own.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (own, changed) => *own = changed.clone(),
    }
}

fn pretty(value: &Value) -> Result<String, Error> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Error::internal("cannot write the theme's settings").because(error))
}

fn archive(folder: &str, files: &[(String, String)]) -> Result<Vec<u8>, Error> {
    let failed =
        |error: zip::result::ZipError| Error::internal("cannot write the archive").because(error);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        archive.start_file(format!("{folder}/{path}"), options).map_err(failed)?;
        archive.write_all(content.as_bytes()).map_err(|error| failed(error.into()))?;
    }
    Ok(archive.finish().map_err(failed)?.into_inner())
}

fn may_make_menu(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create menus.";
    call.need(NAVIGATION.may.create, "rest_cannot_create", message)
}

/// The menu that was published last; a site without any gets one that lists its pages.
fn fallback(call: &mut Call<'_>, namespace: &str) -> Result<Reply, Stop> {
    let wanted = PostFilter {
        kinds: vec![NAVIGATION.name.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        order: PostOrder::Date,
        direction: Direction::Descending,
        page: Page { offset: 0, limit: 1 },
        ..PostFilter::default()
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    let id = match rows.first() {
        Some(row) => row.post_id,
        None => first_menu(call)?,
    };
    let own = call.visit.rest(&format!("/{namespace}/{}/{id}", NAVIGATION.base));
    Ok(Reply::new(json!({ "id": id })).links(Links::new().embeddable("self", own)))
}

fn first_menu(call: &mut Call<'_>) -> Result<i64, Error> {
    let now = Moment::at(call.options(), call.now());
    let row = PostRow {
        kind: NAVIGATION.name.to_owned(),
        status: status::PUBLISH.to_owned(),
        slug: first_menu::SLUG.to_owned(),
        title: first_menu::TITLE.to_owned(),
        content: first_menu::CONTENT.to_owned(),
        author_id: call.user_id(),
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        date: now.local,
        date_gmt: Some(now.gmt),
        modified: now.local,
        modified_gmt: now.gmt,
        meta: String::from("{}"),
        ..PostRow::default()
    };
    post::insert(call.conn()?, &row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_other_sites_are_looked_up() {
        for (url, expected) in [
            ("https://blog.example/a", true),
            ("http://127.0.0.1:9/x", false),
            ("http://[::1]/", false),
            ("http://169.254.169.254/latest", false),
            ("http://localhost/", false),
            ("https://user:pass@blog.example/", false),
            ("ftp://blog.example/", false),
            ("notaurl", false),
        ] {
            assert_eq!(check_url(&json!(url), "url").is_ok(), expected, "{url}");
        }
    }

    #[test]
    fn changes_go_before_the_theme_member_by_member() {
        let mut own = json!({ "color": { "text": "a", "background": "b" }, "list": [1, 2] });
        merge(&mut own, &json!({ "color": { "text": "c" }, "list": [3], "more": true }));
        let expected =
            json!({ "color": { "text": "c", "background": "b" }, "list": [3], "more": true });
        assert_eq!(own, expected);
    }
}
