//! The shop's pages for people: the catalogue, the cart, the checkout, orders and accounts. They
//! need no script: every change is a form, answered with a redirection.
//!
//! **A page is a rendering**: what is in a cart, what it comes to and whether it can be ordered is
//! asked of the Store API within the process ([`shop_request`]), so that both always agree. Text
//! of the shop and of its buyers is escaped by the templates. What is no page of the shop is left
//! to the site's own.

mod account;
mod address_form;
mod ajax;
mod cart;
mod catalogue;
mod checkout;
mod downloads;
mod linked_data;
mod order;
mod path;
mod product;
mod product_form;
mod reminder;
mod reviews;
mod sandbox;
mod shop_request;
mod trail;
mod values;

use std::sync::Arc;

use content::web::{self, PageRequest, WebAnswer};
use frame::{Request, Site};
use shop_rows::attribute;
use types::Error;

use self::path::{ADD_TO_CART, AJAX, DOWNLOAD, ShopPath};
use self::shop_request::ShopRequest;

/// Whether a request with this method and path may be for a page, of the shop or of the site.
pub fn may_be_page(method: &str, path: &str) -> bool {
    let of_shop = ShopPath::at(path);
    (method == "POST" && of_shop.is_some_and(|path| path.has_form()))
        || web::may_be_page(method, path)
}

/// The page that the request asks for. Nothing if there is none and the client does not say that it
/// would show one.
pub async fn page(site: &Arc<Site>, request: Request) -> Option<WebAnswer> {
    let mut path = ShopPath::at(&request.url_path);
    if let Some(name) = path.as_ref().and_then(ShopPath::attribute) {
        match has_lists(site, name).await {
            Ok(true) => {}
            Ok(false) => path = None,
            Err(error) => return Some(web::failed(&error)),
        }
    }
    let is_shop_front = match &path {
        Some(path) if path.is_front() => has_shop_front(site).await,
        _ => false,
    };
    if let Some(path) = path.and_then(|path| path.for_request(&request, is_shop_front)) {
        match answer(site, &request, &path).await {
            Ok(Some(answer)) => return Some(answer),
            Ok(None) => {}
            Err(error) => return Some(web::failed(&error)),
        }
    }
    web::page(site, request).await
}

/// Whether there is an attribute of this name whose values have lists of products.
async fn has_lists(site: &Arc<Site>, name: &str) -> Result<bool, Error> {
    let name = name.to_owned();
    let read = move |conn: &mut dyn db::Conn| attribute::find_by_name(conn, &name);
    Ok(site.store().read(read).await?.is_some_and(|row| row.has_archives))
}

/// Whether the page that the site shows first is the shop's.
async fn has_shop_front(site: &Arc<Site>) -> bool {
    let Ok(options) = site.options().await else { return false };
    let front = options.integer("page_on_front");
    options.text("show_on_front") == "page"
        && front != 0
        && front == options.integer("woocommerce_shop_page_id")
}

async fn answer(
    site: &Arc<Site>,
    request: &Request,
    path: &ShopPath<'_>,
) -> Result<Option<WebAnswer>, Error> {
    let page = PageRequest::open(site, request).await?;
    if page.is_closed_to_reader(true).await? {
        return Ok(Some(page.coming_soon()));
    }
    let mut shop = ShopRequest::open(page).await?;
    if matches!(path, ShopPath::List(_)) && request.query.contains_key(DOWNLOAD) {
        return if request.method == "GET" { shop.download().await } else { Ok(None) };
    }
    if let (ShopPath::List(_), Some(wanted)) = (path, request.query_parameter(AJAX)) {
        let answer = shop.ajax(wanted).await;
        return Ok(Some(shop.dressed(answer)));
    }
    // A link changes nothing: it leads to the product, whose form does.
    let linked = request.query_parameter(ADD_TO_CART).and_then(|id| id.parse::<i64>().ok());
    if let (ShopPath::List(_), Some(id)) = (path, linked) {
        let address = format!("/?post_type=product&p={id}");
        return Ok(Some(shop.redirect("page:shop", &address)));
    }
    let answer = match path {
        ShopPath::List(listing) => shop.listing(listing).await?,
        ShopPath::Product(slug) => shop.product(slug).await?,
        ShopPath::Cart => match shop.reminder().await? {
            Some(answer) => Some(answer),
            None => shop.cart().await?,
        },
        ShopPath::Checkout(rest) => shop.checkout_at(rest).await?,
        ShopPath::Account(rest) => shop.account(rest).await?,
        ShopPath::Review => shop.review_posted().await?,
        ShopPath::Sandbox(session) => shop.sandbox_gateway(session).await?,
    };
    Ok(answer.map(|answer| shop.dressed(answer)))
}
