//! The states of each kind of object, by their published names.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

macro_rules! states {
    ($(
        $(#[doc = $doc:literal])*
        $states:ident { $($state:ident = $name:literal,)* }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        pub enum $states {
            $(#[serde(rename = $name)] $state,)*
        }

        impl $states {
            /// The published names of all of them.
            pub const NAMES: &[&str] = &[$($name,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$state => $name,)* }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$state),)* _ => None }
            }
        }

        /// Rows hold the name.
        impl PartialEq<$states> for String {
            fn eq(&self, other: &$states) -> bool {
                self == other.name()
            }
        }

        impl JsonSchema for $states {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($states).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "enum": Self::NAMES,
                    "description": concat!($($doc,)*).trim(),
                })
            }
        }
    )*};
}

states! {
    /// State of a merchant.
    MerchantStatus {
        InReview = "in_review",
        ActionRequired = "action_required",
        Active = "active",
        Suspended = "suspended",
        Rejected = "rejected",
        Closed = "closed",
    }
    /// State of a store.
    StoreStatus {
        Active = "active",
        Inactive = "inactive",
        Closed = "closed",
    }
    /// State of a TPN.
    TpnStatus {
        Provisioned = "provisioned",
        Active = "active",
        Inactive = "inactive",
        Attention = "attention",
        Reassigning = "reassigning",
        Retired = "retired",
    }
    /// State of a sale request.
    SaleStatus {
        Requested = "requested",
        Shown = "shown",
        Approved = "approved",
        Declined = "declined",
        Cancelled = "cancelled",
        Expired = "expired",
    }
    /// State of an onboarding link.
    LinkStatus {
        Open = "open",
        Submitted = "submitted",
        Completed = "completed",
        Withdrawn = "withdrawn",
        Expired = "expired",
    }
    /// State of an ISO.
    IsoStatus {
        PendingApproval = "pending_approval",
        Active = "active",
        Suspended = "suspended",
        Rejected = "rejected",
    }
    /// Whether a processor took the credentials of an account.
    ProfileStatus {
        Unverified = "unverified",
        Verified = "verified",
        Failed = "failed",
    }
}
