//! What a link holds, as it is sealed: whom it was sent to, and what was entered.

use db::Conn;
use frame::Options;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Error, Result, Secret};
use vault::{Aad, DataKey, Vault};

use crate::Platform;
use crate::rows::onboarding_link::OnboardingLinkRow;

/// Random characters of a link's token.
pub(super) const TOKEN_LENGTH: usize = 40;
/// Where the portal shows the form.
const FORM_PATH: &str = "/portal/apply?token=";
/// Fields of a merchant that are the ISO's own to give: the form has none of them.
pub(super) const OF_ISO: [&str; 2] = ["isoAgentReference", "isoMerchant"];

pub(super) type Members = Map<String, Value>;

/// Whom the link was sent to, and what was entered so far.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) email: String,
    pub(super) name: String,
    pub(super) merchant_data: Members,
    pub(super) store_data: Members,
}

impl Content {
    pub(super) fn seal(&self, key: &DataKey, link_id: &str) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self)
            .map_err(|error| Error::internal("an onboarding link cannot be kept").because(error))?;
        key.seal(&sealed_aad(link_id), Secret::new(plain).expose())
    }

    pub(super) fn open(key: &DataKey, row: &OnboardingLinkRow) -> Result<Self> {
        let plain = key.open(&sealed_aad(&row.link_id), &row.sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("an onboarding link cannot be read").because(error))
    }

    /// Takes over what the merchant entered; what is the ISO's own stays.
    pub(super) fn enter(&mut self, merchant_data: Members, store_data: Members) {
        let before = std::mem::replace(&mut self.merchant_data, merchant_data);
        let own = before.into_iter().filter(|(name, _)| OF_ISO.contains(&name.as_str()));
        self.merchant_data.extend(own);
        self.store_data = store_data;
    }

    /// Without what was entered: the merchant has it, or nobody is to have it.
    pub(super) fn erased(self) -> Self {
        Self { merchant_data: Members::new(), store_data: Members::new(), ..self }
    }
}

fn sealed_aad(link_id: &str) -> Aad<'_> {
    Aad { kind: "onboarding_link", id: link_id, column: "sealed" }
}

pub(super) fn token_hash(vault: &Vault, token: &str) -> Vec<u8> {
    vault.site_hash("onboarding link", token, "").to_vec()
}

/// The part of the link's address behind the name of the server.
pub(super) fn form_path(token: &str) -> String {
    format!("{FORM_PATH}{token}")
}

/// The whole address of the form.
pub(super) fn form_url(conn: &mut dyn Conn, platform: &Platform, token: &str) -> Result<String> {
    let home = match platform.site() {
        Some(site) => site.address_for_emails(&Options::read(conn)?),
        None => String::new(),
    };
    Ok(home + &form_path(token))
}
