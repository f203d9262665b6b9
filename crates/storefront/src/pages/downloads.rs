//! Files that a buyer may download: the list in their account, and the way to a file. **A link that
//! counts downloads is followed by people, not looked at by programs**: only GET uses one up.

use askama::Template;
use commerce::downloads::{self, Download, DownloadRequest, Taken};
use content::pages::{Masthead, rendered};
use content::web::{WebAnswer, encoded};
use frame::pages::{Address, Link};
use types::Result;

use super::account::Menu;
use super::path::ACCOUNT;
use super::shop_request::ShopRequest;
use super::values::settled;

const KIND: &str = "page:downloads";

#[derive(Template)]
#[template(path = "shop/downloads.html")]
struct DownloadsPage<'a> {
    site: Masthead<'a>,
    menu: Menu,
    downloads: Vec<Entry>,
}

struct Entry {
    product: String,
    file: String,
    link: String,
    remaining: String,
    /// The day until which it can be downloaded; empty for no end.
    expires: String,
}

impl ShopRequest<'_> {
    pub(super) async fn own_downloads(&self) -> Result<WebAnswer> {
        let user_id = self.user_id();
        let found = self.within().look(move |call| downloads::of_user(call, user_id)).await;
        let own = settled(found)?.unwrap_or_default();
        let downloads = own.iter().map(|download| self.download_entry(download)).collect();
        let page = DownloadsPage { site: self.page.masthead(), menu: self.menu(), downloads };
        Ok(self.private((KIND, 200), rendered(&page)))
    }

    fn download_entry(&self, download: &Download) -> Entry {
        let permission = &download.permission;
        let day = |time| self.options().local(time).to_string().chars().take(10).collect();
        Entry {
            product: content::web::plain(&download.product_name),
            file: content::web::plain(&download.file_name),
            link: download.path(),
            remaining: permission
                .remaining
                .map_or_else(|| String::from("No limit"), |left| left.to_string()),
            expires: permission.expires.map(day).unwrap_or_default(),
        }
    }

    /// Leads to the file that the address names, and counts it.
    pub(super) async fn download(&mut self) -> Result<Option<WebAnswer>> {
        let query = self.page.query();
        let wanted = DownloadRequest {
            product_id: query.text("download_file").parse().unwrap_or_default(),
            order_key: query.text("order").to_owned(),
            email: query.text("email").to_owned(),
            download_id: query.text("key").to_owned(),
        };
        let taken = self.within().attempt(move |call| downloads::take(call, &wanted)).await;
        Ok(Some(match settled(taken)?.unwrap_or(Taken::Not) {
            Taken::At(address) => WebAnswer::redirect(KIND, &address),
            Taken::NeedsSignIn => {
                let back = format!("/?{}", self.page.request.query_text);
                let href = format!("{ACCOUNT}/?redirect_to={}", encoded(&back));
                let link = Link { text: "Sign in", href: Address::new(&href) };
                let message = "This file belongs to a customer account. Sign in to download it.";
                self.page.error((KIND, 403), ("Sign in to download", message), Some(link))
            }
            Taken::Not => {
                let message = "This download does not exist, has expired or was used up. Contact \
                               the shop if you need it.";
                self.page.error((KIND, 404), ("This file cannot be downloaded", message), None)
            }
        }))
    }
}
