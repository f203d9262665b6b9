//! The operator's choices for onboarding.

mod iso_limits;

use contract::card_data;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::iso_limits::IsoLimits;
use crate::dialect::ResponseStyle;

/// Choices where the published interface leaves one.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Refuse members that the interface does not have, instead of ignoring them.
    pub strict_fields: bool,
    /// Allow only the letters A to Z in the names of persons.
    pub strict_names: bool,
    /// Refuse an id that stands beside details of the same object, instead of ignoring the details.
    pub strict_ids: bool,
    /// Refuse a second merchant with the same e-mail address.
    pub unique_email: bool,
    /// Refuse a processor account that is on another live TPN already.
    pub unique_profiles: bool,
    /// Let new merchants wait for a review before they are active.
    pub review_merchants: bool,
    /// Whether ISOs may register themselves: `closed`, after an administrator's `approval`, or
    /// `open` to everybody with an e-mail address.
    pub registration: Registration,
    /// The form of responses to callers without a valid key, and of a new ISO's until it chooses
    /// another: `detailed` or `summary`.
    pub response_style: ResponseStyle,
    /// What an ISO may use, unless it has limits of its own.
    pub limits: IsoLimits,
    /// Days for which requests can be looked up. 0: they are not kept at all.
    pub request_log_days: u32,
    /// What is done about card data in a request. The configuration has another section for it,
    /// because it holds for both interfaces.
    #[serde(skip)]
    pub card_data: card_data::Policy,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strict_fields: false,
            strict_names: false,
            strict_ids: true,
            unique_email: false,
            unique_profiles: false,
            review_merchants: false,
            registration: Registration::Closed,
            response_style: ResponseStyle::default(),
            limits: IsoLimits::default(),
            request_log_days: 7,
            card_data: card_data::Policy::default(),
        }
    }
}

/// Whether ISOs may register themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    #[default]
    Closed,
    Approval,
    Open,
}
