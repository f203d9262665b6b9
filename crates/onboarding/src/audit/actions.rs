//! Everything that the audit log says was done, and the words in which people read it.

use db::filter::fold;

const ALL: &[(&str, &str)] = &[
    ("audit.check", "Full check of the audit log started"),
    ("audit.purge", "Audit log purged"),
    ("bulk.cancel", "Upload cancelled"),
    ("bulk.upload", "File uploaded"),
    ("connection.authorize", "Connected store authorized"),
    ("connection.create", "Store connected"),
    ("connection.delete", "Store disconnected"),
    ("connection.update", "Connection to store changed"),
    ("data_key.rotate", "Data key replaced"),
    ("defaults.updated", "Default parameters changed"),
    ("invitation.accept", "Invitation accepted"),
    ("invitation.create", "Invitation sent"),
    ("invitation.resend", "Invitation resent"),
    ("invitation.withdraw", "Invitation withdrawn"),
    ("iso.approve", "ISO approved"),
    ("iso.create", "ISO created"),
    ("iso.limit", "ISO limits changed"),
    ("iso.register", "ISO registered"),
    ("iso.reject", "ISO rejected"),
    ("iso.resume", "ISO resumed"),
    ("iso.suspend", "ISO suspended"),
    ("iso.update", "ISO changed"),
    ("key.create", "API key created"),
    ("key.revoke", "API key revoked"),
    ("key.rotate", "API key rotated"),
    ("key.use", "API key used"),
    ("master_key.rotate", "Master key replaced"),
    ("merchant.approve", "Merchant approved"),
    ("merchant.ask", "Information requested from merchant"),
    ("merchant.close", "Merchant closed"),
    ("merchant.complete", "Requested information provided"),
    ("merchant.free_dba", "Trading name of merchant released"),
    ("merchant.onboard", "Merchant onboarded"),
    ("merchant.reject", "Merchant rejected"),
    ("merchant.resume", "Merchant resumed"),
    ("merchant.suspend", "Merchant suspended"),
    ("merchant.update", "Merchant changed"),
    ("onboarding_link.create", "Merchant invited"),
    ("onboarding_link.expire", "Link of an invited merchant expired"),
    ("onboarding_link.onboard", "Invited merchant onboarded"),
    ("onboarding_link.resend", "Merchant invited again"),
    ("onboarding_link.submit", "Form submitted by invited merchant"),
    ("onboarding_link.withdraw", "Link of an invited merchant withdrawn"),
    ("portfolio_rates.update", "Exchange rates changed"),
    ("rollout.start", "Roll-out started"),
    ("rollout.stop", "Roll-out stopped"),
    ("sale.approve", "Sale approved"),
    ("sale.cancel", "Sale cancelled"),
    ("sale.decline", "Sale declined"),
    ("sale.expire", "Sale expired"),
    ("sale.request_refund", "Refund requested on terminal"),
    ("sale.request_sale", "Sale requested on terminal"),
    ("sale.show", "Sale shown on terminal"),
    ("sandbox.clock", "Sandbox clock moved"),
    ("sandbox.reset", "Sandbox reset"),
    ("store.activate", "Store activated"),
    ("store.close", "Store closed"),
    ("store.close_with_merchant", "Store closed with its merchant"),
    ("store.deactivate", "Store deactivated"),
    ("store.free_dba", "Trading name of store released"),
    ("store.onboard", "Store onboarded"),
    ("store.update", "Store changed"),
    ("template.create", "Template created"),
    ("template.created", "Template created"),
    ("template.retired", "Template retired"),
    ("template.updated", "Template changed"),
    ("tpn.activate", "TPN activated"),
    ("tpn.deactivate", "TPN deactivated"),
    ("tpn.download", "Parameters downloaded by terminal"),
    ("tpn.fail", "Credentials rejected by processor"),
    ("tpn.make_pairing_code", "Pairing code created"),
    ("tpn.onboard", "TPN onboarded"),
    ("tpn.pair", "Device paired"),
    ("tpn.reassign", "TPN moved to another store"),
    ("tpn.recover", "Credentials accepted by processor"),
    ("tpn.release", "TPN returned to the pool"),
    ("tpn.replace_profile", "Processor account replaced"),
    ("tpn.retire", "TPN retired"),
    ("tpn.reveal_credentials", "Credentials revealed"),
    ("tpn.swap", "Device swapped"),
    ("tpn.update", "TPN changed"),
    ("tpn.verify_profile", "Processor account verified"),
    ("user.remove", "User removed"),
    ("user.update", "Role of user changed"),
    ("webhook.create", "Webhook created"),
    ("webhook.delete", "Webhook deleted"),
    ("webhook.disable", "Webhook disabled"),
    ("webhook.recover", "Missed events sent"),
    ("webhook.resend", "Event sent again"),
    ("webhook.rotate", "Webhook secret rotated"),
    ("webhook.update", "Webhook changed"),
];

/// The action in words; as it is called if there are none for it.
pub(crate) fn words(action: &str) -> &str {
    ALL.iter().find(|(name, _)| *name == action).map_or(action, |(_, words)| words)
}

/// The actions whose words contain the text.
pub(crate) fn called(text: &str) -> Vec<String> {
    let text = fold(text);
    let found = ALL.iter().filter(|(_, words)| fold(words).contains(&text));
    found.map(|(name, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::{ISO, LINK, MERCHANT, SALE, STORE, TPN};

    #[test]
    fn every_step_of_the_lifecycle_has_words() {
        for machine in [&MERCHANT, &STORE, &TPN, &SALE, &ISO, &LINK] {
            for step in machine.steps {
                let action = format!("{}.{}", machine.object, step.action);
                assert_ne!(words(&action), action);
            }
        }
    }

    #[test]
    fn actions_are_found_by_their_words() {
        assert_eq!(called("MERCHANT ONB"), ["merchant.onboard", "onboarding_link.onboard"]);
        assert!(called("nothing like that").is_empty());
        assert_eq!(words("future.thing"), "future.thing");
        assert!(ALL.is_sorted(), "in the order of their names");
    }
}
