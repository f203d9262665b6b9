//! Taxes: the rates, where they hold and in which order, and the classes of goods that they are
//! for.

mod bundle;
mod classes;
mod rate;
mod schema;
mod write;

use contract::rest::args::text_field;
use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Schema, Stop, Treatment};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use shop_rows::tax_rate::{self, TaxRateFilter, TaxRateOrder};
use types::Capability;

pub(crate) use self::bundle::{import_classes, import_rates};
pub(crate) use self::classes::{class_names, found, set_class_names};
pub use self::rate::TaxRate;
use crate::common::version::Version;
use crate::common::{args, events, paging};
use crate::resource::{self, Act, Listed, Resource, Rights};

/// The class of goods that name none. It is stored as an empty text.
const STANDARD: &str = "standard";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let routes = Version::ALL.into_iter().flat_map(|version| {
        let namespace = version.namespace(names);
        let rates = TaxRates { version, item: schema::item(version) };
        let rates = resource::routes(namespace, "/taxes", rates);
        let mut routes = classes::routes(namespace, version);
        routes.extend(rates.expect("the schema is well formed"));
        routes
    });
    routes.collect()
}

#[derive(Debug)]
struct TaxRates {
    version: Version,
    item: Item,
}

impl Resource for TaxRates {
    type Record = TaxRate;

    fn word(&self) -> &'static str {
        "tax"
    }

    fn rights(&self) -> Rights {
        let manage = Capability::ManageWoocommerce;
        Rights { read: manage, create: manage, edit: manage, delete: manage, batch: manage }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        self.item.create_args().treat("class", Treatment::Own(text_field))
    }

    fn update_args(&self) -> Args {
        self.item.update_args().treat("class", Treatment::Own(text_field))
    }

    fn list_args(&self) -> Args {
        let class = schema::class().about("Limit results to rates of this class.");
        let shared = args::paging()
            .with(args::offset())
            .with(args::order("asc", &["order"]))
            .revise("orderby", |orderby| orderby.choices(&["id", "order", "priority"]))
            .treated("class", class, Treatment::Own(text_field));
        if self.version != Version::Analytics {
            return shared;
        }
        let search = Schema::text().about("Limit results to rates whose code contains this.");
        shared
            .arg("search", search)
            .arg("include", args::id_list("Limit results to rates with these IDs."))
    }

    fn has_trash(&self) -> bool {
        false
    }

    fn unknown_id(&self, act: Act) -> (u16, String) {
        let status = if act == Act::Delete { 400 } else { 404 };
        (status, String::from("woocommerce_rest_invalid_id"))
    }

    fn reports_unknown_ids(&self) -> bool {
        false
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<TaxRate>, Stop> {
        Ok(TaxRate::get(call.conn()?, id)?)
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<TaxRate>, Stop> {
        let class = classes::requested_class(call)?;
        let params = &call.params;
        let direction = match self.version {
            // The reference does not look at the direction here.
            Version::Analytics => db::filter::Direction::Ascending,
            _ => paging::direction(params),
        };
        let search = params.text("search").map(str::trim).filter(|text| !text.is_empty());
        let filter = TaxRateFilter {
            classes: class.into_iter().collect(),
            code_contains: search.map(str::to_owned),
            include: params.ints("include"),
            order: match params.text("orderby") {
                Some("id") => TaxRateOrder::Id,
                Some("priority") => TaxRateOrder::Priority,
                _ => TaxRateOrder::Position,
            },
            direction,
            page: paging::page(call),
            ..TaxRateFilter::default()
        };
        let (rows, total) = tax_rate::list(call.conn()?, &filter)?;
        Ok(Listed { records: TaxRate::with_locations(call.conn()?, rows)?, total })
    }

    fn show(&self, _: &mut Call<'_>, rate: &TaxRate) -> Result<Value, Stop> {
        Ok(schema::body(self.version, rate))
    }

    fn links(&self, call: &Call<'_>, rate: &TaxRate, base: &str) -> Links {
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", rate.row.rate_id)))
            .to("collection", call.visit.rest(base))
    }

    fn id(&self, rate: &TaxRate) -> i64 {
        rate.row.rate_id
    }

    fn create(&self, call: &mut Call<'_>) -> Result<TaxRate, Stop> {
        let mut rate = TaxRate::default();
        rate.row.priority = 1;
        rate.row.shipping = true;
        write::apply(self.version, call, &mut rate)?;
        if let Some(id) = call.kept_id() {
            rate.row.rate_id = id;
            tax_rate::insert_with_id(call.conn()?, &rate.row)?;
        } else {
            rate.row.rate_id = tax_rate::insert(call.conn()?, &rate.row)?;
        }
        rate.store_locations(call.conn()?)?;
        append_event(call, "tax_rate.created", &rate)?;
        Ok(rate)
    }

    fn update(&self, call: &mut Call<'_>, rate: TaxRate) -> Result<TaxRate, Stop> {
        let before = rate;
        let mut rate = before.clone();
        write::apply(self.version, call, &mut rate)?;
        if rate != before {
            tax_rate::update(call.conn()?, &rate.row)?;
            rate.store_locations(call.conn()?)?;
            append_event(call, "tax_rate.updated", &rate)?;
        }
        Ok(rate)
    }

    fn trash(&self, _: &mut Call<'_>, _: TaxRate) -> Result<(), Stop> {
        Err(types::Error::internal("rates of taxes have no trash").into())
    }

    fn delete(&self, call: &mut Call<'_>, rate: TaxRate) -> Result<(), Stop> {
        tax_rate::delete(call.conn()?, rate.row.rate_id)?;
        Ok(append_event(call, "tax_rate.deleted", &rate)?)
    }
}

fn append_event(call: &mut Call<'_>, kind: &'static str, rate: &TaxRate) -> types::Result<()> {
    let payload = json!({ "code": rate.row.code(), "class": rate.row.class });
    events::append(call, kind, rate.row.rate_id, &payload)
}
