//! What clients keep about a user beside the fields: preferences of the editor and of the shop's
//! administration. **Only the names listed here are taken**, so nobody can park data in a user.

use contract::rest::{Refusal, Stop, loose};
use serde_json::{Map, Value, json};
use site_rows::user::UserRow;
use types::Error;

/// Preferences of the shop's administration; each is a text to us.
const SHOP_PREFERENCES: &[&str] = &[
    "variable_product_tour_shown",
    "activity_panel_inbox_last_read",
    "activity_panel_reviews_last_read",
    "categories_report_columns",
    "coupons_report_columns",
    "customers_report_columns",
    "orders_report_columns",
    "products_report_columns",
    "revenue_report_columns",
    "taxes_report_columns",
    "variations_report_columns",
    "dashboard_sections",
    "dashboard_chart_type",
    "dashboard_chart_interval",
    "dashboard_leaderboard_rows",
    "order_attribution_install_banner_dismissed",
    "scheduled_updates_promotion_notice_dismissed",
    "homepage_layout",
    "homepage_stats",
    "task_list_tracked_started_tasks",
    "android_app_banner_dismissed",
    "launch_your_store_tour_hidden",
    "coming_soon_banner_dismissed",
];
const SHOP_PREFIX: &str = "woocommerce_admin_";
const PREFERENCES: &str = "persisted_preferences";
const PREFERENCES_KEY: &str = "wp_persisted_preferences";
/// Bytes of all that is kept about a user beside the fields.
const META_LENGTH_MAX: usize = 256 * 1024;

/// The user's further fields as they are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Meta {
    members: Map<String, Value>,
}

impl Meta {
    pub(super) fn read(user: &UserRow) -> Result<Self, Error> {
        let members = serde_json::from_str(&user.meta).map_err(|error| {
            Error::internal("the further fields of a user cannot be read").because(error)
        })?;
        Ok(Self { members })
    }

    /// The text to store, unless it is too long.
    pub(super) fn text(&self) -> Result<String, Stop> {
        let text = Value::Object(self.members.clone()).to_string();
        if text.len() <= META_LENGTH_MAX {
            return Ok(text);
        }
        let message = "The user's preferences are too long.";
        Err(Refusal::new(400, "rest_user_meta_too_long", message).into())
    }

    /// The field `meta` of the edit view; an empty object is a list to clients.
    pub(super) fn preferences(&self) -> Value {
        let stored = self.members.get(PREFERENCES_KEY).and_then(Value::as_object);
        let preferences = match stored {
            Some(members) if !members.is_empty() => Value::Object(members.clone()),
            _ => json!([]),
        };
        json!({ PREFERENCES: preferences })
    }

    pub(super) fn set_preferences(&mut self, given: &Value) {
        match given.get(PREFERENCES) {
            None => {}
            Some(Value::Object(members)) => {
                let members = Value::Object(members.clone());
                self.members.insert(PREFERENCES_KEY.to_owned(), members);
            }
            Some(_) => {
                self.members.shift_remove(PREFERENCES_KEY);
            }
        }
    }

    /// The preferences of the shop's administration, with an empty text for each that is not set.
    pub(super) fn shop(&self) -> Value {
        let value = |name: &str| {
            let stored = self.members.get(&format!("{SHOP_PREFIX}{name}"));
            stored.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        shop_of(value)
    }

    /// What others see of them: that they exist.
    pub(super) fn shop_hidden() -> Value {
        shop_of(|_| String::new())
    }

    /// Takes the listed names; what is no text is kept as JSON text.
    pub(super) fn set_shop(&mut self, given: &Value) {
        let Some(given) = given.as_object() else { return };
        for name in SHOP_PREFERENCES {
            let Some(value) = given.get(*name) else { continue };
            let text = match value {
                Value::Null => String::new(),
                Value::Array(_) | Value::Object(_) => value.to_string(),
                scalar => loose::scalar_text(scalar).unwrap_or_default().into_owned(),
            };
            self.members.insert(format!("{SHOP_PREFIX}{name}"), json!(text));
        }
    }
}

fn shop_of(value: impl Fn(&str) -> String) -> Value {
    let members = SHOP_PREFERENCES.iter().map(|name| ((*name).to_owned(), json!(value(name))));
    Value::Object(members.collect())
}
