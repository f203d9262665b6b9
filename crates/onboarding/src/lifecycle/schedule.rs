//! What is to happen to an object at a time to come, recorded with the change that asks for it.

use std::time::Duration;

use types::{IsoId, Timestamp};

use crate::rows::due_work::DueWork;

/// How long the name of a closed merchant or store is kept from others.
pub(crate) const DBA_KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// How long the credentials of a retired TPN are kept.
pub(crate) const SECRETS_KEPT_FOR: Duration = Duration::from_hours(30 * 24);

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// What is to happen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum DueKind {
            $($(#[doc = $doc])* $variant,)*
        }

        impl DueKind {
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

kinds! {
    /// The name of a closed merchant becomes free.
    FreeMerchantDba = "merchant.free_dba",
    /// The name of a closed store becomes free.
    FreeStoreDba = "store.free_dba",
    /// The credentials of a retired TPN are forgotten.
    ShredCredentials = "tpn.shred_credentials",
    /// A sale request that nobody answered is over.
    ExpireSale = "sale.expire",
    /// An onboarding link that nobody submitted is over.
    ExpireLink = "onboarding_link.expire",
    /// The sandbox approves a merchant.
    Approve = "merchant.approve",
    /// The sandbox rejects a merchant.
    Reject = "merchant.reject",
    /// The sandbox suspends a merchant.
    Suspend = "merchant.suspend",
    /// The sandbox's processor refuses the credentials of a TPN.
    RefuseCredentials = "tpn.refuse_credentials",
}

/// The work on an object of an ISO at a time.
pub(crate) fn at(iso_id: &IsoId, object_id: &str, kind: DueKind, due: Timestamp) -> DueWork {
    DueWork {
        iso_id: iso_id.clone(),
        kind: kind.name().to_owned(),
        object_id: object_id.to_owned(),
        due,
    }
}
