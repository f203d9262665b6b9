//! What a store is like, found before it is copied: whether it is encrypted, its version, its
//! clock, what the key may do, and how much there is to copy. **Nothing at the store changes.**

use analytics::leaderboards;
use onboarding::connections::StoreCheck;
use onboarding::rows::connection;
use serde_json::{Value, json};

use crate::source::Trouble;
use crate::work::{Halt, Work};

/// Older versions cannot be asked for what changed.
const VERSION_MIN: (u32, u32) = (5, 8);
/// A clock that is off by more is worth a word.
const CLOCK_OFF_SECONDS: u64 = 60;
/// The store's lists that are counted, and what is asked for beside.
const LISTS: [(&str, &str); 3] =
    [("orders", "&status=any"), ("products", "&status=any"), ("customers", "")];

/// Checks the store, and notes what was found. A store that cannot be copied at all is a trouble.
pub(crate) async fn run(work: &mut Work) -> Result<(), Halt> {
    let mut checks = Vec::new();
    // The first answer also tells the time.
    work.source.one("?_fields=namespaces").await?;
    checks.push(tls(&work.row.url));
    let mut sizes = Vec::new();
    for (list, query) in LISTS {
        let query = format!("per_page=1&_fields=id{query}");
        let page = work.source.list(&format!("wc/v3/{list}"), &query).await?;
        let total = page.total.unwrap_or_default();
        work.counts.insert(format!("{list}Total"), total);
        sizes.push(format!("{} {list}", leaderboards::grouped(total, ",")));
    }
    work.source.list("wc/v3/settings/general", "").await?;
    checks.push(version(work.source.one("wc/v3/system_status?_fields=environment").await));
    checks.push(clock(work.source.seconds_ahead()));
    checks.push(passed("read", "The key can read orders, products, customers and settings."));
    checks.push(webhooks(work.source.may_change("wc/v3/webhooks/batch").await)?);
    checks.push(passed("size", &format!("The store has {}.", sizes.join(", "))));
    let row = work.row.clone();
    let twin = work.stores.platform.store.read(move |conn| connection::twin(conn, &row)).await?;
    if let Some(twin) = twin {
        let message = format!(
            "The store is already connected as {twin}. Its sales count twice in the portfolio; \
             disconnect one of the two."
        );
        checks.push(warning("duplicate", &message));
    }
    work.row.checks = json!(checks).to_string();
    work.save().await
}

/// Notes that the store, or this server's own address, does not allow webhooks after all.
pub(crate) fn note_no_webhooks(work: &mut Work) {
    let mut checks: Vec<StoreCheck> = serde_json::from_str(&work.row.checks).unwrap_or_default();
    for check in checks.iter_mut().filter(|check| check.check == "webhooks") {
        *check = warning(
            "webhooks",
            "The store did not accept webhooks, so changes are found by polling. Check that the \
             key has read and write permission, and that the store can reach this server.",
        );
    }
    work.row.checks = json!(checks).to_string();
}

fn check(name: &str, result: &str, message: &str) -> StoreCheck {
    StoreCheck { check: name.to_owned(), result: result.to_owned(), message: message.to_owned() }
}

fn passed(name: &str, message: &str) -> StoreCheck {
    check(name, "passed", message)
}

fn warning(name: &str, message: &str) -> StoreCheck {
    check(name, "warning", message)
}

fn tls(url: &str) -> StoreCheck {
    if url.starts_with("https:") {
        passed("tls", "The connection is encrypted, and the certificate is valid.")
    } else {
        warning("tls", "The connection is not encrypted. Use an https URL.")
    }
}

fn version(status: Result<Option<crate::source::Item>, Trouble>) -> StoreCheck {
    let environment = status.ok().flatten().and_then(|mut status| status.remove("environment"));
    let text = |name: &str| {
        let text = environment.as_ref()?.get(name)?.as_str()?;
        let is_version = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
        let is_short = (1..=30).contains(&text.len());
        (is_short && text.bytes().all(is_version)).then(|| text.to_owned())
    };
    let Some(version) = text("version") else {
        let message = "The store does not tell its version. WooCommerce 5.8 or newer is needed.";
        return warning("version", message);
    };
    let below = text("wp_version").map(|wp| format!(" on WordPress {wp}")).unwrap_or_default();
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or_default());
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < VERSION_MIN {
        let message = format!(
            "The store runs WooCommerce {version}{below}. Update it to 5.8 or newer: older \
             versions do not tell what changed."
        );
        return warning("version", &message);
    }
    passed("version", &format!("The store runs WooCommerce {version}{below}."))
}

fn clock(ahead: i64) -> StoreCheck {
    if ahead.unsigned_abs() <= CLOCK_OFF_SECONDS {
        return passed("clock", "The store's clock is right.");
    }
    let direction = if ahead > 0 { "ahead" } else { "behind" };
    let message = format!(
        "The store's clock is {} seconds {direction}. Nothing is lost by it, but correct it.",
        ahead.unsigned_abs()
    );
    warning("clock", &message)
}

/// Whether webhooks can be created.
fn webhooks(tried: Result<(), Trouble>) -> Result<StoreCheck, Halt> {
    match tried {
        Ok(()) => Ok(passed("webhooks", "The key can create webhooks.")),
        Err(Trouble { status: 400..=499, .. }) => {
            let message = "The key cannot create webhooks, so changes are found by polling. Use \
                           a key with read and write permission to see them sooner.";
            Ok(warning("webhooks", message))
        }
        Err(trouble) => Err(trouble.into()),
    }
}

/// The code of the country in a store's setting such as `US:CA`.
pub(crate) fn country(setting: &Value) -> Option<String> {
    let code = setting.as_str()?.split(':').next()?;
    let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    is_code.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_version(version_text: &str) -> String {
        let status = json!({ "environment": { "version": version_text, "wp_version": "6.4" } });
        let Value::Object(status) = status else { unreachable!("an object was just made") };
        version(Ok(Some(status))).result
    }

    #[test]
    fn old_versions_are_warned_of() {
        for (text, expected) in [
            ("9.1.2", "passed"),
            ("5.8.0", "passed"),
            ("10.0-beta.1", "passed"),
            ("5.7.9", "warning"),
            ("3.5", "warning"),
            ("<b>9", "warning"),
            ("", "warning"),
        ] {
            assert_eq!(of_version(text), expected, "{text}");
        }
        assert_eq!(version(Ok(None)).result, "warning");
    }

    #[test]
    fn clocks_may_be_a_little_off() {
        assert_eq!(clock(59).result, "passed");
        assert_eq!(clock(-59).result, "passed");
        assert!(clock(3600).message.contains("3600 seconds ahead"));
        assert!(clock(-3600).message.contains("3600 seconds behind"));
    }

    #[test]
    fn countries_are_codes() {
        for (setting, expected) in [
            (json!("US:CA"), Some("US")),
            (json!("DE"), Some("DE")),
            (json!(""), None),
            (json!("us"), None),
            (json!(["US"]), None),
        ] {
            assert_eq!(country(&setting).as_deref(), expected, "{setting}");
        }
    }
}
