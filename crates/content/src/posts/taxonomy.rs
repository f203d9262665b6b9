//! The taxonomies by which content is grouped, as data: categories, tags, menus, and those of
//! patterns and products. **What differs between them stands here and nowhere else.**

use types::Capability;
use types::Capability as May;

/// A way of grouping items.
#[derive(Debug)]
pub(crate) struct Taxonomy {
    pub(crate) name: &'static str,
    /// Its part of REST paths, and the field of an item that lists its terms.
    pub(crate) base: &'static str,
    /// The title of its schema, and the start of class names.
    pub(crate) word: &'static str,
    /// Its part of public addresses; nothing where readers see no archives of it.
    pub(crate) path: Option<&'static str>,
    pub(crate) label: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) hierarchical: bool,
    /// Terms have an order of their own.
    pub(crate) ordered: bool,
    /// The names of its capabilities, such as `categories` of `edit_categories`.
    pub(crate) plural: &'static str,
    /// Terms are menus: they have places in a theme, and no archives.
    pub(crate) of_menus: bool,
    /// The option that names the term of items that bear none.
    pub(crate) default_option: Option<&'static str>,
    /// Reading terms; nothing where everybody may.
    pub(crate) read: Option<Capability>,
    /// Creating, changing and deleting terms.
    pub(crate) manage: Capability,
    /// Putting terms on items.
    pub(crate) assign: Capability,
}

const fn taxonomy(
    name: &'static str,
    (label, singular): (&'static str, &'static str),
    manage: Capability,
    assign: Capability,
) -> Taxonomy {
    Taxonomy {
        name,
        base: name,
        word: name,
        path: None,
        label,
        singular,
        hierarchical: false,
        ordered: false,
        plural: "post_tags",
        of_menus: false,
        default_option: None,
        read: None,
        manage,
        assign,
    }
}

pub(crate) static CATEGORY: Taxonomy = Taxonomy {
    base: "categories",
    path: Some("category"),
    hierarchical: true,
    plural: "categories",
    default_option: Some("default_category"),
    ..taxonomy("category", ("Categories", "Category"), May::ManageCategories, May::EditPosts)
};

pub(crate) static TAG: Taxonomy = Taxonomy {
    base: "tags",
    word: "tag",
    path: Some("tag"),
    ..taxonomy("post_tag", ("Tags", "Tag"), May::ManageCategories, May::EditPosts)
};

pub(crate) static MENU: Taxonomy = Taxonomy {
    base: "menus",
    of_menus: true,
    plural: "nav_menus",
    read: Some(May::EditPosts),
    ..taxonomy(
        "nav_menu",
        ("Navigation Menus", "Navigation Menu"),
        May::EditThemeOptions,
        May::EditThemeOptions,
    )
};

pub(crate) static PATTERN_CATEGORY: Taxonomy = Taxonomy {
    plural: "categories",
    ..taxonomy(
        "wp_pattern_category",
        ("Pattern Categories", "Pattern Category"),
        May::ManageCategories,
        May::EditPosts,
    )
};

pub(crate) static PRODUCT_BRAND: Taxonomy = Taxonomy {
    path: Some("brand"),
    hierarchical: true,
    plural: "product_terms",
    ..taxonomy(
        "product_brand",
        ("Brands", "Brand"),
        May::ManageProductTerms,
        May::AssignProductTerms,
    )
};

pub(crate) static PRODUCT_CATEGORY: Taxonomy = Taxonomy {
    path: Some("product-category"),
    hierarchical: true,
    ordered: true,
    plural: "product_terms",
    default_option: Some("default_product_cat"),
    ..taxonomy(
        "product_cat",
        ("Product categories", "Category"),
        May::ManageProductTerms,
        May::AssignProductTerms,
    )
};

pub(crate) static PRODUCT_TAG: Taxonomy = Taxonomy {
    path: Some("product-tag"),
    plural: "product_terms",
    ..taxonomy(
        "product_tag",
        ("Product tags", "Tag"),
        May::ManageProductTerms,
        May::AssignProductTerms,
    )
};

/// The taxonomies whose terms have the usual routes.
pub(crate) static TAXONOMIES: &[&Taxonomy] =
    &[&CATEGORY, &TAG, &MENU, &PATTERN_CATEGORY, &PRODUCT_BRAND, &PRODUCT_CATEGORY, &PRODUCT_TAG];
/// The taxonomies whose terms readers search.
pub(crate) static SEARCHED_TAXONOMIES: &[&Taxonomy] =
    &[&CATEGORY, &TAG, &PRODUCT_BRAND, &PRODUCT_CATEGORY, &PRODUCT_TAG];
/// All taxonomies, in the order in which clients are told of them.
pub(crate) static ALL_TAXONOMIES: &[&Taxonomy] =
    &[&CATEGORY, &TAG, &MENU, &PATTERN_CATEGORY, &PRODUCT_BRAND, &PRODUCT_CATEGORY, &PRODUCT_TAG];
/// Taxonomies that the site has and tells nobody about; those of attributes begin with the last.
pub(crate) const UNLISTED_TAXONOMIES: &[&str] = &[
    "link_category",
    "post_format",
    "wp_theme",
    "wp_template_part_area",
    "product_type",
    "product_visibility",
    "product_shipping_class",
];
pub(crate) const ATTRIBUTE_TAXONOMY: &str = "pa_";
