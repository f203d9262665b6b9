//! The roles of the site's users. What a role may do stands in the table of [`Capability`].

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::Capability;

macro_rules! roles {
    ($($variant:ident = $name:literal, $display:literal;)*) => {
        /// What a user is on the site. A user may have several roles.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $(#[doc = $display] $variant,)*
        }

        impl Role {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in URLs, answers and the database.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The name that people read.
            pub const fn display_name(self) -> &'static str {
                match self { $(Self::$variant => $display,)* }
            }
        }
    };
}

roles! {
    Administrator = "administrator", "Administrator";
    Editor = "editor", "Editor";
    Author = "author", "Author";
    Contributor = "contributor", "Contributor";
    Subscriber = "subscriber", "Subscriber";
    Customer = "customer", "Customer";
    ShopManager = "shop_manager", "Shop manager";
    IsoAdmin = "iso_admin", "ISO administrator";
    IsoStaff = "iso_staff", "ISO staff";
    Merchant = "merchant", "Merchant";
    Store = "store", "Store";
}

static CAPABILITIES: LazyLock<BTreeMap<Role, Vec<Capability>>> = LazyLock::new(|| {
    let of = |role: Role| Capability::ALL.iter().copied().filter(|what| role.may(*what)).collect();
    Role::ALL.iter().map(|role| (*role, of(*role))).collect()
});

impl Role {
    /// Everything that the role may do, in the order of the table.
    pub fn capabilities(self) -> &'static [Capability] {
        CAPABILITIES.get(&self).map_or(&[], Vec::as_slice)
    }

    pub fn may(self, capability: Capability) -> bool {
        capability.roles().contains(&self)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|role| role.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|role| role.name()).collect();
            format!("`{text}` is not a role; use one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for role in Role::ALL {
            assert_eq!(role.name().parse(), Ok(*role));
        }
        let message = "manager".parse::<Role>().expect_err("no such role");
        assert!(message.contains("`manager`") && message.contains("shop_manager"));
    }

    /// The numbers are those of the recorded product.
    #[test]
    fn a_role_has_as_many_capabilities_as_expected() {
        let of_the_shop = 3 + 3 * 17;
        for (role, count) in [
            (Role::Administrator, 61 + of_the_shop),
            (Role::Editor, 34),
            (Role::Author, 10),
            (Role::Contributor, 5),
            (Role::Subscriber, 2),
            (Role::Customer, 1),
            (Role::ShopManager, 39 + 1 + of_the_shop),
            (Role::IsoAdmin, 1),
            (Role::IsoStaff, 1),
            (Role::Merchant, 2),
            (Role::Store, 2),
        ] {
            assert_eq!(role.capabilities().len(), count, "{role}");
            assert!(role.may(Capability::Read), "{role}");
        }
    }

    #[test]
    fn a_shop_manager_runs_the_shop_and_not_the_site() {
        let manager = Role::ShopManager;
        for name in [
            "manage_woocommerce",
            "view_woocommerce_reports",
            "delete_shop_orders",
            "read_private_shop_coupons",
            "assign_product_terms",
            "edit_others_pages",
            "moderate_comments",
            "list_users",
            "edit_users",
        ] {
            assert!(manager.may(name.parse().unwrap()), "{name}");
        }
        for name in [
            "manage_options",
            "install_plugins",
            "activate_plugins",
            "switch_themes",
            "promote_users",
            "create_users",
            "delete_users",
            "unfiltered_html",
        ] {
            assert!(!manager.may(name.parse().unwrap()), "{name}");
        }
    }

    #[test]
    fn the_shop_is_closed_to_those_who_only_write() {
        for role in [Role::Editor, Role::Author, Role::Customer, Role::Subscriber] {
            let of_the_shop = |what: &&Capability| what.roles() == Capability::EditProducts.roles();
            assert_eq!(role.capabilities().iter().find(of_the_shop), None, "{role}");
        }
        assert!(Role::Editor.may(Capability::ModerateComments), "editors read reviews");
    }
}
