//! Where the administration pages that existing clients link to are here: at the pages of the
//! portal. Answers of the interface hold such links, and **each leads somewhere**.

use std::sync::Arc;

use contract::rest::form;
use types::{Capability, Result};

use super::answer::WebAnswer;
use super::form::Fields;
use super::page_request::PageRequest;
use crate::posts;

const KIND: &str = "page:admin";
const PORTAL: &str = "/portal";
const START: &str = "/";
const ORDERS: &str = "/store/orders";
const PRODUCTS: &str = "/store/products";
const COUPONS: &str = "/store/coupons";
const SETUP: &str = "/store/setup";
const SETTINGS: &str = "/store/settings";
const PLUGINS: &str = "/store/plugins";
const THEMES: &str = "/store/themes";
const ANALYTICS: &str = "/analytics";
/// Parameters that say which page is meant; what else there is goes along.
const CONSUMED: [&str; 4] = ["page", "path", "tab", "task"];

/// Pages of the shop's administration by their paths there, longest first.
const SHOP_PAGES: &[(&str, &str)] = &[
    ("/analytics/settings", "/store/settings/wc_admin"),
    ("/analytics/overview", ANALYTICS),
    ("/setup-wizard", SETUP),
    ("/launch-your-store", SETUP),
    ("/customize-store", THEMES),
    ("/extensions", PLUGINS),
    ("/marketing", PLUGINS),
    ("/customers", "/analytics/customers"),
    ("/add-product", PRODUCTS),
    ("/payments", "/store/settings/checkout"),
];

/// Pages by the names of their files.
const FILES: &[(&str, &str)] = &[
    ("plugins.php", PLUGINS),
    ("plugin-install.php", PLUGINS),
    ("themes.php", THEMES),
    ("customize.php", THEMES),
    ("site-editor.php", THEMES),
    ("users.php", "/users"),
    ("profile.php", "/account"),
    ("edit-tags.php", PRODUCTS),
    ("options-general.php", SETTINGS),
    ("options-reading.php", SETTINGS),
];

impl PageRequest<'_> {
    pub(super) async fn administration(&self, name: &str) -> Result<WebAnswer> {
        let query = self.query();
        let path = match name {
            "post.php" => match self.edited(&query).await? {
                Some(location) => return Ok(WebAnswer::redirect(KIND, &location)),
                None => START.to_owned(),
            },
            _ => portal_path(name, &query),
        };
        let rest = self.rest_of_query();
        let joined = if rest.is_empty() { path } else { format!("{path}?{rest}") };
        Ok(WebAnswer::redirect(KIND, &self.visit.page(&format!("{PORTAL}{joined}"))))
    }

    /// Where the record is looked after that a link wants to edit: in the portal, or on its own
    /// page if it is a post or a page that everybody may read.
    async fn edited(&self, query: &Fields) -> Result<Option<String>> {
        let Ok(id) = query.text("post").parse::<i64>() else { return Ok(None) };
        // Strangers are not told what a number stands for.
        let may_look_up = self.visit.identity.can(Capability::EditPosts);
        let (site, visit) = (Arc::clone(self.site), Arc::clone(&self.visit));
        let find = move |conn: &mut dyn db::Conn| {
            if let Some(row) = site_rows::post::get(conn, id)? {
                let is_public = posts::is_publicly_viewable(&row);
                return Ok(is_public.then(|| visit.page(&format!("/?p={id}"))));
            }
            if !may_look_up {
                return Ok(None);
            }
            let desk = site.desk_of(conn, id)?;
            Ok(desk.map(|path| visit.page(&format!("{PORTAL}{path}"))))
        };
        self.site.store().read(find).await
    }

    /// The query string without what said which page is meant.
    fn rest_of_query(&self) -> String {
        let mut query = self.request.query.clone();
        query.retain(|name, _| !CONSUMED.contains(&name.as_str()));
        form::encode(&query)
    }
}

/// The portal's page for one of the administration's.
fn portal_path(name: &str, query: &Fields) -> String {
    match name {
        "admin.php" => admin_page(query),
        "post-new.php" if kind_of_record(query) == ORDERS => format!("{ORDERS}/new"),
        "edit.php" | "post-new.php" => kind_of_record(query).to_owned(),
        "user-edit.php" => match query.text("user_id").parse::<i64>() {
            Ok(id) => format!("/users/{id}"),
            Err(_) => String::from("/users"),
        },
        _ => {
            let found = FILES.iter().find(|(file, _)| *file == name);
            found.map_or(START, |(_, path)| path).to_owned()
        }
    }
}

fn kind_of_record(query: &Fields) -> &'static str {
    match query.text("post_type") {
        "shop_order" => ORDERS,
        "product" => PRODUCTS,
        "shop_coupon" => COUPONS,
        _ => START,
    }
}

/// A page of the shop's administration, by its name.
fn admin_page(query: &Fields) -> String {
    match query.text("page") {
        "wc-admin" => shop_page(query),
        "wc-settings" => match query.text("tab") {
            tab if is_plain(tab) => format!("{SETTINGS}/{tab}"),
            _ => SETTINGS.to_owned(),
        },
        "wc-orders" => match (query.text("action"), query.text("id").parse::<i64>()) {
            ("new", _) => format!("{ORDERS}/new"),
            (_, Ok(id)) => format!("{ORDERS}/{id}"),
            _ => ORDERS.to_owned(),
        },
        "wc-addons" => PLUGINS.to_owned(),
        "wc-reports" => ANALYTICS.to_owned(),
        _ => START.to_owned(),
    }
}

fn shop_page(query: &Fields) -> String {
    let path = query.text("path");
    if !query.text("task").is_empty() {
        return SETUP.to_owned();
    }
    if let Some((_, page)) = SHOP_PAGES.iter().find(|(known, _)| path.starts_with(known)) {
        return (*page).to_owned();
    }
    let below = |start: &str| path.strip_prefix(start).filter(|name| is_plain(name));
    if let Some(report) = below("/analytics/") {
        return format!("{ANALYTICS}/{report}");
    }
    match below("/product/") {
        Some(id) => format!("{PRODUCTS}/{id}"),
        None => START.to_owned(),
    }
}

/// Whether a part of an address is the name of something, and no way out of the portal.
fn is_plain(name: &str) -> bool {
    let is_fine = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    !name.is_empty() && name.chars().all(is_fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_of_the_administration_is_one_of_the_portal() {
        for (name, query, expected) in [
            ("", "", "/"),
            ("index.php", "", "/"),
            ("admin.php", "page=wc-admin", "/"),
            ("admin.php", "page=wc-admin&path=/analytics/overview", "/analytics"),
            ("admin.php", "page=wc-admin&path=%2Fanalytics%2Fproducts", "/analytics/products"),
            ("admin.php", "page=wc-admin&path=/analytics/../users", "/"),
            ("admin.php", "page=wc-admin&path=/analytics//other.example", "/"),
            ("admin.php", "page=wc-admin&task=tax", "/store/setup"),
            ("admin.php", "page=wc-admin&path=%2Flaunch-your-store", "/store/setup"),
            ("admin.php", "page=wc-admin&path=%2Fextensions", "/store/plugins"),
            ("admin.php", "page=wc-settings&tab=checkout", "/store/settings/checkout"),
            ("admin.php", "page=wc-settings", "/store/settings"),
            ("admin.php", "page=wc-settings&tab=//x", "/store/settings"),
            ("admin.php", "page=wc-orders&action=edit&id=12", "/store/orders/12"),
            ("admin.php", "page=wc-orders", "/store/orders"),
            ("admin.php", "page=bogus", "/"),
            ("edit.php", "post_type=shop_order", "/store/orders"),
            ("edit.php", "post_type=product", "/store/products"),
            ("edit.php", "post_type=shop_coupon", "/store/coupons"),
            ("edit.php", "", "/"),
            ("post-new.php", "post_type=shop_order", "/store/orders/new"),
            ("user-edit.php", "user_id=7", "/users/7"),
            ("plugins.php", "", "/store/plugins"),
            ("unheard-of.php", "", "/"),
        ] {
            let fields = Fields::of(form::decode(query));
            assert_eq!(portal_path(name, &fields), expected, "{name}?{query}");
        }
    }
}
