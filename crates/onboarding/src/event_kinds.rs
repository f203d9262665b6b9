//! The kinds of events of an ISO, and which of them somebody wants.

macro_rules! kinds {
    ($($constant:ident = $name:literal;)*) => {
        $(pub(crate) const $constant: &str = $name;)*

        /// All kinds, group by group.
        const ALL: &[&str] = &[$($name),*];
    };
}

kinds! {
    MERCHANT_CREATED = "merchant.created";
    MERCHANT_UPDATED = "merchant.updated";
    MERCHANT_ACTIVATED = "merchant.activated";
    MERCHANT_ACTION_REQUIRED = "merchant.action_required";
    MERCHANT_REJECTED = "merchant.rejected";
    MERCHANT_SUSPENDED = "merchant.suspended";
    MERCHANT_RESUMED = "merchant.resumed";
    MERCHANT_CLOSED = "merchant.closed";
    STORE_CREATED = "store.created";
    STORE_UPDATED = "store.updated";
    STORE_ACTIVATED = "store.activated";
    STORE_DEACTIVATED = "store.deactivated";
    STORE_CLOSED = "store.closed";
    TPN_CREATED = "tpn.created";
    TPN_UPDATED = "tpn.updated";
    TPN_ACTIVATED = "tpn.activated";
    TPN_DEACTIVATED = "tpn.deactivated";
    TPN_ATTENTION = "tpn.attention";
    TPN_REASSIGNED = "tpn.reassigned";
    TPN_RETIRED = "tpn.retired";
    TPN_CREDENTIALS_REVEALED = "tpn.credentials_revealed";
    DEVICE_PAIRING_CODE_MADE = "device.pairing_code_made";
    DEVICE_BOUND = "device.bound";
    DEVICE_UNBOUND = "device.unbound";
    SALE_REQUESTED = "sale.requested";
    SALE_SHOWN = "sale.shown";
    SALE_APPROVED = "sale.approved";
    SALE_DECLINED = "sale.declined";
    SALE_CANCELLED = "sale.cancelled";
    SALE_EXPIRED = "sale.expired";
    ONBOARDING_LINK_CREATED = "onboarding_link.created";
    ONBOARDING_LINK_RESENT = "onboarding_link.resent";
    ONBOARDING_LINK_SUBMITTED = "onboarding_link.submitted";
    ONBOARDING_LINK_COMPLETED = "onboarding_link.completed";
    ONBOARDING_LINK_WITHDRAWN = "onboarding_link.withdrawn";
    ONBOARDING_LINK_EXPIRED = "onboarding_link.expired";
    TEMPLATE_CREATED = "template.created";
    TEMPLATE_UPDATED = "template.updated";
    TEMPLATE_RETIRED = "template.retired";
    ROLLOUT_STARTED = "rollout.started";
    ROLLOUT_STOPPED = "rollout.stopped";
    DEFAULTS_UPDATED = "defaults.updated";
    ISO_REGISTERED = "iso.registered";
    ISO_UPDATED = "iso.updated";
    ISO_ACTIVATED = "iso.activated";
    ISO_REJECTED = "iso.rejected";
    ISO_SUSPENDED = "iso.suspended";
    ISO_RESUMED = "iso.resumed";
    CONNECTION_ALERT_RAISED = "connection.alert_raised";
    CONNECTION_ALERT_ENDED = "connection.alert_ended";
    BULK_DONE = "bulk.done";
    BULK_FAILED = "bulk.failed";
    BULK_CANCELLED = "bulk.cancelled";
    AUDIT_HEAD = "audit.head";
    ENDPOINT_DISABLED = "endpoint.disabled";
    KEY_EXPIRING = "key.expiring";
    SANDBOX_RESET = "sandbox.reset";
}

/// What a webhook can choose: everything, a group, or one kind.
pub(crate) fn choices() -> Vec<String> {
    let mut choices = vec![String::from("*")];
    for kind in ALL {
        let group = kind.split('.').next().unwrap_or_default();
        let group = format!("{group}.*");
        if !choices.contains(&group) {
            choices.push(group);
        }
        choices.push((*kind).to_owned());
    }
    choices
}

/// A choice of kinds: whole names, and beginnings such as `merchant.*`; `*` is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) names: Vec<String>,
    pub(crate) groups: Vec<String>,
}

impl Kinds {
    /// Reads patterns; none is the first that is not one.
    pub(crate) fn parse<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Option<Self> {
        let mut kinds = Self::default();
        for pattern in patterns {
            match pattern.strip_suffix('*') {
                Some("") => kinds.groups.push(String::new()),
                Some(group) if group.ends_with('.') && is_name(group) => {
                    kinds.groups.push(group.to_owned());
                }
                None if is_name(pattern) => kinds.names.push(pattern.to_owned()),
                _ => return None,
            }
        }
        Some(kinds)
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.names.iter().any(|name| name == kind)
            || self.groups.iter().any(|group| kind.starts_with(group.as_str()))
    }
}

fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.');
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_documented() {
        let page = include_str!("../../../docs/events.md");
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let mut documented: Vec<String> = Vec::new();
        for row in rows {
            let cell = row.split('|').nth(1).unwrap_or_default();
            let mut group = String::new();
            for word in cell.split('`').skip(1).step_by(2) {
                let whole = if word.starts_with('.') { group.clone() + word } else { word.into() };
                group = whole.split('.').next().unwrap_or_default().to_owned();
                documented.push(whole);
            }
        }
        for kind in ALL {
            assert!(documented.iter().any(|name| name == kind), "{kind} is not in docs/events.md");
        }
    }

    #[test]
    fn choices_are_patterns() {
        let choices = choices();
        for wanted in ["*", "merchant.*", "merchant.created", "tpn.*", "key.expiring"] {
            assert!(choices.iter().any(|choice| choice == wanted), "{wanted}");
        }
        assert!(Kinds::parse(choices.iter().map(String::as_str)).is_some());
    }
}
