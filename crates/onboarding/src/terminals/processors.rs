//! The payment processors and what each of them asks of a profile.
//!
//! One declaration per processor says its fields in the order of the published tables, which of
//! them are credentials (sealed, never shown again), and which identify the account. The tpnBin may
//! stand in any profile, whether its table has it or not.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use types::Secret;

use crate::fields::{
    AbaNo, AccessTokenPassword, AccessTokenUser, Agent, AgentFiid, BankNumber, Chain, DsGroup,
    GroupId, Mid10To12, Mid12, MidNumber, MidText, ProcessorApiKey, ProfileId, StoreNumber,
    TermId8, TermIdNumber, TermIdText, TermNo, TerminalNumber, TerminalPassword, TpnBin, Track2,
};

/// A profile, whichever processor it is of.
pub trait Profile {
    fn profile_id(&self) -> &str;
    fn tpn_bin(&self) -> Option<&str>;
    /// The fields that may be searched and shown, by their published names.
    fn identifiers(&self) -> Map<String, Value>;
    /// The fields that are credentials, by their published names.
    fn secrets(&self) -> Vec<(&'static str, &Secret<String>)>;
}

/// One or two profiles.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Profiles<T>(Vec<T>);

impl<T: JsonSchema> JsonSchema for Profiles<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Profiles{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": generator.subschema_for::<T>(),
            "minItems": 1,
            "maxItems": 2,
            "x-code": "invalid_profile",
            "description": "One or two accounts: profileId 01 with fee, 02 without fee.",
        })
    }
}

macro_rules! processors {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident = $name:literal, $profile:ident, needs_bin: $needs_bin:literal,
        identity: $identity:expr, {
            $($kind:ident $field:ident $label:literal: $type:ty,)*
        }
    )*) => {
        /// The processor of a TPN with its profiles.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(tag = "processorName", content = "profile")]
        pub enum Processor {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant(Profiles<$profile>),)*
        }

        impl Processor {
            /// The published names of all processors.
            pub const NAMES: &[&str] = &[$($name,)*];

            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            pub fn profiles(&self) -> Vec<&dyn Profile> {
                match self {
                    $(Self::$variant(Profiles(list)) => {
                        list.iter().map(|profile| -> &dyn Profile { profile }).collect()
                    })*
                }
            }

            /// The fields that together name an account with the processor.
            pub fn identity_fields(name: &str) -> &'static [&'static str] {
                match name { $($name => &$identity,)* _ => &[] }
            }

            /// Whether every profile of the processor must have a tpnBin.
            pub fn needs_tpn_bin(name: &str) -> bool {
                match name { $($name => $needs_bin,)* _ => false }
            }

            /// Whether some processor's profile has a field of this name.
            pub fn is_profile_field(name: &str) -> bool {
                [$($($label,)*)*].contains(&name)
            }
        }

        $(
            #[doc = concat!("An account with ", $name, ".")]
            #[derive(Debug, Deserialize, JsonSchema)]
            pub struct $profile {
                #[serde(rename = "profileId")]
                profile_id: ProfileId,
                $(#[serde(rename = $label)] $field: $type,)*
            }

            impl Profile for $profile {
                fn profile_id(&self) -> &str {
                    self.profile_id.as_str()
                }

                fn tpn_bin(&self) -> Option<&str> {
                    self.tpn_bin.as_ref().map(TpnBin::as_str)
                }

                fn identifiers(&self) -> Map<String, Value> {
                    let fields = [$(processors!(@identifier $kind $label, &self.$field)),*];
                    let given = fields.into_iter().flatten();
                    given.map(|(name, text): (&str, &str)| (name.into(), text.into())).collect()
                }

                fn secrets(&self) -> Vec<(&'static str, &Secret<String>)> {
                    let fields = [$(processors!(@secret $kind $label, &self.$field)),*];
                    fields.into_iter().flatten().collect()
                }
            }
        )*
    };

    (@identifier plain $label:literal, $value:expr) => { Some(($label, $value.as_str())) };
    (@identifier optional $label:literal, $value:expr) => {
        $value.as_ref().map(|value| ($label, value.as_str()))
    };
    (@identifier $other:ident $label:literal, $value:expr) => { None };

    (@secret secret $label:literal, $value:expr) => { Some(($label, $value.secret())) };
    (@secret optional_secret $label:literal, $value:expr) => {
        $value.as_ref().map(|value| ($label, value.secret()))
    };
    (@secret $other:ident $label:literal, $value:expr) => { None };
}

processors! {
    /// TSYS.
    Tsys = "TSYS", TsysProfile, needs_bin: true, identity: ["Mid", "TermId"], {
        plain mid "Mid": Mid12,
        plain agent "Agent": Agent,
        plain chain "Chain": Chain,
        plain store "Store": StoreNumber,
        plain term_no "TermNo": TermNo,
        plain term_id "TermId": TermId8,
        optional_secret aba_no "ABA_No": Option<AbaNo>,
        optional agent_fiid "Agent_FIID": Option<AgentFiid>,
        optional ds_group "dsGroup": Option<DsGroup>,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
    /// PNWX.
    Pnwx = "PNWX", PnwxProfile, needs_bin: false, identity: ["AccessTokenUser"], {
        secret access_token_user "AccessTokenUser": AccessTokenUser,
        secret access_token_password "AccessTokenPassword": AccessTokenPassword,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
    /// CKNX.
    Cknx = "CKNX", CknxProfile, needs_bin: false, identity: ["apiKey"], {
        secret api_key "apiKey": ProcessorApiKey,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
    /// ZCRD.
    Zcrd = "ZCRD", ZcrdProfile, needs_bin: false, identity: ["TerminalNumber"], {
        plain terminal_number "TerminalNumber": TerminalNumber,
        secret password "Password": TerminalPassword,
        secret track2 "Track2": Track2,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
    /// FRDC.
    Frdc = "FRDC", FrdcProfile, needs_bin: true, identity: ["Mid", "TermId"], {
        bin tpn_bin "tpnBin": Option<TpnBin>,
        plain mid "Mid": MidText,
        plain term_id "TermId": TermIdText,
        plain group_id "GroupId": GroupId,
    }
    /// WPAY.
    Wpay = "WPAY", WpayProfile, needs_bin: false, identity: ["Mid", "TermId"], {
        plain term_id "TermId": TermIdNumber,
        plain mid "Mid": MidNumber,
        plain bank_id "BankId": BankNumber,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
    /// ELVN.
    Elvn = "ELVN", ElvnProfile, needs_bin: false, identity: ["Mid", "TermId"], {
        plain term_id "TermId": TermIdNumber,
        plain mid "Mid": Mid10To12,
        plain bank_no "BankNo": BankNumber,
        bin tpn_bin "tpnBin": Option<TpnBin>,
    }
}

#[cfg(test)]
mod tests {
    use types::processors::PROCESSORS;

    use super::Processor;

    #[test]
    fn people_are_told_of_every_processor() {
        let mut listed: Vec<&str> = PROCESSORS.iter().map(|card| card.name).collect();
        let mut known = Processor::NAMES.to_vec();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
