//! What a user of the site may do, by the names that existing clients know.
//!
//! One table says for every capability which roles bear it; what a role may do is read from it.
//! What depends on an object (is this post mine, is that user a customer) is decided where the
//! object is known; **a capability alone never looks at data**.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::Role;

use Role::{
    Administrator, Author, Contributor, Customer, Editor, IsoAdmin, IsoStaff, Merchant,
    ShopManager, Store, Subscriber,
};

const NOBODY: &[Role] = &[];
const ADMINISTRATORS: &[Role] = &[Administrator];
/// Those who run the shop.
const SHOP: &[Role] = &[Administrator, ShopManager];
/// Those who read figures: of the shop, or of the sales that they are bound to.
const REPORT_READERS: &[Role] = &[Administrator, ShopManager, Merchant, Store];
/// Those who may write markup that is not cleaned.
const UNFILTERED: &[Role] = &[Administrator, Editor];
const EDITORS: &[Role] = &[Administrator, ShopManager, Editor];
const AUTHORS: &[Role] = &[Administrator, ShopManager, Editor, Author];
const WRITERS: &[Role] = &[Administrator, ShopManager, Editor, Author, Contributor];
const LEVEL_ZERO: &[Role] = &[Administrator, ShopManager, Editor, Author, Contributor, Subscriber];
const EVERYBODY: &[Role] = &[
    Administrator,
    ShopManager,
    Editor,
    Author,
    Contributor,
    Customer,
    Subscriber,
    IsoAdmin,
    IsoStaff,
    Merchant,
    Store,
];

macro_rules! capabilities {
    ($($variant:ident = $name:literal, $roles:ident;)*) => {
        /// One thing that a user may be allowed to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Capability {
            $($variant,)*
        }

        impl Capability {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The roles that bear it.
            pub const fn roles(self) -> &'static [Role] {
                match self { $(Self::$variant => $roles,)* }
            }
        }
    };
}

capabilities! {
    // Everybody who can sign in.
    Read = "read", EVERYBODY;
    // Posts.
    EditPosts = "edit_posts", WRITERS;
    DeletePosts = "delete_posts", WRITERS;
    PublishPosts = "publish_posts", AUTHORS;
    EditPublishedPosts = "edit_published_posts", AUTHORS;
    DeletePublishedPosts = "delete_published_posts", AUTHORS;
    UploadFiles = "upload_files", AUTHORS;
    EditOthersPosts = "edit_others_posts", EDITORS;
    EditPrivatePosts = "edit_private_posts", EDITORS;
    ReadPrivatePosts = "read_private_posts", EDITORS;
    DeleteOthersPosts = "delete_others_posts", EDITORS;
    DeletePrivatePosts = "delete_private_posts", EDITORS;
    // Pages, and what goes with them.
    EditPages = "edit_pages", EDITORS;
    PublishPages = "publish_pages", EDITORS;
    EditOthersPages = "edit_others_pages", EDITORS;
    EditPublishedPages = "edit_published_pages", EDITORS;
    EditPrivatePages = "edit_private_pages", EDITORS;
    ReadPrivatePages = "read_private_pages", EDITORS;
    DeletePages = "delete_pages", EDITORS;
    DeleteOthersPages = "delete_others_pages", EDITORS;
    DeletePublishedPages = "delete_published_pages", EDITORS;
    DeletePrivatePages = "delete_private_pages", EDITORS;
    ManageCategories = "manage_categories", EDITORS;
    ManageLinks = "manage_links", EDITORS;
    ModerateComments = "moderate_comments", EDITORS;
    UnfilteredHtml = "unfiltered_html", UNFILTERED;
    // Users.
    ListUsers = "list_users", SHOP;
    EditUsers = "edit_users", SHOP;
    CreateUsers = "create_users", ADMINISTRATORS;
    DeleteUsers = "delete_users", ADMINISTRATORS;
    PromoteUsers = "promote_users", ADMINISTRATORS;
    RemoveUsers = "remove_users", ADMINISTRATORS;
    // The site.
    EditThemeOptions = "edit_theme_options", SHOP;
    Export = "export", SHOP;
    Import = "import", SHOP;
    ManageOptions = "manage_options", ADMINISTRATORS;
    EditDashboard = "edit_dashboard", ADMINISTRATORS;
    EditFiles = "edit_files", ADMINISTRATORS;
    UnfilteredUpload = "unfiltered_upload", ADMINISTRATORS;
    UpdateCore = "update_core", ADMINISTRATORS;
    SwitchThemes = "switch_themes", ADMINISTRATORS;
    EditThemes = "edit_themes", ADMINISTRATORS;
    InstallThemes = "install_themes", ADMINISTRATORS;
    UpdateThemes = "update_themes", ADMINISTRATORS;
    DeleteThemes = "delete_themes", ADMINISTRATORS;
    ActivatePlugins = "activate_plugins", ADMINISTRATORS;
    EditPlugins = "edit_plugins", ADMINISTRATORS;
    InstallPlugins = "install_plugins", ADMINISTRATORS;
    UpdatePlugins = "update_plugins", ADMINISTRATORS;
    DeletePlugins = "delete_plugins", ADMINISTRATORS;
    // The shop.
    ManageWoocommerce = "manage_woocommerce", SHOP;
    ViewWoocommerceReports = "view_woocommerce_reports", REPORT_READERS;
    CreateCustomers = "create_customers", SHOP;
    EditProduct = "edit_product", SHOP;
    ReadProduct = "read_product", SHOP;
    DeleteProduct = "delete_product", SHOP;
    EditProducts = "edit_products", SHOP;
    EditOthersProducts = "edit_others_products", SHOP;
    PublishProducts = "publish_products", SHOP;
    ReadPrivateProducts = "read_private_products", SHOP;
    DeleteProducts = "delete_products", SHOP;
    DeletePrivateProducts = "delete_private_products", SHOP;
    DeletePublishedProducts = "delete_published_products", SHOP;
    DeleteOthersProducts = "delete_others_products", SHOP;
    EditPrivateProducts = "edit_private_products", SHOP;
    EditPublishedProducts = "edit_published_products", SHOP;
    ManageProductTerms = "manage_product_terms", SHOP;
    EditProductTerms = "edit_product_terms", SHOP;
    DeleteProductTerms = "delete_product_terms", SHOP;
    AssignProductTerms = "assign_product_terms", SHOP;
    EditShopOrder = "edit_shop_order", SHOP;
    ReadShopOrder = "read_shop_order", SHOP;
    DeleteShopOrder = "delete_shop_order", SHOP;
    EditShopOrders = "edit_shop_orders", SHOP;
    EditOthersShopOrders = "edit_others_shop_orders", SHOP;
    PublishShopOrders = "publish_shop_orders", SHOP;
    ReadPrivateShopOrders = "read_private_shop_orders", SHOP;
    DeleteShopOrders = "delete_shop_orders", SHOP;
    DeletePrivateShopOrders = "delete_private_shop_orders", SHOP;
    DeletePublishedShopOrders = "delete_published_shop_orders", SHOP;
    DeleteOthersShopOrders = "delete_others_shop_orders", SHOP;
    EditPrivateShopOrders = "edit_private_shop_orders", SHOP;
    EditPublishedShopOrders = "edit_published_shop_orders", SHOP;
    ManageShopOrderTerms = "manage_shop_order_terms", SHOP;
    EditShopOrderTerms = "edit_shop_order_terms", SHOP;
    DeleteShopOrderTerms = "delete_shop_order_terms", SHOP;
    AssignShopOrderTerms = "assign_shop_order_terms", SHOP;
    EditShopCoupon = "edit_shop_coupon", SHOP;
    ReadShopCoupon = "read_shop_coupon", SHOP;
    DeleteShopCoupon = "delete_shop_coupon", SHOP;
    EditShopCoupons = "edit_shop_coupons", SHOP;
    EditOthersShopCoupons = "edit_others_shop_coupons", SHOP;
    PublishShopCoupons = "publish_shop_coupons", SHOP;
    ReadPrivateShopCoupons = "read_private_shop_coupons", SHOP;
    DeleteShopCoupons = "delete_shop_coupons", SHOP;
    DeletePrivateShopCoupons = "delete_private_shop_coupons", SHOP;
    DeletePublishedShopCoupons = "delete_published_shop_coupons", SHOP;
    DeleteOthersShopCoupons = "delete_others_shop_coupons", SHOP;
    EditPrivateShopCoupons = "edit_private_shop_coupons", SHOP;
    EditPublishedShopCoupons = "edit_published_shop_coupons", SHOP;
    ManageShopCouponTerms = "manage_shop_coupon_terms", SHOP;
    EditShopCouponTerms = "edit_shop_coupon_terms", SHOP;
    DeleteShopCouponTerms = "delete_shop_coupon_terms", SHOP;
    AssignShopCouponTerms = "assign_shop_coupon_terms", SHOP;
    // Asked for by clients, given to no role.
    ViewAdminDashboard = "view_admin_dashboard", NOBODY;
    // The numbered levels that old clients still read.
    Level0 = "level_0", LEVEL_ZERO;
    Level1 = "level_1", WRITERS;
    Level2 = "level_2", AUTHORS;
    Level3 = "level_3", EDITORS;
    Level4 = "level_4", EDITORS;
    Level5 = "level_5", EDITORS;
    Level6 = "level_6", EDITORS;
    Level7 = "level_7", EDITORS;
    Level8 = "level_8", SHOP;
    Level9 = "level_9", SHOP;
    Level10 = "level_10", ADMINISTRATORS;
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|capability| capability.name() == text);
        found.ok_or_else(|| format!("`{text}` is not a capability"))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_variant_in_lower_case() {
        for capability in Capability::ALL {
            let variant = format!("{capability:?}").to_lowercase();
            assert_eq!(capability.name().replace('_', ""), variant);
            assert_eq!(capability.name().parse(), Ok(*capability));
        }
        assert!("edit_post".parse::<Capability>().is_err());
    }

    /// The numbers are those of the recorded product.
    #[test]
    fn a_role_has_as_many_capabilities_as_expected() {
        let of_the_shop = 3 + 3 * 17;
        for (role, count) in [
            (Administrator, 61 + of_the_shop),
            (Editor, 34),
            (Author, 10),
            (Contributor, 5),
            (Subscriber, 2),
            (Customer, 1),
            (ShopManager, 39 + 1 + of_the_shop),
            (IsoAdmin, 1),
            (IsoStaff, 1),
            (Merchant, 2),
            (Store, 2),
        ] {
            assert_eq!(role.capabilities().len(), count, "{role}");
            assert!(role.may(Capability::Read), "{role}");
        }
    }

    #[test]
    fn a_shop_manager_runs_the_shop_and_not_the_site() {
        let manager = ShopManager;
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
        for role in [Editor, Author, Customer, Subscriber] {
            let of_the_shop = |what: &&Capability| what.roles() == Capability::EditProducts.roles();
            assert_eq!(role.capabilities().iter().find(of_the_shop), None, "{role}");
        }
        assert!(Editor.may(Capability::ModerateComments), "editors read reviews");
    }
}
