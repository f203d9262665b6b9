//! Who may do what to whose account.
//!
//! A capability alone is not enough to act on somebody else: **administrators answer to
//! administrators only, and a shop manager looks after customers only**. Otherwise whoever may
//! change accounts could set an administrator's password and become one.

use contract::rest::{Refusal, Stop};
use frame::Call;
use site_rows::user::UserRow;
use types::{Capability, Role};

/// Whether the caller may change the account. Everybody may change their own.
pub(super) fn may_edit(call: &Call<'_>, target: &UserRow) -> bool {
    is_oneself(call, target) || may_act_on(call, target, Capability::EditUsers)
}

pub(super) fn may_promote(call: &Call<'_>, target: &UserRow) -> bool {
    may_act_on(call, target, Capability::PromoteUsers)
}

pub(super) fn may_delete(call: &Call<'_>, target: &UserRow) -> bool {
    may_act_on(call, target, Capability::DeleteUsers)
}

pub(super) fn is_oneself(call: &Call<'_>, target: &UserRow) -> bool {
    call.user_id() == target.user_id
}

fn may_act_on(call: &Call<'_>, target: &UserRow, capability: Capability) -> bool {
    if !call.can(capability) {
        return false;
    }
    if is_oneself(call, target) || caller_is(call, Role::Administrator) {
        return true;
    }
    if caller_is(call, Role::ShopManager) {
        return target.roles.iter().all(|role| *role == Role::Customer);
    }
    !target.roles.contains(&Role::Administrator)
}

fn caller_is(call: &Call<'_>, role: Role) -> bool {
    call.user().is_some_and(|user| user.row.roles.contains(&role))
}

/// Whether the caller may hand out the role to anybody at all.
fn may_give(call: &Call<'_>, role: Role) -> bool {
    if caller_is(call, Role::Administrator) {
        return true;
    }
    if caller_is(call, Role::ShopManager) {
        return role == Role::Customer;
    }
    role != Role::Administrator
}

/// The roles by name, if the caller may give all of them to the user. A user who is yet to be made
/// is none.
pub(super) fn grant(
    call: &Call<'_>,
    target: Option<&UserRow>,
    names: &[String],
) -> Result<Vec<Role>, Stop> {
    let mut roles = Vec::new();
    for name in names {
        let Ok(role) = name.parse::<Role>() else {
            let message = format!("Unknown role {name}.");
            return Err(Refusal::new(400, "rest_user_invalid_role", message).into());
        };
        let is_own = target.is_some_and(|target| is_oneself(call, target));
        if is_own && !role.may(Capability::EditUsers) {
            let message = "You cannot remove your own permission to edit users.";
            return Err(call.deny("rest_user_invalid_role", message).into());
        }
        if !may_give(call, role) {
            let message = "You are not allowed to give this role to users.";
            return Err(call.deny("rest_user_invalid_role", message).into());
        }
        if !is_bound(target, role) {
            let message = "Invite users with this role on the People page of their ISO.";
            return Err(Refusal::new(400, "rest_user_invalid_role", message).into());
        }
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    Ok(roles)
}

/// Whether the user has the binding that the role needs.
fn is_bound(target: Option<&UserRow>, role: Role) -> bool {
    let binding =
        |of: fn(&UserRow) -> &Option<String>| target.is_some_and(|user| of(user).is_some());
    match role {
        Role::IsoAdmin | Role::IsoStaff => binding(|user| &user.iso_id),
        Role::Merchant => binding(|user| &user.merchant_id),
        Role::Store => binding(|user| &user.store_id),
        _ => true,
    }
}
