//! What a merchant does with a link: opens the form, has drafts kept, and submits it. **The token
//! is all that they show**; it stands in the body, so that no log has it.

use std::sync::Arc;

use contract::{Answer, Draft, Endpoint, Failure, Route};
use db::Conn;
use frame::mail;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use site_rows::user;
use types::{Result, Timestamp};
use vault::{DataKey, Vault};

use super::content::{Content, Members, OF_ISO, token_hash};
use super::parts::{Asked, Drafted, Part};
use crate::codes::refusal;
use crate::fields::LinkToken;
use crate::isos::emails;
use crate::isos::record::IsoRecord;
use crate::lifecycle::{LINK, LinkStatus};
use crate::merchants::details::{MerchantDetails, StoreDetails};
use crate::onboard::check_rules;
use crate::perform::{Outcome, perform};
use crate::rows::onboarding_link::{self, OnboardingLinkRow};
use crate::transition::take_link_step;
use crate::{Code, Cx, Platform};

/// A link, its ISO, and what time it is there.
struct Held {
    row: OnboardingLinkRow,
    record: IsoRecord,
    data_key: DataKey,
    now: Timestamp,
}

impl Held {
    /// What the holder of a token has; nothing, whatever the reason, if it is not theirs to see.
    fn find(
        conn: &mut dyn Conn,
        vault: &Vault,
        hash: &[u8],
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let Some(row) = onboarding_link::find(conn, hash)? else { return Ok(None) };
        let record = IsoRecord::load(conn, &row.iso_id)?;
        let now = now.plus(record.account.clock_ahead);
        let is_over = row.expires <= now
            || row.status == LinkStatus::Withdrawn
            || row.status == LinkStatus::Expired;
        if is_over || !record.account.is_active() {
            return Ok(None);
        }
        let data_key = record.data_key(vault)?;
        Ok(Some(Self { row, record, data_key, now }))
    }

    /// The same for a form that can still be changed.
    fn find_open(conn: &mut dyn Conn, vault: &Vault, hash: &[u8], now: Timestamp) -> Outcome<Self> {
        let held = Self::find(conn, vault, hash, now)?.ok_or_else(stale_link)?;
        if held.row.status == LinkStatus::Open {
            return Ok(held);
        }
        let message = "The form has been submitted.";
        Err(refusal("token", Code::IllegalTransition, message))
    }
}

fn stale_link() -> Failure {
    let message = "The link is wrong, was withdrawn or has expired; ask for a new one.";
    refusal("token", Code::InvalidValue, message)
}

/// Open a form with the link that was sent.
///
/// Shows what was entered so far, until the form is submitted.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OnboardingLinkOpen {
    token: LinkToken,
}

/// A form to fill in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingForm {
    /// `open`, `submitted` or `completed`.
    status: String,
    /// Name of the ISO that sent it.
    iso_name: String,
    /// Web site of the ISO.
    iso_website: Option<String>,
    /// Until when the form can be filled in.
    expires: String,
    /// What was entered of the merchant; null once the form was submitted.
    merchant_data: Option<Members>,
    /// What was entered of the store; null once the form was submitted.
    store_data: Option<Members>,
}

impl Endpoint<Cx> for OnboardingLinkOpen {
    const ROUTE: Route = Route::post("/v1/onboarding-links/open").link();
    type Reply = OnboardingForm;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingForm>> {
        let (platform, now) = (Arc::clone(&cx.platform), cx.now);
        let hash = token_hash(&platform.vault, self.token.as_str());
        let read = cx.platform.store.read(move |conn| {
            let Some(held) = Held::find(conn, &platform.vault, &hash, now)? else {
                return Ok(None);
            };
            let content = Content::open(&held.data_key, &held.row)?;
            let website = held.record.contact(&platform.vault)?.website;
            Ok(Some((held, content, website)))
        });
        let (held, mut content, iso_website) = read.await?.ok_or_else(stale_link)?;
        content.merchant_data.retain(|name, _| !OF_ISO.contains(&name.as_str()));
        let is_open = held.row.status == LinkStatus::Open;
        Ok(Answer::new(OnboardingForm {
            status: held.row.status,
            iso_name: held.record.row.name,
            iso_website,
            expires: held.row.expires.to_string(),
            merchant_data: is_open.then_some(content.merchant_data),
            store_data: is_open.then_some(content.store_data),
        }))
    }
}

/// Save what was entered in a form so far, right or wrong.
///
/// It replaces what was saved before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkDraft {
    token: LinkToken,
    /// What was entered of the merchant.
    merchant_data: Option<Part<Drafted<MerchantDetails>>>,
    /// What was entered of the store.
    store_data: Option<Part<Drafted<StoreDetails>>>,
}

/// A form as it was saved.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OnboardingFormSaved {
    /// `open`, or `submitted` when it was.
    status: String,
    /// When it was saved.
    saved: String,
    /// Until when the form can be filled in.
    expires: String,
}

impl OnboardingFormSaved {
    fn of(row: &OnboardingLinkRow) -> Self {
        Self {
            status: row.status.clone(),
            saved: row.updated.to_string(),
            expires: row.expires.to_string(),
        }
    }
}

impl Endpoint<Cx> for OnboardingLinkDraft {
    const ROUTE: Route = Route::post("/v1/onboarding-links/draft").link();
    type Reply = OnboardingFormSaved;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingFormSaved>> {
        let (platform, now) = (Arc::clone(&cx.platform), cx.now);
        let hash = token_hash(&platform.vault, self.token.as_str());
        let merchant_data = self.merchant_data.map(Part::into_members).unwrap_or_default();
        let store_data = self.store_data.map(Part::into_members).unwrap_or_default();
        perform(cx, move |conn| {
            let held = Held::find_open(conn, &platform.vault, &hash, now)?;
            let mut content = Content::open(&held.data_key, &held.row)?;
            content.enter(merchant_data.clone(), store_data.clone());
            let row = OnboardingLinkRow {
                sealed: content.seal(&held.data_key, &held.row.link_id)?,
                updated: held.now.max(held.row.updated),
                ..held.row
            };
            onboarding_link::update(conn, &row)?;
            Ok(Answer::new(OnboardingFormSaved::of(&row)))
        })
        .await
    }
}

/// Submit a form that was filled in.
///
/// The fields have the names and rules of `POST /v1/onboardmerchant`. Whether names are in use is
/// found out when the ISO onboards. From now on the link shows nothing of what was entered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkSubmit {
    token: LinkToken,
    /// Details of the merchant.
    merchant_data: Part<Asked<MerchantDetails>>,
    /// Details of its store.
    store_data: Part<Asked<StoreDetails>>,
}

impl Endpoint<Cx> for OnboardingLinkSubmit {
    const ROUTE: Route = Route::post("/v1/onboarding-links/submit").link();
    type Reply = OnboardingFormSaved;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_rules(draft, cx.platform.settings);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<OnboardingFormSaved>> {
        let (platform, now) = (Arc::clone(&cx.platform), cx.now);
        let hash = token_hash(&platform.vault, self.token.as_str());
        let origin = cx.clone();
        let (merchant_data, store_data) =
            (self.merchant_data.into_members(), self.store_data.into_members());
        perform(cx, move |conn| {
            let held = Held::find_open(conn, &platform.vault, &hash, now)?;
            let mut content = Content::open(&held.data_key, &held.row)?;
            content.enter(merchant_data.clone(), store_data.clone());
            let after = OnboardingLinkRow {
                sealed: content.seal(&held.data_key, &held.row.link_id)?,
                submitted: Some(held.now),
                ..held.row.clone()
            };
            let entry = origin.entry_by_visitor(&held.row.iso_id, LINK.object);
            let row = take_link_step(conn, &held.row, after, "submit", &entry, held.now)?;
            notify(conn, &platform, &held, now)?;
            Ok(Answer::new(OnboardingFormSaved::of(&row)))
        })
        .await
    }
}

/// Writes to who sent the form, or, when that was a program or they are gone, to the contact of the
/// ISO. Nobody is written to where mail is off, or where there is no address.
fn notify(conn: &mut dyn Conn, platform: &Platform, held: &Held, now: Timestamp) -> Result<()> {
    let Some(site) = platform.site().filter(|site| mail::is_on(site)) else { return Ok(()) };
    let sender = held.row.created_by.strip_prefix("user:").and_then(|id| id.parse().ok());
    let sender = match sender {
        Some(user_id) => user::get(conn, user_id)?,
        None => None,
    };
    let to = match sender {
        Some(user) => Some(user.email),
        None => held.record.contact(&platform.vault)?.email,
    };
    match to {
        Some(to) => emails::form_submitted(conn, &site, &to, &held.row.link_id, now),
        None => Ok(()),
    }
}
