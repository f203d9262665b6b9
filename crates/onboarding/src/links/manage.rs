//! What an ISO does with its links: sends, lists, shows, sends again and withdraws them.

use std::sync::Arc;
use std::time::Duration;

use contract::{Answer, Draft, Endpoint, Route};
use db::{Conn, counter, outbox};
use frame::{Site, mail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{IsoId, MerchantId, Result, Scope, StoreId, Timestamp, Tpn};
use vault::DataKey;

use super::content::{Content, Members, TOKEN_LENGTH, form_path, form_url, token_hash};
use super::parts::{Part, Whole};
use crate::audit;
use crate::change::object_not_found;
use crate::codes::refusal;
use crate::dialect::REQUEST_FAILED;
use crate::event_kinds;
use crate::fields::{Email, PlainName};
use crate::id_source::random_text;
use crate::isos::emails::{self, MICROS_PER_DAY};
use crate::lifecycle::schedule::{self, DueKind};
use crate::lifecycle::{LINK, LinkStatus};
use crate::merchants::details::{MerchantChanges, StoreChanges};
use crate::paging::{Page, cursor, page_default, read_cursor};
use crate::perform::{Outcome, perform_once_shown};
use crate::rows::due_work;
use crate::rows::onboarding_link::{self, OnboardingLinkRow};
use crate::transition::{link_event, take_link_step};
use crate::{Caller, Code, Cx, Platform};

const ID_LENGTH: usize = 16;
/// Links of an ISO that wait at most, for their merchants or for the ISO.
const WAITING_MAX: i64 = 1_000;
/// E-mails with links that an ISO sends in a day: their readers did not ask for them.
const EMAILS_PER_DAY_MAX: i64 = 200;
/// What an answer shows and no idempotency key keeps: the link, and what is sealed elsewhere.
const ONCE_SHOWN: &[&str] = &["url", "email", "name", "merchantData", "storeData"];

/// A form that was sent to a merchant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkView {
    /// Id of the link.
    link_id: String,
    /// State of the link: `open`, `submitted`, `completed`, `withdrawn` or `expired`.
    status: String,
    /// What can be done with it in this state, by the name of the route.
    actions: Vec<&'static str>,
    /// Grows by one with every change of state.
    version: i64,
    /// Where the link was sent. Null when a request is repeated with its idempotency key.
    email: Option<String>,
    /// Name of the person, if it was given. Null when a request is repeated.
    name: Option<String>,
    /// What is known of the merchant so far, by the names of `merchantData` of an onboarding. Until
    /// it was submitted, a draft. Null when a request is repeated.
    merchant_data: Option<Members>,
    /// What is known of the store so far. Null when a request is repeated.
    store_data: Option<Members>,
    /// Address of the form. Shown only when the link is made or sent again; else null.
    url: Option<String>,
    /// The merchant that was onboarded.
    merchant_id: Option<MerchantId>,
    /// Its store.
    store_id: Option<StoreId>,
    /// Its TPN.
    tpn: Option<Tpn>,
    /// Who sent it.
    created_by: String,
    /// When it was sent first.
    created: String,
    /// When it changed last, drafts included.
    updated: String,
    /// Until when the form can be filled in.
    expires: String,
    /// When it was submitted last.
    submitted: Option<String>,
}

impl OnboardingLinkView {
    fn of(row: &OnboardingLinkRow, key: &DataKey, now: Timestamp) -> Result<Self> {
        let Content { email, name, merchant_data, store_data } = Content::open(key, row)?;
        // What is over is shown so at once, whenever housekeeping gets to it.
        let is_over = row.status == LinkStatus::Open && row.expires <= now;
        let status = if is_over { LinkStatus::Expired.name() } else { &*row.status };
        Ok(Self {
            link_id: row.link_id.clone(),
            status: status.to_owned(),
            actions: LINK.actions_in(status),
            version: row.version,
            email: Some(email),
            name: Some(name),
            merchant_data: Some(merchant_data),
            store_data: Some(store_data),
            url: None,
            merchant_id: row.merchant_id.clone(),
            store_id: row.store_id.clone(),
            tpn: row.tpn.clone(),
            created_by: row.created_by.clone(),
            created: row.created.to_string(),
            updated: row.updated.to_string(),
            expires: row.expires.to_string(),
            submitted: row.submitted.map(|time| time.to_string()),
        })
    }
}

/// The ISO's link of that id.
pub(super) fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<OnboardingLinkRow> {
    let is_id = id.strip_prefix("link_").is_some_and(crate::text::is_alphanumeric);
    let found = if is_id { onboarding_link::get(conn, iso_id, id)? } else { None };
    found.ok_or_else(object_not_found)
}

/// How long a form can be filled in, and how its link gets to the merchant.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sending {
    /// Days until the link expires.
    #[serde(default = "days_default")]
    #[schemars(range(min = 1, max = 90))]
    expires_in_days: i64,
    /// Whether the link is sent by e-mail. Without it, send `url` of the answer yourself.
    #[serde(default = "yes")]
    send_email: bool,
}

const fn days_default() -> i64 {
    14
}

const fn yes() -> bool {
    true
}

impl Sending {
    fn expires(&self, now: Timestamp) -> Timestamp {
        let hours = u64::try_from(self.expires_in_days).unwrap_or_default().saturating_mul(24);
        now.plus(Duration::from_hours(hours))
    }

    /// The site that writes the e-mail, if one is to be written.
    fn site(&self, platform: &Platform) -> Outcome<Option<Arc<Site>>> {
        if !self.send_email {
            return Ok(None);
        }
        let site = platform.site().filter(|site| mail::is_on(site));
        let message = "E-mail is turned off; ask the operator, or send the link yourself with \
                       sendEmail false.";
        let off = || refusal("sendEmail", Code::RegistrationClosed, message);
        site.map(Some).ok_or_else(off)
    }
}

/// Sends the link, counts the e-mail against what the ISO may send in a day, and has the link
/// expire when its time comes.
fn send(
    conn: &mut dyn Conn,
    site: Option<&Site>,
    (row, caller): (&OnboardingLinkRow, &Caller),
    (to, token): (&str, &str),
    // The real one, whatever the ISO's sandbox made of it: e-mails are real.
    real_now: Timestamp,
) -> Outcome<()> {
    let due = schedule::at(&row.iso_id, &row.link_id, DueKind::ExpireLink, row.expires);
    due_work::put(conn, &due)?;
    let Some(site) = site else { return Ok(()) };
    let name = format!("onboarding links {}", row.iso_id);
    let day = real_now.as_micros() / MICROS_PER_DAY;
    if !counter::take_of_period(conn, &name, day, EMAILS_PER_DAY_MAX)? {
        let message = format!("At most {EMAILS_PER_DAY_MAX} links can be sent in a day.");
        return Err(refusal("", Code::LimitExceeded, message));
    }
    if mail::may_receive(conn, to, real_now)? {
        let text = (&*caller.access.iso.name, &*form_path(token));
        emails::merchant_invited(conn, site, to, text, row.expires, real_now)?;
    }
    Ok(())
}

/// Send a merchant a form to fill in.
///
/// An e-mail with a link goes to the address. The merchant enters its own details and those of its
/// store, with the rules of `POST /v1/onboardmerchant`; you add the terminal and onboard. What you
/// know already can be sent along, and is filled in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkCreate {
    email: Email,
    name: Option<PlainName>,
    /// What is known of the merchant. `isoAgentReference` and `isoMerchant` are not shown to it.
    merchant_data: Option<Part<Whole<MerchantChanges>>>,
    /// What is known of the store.
    store_data: Option<Part<Whole<StoreChanges>>>,
    #[serde(flatten)]
    sending: Sending,
}

impl OnboardingLinkCreate {
    fn content(&mut self) -> Content {
        let email = self.email.as_str().to_owned();
        let name = self.name.take().map(PlainName::into_string).unwrap_or_default();
        let given = self.merchant_data.take().map(Part::into_members);
        let mut merchant_data = given.unwrap_or_default();
        merchant_data.entry("email").or_insert_with(|| Value::from(&*email));
        let store_data = self.store_data.take().map(Part::into_members).unwrap_or_default();
        Content { email, name, merchant_data, store_data }
    }
}

impl Endpoint<Cx> for OnboardingLinkCreate {
    const ROUTE: Route = Route::post("/v1/onboarding-links").scope(Scope::OnboardWrite);
    type Reply = OnboardingLinkView;

    fn failure_message(_: &Value) -> Option<&'static str> {
        Some(REQUEST_FAILED)
    }

    async fn check(draft: &mut Draft<'_>, _: &Cx) -> Result<()> {
        emails::check_address(draft);
        Ok(())
    }

    async fn handle(mut self, cx: &Cx) -> Outcome<Answer<OnboardingLinkView>> {
        let (site, now, caller) = (self.sending.site(&cx.platform)?, cx.now, cx.caller()?.clone());
        let real_now = cx.platform.clock.now();
        let token = random_text(TOKEN_LENGTH)?;
        let link_id = format!("link_{}", random_text(ID_LENGTH)?);
        let content = self.content();
        let row = OnboardingLinkRow {
            iso_id: caller.iso_id().clone(),
            token_hash: token_hash(&cx.platform.vault, &token),
            status: LinkStatus::Open.name().to_owned(),
            version: 1,
            sealed: content.seal(caller.data_key(), &link_id)?,
            created_by: caller.actor(),
            merchant_id: None,
            store_id: None,
            tpn: None,
            created: now,
            updated: now,
            expires: self.sending.expires(now),
            submitted: None,
            link_id,
        };
        let entry = cx.entry("onboarding_link.create", LINK.object, &*row.link_id)?;
        let entry = entry.versions(None, Some(row.version));
        let platform = Arc::clone(&cx.platform);
        perform_once_shown(cx, ONCE_SHOWN, move |conn| {
            if onboarding_link::waiting(conn, &row.iso_id)? >= WAITING_MAX {
                let message = format!("{WAITING_MAX} links are waiting; withdraw some.");
                return Err(refusal("", Code::LimitExceeded, message));
            }
            onboarding_link::insert(conn, &row)?;
            send(conn, site.as_deref(), (&row, &caller), (&content.email, &token), real_now)?;
            outbox::append(conn, &link_event(&row, event_kinds::ONBOARDING_LINK_CREATED, now))?;
            audit::append(conn, &entry)?;
            let url = Some(form_url(conn, &platform, &token)?);
            let view = OnboardingLinkView::of(&row, caller.data_key(), now)?;
            Ok(Answer::new(OnboardingLinkView { url, ..view }))
        })
        .await
    }
}

/// List the forms that were sent to merchants, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkList {
    /// Only those in this state.
    status: Option<LinkStatus>,
    /// Objects on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    #[schemars(length(max = 100))]
    cursor: Option<String>,
}

impl Endpoint<Cx> for OnboardingLinkList {
    const ROUTE: Route = Route::get("/v1/onboarding-links").scope(Scope::MerchantsRead);
    type Reply = Page<OnboardingLinkView>;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<Self::Reply>> {
        let (caller, limit, now) = (cx.caller()?.clone(), self.limit, cx.now);
        let after = self.cursor.as_deref().map(read_cursor).transpose()?;
        let status = self.status.map(LinkStatus::name);
        let found = cx.platform.store.list(move |conn| {
            // One more tells whether there is another page.
            let iso_id = caller.iso_id();
            let rows = onboarding_link::list(conn, iso_id, status, after.as_ref(), limit + 1)?;
            let view = |row: &OnboardingLinkRow| {
                let view = OnboardingLinkView::of(row, caller.data_key(), now)?;
                Ok((cursor(row.created, &row.link_id), view))
            };
            rows.iter().map(view).collect::<Result<Vec<_>>>()
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// Show a form that was sent to a merchant, with what was entered so far.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkGet {
    /// Id of the link.
    link_id: String,
}

impl Endpoint<Cx> for OnboardingLinkGet {
    const ROUTE: Route = Route::get("/v1/onboarding-links/{linkId}").scope(Scope::MerchantsRead);
    type Reply = OnboardingLinkView;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingLinkView>> {
        let (caller, iso_id) = (cx.caller()?, cx.caller()?.iso_id().clone());
        let row = cx.platform.store.read(move |conn| load(conn, &iso_id, &self.link_id)).await?;
        Ok(Answer::new(OnboardingLinkView::of(&row, caller.data_key(), cx.now)?))
    }
}

/// Send the form again, with a new link; the one before stops working.
///
/// What was entered so far stays in the form. A form that was submitted can be corrected.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkResend {
    /// Id of the link.
    link_id: String,
    #[serde(flatten)]
    sending: Sending,
}

impl Endpoint<Cx> for OnboardingLinkResend {
    const ROUTE: Route =
        Route::post("/v1/onboarding-links/{linkId}/resend").scope(Scope::OnboardWrite);
    type Reply = OnboardingLinkView;

    fn failure_message(_: &Value) -> Option<&'static str> {
        Some(REQUEST_FAILED)
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingLinkView>> {
        let (now, caller) = (cx.now, cx.caller()?.clone());
        let real_now = cx.platform.clock.now();
        let token = random_text(TOKEN_LENGTH)?;
        let hash = token_hash(&cx.platform.vault, &token);
        let entry = cx.entry("", "", "")?;
        let platform = Arc::clone(&cx.platform);
        perform_once_shown(cx, ONCE_SHOWN, move |conn| {
            let before = load(conn, caller.iso_id(), &self.link_id)?;
            let site = self.sending.site(&platform)?;
            let after = OnboardingLinkRow {
                token_hash: hash.clone(),
                expires: self.sending.expires(now),
                ..before.clone()
            };
            let row = take_link_step(conn, &before, after, "resend", &entry, now)?;
            let email = Content::open(caller.data_key(), &row)?.email;
            send(conn, site.as_deref(), (&row, &caller), (&email, &token), real_now)?;
            let url = Some(form_url(conn, &platform, &token)?);
            let view = OnboardingLinkView::of(&row, caller.data_key(), now)?;
            Ok(Answer::new(OnboardingLinkView { url, ..view }))
        })
        .await
    }
}

/// Withdraw a form that was sent to a merchant; its link stops working.
///
/// What was entered is erased.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkWithdraw {
    /// Id of the link.
    link_id: String,
}

impl Endpoint<Cx> for OnboardingLinkWithdraw {
    const ROUTE: Route =
        Route::post("/v1/onboarding-links/{linkId}/withdraw").scope(Scope::OnboardWrite);
    type Reply = OnboardingLinkView;

    fn failure_message(_: &Value) -> Option<&'static str> {
        Some(REQUEST_FAILED)
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingLinkView>> {
        let (now, caller, entry) = (cx.now, cx.caller()?.clone(), cx.entry("", "", "")?);
        perform_once_shown(cx, ONCE_SHOWN, move |conn| {
            let before = load(conn, caller.iso_id(), &self.link_id)?;
            let after = erased(&before, caller.data_key())?;
            let row = take_link_step(conn, &before, after, "withdraw", &entry, now)?;
            Ok(Answer::new(OnboardingLinkView::of(&row, caller.data_key(), now)?))
        })
        .await
    }
}

/// The link without what was entered.
pub(super) fn erased(row: &OnboardingLinkRow, key: &DataKey) -> Result<OnboardingLinkRow> {
    let sealed = Content::open(key, row)?.erased().seal(key, &row.link_id)?;
    Ok(OnboardingLinkRow { sealed, ..row.clone() })
}
