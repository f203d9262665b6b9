//! Which page of the shop a path asks for. Nothing is looked up here.

use std::borrow::Cow;

use commerce::taxonomies::{BRAND, CATEGORY, SHIPPING_CLASS, TAG};
use frame::Request;

/// Where the lists of the terms of a taxonomy are.
const TERM_ROOTS: &[(&str, &str)] =
    &[("/product-category/", CATEGORY), ("/product-tag/", TAG), ("/brand/", BRAND)];
const PRODUCT_ROOT: &str = "/product/";
pub(super) const SHOP: &str = "/shop";
pub(super) const CART: &str = "/cart";
pub(super) const CHECKOUT: &str = "/checkout";
pub(super) const ACCOUNT: &str = "/my-account";
pub(super) const REVIEW: &str = "/wp-comments-post.php";
/// Parameters that lists of products know.
const OF_LISTS: &[&str] = &["orderby"];
const SANDBOX_ROOT: &str = crate::sandbox_gateway::PAGES;
/// The parameter of links, and the button of forms, that put a product into the cart.
pub(super) const ADD_TO_CART: &str = "add-to-cart";
/// The parameter by which scripts of themes ask for something of the cart.
pub(super) const AJAX: &str = "wc-ajax";
/// The parameter of the address of a download.
pub(super) const DOWNLOAD: &str = "download_file";
/// Parts of the path of something that the site's own pages show.
const OF_SITE: &[&str] = &["feed", "embed"];
/// A page of a list at most: beyond it nobody turns.
const PAGE_MAX: i64 = 100_000;

/// A page of the shop by its address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShopPath<'a> {
    List(Listing<'a>),
    /// By its slug, as the path has it.
    Product(&'a str),
    Cart,
    /// With what stands behind the checkout's own path.
    Checkout(&'a str),
    Account(&'a str),
    /// Where the form below a product, or below a post of the site, is sent.
    Review,
    /// The page of the sandbox's own gateway, with the session that it is for.
    Sandbox(&'a str),
}

/// A list of products.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing<'a> {
    pub(super) of: ListOf<'a>,
    pub(super) page: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListOf<'a> {
    Shop,
    /// What a search in the query string finds; at the address of the front page.
    Search,
    /// The products of a term, by the slugs of those above it and its own.
    Term {
        taxonomy: Cow<'static, str>,
        slugs: Cow<'a, str>,
    },
    /// The products with a value of an attribute, **if there is such an attribute and it has
    /// lists**: its name and the value's slug.
    Attribute {
        name: &'a str,
        slug: &'a str,
    },
}

impl<'a> ShopPath<'a> {
    /// The page at the path, still encoded.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        let bare = path.strip_suffix('/').unwrap_or(path);
        if bare.rsplit('/').next().is_some_and(|last| OF_SITE.contains(&last)) {
            return None;
        }
        let (list, page) = paged(bare);
        match list {
            "" => return Some(Self::List(Listing { of: ListOf::Search, page })),
            SHOP => return Some(Self::List(Listing { of: ListOf::Shop, page })),
            _ => {}
        }
        for (root, taxonomy) in TERM_ROOTS {
            if let Some(slugs) = list.strip_prefix(root).filter(|slugs| !slugs.is_empty()) {
                let (taxonomy, slugs) = (Cow::Borrowed(*taxonomy), Cow::Borrowed(slugs));
                return Some(Self::List(Listing { of: ListOf::Term { taxonomy, slugs }, page }));
            }
        }
        if let Some(slug) = bare.strip_prefix(PRODUCT_ROOT) {
            return (!slug.is_empty() && !slug.contains('/')).then_some(Self::Product(slug));
        }
        if let Some(session) = bare.strip_prefix(SANDBOX_ROOT) {
            return (!session.is_empty() && !session.contains('/'))
                .then_some(Self::Sandbox(session));
        }
        match bare {
            CART => return Some(Self::Cart),
            REVIEW => return Some(Self::Review),
            _ => {}
        }
        let of_buyer = below(bare, CHECKOUT)
            .map(Self::Checkout)
            .or_else(|| below(bare, ACCOUNT).map(Self::Account));
        of_buyer.or_else(|| {
            let (name, slug) = list.strip_prefix('/')?.split_once('/')?;
            let is_pair = !name.is_empty() && !slug.is_empty() && !slug.contains('/');
            let of = ListOf::Attribute { name, slug };
            is_pair.then_some(Self::List(Listing { of, page }))
        })
    }

    /// The name of the attribute that must have lists, for the path to be the shop's.
    pub(super) fn attribute(&self) -> Option<&'a str> {
        match self {
            Self::List(Listing { of: ListOf::Attribute { name, .. }, .. }) => Some(name),
            _ => None,
        }
    }

    /// Whether it is at the address of the front page.
    pub(super) fn is_front(&self) -> bool {
        matches!(self, Self::List(Listing { of: ListOf::Search, .. }))
    }

    /// Whether the page takes forms.
    pub(super) fn has_form(&self) -> bool {
        !matches!(self, Self::List(_))
    }

    /// The page that the request asks for, if it is one of the shop's. Unless the shop is on the
    /// front page, that is the shop's only for a search among products, or for a link to put one
    /// into the cart, to download a file, or of a theme's script.
    pub(super) fn for_request(self, request: &Request, is_shop_front: bool) -> Option<Self> {
        let Self::List(Listing { of: ListOf::Search, page }) = self else { return Some(self) };
        if request.query_parameter("taxonomy") == Some(SHIPPING_CLASS)
            && let Some(slug) = request.query_parameter("term").filter(|slug| !slug.is_empty())
        {
            let (taxonomy, slugs) = (Cow::Borrowed(SHIPPING_CLASS), Cow::Owned(slug.to_owned()));
            return Some(Self::List(Listing { of: ListOf::Term { taxonomy, slugs }, page }));
        }
        let is_search = request.query.contains_key("s")
            && request.query_parameter("post_type") == Some("product");
        let is_link =
            [ADD_TO_CART, DOWNLOAD, AJAX].iter().any(|name| request.query.contains_key(*name));
        if is_search || is_link {
            return Some(self);
        }
        let is_front = is_shop_front && is_plain(request);
        is_front.then_some(Self::List(Listing { of: ListOf::Shop, page }))
    }
}

/// Whether a request for the front page asks for nothing else: what the shop itself does not know
/// is the site's.
fn is_plain(request: &Request) -> bool {
    request.query.keys().all(|name| OF_LISTS.contains(&name.as_str()))
}

/// The path of a list without the number of its page.
fn paged(bare: &str) -> (&str, i64) {
    let Some((list, number)) = bare.rsplit_once("/page/") else { return (bare, 1) };
    match number.parse::<i64>() {
        Ok(number) if (1..=PAGE_MAX).contains(&number) => (list, number),
        _ => (bare, 1),
    }
}

fn below<'a>(bare: &'a str, root: &str) -> Option<&'a str> {
    let rest = bare.strip_prefix(root)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_page_of_the_shop() {
        let list = |of, page| Some(ShopPath::List(Listing { of, page }));
        let term = |taxonomy: &'static str, slugs: &'static str| ListOf::Term {
            taxonomy: taxonomy.into(),
            slugs: slugs.into(),
        };
        let valued = |name, slug| ListOf::Attribute { name, slug };
        for (path, expected) in [
            ("/shop/", list(ListOf::Shop, 1)),
            ("/shop", list(ListOf::Shop, 1)),
            ("/shop/page/2/", list(ListOf::Shop, 2)),
            ("/shop/page/0/", None),
            ("/shop/feed/", None),
            ("/", list(ListOf::Search, 1)),
            ("/page/3/", list(ListOf::Search, 3)),
            ("/product-category/boats/sails/", list(term(CATEGORY, "boats/sails"), 1)),
            ("/product-category/boats/page/2/", list(term(CATEGORY, "boats"), 2)),
            ("/product-tag/new/", list(term(TAG, "new"), 1)),
            ("/product-category/", None),
            ("/color/blue/", list(valued("color", "blue"), 1)),
            ("/color/blue/page/2/", list(valued("color", "blue"), 2)),
            ("/color/blue/more/", None),
            ("/product/anchor/", Some(ShopPath::Product("anchor"))),
            ("/product/anchor/embed/", None),
            ("/product/anchor/more/", None),
            ("/product/", None),
            ("/cart/", Some(ShopPath::Cart)),
            ("/cart/more/", list(valued("cart", "more"), 1)),
            ("/wp-comments-post.php", Some(ShopPath::Review)),
            ("/checkout/", Some(ShopPath::Checkout(""))),
            ("/checkout/order-pay/7/", Some(ShopPath::Checkout("order-pay/7"))),
            ("/my-account/orders/", Some(ShopPath::Account("orders"))),
            ("/my-accounts/", None),
            ("/sandbox-gateway/s1/", Some(ShopPath::Sandbox("s1"))),
            ("/sandbox-gateway/", None),
            ("/hello-world/", None),
        ] {
            assert_eq!(ShopPath::at(path), expected, "{path}");
        }
    }
}
