//! The roles of the site's users. What a role may do stands in the table of
//! [`Capability`](crate::Capability).

use std::fmt;
use std::str::FromStr;

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
}
