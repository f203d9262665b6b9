//! Who may do what with a record. **An id that is nobody's passes** with most kinds of records: the
//! operation then says that there is no such record, to everybody alike.

use contract::rest::{Refusal, Stop};
use frame::Call;
use types::Capability;

use super::{Act, Endpoint, Resource};

fn cannot(call: &Call<'_>, act: &'static str, message: &'static str) -> Refusal {
    call.deny(act, message)
}

pub(super) fn may_list<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    endpoint.resource.check_path(call)?;
    if call.can(endpoint.resource.rights().read) {
        return Ok(());
    }
    Err(cannot(call, "woocommerce_rest_cannot_view", "You are not allowed to list resources.")
        .into())
}

pub(super) fn may_create<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    endpoint.resource.check_path(call)?;
    if call.can(endpoint.resource.rights().create) {
        return Ok(());
    }
    Err(cannot(call, "woocommerce_rest_cannot_create", "You are not allowed to create resources.")
        .into())
}

pub(super) fn may_batch<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    endpoint.resource.check_path(call)?;
    if call.can(endpoint.resource.rights().batch) {
        return Ok(());
    }
    let message = "You are not allowed to edit resources in batches.";
    Err(cannot(call, "woocommerce_rest_cannot_batch", message).into())
}

pub(super) fn may_read<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    let needed = endpoint.resource.rights().read;
    let message = "You are not allowed to view this resource.";
    check_item(endpoint, call, needed, ("woocommerce_rest_cannot_view", message))
}

pub(super) fn may_edit<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    let needed = endpoint.resource.rights().edit;
    let message = "You are not allowed to edit this resource.";
    check_item(endpoint, call, needed, (endpoint.resource.edit_refusal(), message))
}

pub(super) fn may_delete<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
) -> Result<(), Stop> {
    let needed = endpoint.resource.rights().delete;
    let message = "You are not allowed to delete this resource.";
    check_item(endpoint, call, needed, ("woocommerce_rest_cannot_delete", message))
}

fn check_item<R: Resource>(
    endpoint: &Endpoint<R>,
    call: &mut Call<'_>,
    needed: Capability,
    (code, message): (&'static str, &'static str),
) -> Result<(), Stop> {
    let resource = &endpoint.resource;
    resource.check_path(call)?;
    let rule = resource.item_rule();
    // What all records have in common is decided without reading one: every item of a list says
    // what the caller may do with it.
    if call.can(needed) && rule.is_none() && !resource.refuses_unknown_first() {
        return Ok(());
    }
    let id = call.params.int("id").unwrap_or_default();
    let allowed = match resource.find(call, id)? {
        Some(record) => rule.map_or(call.can(needed), |rule| rule(call, &record, needed)),
        None if resource.refuses_unknown_first() => {
            return Err(endpoint.unknown(Act::Read).into());
        }
        None => resource.reports_unknown_ids() || call.can(needed),
    };
    if allowed { Ok(()) } else { Err(cannot(call, code, message).into()) }
}
