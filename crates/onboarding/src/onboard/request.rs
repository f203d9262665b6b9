//! What `POST /v1/onboardmerchant` takes: three shapes, told apart by the ids in them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use types::{MerchantId, StoreId};

use crate::dialect::ResponseStyle;
use crate::fields::{
    ApplicationSign, DefaultLabel, DeviceManufacturer, DeviceModel, RoutingType, TemplateName,
    TpnBin,
};
use crate::merchants::details::{MerchantDetails, StoreDetails};
use crate::terminals::processors::Processor;

/// Names a merchant that exists; nothing else may stand beside the id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExistingMerchant {
    /// Id returned by an earlier onboarding.
    pub(super) merchant_id: MerchantId,
}

/// Names a store that exists; nothing else may stand beside the id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExistingStore {
    /// Id returned by an earlier onboarding.
    pub(super) store_id: StoreId,
}

/// The terminal profile to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnDetails {
    pub(super) device_manufacturer: DeviceManufacturer,
    pub(super) device_model: DeviceModel,
    pub(super) tpn_application_sign: ApplicationSign,
    #[serde(default)]
    pub(super) tpn_routing_type: RoutingType,
    pub(super) tpn_assign_template: Option<TemplateName>,
    pub(super) default_label: Option<DefaultLabel>,
    /// Mandatory for TSYS and FRDC, here or in each profile.
    pub(super) tpn_bin: Option<TpnBin>,
    /// The payment processor and its accounts.
    pub(super) tpn_processor: Processor,
}

/// Onboard a merchant, a store or a TPN.
///
/// Three shapes share this endpoint. With all merchant and store details, a merchant, a store and
/// a TPN are created. With `merchantData.merchantId` alone in `merchantData`, a store and a TPN are
/// created under that merchant. With `storeData.storeId` alone in `storeData` as well, a TPN is
/// created under that store. Everything is created, or nothing is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[expect(clippy::large_enum_variant, reason = "it lives for one request, mostly as the largest")]
pub enum OnboardMerchant {
    /// A TPN under an existing store.
    #[schemars(extend("x-select" = ["merchantData.merchantId", "storeData.storeId"]))]
    Tpn { merchant_data: ExistingMerchant, store_data: ExistingStore, tpn_data: TpnDetails },
    /// A store and a TPN under an existing merchant.
    #[schemars(extend("x-select" = ["merchantData.merchantId"]))]
    Store { merchant_data: ExistingMerchant, store_data: StoreDetails, tpn_data: TpnDetails },
    /// A merchant, a store and a TPN.
    Full { merchant_data: MerchantDetails, store_data: StoreDetails, tpn_data: TpnDetails },
}

/// The shape of a request, known before anything is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Full,
    Store,
    Tpn,
}

impl Shape {
    pub(super) fn of(params: &Value) -> Self {
        let given = |object: &str, id: &str| match params.get(object).and_then(|o| o.get(id)) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        };
        match (given("merchantData", "merchantId"), given("storeData", "storeId")) {
            (true, true) => Self::Tpn,
            (true, false) => Self::Store,
            (false, _) => Self::Full,
        }
    }

    pub(super) const fn success(self, style: ResponseStyle) -> &'static str {
        match (style, self) {
            (ResponseStyle::Summary, _) => "Merchant created successfully",
            (ResponseStyle::Detailed, Self::Full) => "Merchant onboard successfully",
            (ResponseStyle::Detailed, Self::Store) => "Store onboard successfully",
            (ResponseStyle::Detailed, Self::Tpn) => "TPN onboard success",
        }
    }

    pub(super) const fn failure(self) -> &'static str {
        match self {
            Self::Full => FAILURE,
            Self::Store => "Store onboard failure",
            Self::Tpn => "TPN onboard failure",
        }
    }
}

impl OnboardMerchant {
    pub(super) fn shape(&self) -> Shape {
        match self {
            Self::Full { .. } => Shape::Full,
            Self::Store { .. } => Shape::Store,
            Self::Tpn { .. } => Shape::Tpn,
        }
    }
}

/// The failure message when not even the shape is known.
pub const FAILURE: &str = "Merchant onboard failure";
