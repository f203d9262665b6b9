//! What people of an ISO may do with the onboarding interface when they are signed in, by their
//! roles.

use crate::{Role, Scope, ScopeSet};

/// What staff may do: the daily work, and nothing that gives others access.
const STAFF: &[Scope] = &[
    Scope::OnboardWrite,
    Scope::MerchantsRead,
    Scope::MerchantsWrite,
    Scope::StoresRead,
    Scope::StoresWrite,
    Scope::TpnsRead,
    Scope::TpnsWrite,
    Scope::TemplatesRead,
    Scope::WebhooksRead,
    Scope::EventsRead,
    Scope::BulkWrite,
    Scope::IsosRead,
    Scope::ReportsRead,
];

/// The scopes of somebody with these roles; none for those who have nothing to do with ISOs.
pub fn iso_scopes(roles: &[Role]) -> Option<ScopeSet> {
    if roles.iter().any(|role| matches!(role, Role::Administrator | Role::IsoAdmin)) {
        return Some(ScopeSet::Full);
    }
    roles.contains(&Role::IsoStaff).then(|| ScopeSet::Only(STAFF.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staff_cannot_give_others_access() {
        let staff = iso_scopes(&[Role::IsoStaff]).unwrap();
        let denied = [Scope::KeysWrite, Scope::WebhooksWrite, Scope::CredentialsReveal];
        assert!(denied.iter().all(|scope| !staff.allows(*scope)));
        assert!(staff.allows(Scope::OnboardWrite) && staff.allows(Scope::MerchantsWrite));
        assert!(iso_scopes(&[Role::IsoAdmin]).unwrap().allows(Scope::KeysWrite));
        assert_eq!(iso_scopes(&[Role::ShopManager]), None);
        assert_eq!(iso_scopes(&[Role::Merchant, Role::Store]), None);
    }
}
