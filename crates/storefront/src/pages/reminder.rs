//! What the links of a reminder lead to: the cart that was left, put into the reader's own by a
//! form, and the wish to get no more reminders. **A link changes nothing by itself**, and nobody is
//! given another's cart: its goods are copied.

use askama::Template;
use content::pages::{Masthead, rendered};
use content::web::{STALE, WebAnswer};
use contract::rest::Verb;
use serde_json::json;
use types::Result;

use super::address_form::FormErrors;
use super::path::CART;
use super::shop_request::ShopRequest;
use super::values::settled;
use crate::cart::state::left_in;
use crate::reminders;

const KIND: &str = "page:cart-reminder";
const TOKEN: &str = "cart-reminder";

#[derive(Template)]
#[template(path = "shop/reminder.html")]
struct ReminderPage<'a> {
    site: Masthead<'a>,
    csrf: String,
    action: String,
    heading: &'static str,
    about: &'static str,
    /// Empty if there is nothing to do.
    button: &'static str,
    errors: &'a FormErrors,
}

impl ShopRequest<'_> {
    /// The page of a link in a reminder, if the address is one.
    pub(super) async fn reminder(&mut self) -> Result<Option<WebAnswer>> {
        let query = self.page.query();
        let (restore, stop) =
            (query.text("restore").to_owned(), query.text("unsubscribe").to_owned());
        if !stop.is_empty() {
            return self.reminders_stopped(&stop).await.map(Some);
        }
        if !restore.is_empty() {
            return self.cart_restored(&restore).await.map(Some);
        }
        Ok(None)
    }

    async fn reminders_stopped(&mut self, token: &str) -> Result<WebAnswer> {
        let action = format!("{CART}/?unsubscribe={}", content::web::encoded(token));
        let (heading, none) = ("Reminders of your cart", FormErrors::default());
        if !reminders::is_unsubscribe_token(self.page.site, token) {
            let about = "This link is not complete. Copy all of it from the e-mail.";
            return Ok(self.reminder_page(404, (heading, about, ""), action, &none));
        }
        let ask = (heading, "Do you want to get no more reminders of carts?", "Stop reminders");
        if !self.is_post() {
            return Ok(self.reminder_page(200, ask, action, &none));
        }
        let fields = self.page.form();
        if !self.is_genuine(TOKEN, &fields) {
            return Ok(self.reminder_page(403, ask, action, &FormErrors::general(STALE)));
        }
        let (within, token) = (self.within(), token.to_owned());
        let done = within.attempt(move |call| reminders::unsubscribe(call, &token)).await;
        settled(done)?;
        let about = "You get no more reminders of carts from this shop.";
        Ok(self.reminder_page(200, (heading, about, ""), action, &none))
    }

    async fn cart_restored(&mut self, token: &str) -> Result<WebAnswer> {
        let action = format!("{CART}/?restore={}", content::web::encoded(token));
        let (heading, none) = ("Your cart", FormErrors::default());
        let (within, own) = (self.within(), token.to_owned());
        let left = within.look(move |call| left_in(call, &own)).await;
        let Some(items) = settled(left)?.flatten() else {
            let about = "This cart was ordered, or is not kept any more.";
            return Ok(self.reminder_page(404, (heading, about, ""), action, &none));
        };
        let ask = (heading, "We kept what you left in your cart.", "Back to the cart");
        if !self.is_post() {
            return Ok(self.reminder_page(200, ask, action, &none));
        }
        let fields = self.page.form();
        if !self.is_genuine(TOKEN, &fields) {
            return Ok(self.reminder_page(403, ask, action, &FormErrors::general(STALE)));
        }
        for (id, quantity, chosen) in items {
            let pairs =
                chosen.iter().map(|(name, value)| json!({ "attribute": name, "value": value }));
            let variation: Vec<_> = pairs.collect();
            let body = json!({ "id": id, "quantity": quantity, "variation": variation });
            // What is not sold any more stays out.
            self.ask(Verb::Post, "/cart/add-item", Some(body)).await;
        }
        Ok(self.redirect(KIND, &format!("{CART}/")))
    }

    fn reminder_page(
        &self,
        status: u16,
        (heading, about, button): (&'static str, &'static str, &'static str),
        action: String,
        errors: &FormErrors,
    ) -> WebAnswer {
        let page = ReminderPage {
            site: self.page.masthead(),
            csrf: self.token(TOKEN),
            action,
            heading,
            about,
            button,
            errors,
        };
        self.private((KIND, status), rendered(&page))
    }
}
