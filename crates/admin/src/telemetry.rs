//! What mobile apps tell about themselves, and the patterns of the shop's own pages. **Nothing is
//! sent anywhere**: what an app says is kept only where the owner has switched tracking on.

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::action::{read, write};
use frame::{Action, Call, Names, options};
use serde_json::{Value, json};
use types::Capability;

use crate::answers::success;

/// The option that keeps what apps said last, by platform.
pub(crate) const USAGE_OPTION: &str = "woocommerce_mobile_app_usage";
const TRACKING_OPTION: &str = "woocommerce_allow_tracking";
const PLATFORMS: [&str; 2] = ["ios", "android"];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let text = |about: &str| Schema::text().about(about);
    let args = Args::new()
        .arg("platform", text("Platform of the app.").required())
        .arg("version", text("Version of the app.").required())
        .arg("installation_date", Schema::date_time().about("When the app was installed."));
    vec![
        Route::at(&names.telemetry, "/tracker")
            .on(CREATE, args, write(may_tell, track))
            .shows(Schema::typed("null")),
        Route::at(&names.private, "/patterns")
            .on(READ, Args::new(), read(may_manage, patterns))
            .only_refuses()
            .on(
                CREATE,
                Args::new(),
                read(may_manage, |_| Ok(Reply::new(json!({ "success": true })))),
            )
            .shows(success("Always true.")),
    ]
}

fn may_tell(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.visit.identity.is_anonymous() {
        let code = call.site.shop_code("cannot_view");
        return Err(call.deny(code, "You must be signed in to do that.").into());
    }
    Ok(())
}

/// Keeps the version of the app, if the owner wants that. What is no app is passed over.
fn track(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let platform = call.params.text("platform").unwrap_or_default().to_owned();
    let wanted = call.options().is_on(TRACKING_OPTION) && PLATFORMS.contains(&&*platform);
    if wanted {
        let version = call.params.text("version").unwrap_or_default().to_owned();
        let installed = call.params.text("installation_date").unwrap_or_default().to_owned();
        let mut usage = call.options().get(USAGE_OPTION);
        if !usage.is_object() {
            usage = json!({});
        }
        let said = json!({
            "platform": platform,
            "version": version,
            "installation_date": installed,
            "last_used": frame::dates::written(call.now()),
        });
        if let Some(members) = usage.as_object_mut() {
            members.insert(platform, said);
        }
        options::set(call.conn()?, USAGE_OPTION, &usage)?;
    }
    Ok(Reply::new(Value::Null))
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::ManageOptions) { Ok(()) } else { Err(call.forbidden().into()) }
}

/// Patterns come from the makers' service, which is asked only where tracking is on.
fn patterns(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let code = if call.options().is_on(TRACKING_OPTION) {
        "woocommerce_no_patterns"
    } else {
        "woocommerce_tracking_not_allowed"
    };
    Err(Refusal::new(400, code, "There are no patterns to be had.").into())
}
