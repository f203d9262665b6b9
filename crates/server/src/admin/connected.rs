//! What is known of connected stores, for `GET /metrics`.

use std::fmt::Write as _;
use std::sync::Arc;

use connect::Stores;

use super::write_head;

/// Writes how many copies are open, how many of their records were found to differ, and how many
/// alerts were raised.
pub(super) fn write(text: &mut String, stores: &[Arc<Stores>]) {
    write_head(text, "connected_stores_open", "Copies of connected stores that are open");
    for stores in stores {
        let (environment, open) = (stores.platform.environment, stores.count());
        let labels = format!("environment=\"{environment}\"");
        let _ = writeln!(text, "boardwalk_connected_stores_open{{{labels}}} {open}");
    }
    text.push_str(
        "# HELP boardwalk_connected_store_drift Records that differed from their store.\n\
         # TYPE boardwalk_connected_store_drift counter\n",
    );
    for stores in stores {
        let (environment, drift) = (stores.platform.environment, stores.drift());
        let labels = format!("environment=\"{environment}\"");
        let _ = writeln!(text, "boardwalk_connected_store_drift_total{{{labels}}} {drift}");
    }
    text.push_str(
        "# HELP boardwalk_connected_store_alerts Alerts raised about connected stores.\n\
         # TYPE boardwalk_connected_store_alerts counter\n",
    );
    for stores in stores {
        let (environment, alerts) = (stores.platform.environment, stores.alerts());
        let labels = format!("environment=\"{environment}\"");
        let _ = writeln!(text, "boardwalk_connected_store_alerts_total{{{labels}}} {alerts}");
    }
}
