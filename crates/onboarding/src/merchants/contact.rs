//! The person to talk to about a merchant or a store, and where they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Result, Secret, reference};
use vault::{Aad, DataKey};

use crate::rows::merchant::MerchantRow;

/// The person to talk to, and where. Sealed as one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Contact {
    /// First name.
    pub(crate) first_name: String,
    /// Last name.
    pub(crate) last_name: Option<String>,
    /// E-mail address.
    pub(crate) email: String,
    /// First line of the street address.
    pub(crate) address_line1: String,
    /// Second line of the street address.
    pub(crate) address_line2: Option<String>,
    /// Phone number without the country's calling code.
    pub(crate) phone_number: String,
    /// Country calling code.
    #[serde(rename = "ISDcode")]
    pub(crate) isd_code: String,
}

impl Contact {
    /// Seals it for the object of this kind and id.
    pub(crate) fn seal(&self, data_key: &DataKey, kind: &str, id: &str) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self).map_err(|error| {
            Error::internal("personal data cannot be written as JSON").because(error)
        })?;
        data_key.seal(&Aad { kind, id, column: "sealed" }, Secret::new(plain).expose())
    }

    pub(crate) fn open(data_key: &DataKey, kind: &str, id: &str, sealed: &[u8]) -> Result<Self> {
        let plain = data_key.open(&Aad { kind, id, column: "sealed" }, sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("stored personal data cannot be read").because(error))
    }

    pub(crate) fn of_merchant(data_key: &DataKey, row: &MerchantRow) -> Result<Self> {
        Self::open(data_key, "merchant", row.merchant_id.as_str(), &row.sealed)
    }
}

/// The city of a ZIP code.
pub(crate) fn city_of(zip: &str) -> reference::Place {
    reference::zip_place(zip).expect("the us-zip format lets only known codes pass")
}
