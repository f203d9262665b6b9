//! Coupons: codes that make an order cheaper, under what conditions, and who has used them.
//!
//! The same records are served in every version of the interface; [`shape`] says what differs.

mod bundle;
mod coupon;
mod list;
mod schema;
mod shape;
mod view;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Stop};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::Capability;

pub(crate) use self::bundle::import;
pub use self::coupon::{Coupon, Details};
use crate::common::version::Version;
use crate::common::{args, events, first, meta, moments};
use crate::resource::{self, Listed, Resource, Rights};

const TRASH: &str = "trash";
const PUBLISHED: &str = "publish";
/// What remembers in `meta_data` how a coupon was before it went to the trash.
const TRASH_STATUS: &str = "_wp_trash_meta_status";
const TRASH_TIME: &str = "_wp_trash_meta_time";
const TRASH_SLUG: &str = "_wp_desired_post_slug";

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let routes = Version::ALL.into_iter().flat_map(|version| {
        let coupons = Coupons { version, item: schema::item(version) };
        let routes = resource::routes(version.namespace(names), "/coupons", coupons);
        routes.expect("the schema is well formed")
    });
    routes.collect()
}

#[derive(Debug)]
struct Coupons {
    version: Version,
    item: Item,
}

impl Resource for Coupons {
    type Record = Coupon;

    fn word(&self) -> &'static str {
        "shop_coupon"
    }

    fn rights(&self) -> Rights {
        Rights {
            read: Capability::ReadPrivateShopCoupons,
            create: Capability::PublishShopCoupons,
            edit: Capability::EditShopCoupon,
            delete: Capability::DeleteShopCoupon,
            batch: Capability::EditOthersShopCoupons,
        }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        self.item.create_args().revise("code", contract::rest::Schema::required)
    }

    fn list_args(&self) -> Args {
        first::listed(self.version, args::records().with(list::code_arg()), &[])
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Coupon>, Stop> {
        let Some(coupon) = Coupon::get(call.conn()?, id)? else { return Ok(None) };
        Ok(Some(coupon.with_uses(call.conn()?)?))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Coupon>, Stop> {
        if self.version == Version::One {
            first::take_conditions(call, || self.list_args());
        }
        list::list(self.version, call)
    }

    fn show(&self, call: &mut Call<'_>, coupon: &Coupon) -> Result<Value, Stop> {
        Ok(shape::shaped(self.version, view::body(call.options(), coupon)))
    }

    fn links(&self, call: &Call<'_>, coupon: &Coupon, base: &str) -> Links {
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", coupon.row.coupon_id)))
            .to("collection", call.visit.rest(base))
    }

    fn id(&self, coupon: &Coupon) -> i64 {
        coupon.row.coupon_id
    }

    fn is_trashed(&self, coupon: &Coupon) -> bool {
        coupon.row.status == TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Coupon, Stop> {
        let mut coupon = Coupon::new(moments::now(call));
        write::apply(self.version, call, &mut coupon)?;
        if call.visit.is_import {
            write::apply_past(call, &mut coupon);
        }
        match call.kept_id() {
            Some(id) => {
                coupon.row.coupon_id = id;
                coupon.put(call.conn()?)?;
            }
            None => coupon.insert(call.conn()?)?,
        }
        append_event(call, "coupon.created", &coupon)?;
        Ok(coupon)
    }

    fn update(&self, call: &mut Call<'_>, coupon: Coupon) -> Result<Coupon, Stop> {
        let before = coupon;
        let mut coupon = before.clone();
        write::apply(self.version, call, &mut coupon)?;
        if call.visit.is_import {
            write::apply_past(call, &mut coupon);
        }
        if coupon != before {
            coupon.update(call.conn()?)?;
            append_event(call, "coupon.updated", &coupon)?;
        }
        Ok(coupon)
    }

    fn trash(&self, call: &mut Call<'_>, mut coupon: Coupon) -> Result<(), Stop> {
        let now = moments::now(call);
        let status = std::mem::replace(&mut coupon.row.status, TRASH.to_owned());
        coupon.row.trashed_status = Some(status.clone());
        coupon.row.modified = now;
        let seconds = now.as_micros().div_euclid(1_000_000).to_string();
        let notes = [(TRASH_STATUS, status), (TRASH_TIME, seconds)];
        let slug = (TRASH_SLUG, coupon.details.slug.clone());
        for (key, value) in notes.into_iter().chain([slug]) {
            meta::add(call.conn()?, &mut coupon.details.meta_data, key, json!(value))?;
        }
        coupon.update(call.conn()?)?;
        Ok(append_event(call, "coupon.deleted", &coupon)?)
    }

    fn delete(&self, call: &mut Call<'_>, coupon: Coupon) -> Result<(), Stop> {
        shop_rows::coupon::delete(call.conn()?, coupon.row.coupon_id)?;
        Ok(append_event(call, "coupon.deleted", &coupon)?)
    }
}

fn append_event(call: &mut Call<'_>, kind: &'static str, coupon: &Coupon) -> types::Result<()> {
    let payload = json!({ "code": coupon.row.code, "status": coupon.row.status });
    events::append(call, kind, coupon.row.coupon_id, &payload)
}
