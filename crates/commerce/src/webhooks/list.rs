//! Lists of webhooks: by status, name, age and id.

use contract::rest::{Args, Schema};
use frame::Call;
use shop_rows::webhook::{WebhookFilter, WebhookOrder};

use super::STATUSES;
use crate::common::{args, moments, paging};

const EVERY: &str = "all";

pub(super) fn args() -> Args {
    let choices: Vec<&str> = [EVERY].into_iter().chain(STATUSES.iter().copied()).collect();
    let status = Schema::text()
        .default(EVERY)
        .choices(&choices)
        .about("Limit results to webhooks with this status.");
    args::paging()
        .with(args::search())
        .with(args::created())
        .with(args::ids())
        .with(args::offset())
        .with(args::order("desc", &["date", "id", "title"]))
        .arg("status", status)
}

pub(super) fn filter(call: &Call<'_>) -> WebhookFilter {
    let params = &call.params;
    let bound = |name: &str| moments::bound(call.options(), params.text(name), false);
    let search = params.text("search").unwrap_or_default().trim();
    let status = params.text("status").filter(|status| *status != EVERY);
    WebhookFilter {
        search: (!search.is_empty()).then(|| search.to_owned()),
        after: bound("after"),
        before: bound("before"),
        statuses: status.map(str::to_owned).into_iter().collect(),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        order: match params.text("orderby") {
            Some("id") => WebhookOrder::Id,
            Some("title") => WebhookOrder::Name,
            _ => WebhookOrder::Date,
        },
        direction: paging::direction(params),
        page: paging::page(call),
    }
}
