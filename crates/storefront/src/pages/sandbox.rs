//! The payment page of the sandbox's own gateway: forms with buttons for what is to be simulated.

use askama::Template;
use content::pages::{Masthead, rendered};
use content::web::{STALE, WebAnswer};
use shop_rows::sandbox_payment::{self, SandboxPaymentRow};
use types::{Environment, Result};

use super::address_form::FormErrors;
use super::shop_request::ShopRequest;
use super::values::settled;
use crate::sandbox_gateway::{self, ACTION, Choice, DONE, PAGES};

const KIND: &str = "page:sandbox-gateway";
const TOKEN: &str = "sandbox-gateway";

#[derive(Template)]
#[template(path = "shop/sandbox_gateway.html")]
struct GatewayPage<'a> {
    site: Masthead<'a>,
    csrf: String,
    action: String,
    session: &'a SandboxPaymentRow,
    needs_action: bool,
    /// What approving such an amount comes to; empty if that is nothing else.
    by_amount: &'static str,
    is_done: bool,
    errors: &'a FormErrors,
}

impl ShopRequest<'_> {
    pub(super) async fn sandbox_gateway(&mut self, session_id: &str) -> Result<Option<WebAnswer>> {
        if self.page.site.environment() != Environment::Sandbox {
            return Ok(None);
        }
        if let Some(moved) = self.page.with_slash(KIND).filter(|_| !self.is_post()) {
            return Ok(Some(moved));
        }
        let id = session_id.to_owned();
        let within = self.within();
        let found = within.look(move |call| Ok(sandbox_payment::get(call.conn()?, &id)?)).await;
        let Some(session) = settled(found)?.flatten() else { return Ok(None) };
        if !self.is_post() {
            return Ok(Some(self.sandbox_page(200, &session, &FormErrors::default())));
        }
        let fields = self.page.form();
        let choice = Choice::parse(fields.text("answer"));
        let (true, Some(choice)) = (self.is_genuine(TOKEN, &fields), choice) else {
            return Ok(Some(self.sandbox_page(403, &session, &FormErrors::general(STALE))));
        };
        let (id, now) = (session_id.to_owned(), self.visit.now);
        let within = self.within();
        let chosen = within
            .attempt(move |call| Ok(sandbox_gateway::choose(call.conn()?, &id, choice, now)?))
            .await;
        let Some((session, choice)) = settled(chosen)?.flatten() else { return Ok(None) };
        if session.state != DONE {
            return Ok(Some(self.redirect(KIND, &format!("{PAGES}{session_id}/"))));
        }
        let back =
            if choice == Choice::Decline { &session.cancel_url } else { &session.return_url };
        Ok(Some(WebAnswer::redirect(KIND, back)))
    }

    fn sandbox_page(
        &self,
        status: u16,
        session: &SandboxPaymentRow,
        errors: &FormErrors,
    ) -> WebAnswer {
        let page = GatewayPage {
            site: self.page.masthead(),
            csrf: self.token(TOKEN),
            action: format!("{PAGES}{}/", session.session_id),
            session,
            needs_action: session.state == ACTION,
            by_amount: Choice::of_amount(&session.amount).map_or("", Choice::words),
            is_done: session.state == DONE,
            errors,
        };
        self.private((KIND, status), rendered(&page))
    }
}
