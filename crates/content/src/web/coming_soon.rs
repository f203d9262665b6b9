//! A store that is not open yet: strangers are told so, whoever works for it sees its pages, and so
//! does whoever was given the key to look around.

use subtle::ConstantTimeEq as _;
use types::Error;

use super::answer::WebAnswer;
use super::page_path::PagePath;
use super::page_request::PageRequest;

/// The query parameter that carries the key.
const KEY_PARAMETER: &str = "woo-share";
/// Below this are the pages of the store itself.
const STORE_PATH: &str = "/product/";

impl PageRequest<'_> {
    pub(super) async fn is_closed(&self, path: &PagePath<'_>) -> Result<bool, Error> {
        let is_store = |path: &str| path.starts_with(STORE_PATH);
        let is_of_store = match path {
            PagePath::Front
            | PagePath::Author(_)
            | PagePath::SitemapIndex
            | PagePath::SitemapPage(_) => false,
            PagePath::Feed { of, .. } => is_store(of),
            PagePath::Content { path, .. } => is_store(path),
            // Signing in, the documentation and the like are always there.
            _ => return Ok(false),
        };
        self.is_closed_to_reader(is_of_store).await
    }

    /// Whether the reader has to wait until the store opens, with pages of the store itself or with
    /// any other.
    pub async fn is_closed_to_reader(&self, is_of_store: bool) -> Result<bool, Error> {
        let options = &self.visit.options;
        if !options.is_on("woocommerce_coming_soon") {
            return Ok(false);
        }
        if options.is_on("woocommerce_store_pages_only") && !is_of_store {
            return Ok(false);
        }
        let key = options.text("woocommerce_share_key");
        let given = self.query();
        let is_key = key.as_bytes().ct_eq(given.text(KEY_PARAMETER).as_bytes());
        let has_key = !key.is_empty() && options.is_on("woocommerce_private_link") && is_key.into();
        Ok(!has_key && self.session().await?.is_none())
    }

    pub fn coming_soon(&self) -> WebAnswer {
        let message = "We are getting ready. Come back in a while.";
        self.notice("page:coming-soon", ("This store opens soon", message), None)
    }
}
