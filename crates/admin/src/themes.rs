//! Themes: colours, fonts, a logo and a few texts for the portal and the public pages.
//!
//! A theme is a package ([`crate::package`]). The active one is kept where the site's pages look
//! for it, so that activating one changes them at once. [`contrast`] tells whether people can read
//! what it makes of a page.

mod answers;
mod contrast;
mod site;

use std::sync::Arc;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use db::Conn;
use frame::action::{Later, Outcome, anyone, later, read, write};
use frame::managers::may_view;
use frame::pages::THEME_OPTION;
use frame::{Action, Call, Names, Options, options};
use serde_json::{Value, json};
use types::{Capability, Error, Kind, Result, Timestamp};

use crate::catalogue::{Catalogue, picture};
use crate::installation::{append_event, put_new};
use crate::package::{Manifest, ThemeManifest};
use crate::plugins::{CatalogueRequest, with_offers};
use crate::rows::package::{self, PackageKind, PackageRow};
use crate::upload;

pub(crate) fn routes(names: &Names, catalogue: &Arc<Catalogue>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin, path);
    let own = |path: &str| Route::at(&names.docs, path);
    let context = Schema::text().default("view").choices(&["view", "edit"]);
    let context = context.about("Scope of the response.");
    let upload_args = upload::with_file(Args::new().arg("context", context), "The theme archive.");
    let slug = Args::new().arg("slug", Schema::text().about("Theme slug."));
    let (of_upload, of_install) = (Arc::clone(catalogue), Arc::clone(catalogue));
    let mut routes = vec![
        at("/themes")
            .body_bytes_max(upload::FORM_BYTES_MAX)
            .on(
                EDIT,
                upload_args,
                later(may_upload, move |request| receive(request, Arc::clone(&of_upload))),
            )
            .shows(answers::uploaded()),
        at("/onboarding/themes/install")
            .on(
                EDIT,
                Args::new(),
                later(may_install, move |request| install(request, Arc::clone(&of_install))),
            )
            .shows(answers::installed()),
        at("/onboarding/themes/activate")
            .on(EDIT, Args::new(), write(may_switch, activate))
            .shows(answers::activated()),
        own("/themes")
            .on(READ, Args::new(), with_offers(catalogue, may_view, list))
            .shows(Schema::list(answers::theme())),
        own("/themes/deactivate")
            .on(CREATE, Args::new(), write(may_switch, deactivate))
            .shows(answers::deactivated()),
        own(r"/themes/(?P<slug>[a-z0-9_\-]+)")
            .on(DELETE, slug, write(may_install, remove))
            .shows(answers::removed()),
        own("/theme").on(READ, Args::new(), read(anyone, current)).shows(answers::tokens()),
    ];
    routes.extend(site::routes(names, catalogue));
    routes
}

fn may_upload(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to upload themes.";
    call.need(Capability::InstallThemes, "woocommerce_rest_cannot_view", message)
}

fn may_install(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to install themes.";
    call.need(Capability::InstallThemes, "woocommerce_rest_cannot_update", message)
}

fn may_switch(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to switch themes.";
    call.need(Capability::SwitchThemes, "woocommerce_rest_cannot_update", message)
}

fn read_manifest(row: &PackageRow) -> Result<ThemeManifest> {
    match Manifest::read(PackageKind::Theme, row.manifest.as_bytes())? {
        Manifest::Theme(theme) => Ok(*theme),
        Manifest::Plugin(_) => Err(Error::internal("a plugin is stored as a theme")),
    }
}

/// Takes the archive of a form. What is wrong with it is told in the answer, as clients know it.
async fn receive(request: Later, catalogue: Arc<Catalogue>) -> Outcome {
    let told = match upload::take(&request, &catalogue, PackageKind::Theme).await? {
        Ok(slug) => {
            let message = "The theme was installed.";
            json!({ "status": "success", "message": message, "theme": slug })
        }
        Err(message) => json!({ "status": "error", "message": message }),
    };
    Ok(Reply::new(told))
}

fn slug_of(text: Option<&str>) -> String {
    text.unwrap_or_default().trim().to_ascii_lowercase()
}

/// Installs a theme of the catalogue. One that is there already is fine, whoever is away.
async fn install(request: Later, catalogue: Arc<Catalogue>) -> Outcome {
    let slug = slug_of(request.params.text("theme"));
    let wanted = slug.clone();
    let find = move |conn: &mut dyn Conn| package::get(conn, PackageKind::Theme, &wanted);
    let row = if let Some(row) = request.site.store().read(find.clone()).await? {
        row
    } else {
        let obtained = catalogue.obtain(&request.site, PackageKind::Theme, &slug).await;
        let (obtained, now) = (obtained.map_err(not_installed)?, request.visit.now);
        request.site.store().write(move |conn| put_new(conn, &obtained, now)).await?;
        let installed = request.site.store().read(find).await?;
        installed.ok_or_else(|| Error::internal("an installed theme no longer exists"))?
    };
    let name = read_manifest(&row)?.name;
    Ok(Reply::new(json!({ "slug": slug, "name": name, "status": "success" })))
}

/// What the caller can fix, or wait for.
fn not_installed(error: Error) -> Stop {
    if error.kind() == Kind::Internal {
        return error.into();
    }
    Refusal::new(400, "woocommerce_rest_theme_install", error.to_string()).into()
}

fn activate(call: &mut Call<'_>) -> Outcome {
    let slug = slug_of(call.params.text("theme"));
    let now = call.now();
    let conn = call.conn()?;
    let Some(theme) = switch(conn, &slug, now)? else {
        let message = "The theme is not installed; install it first.";
        return Err(Refusal::new(404, "woocommerce_rest_invalid_theme", message).into());
    };
    let mut body = json!({ "slug": slug, "name": theme.name, "status": "success" });
    let warnings = contrast::warnings(&theme);
    if let (false, Some(members)) = (warnings.is_empty(), body.as_object_mut()) {
        members.insert(String::from("warnings"), json!(warnings));
    }
    Ok(Reply::new(body))
}

/// Makes the theme the active one; nothing if there is none of this name.
pub(crate) fn switch(
    conn: &mut dyn Conn,
    slug: &str,
    now: Timestamp,
) -> Result<Option<ThemeManifest>> {
    let Some(mut row) = package::get(conn, PackageKind::Theme, slug)? else { return Ok(None) };
    let theme = read_manifest(&row)?;
    retire(conn)?;
    row.is_active = true;
    row.activated = Some(now);
    package::put(conn, &row)?;
    let shown = tokens(conn, &theme)?;
    options::set(conn, THEME_OPTION, &shown)?;
    append_event(conn, "theme.activated", &row, now)?;
    Ok(Some(theme))
}

/// Takes the place from the theme that has it.
fn retire(conn: &mut dyn Conn) -> Result<()> {
    let themes = package::list(conn, PackageKind::Theme)?;
    for row in themes.into_iter().filter(|row| row.is_active) {
        package::put(conn, &PackageRow { is_active: false, activated: None, ..row })?;
    }
    Ok(())
}

/// What pages need to know of the theme.
fn tokens(conn: &mut dyn Conn, theme: &ThemeManifest) -> Result<Value> {
    let logo = match &theme.logo {
        Some(path) => {
            let file = package::file(conn, PackageKind::Theme, &theme.slug, path)?;
            file.and_then(|content| picture(path, &content))
        }
        None => None,
    };
    Ok(json!({
        "slug": theme.slug,
        "name": theme.name,
        "colours": theme.colours,
        "dark": theme.dark,
        "fonts": theme.fonts,
        "logo": logo,
        "texts": theme.texts,
    }))
}

/// Back to how the pages look by themselves.
fn deactivate(call: &mut Call<'_>) -> Outcome {
    let conn = call.conn()?;
    retire(conn)?;
    options::set(conn, THEME_OPTION, &Value::Null)?;
    Ok(Reply::new(json!({ "status": "success" })))
}

/// Removes a theme with its files. If it was the active one, pages look as usual again.
fn remove(call: &mut Call<'_>) -> Outcome {
    let slug = slug_of(call.params.text("slug"));
    let now = call.now();
    let conn = call.conn()?;
    let Some(row) = package::get(conn, PackageKind::Theme, &slug)? else {
        let message = "Theme not found.";
        return Err(Refusal::new(404, "woocommerce_rest_invalid_theme", message).into());
    };
    if row.is_active {
        options::set(conn, THEME_OPTION, &Value::Null)?;
    }
    package::remove(conn, PackageKind::Theme, &slug)?;
    append_event(conn, "theme.removed", &row, now)?;
    Ok(Reply::new(json!({ "deleted": true, "slug": slug })))
}

/// The active theme, for whoever draws a page; null for none.
fn current(call: &mut Call<'_>) -> Outcome {
    let options = Options::read(call.conn()?)?;
    Ok(Reply::new(options.get(THEME_OPTION)))
}

/// Everything that is offered or installed.
fn list(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let mut installed = package::list(conn, PackageKind::Theme)?;
    let mut items = Vec::new();
    for offer in request.offers {
        let Manifest::Theme(theme) = &offer.manifest else { continue };
        let found = installed.iter().position(|row| row.slug == theme.slug);
        let own = found.map(|place| installed.remove(place));
        items.push(view(theme, own.as_ref()));
    }
    for row in &installed {
        items.push(view(&read_manifest(row)?, Some(row)));
    }
    Ok(Reply::new(items))
}

fn view(theme: &ThemeManifest, row: Option<&PackageRow>) -> Value {
    let status = match row {
        None => "available",
        Some(row) if row.is_active => "active",
        Some(_) => "installed",
    };
    json!({
        "slug": theme.slug,
        "name": theme.name,
        "description": theme.description,
        "author": theme.author,
        "version": theme.version,
        "status": status,
        "colours": theme.colours,
        "warnings": contrast::warnings(theme),
    })
}
