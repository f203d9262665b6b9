//! The states of merchants, stores and TPNs, and how each is left: one table per kind of object.
//!
//! A row says: this action, in one of these states, leads to that state, has this effect and is
//! told as this event. **What is in no row is refused**, so no sequence of calls can reach a state
//! that is not listed. The reference in the documentation is compared with these tables by a test.

pub(crate) mod schedule;
mod states;

use std::fmt::Write as _;

pub use states::{
    IsoStatus, LinkStatus, MerchantStatus, ProfileStatus, SaleStatus, StoreStatus, TpnStatus,
};

use crate::event_kinds;

/// One kind of object with all its states.
#[derive(Debug)]
pub struct Machine {
    /// What it is called in events and messages.
    pub object: &'static str,
    pub states: &'static [&'static str],
    pub steps: &'static [Step],
}

/// One row of a table.
#[derive(Debug)]
pub struct Step {
    pub action: &'static str,
    pub from: &'static [&'static str],
    pub to: To,
    pub effect: Effect,
    pub event: &'static str,
    /// Whether it has a route of its own.
    pub is_routed: bool,
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    State(&'static str),
    /// The state stays as it is.
    Same,
    /// `active` if a device is bound, else `provisioned`.
    ActiveIfBound,
}

/// What happens beside the change of state, in the same transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Nothing,
    /// Stores are closed, TPNs retired, and the names become free after a while.
    CloseAllBelow,
    /// TPNs go to the merchant's pool, and the name becomes free after a while.
    ReleaseTpns,
    /// The device is unbound, and the credentials are shredded after a while.
    Retire,
    /// The device is unbound.
    Unbind,
}

/// The rows of a table. Those that are `routed` can be requested by the ISO or an administrator, at
/// a path that ends with the name of the action.
macro_rules! steps {
    ($states:ident: $(
        $action:literal $($routed:ident)?:
            [$($from:ident),+] => $to:ident, $effect:ident, $event:ident;
    )*) => {
        &[$(Step {
            action: $action,
            from: &[$($states::$from.name()),+],
            to: steps!(@to $states $to),
            effect: Effect::$effect,
            event: event_kinds::$event,
            is_routed: steps!(@routed $($routed)?),
        },)*]
    };
    (@to $states:ident same) => { To::Same };
    (@to $states:ident active_if_bound) => { To::ActiveIfBound };
    (@to $states:ident $state:ident) => { To::State($states::$state.name()) };
    (@routed routed) => { true };
    (@routed) => { false };
}

pub static MERCHANT: Machine = Machine {
    object: "merchant",
    states: MerchantStatus::NAMES,
    steps: steps! { MerchantStatus:
        "approve": [InReview] => Active, Nothing, MERCHANT_ACTIVATED;
        "ask": [InReview] => ActionRequired, Nothing, MERCHANT_ACTION_REQUIRED;
        "complete": [ActionRequired] => InReview, Nothing, MERCHANT_UPDATED;
        "reject": [InReview, ActionRequired] => Rejected, Nothing, MERCHANT_REJECTED;
        "suspend" routed: [Active] => Suspended, Nothing, MERCHANT_SUSPENDED;
        "resume" routed: [Suspended] => Active, Nothing, MERCHANT_RESUMED;
        "close" routed: [Active, Suspended] => Closed, CloseAllBelow, MERCHANT_CLOSED;
    },
};

pub static STORE: Machine = Machine {
    object: "store",
    states: StoreStatus::NAMES,
    steps: steps! { StoreStatus:
        "deactivate" routed: [Active] => Inactive, Nothing, STORE_DEACTIVATED;
        "activate" routed: [Inactive] => Active, Nothing, STORE_ACTIVATED;
        "close" routed: [Inactive] => Closed, ReleaseTpns, STORE_CLOSED;
        "close_with_merchant": [Active, Inactive] => Closed, Nothing, STORE_CLOSED;
    },
};

pub static TPN: Machine = Machine {
    object: "tpn",
    states: TpnStatus::NAMES,
    steps: steps! { TpnStatus:
        "pair": [Provisioned, Reassigning] => Active, Nothing, TPN_ACTIVATED;
        "pair": [Inactive, Attention] => same, Nothing, TPN_UPDATED;
        "download": [Provisioned, Reassigning] => Active, Nothing, TPN_ACTIVATED;
        "deactivate" routed: [Provisioned, Active] => Inactive, Nothing, TPN_DEACTIVATED;
        "activate" routed: [Inactive] => active_if_bound, Nothing, TPN_ACTIVATED;
        "fail": [Provisioned, Active] => Attention, Nothing, TPN_ATTENTION;
        "recover": [Attention] => active_if_bound, Nothing, TPN_ACTIVATED;
        "reassign" routed: [Active, Inactive] => Reassigning, Nothing, TPN_REASSIGNED;
        "release": [Provisioned, Active, Attention, Reassigning] => Inactive, Nothing,
            TPN_DEACTIVATED;
        "release": [Inactive] => same, Nothing, TPN_UPDATED;
        "swap" routed: [Provisioned, Inactive, Attention] => same, Unbind, DEVICE_UNBOUND;
        "retire" routed: [Provisioned, Active, Inactive, Attention, Reassigning] => Retired, Retire,
            TPN_RETIRED;
    },
};

/// A request to a terminal to take the money for an order, or to pay it back.
pub static SALE: Machine = Machine {
    object: "sale",
    states: SaleStatus::NAMES,
    steps: steps! { SaleStatus:
        "show": [Requested] => Shown, Nothing, SALE_SHOWN;
        "approve": [Requested, Shown] => Approved, Nothing, SALE_APPROVED;
        "decline": [Requested, Shown] => Declined, Nothing, SALE_DECLINED;
        "cancel" routed: [Requested, Shown] => Cancelled, Nothing, SALE_CANCELLED;
        "expire": [Requested, Shown] => Expired, Nothing, SALE_EXPIRED;
    },
};

/// A form that was sent to a merchant.
pub static LINK: Machine = Machine {
    object: "onboarding_link",
    states: LinkStatus::NAMES,
    steps: steps! { LinkStatus:
        "submit": [Open] => Submitted, Nothing, ONBOARDING_LINK_SUBMITTED;
        "onboard" routed: [Submitted] => Completed, Nothing, ONBOARDING_LINK_COMPLETED;
        "resend" routed: [Open, Submitted, Expired] => Open, Nothing, ONBOARDING_LINK_RESENT;
        "withdraw" routed: [Open, Submitted, Expired] => Withdrawn, Nothing,
            ONBOARDING_LINK_WITHDRAWN;
        "expire": [Open] => Expired, Nothing, ONBOARDING_LINK_EXPIRED;
    },
};

/// An ISO that registered itself. One that only wants its confirmation is no ISO yet.
pub static ISO: Machine = Machine {
    object: "iso",
    states: IsoStatus::NAMES,
    steps: steps! { IsoStatus:
        "approve" routed: [PendingApproval] => Active, Nothing, ISO_ACTIVATED;
        "reject" routed: [PendingApproval] => Rejected, Nothing, ISO_REJECTED;
        "suspend" routed: [Active] => Suspended, Nothing, ISO_SUSPENDED;
        "resume" routed: [Suspended] => Active, Nothing, ISO_RESUMED;
    },
};

impl Machine {
    /// What the action does in the state; none if it is not allowed there.
    pub fn step(&self, action: &str, state: &str) -> Option<&'static Step> {
        self.steps.iter().find(|step| step.action == action && step.from.contains(&state))
    }

    /// The states in which the action is allowed.
    pub fn allowed_from(&self, action: &str) -> Vec<&'static str> {
        let rows = self.steps.iter().filter(|step| step.action == action);
        rows.flat_map(|step| step.from.iter().copied()).collect()
    }

    /// What the owner of an object can do with it in the state, by the name of the route.
    pub fn actions_in(&self, state: &str) -> Vec<&'static str> {
        let steps = self.steps.iter().filter(|step| step.is_routed && step.from.contains(&state));
        steps.map(|step| step.action).collect()
    }

    /// The table for the documentation.
    pub fn reference_table(&self) -> String {
        let mut table = String::from("| Action | From | To | Event |\n|---|---|---|---|\n");
        for step in self.steps {
            let to = match step.to {
                To::State(state) => state,
                To::Same => "the same",
                To::ActiveIfBound => "active with a device, else provisioned",
            };
            let (action, from, event) = (step.action, step.from.join(", "), step.event);
            let _ = writeln!(table, "| {action} | {from} | {to} | `{event}` |");
        }
        table
    }

    /// Whether nothing leads out of the state.
    pub fn is_final(&self, state: &str) -> bool {
        !self.steps.iter().any(|step| step.from.contains(&state))
    }
}

impl Step {
    /// The state that the step leads to.
    pub fn target<'a>(&'a self, current: &'a str, device_is_bound: bool) -> &'a str {
        match self.to {
            To::State(state) => state,
            To::Same => current,
            To::ActiveIfBound if device_is_bound => TpnStatus::Active.name(),
            To::ActiveIfBound => TpnStatus::Provisioned.name(),
        }
    }
}

/// All states, the best first.
const FROM_BEST_TO_WORST: &[&str] = &[
    TpnStatus::Active.name(),
    TpnStatus::Provisioned.name(),
    TpnStatus::Reassigning.name(),
    TpnStatus::Attention.name(),
    MerchantStatus::ActionRequired.name(),
    MerchantStatus::InReview.name(),
    IsoStatus::PendingApproval.name(),
    TpnStatus::Inactive.name(),
    MerchantStatus::Suspended.name(),
    MerchantStatus::Rejected.name(),
    MerchantStatus::Closed.name(),
    TpnStatus::Retired.name(),
];

/// The effective status of an object: the worst of its own and those of the objects above it.
pub fn worst<'a>(own: &'a str, above: &[&'a str]) -> &'a str {
    let rank = |status: &str| FROM_BEST_TO_WORST.iter().position(|known| *known == status);
    above.iter().copied().fold(
        own,
        |worst, status| {
            if rank(status) > rank(worst) { status } else { worst }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINES: [&Machine; 4] = [&MERCHANT, &STORE, &TPN, &ISO];

    #[test]
    fn tables_name_known_states_only_and_decide_uniquely() {
        for machine in MACHINES {
            for state in machine.states {
                assert!(FROM_BEST_TO_WORST.contains(state), "{state}");
            }
            for (index, step) in machine.steps.iter().enumerate() {
                for state in step.from {
                    assert!(machine.states.contains(state), "{} {state}", step.action);
                    for bound in [true, false] {
                        assert!(machine.states.contains(&step.target(state, bound)));
                    }
                    let first = machine.steps.iter().position(|other| {
                        other.action == step.action && other.from.contains(state)
                    });
                    assert_eq!(first, Some(index), "{} in {state} is there twice", step.action);
                }
            }
        }
    }

    #[test]
    fn final_states_are_final() {
        let finals = |machine: &Machine| {
            let states = machine.states.iter().copied();
            states.filter(|state| machine.is_final(state)).collect::<Vec<_>>()
        };
        assert_eq!(finals(&MERCHANT), ["rejected", "closed"]);
        assert_eq!(finals(&STORE), ["closed"]);
        assert_eq!(finals(&TPN), ["retired"]);
        assert_eq!(finals(&ISO), ["rejected"]);
    }

    #[test]
    fn the_worst_counts() {
        for (own, above, expected) in [
            ("active", &["active"][..], "active"),
            ("active", &["active", "suspended"], "suspended"),
            ("inactive", &["active", "in_review"], "inactive"),
            ("retired", &["closed", "closed"], "retired"),
            ("provisioned", &[], "provisioned"),
        ] {
            assert_eq!(worst(own, above), expected);
        }
    }
}
