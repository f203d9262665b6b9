//! The states of merchants, stores and TPNs, and how each is left: one table per kind of object.
//!
//! A row says: this action, in one of these states, leads to that state, has this effect and is
//! told as this event. **What is in no row is refused**, so no sequence of calls can reach a state
//! that is not listed. The reference in the documentation is compared with these tables by a test.

pub(crate) mod due_work;
pub(crate) mod transition;

use std::fmt::Write as _;

use crate::lifecycle::Effect as E;
use crate::lifecycle::To as T;

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

const fn step(
    action: &'static str,
    from: &'static [&'static str],
    to: To,
    effect: Effect,
    event: &'static str,
) -> Step {
    Step { action, from, to, effect, event }
}

pub static MERCHANT: Machine = Machine {
    object: "merchant",
    states: &["in_review", "action_required", "active", "suspended", "rejected", "closed"],
    steps: &[
        step("approve", &["in_review"], T::State("active"), E::Nothing, "merchant.activated"),
        step(
            "ask",
            &["in_review"],
            T::State("action_required"),
            E::Nothing,
            "merchant.action_required",
        ),
        step(
            "complete",
            &["action_required"],
            T::State("in_review"),
            E::Nothing,
            "merchant.updated",
        ),
        step(
            "reject",
            &["in_review", "action_required"],
            T::State("rejected"),
            E::Nothing,
            "merchant.rejected",
        ),
        step("suspend", &["active"], T::State("suspended"), E::Nothing, "merchant.suspended"),
        step("resume", &["suspended"], T::State("active"), E::Nothing, "merchant.resumed"),
        step(
            "close",
            &["active", "suspended"],
            T::State("closed"),
            E::CloseAllBelow,
            "merchant.closed",
        ),
    ],
};

pub static STORE: Machine = Machine {
    object: "store",
    states: &["active", "inactive", "closed"],
    steps: &[
        step("deactivate", &["active"], T::State("inactive"), E::Nothing, "store.deactivated"),
        step("activate", &["inactive"], T::State("active"), E::Nothing, "store.activated"),
        step("close", &["inactive"], T::State("closed"), E::ReleaseTpns, "store.closed"),
        step(
            "close_with_merchant",
            &["active", "inactive"],
            T::State("closed"),
            E::Nothing,
            "store.closed",
        ),
    ],
};

pub static TPN: Machine = Machine {
    object: "tpn",
    states: &["provisioned", "active", "inactive", "attention", "reassigning", "retired"],
    steps: &[
        step(
            "pair",
            &["provisioned", "reassigning"],
            T::State("active"),
            E::Nothing,
            "tpn.activated",
        ),
        step("pair", &["inactive", "attention"], T::Same, E::Nothing, "tpn.updated"),
        step(
            "download",
            &["provisioned", "reassigning"],
            T::State("active"),
            E::Nothing,
            "tpn.activated",
        ),
        step(
            "deactivate",
            &["provisioned", "active"],
            T::State("inactive"),
            E::Nothing,
            "tpn.deactivated",
        ),
        step("activate", &["inactive"], T::ActiveIfBound, E::Nothing, "tpn.activated"),
        step(
            "fail",
            &["provisioned", "active"],
            T::State("attention"),
            E::Nothing,
            "tpn.attention",
        ),
        step("recover", &["attention"], T::ActiveIfBound, E::Nothing, "tpn.activated"),
        step(
            "reassign",
            &["active", "inactive"],
            T::State("reassigning"),
            E::Nothing,
            "tpn.reassigned",
        ),
        step(
            "release",
            &["provisioned", "active", "attention", "reassigning"],
            T::State("inactive"),
            E::Nothing,
            "tpn.deactivated",
        ),
        step("release", &["inactive"], T::Same, E::Nothing, "tpn.updated"),
        step(
            "swap",
            &["provisioned", "inactive", "attention"],
            T::Same,
            E::Unbind,
            "device.unbound",
        ),
        step(
            "retire",
            &["provisioned", "active", "inactive", "attention", "reassigning"],
            T::State("retired"),
            E::Retire,
            "tpn.retired",
        ),
    ],
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
            To::ActiveIfBound if device_is_bound => "active",
            To::ActiveIfBound => "provisioned",
        }
    }
}

/// An ISO that registered itself. One that only wants its confirmation is no ISO yet.
pub static ISO: Machine = Machine {
    object: "iso",
    states: &["pending_approval", "active", "suspended", "rejected"],
    steps: &[
        step("approve", &["pending_approval"], T::State("active"), E::Nothing, "iso.activated"),
        step("reject", &["pending_approval"], T::State("rejected"), E::Nothing, "iso.rejected"),
        step("suspend", &["active"], T::State("suspended"), E::Nothing, "iso.suspended"),
        step("resume", &["suspended"], T::State("active"), E::Nothing, "iso.resumed"),
    ],
};

/// All states, the best first.
const FROM_BEST_TO_WORST: &[&str] = &[
    "active",
    "provisioned",
    "reassigning",
    "attention",
    "action_required",
    "in_review",
    "pending_approval",
    "inactive",
    "suspended",
    "rejected",
    "closed",
    "retired",
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
            for (place, step) in machine.steps.iter().enumerate() {
                for state in step.from {
                    assert!(machine.states.contains(state), "{} {state}", step.action);
                    for bound in [true, false] {
                        assert!(machine.states.contains(&step.target(state, bound)));
                    }
                    let first = machine.steps.iter().position(|other| {
                        other.action == step.action && other.from.contains(state)
                    });
                    assert_eq!(first, Some(place), "{} in {state} is there twice", step.action);
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
