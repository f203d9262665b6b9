//! The kinds of content, as data: posts, pages, products and what editors make of blocks. **What
//! differs between them stands here and nowhere else.**

use types::Capability;
use types::Capability as May;

use super::taxonomy::{
    CATEGORY, MENU, PATTERN_CATEGORY, PRODUCT_BRAND, PRODUCT_CATEGORY, PRODUCT_TAG, TAG, Taxonomy,
};

/// A kind of content.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own about a kind")]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Its part of REST paths.
    pub(crate) base: &'static str,
    pub(crate) label: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) description: &'static str,
    pub(crate) icon: Option<&'static str>,
    /// Items lie within each other, and have an order among their siblings.
    pub(crate) hierarchical: bool,
    /// Readers see its items as pages of the site.
    pub(crate) viewable: bool,
    /// Where readers find the list of its items.
    pub(crate) archive: Option<&'static str>,
    /// Administration shows it.
    pub(crate) administered: bool,
    /// The query parameters of an address without a slug, up to the number.
    pub(crate) id_query: &'static str,
    /// What stands for the slug in the template of an address.
    pub(crate) slug_tag: &'static str,
    /// What clients are told that it supports.
    pub(crate) supports: &'static [&'static str],
    /// Which of the fields that not every kind has its items have.
    pub(crate) fields: &'static [Field],
    /// The members of the field `meta`, where there is one.
    pub(crate) meta: &'static [&'static str],
    /// Texts are for editors: they are shown as they are stored, and never rendered.
    pub(crate) raw: bool,
    /// Its content is shown with items of others that embed it.
    pub(crate) embeds_content: bool,
    pub(crate) may: Rights,
    pub(crate) taxonomies: &'static [&'static Taxonomy],
}

/// A field that items of some kinds have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Author,
    Excerpt,
    Picture,
    /// Whether comments and notices of links are taken.
    Discussion,
    Format,
    Sticky,
    Order,
    Meta,
    /// Texts of earlier versions are kept.
    Revisions,
}

/// Who may do what with items of a kind.
#[derive(Debug)]
pub(crate) struct Rights {
    /// Reading what is published; nothing where everybody may.
    pub(crate) read: Option<Capability>,
    pub(crate) create: Capability,
    pub(crate) edit: Capability,
    pub(crate) edit_others: Capability,
    pub(crate) edit_published: Capability,
    pub(crate) edit_private: Capability,
    pub(crate) publish: Capability,
    pub(crate) read_private: Capability,
    pub(crate) delete: Capability,
    pub(crate) delete_others: Capability,
    pub(crate) delete_published: Capability,
    pub(crate) delete_private: Capability,
}

impl Rights {
    /// One capability is needed for everything but reading.
    const fn all(needed: Capability) -> Self {
        Self {
            read: None,
            create: needed,
            edit: needed,
            edit_others: needed,
            edit_published: needed,
            edit_private: needed,
            publish: needed,
            read_private: needed,
            delete: needed,
            delete_others: needed,
            delete_published: needed,
            delete_private: needed,
        }
    }
}

const fn kind(
    (name, base): (&'static str, &'static str),
    (label, singular): (&'static str, &'static str),
    may: Rights,
) -> Kind {
    Kind {
        name,
        base,
        label,
        singular,
        description: "",
        icon: None,
        hierarchical: false,
        viewable: false,
        archive: None,
        administered: false,
        id_query: "p=",
        slug_tag: "%postname%",
        supports: &[],
        fields: &[],
        meta: &[],
        raw: false,
        embeds_content: false,
        may,
        taxonomies: &[],
    }
}

const OF_POSTS: Rights = Rights {
    read: None,
    create: May::EditPosts,
    edit: May::EditPosts,
    edit_others: May::EditOthersPosts,
    edit_published: May::EditPublishedPosts,
    edit_private: May::EditPrivatePosts,
    publish: May::PublishPosts,
    read_private: May::ReadPrivatePosts,
    delete: May::DeletePosts,
    delete_others: May::DeleteOthersPosts,
    delete_published: May::DeletePublishedPosts,
    delete_private: May::DeletePrivatePosts,
};

pub(crate) static POST: Kind = Kind {
    icon: Some("dashicons-admin-post"),
    viewable: true,
    administered: true,
    supports: &[
        "title",
        "editor",
        "author",
        "thumbnail",
        "excerpt",
        "trackbacks",
        "custom-fields",
        "comments",
        "revisions",
        "post-formats",
        "autosave",
    ],
    fields: &[
        Field::Author,
        Field::Excerpt,
        Field::Picture,
        Field::Discussion,
        Field::Format,
        Field::Meta,
        Field::Sticky,
        Field::Revisions,
    ],
    meta: &["footnotes"],
    taxonomies: &[&CATEGORY, &TAG],
    ..kind(("post", "posts"), ("Posts", "Post"), OF_POSTS)
};

pub(crate) static PAGE: Kind = Kind {
    icon: Some("dashicons-admin-page"),
    hierarchical: true,
    viewable: true,
    administered: true,
    id_query: "page_id=",
    slug_tag: "%pagename%",
    supports: &[
        "title",
        "editor",
        "author",
        "thumbnail",
        "page-attributes",
        "custom-fields",
        "comments",
        "revisions",
        "autosave",
    ],
    fields: &[
        Field::Author,
        Field::Excerpt,
        Field::Picture,
        Field::Discussion,
        Field::Order,
        Field::Meta,
        Field::Revisions,
    ],
    meta: &["footnotes"],
    ..kind(
        ("page", "pages"),
        ("Pages", "Page"),
        Rights {
            read: None,
            create: May::EditPages,
            edit: May::EditPages,
            edit_others: May::EditOthersPages,
            edit_published: May::EditPublishedPages,
            edit_private: May::EditPrivatePages,
            publish: May::PublishPages,
            read_private: May::ReadPrivatePages,
            delete: May::DeletePages,
            delete_others: May::DeleteOthersPages,
            delete_published: May::DeletePublishedPages,
            delete_private: May::DeletePrivatePages,
        },
    )
};

/// Texts that editors put together from blocks once and use in many places.
pub(crate) static BLOCK: Kind = Kind {
    administered: true,
    id_query: "post_type=wp_block&p=",
    supports: &["title", "excerpt", "editor", "revisions", "custom-fields", "autosave"],
    fields: &[Field::Excerpt, Field::Meta, Field::Revisions],
    meta: &["footnotes"],
    raw: true,
    taxonomies: &[&PATTERN_CATEGORY],
    ..kind(
        ("wp_block", "blocks"),
        ("Patterns", "Pattern"),
        Rights { read: Some(May::EditPosts), create: May::PublishPosts, ..OF_POSTS },
    )
};

/// Menus that are made of blocks.
pub(crate) static NAVIGATION: Kind = Kind {
    administered: true,
    description: "Menus that are made of blocks.",
    supports: &["title", "editor", "revisions", "autosave"],
    fields: &[Field::Revisions],
    embeds_content: true,
    ..kind(
        ("wp_navigation", "navigation"),
        ("Navigation Menus", "Navigation Menu"),
        Rights::all(May::EditThemeOptions),
    )
};

/// The shop's products; a source keeps them.
pub(crate) static PRODUCT: Kind = Kind {
    description: "The products of the store.",
    icon: Some("dashicons-archive"),
    viewable: true,
    archive: Some("shop"),
    administered: true,
    id_query: "post_type=product&p=",
    slug_tag: "%pagename%",
    supports: &[
        "title",
        "editor",
        "excerpt",
        "thumbnail",
        "custom-fields",
        "publicize",
        "wpcom-markdown",
        "comments",
        "autosave",
    ],
    fields: &[Field::Excerpt, Field::Picture, Field::Discussion, Field::Meta],
    taxonomies: &[&PRODUCT_BRAND, &PRODUCT_CATEGORY, &PRODUCT_TAG],
    ..kind(
        ("product", "product"),
        ("Products", "Product"),
        Rights {
            read: None,
            create: May::EditProducts,
            edit: May::EditProducts,
            edit_others: May::EditOthersProducts,
            edit_published: May::EditPublishedProducts,
            edit_private: May::EditPrivateProducts,
            publish: May::PublishProducts,
            read_private: May::ReadPrivateProducts,
            delete: May::DeleteProducts,
            delete_others: May::DeleteOthersProducts,
            delete_published: May::DeletePublishedProducts,
            delete_private: May::DeletePrivateProducts,
        },
    )
};

/// Entries of menus.
pub(crate) static MENU_ITEM: Kind = Kind {
    supports: &["title", "editor", "autosave"],
    fields: &[Field::Order],
    taxonomies: &[&MENU],
    ..kind(
        ("nav_menu_item", "menu-items"),
        ("Navigation Menu Items", "Navigation Menu Item"),
        Rights { read: Some(May::EditPosts), ..Rights::all(May::EditThemeOptions) },
    )
};

pub(crate) static TEMPLATE: Kind = Kind {
    description: "Templates of the pages of the site.",
    supports: &["title", "slug", "excerpt", "editor", "revisions", "author", "autosave"],
    fields: &[Field::Revisions],
    ..kind(
        ("wp_template", "templates"),
        ("Templates", "Template"),
        Rights { read: Some(May::EditThemeOptions), ..Rights::all(May::EditThemeOptions) },
    )
};

pub(crate) static TEMPLATE_PART: Kind = Kind {
    description: "Parts that templates have in common.",
    supports: &["title", "slug", "excerpt", "editor", "revisions", "author", "autosave"],
    fields: &[Field::Revisions],
    ..kind(
        ("wp_template_part", "template-parts"),
        ("Template Parts", "Template Part"),
        Rights { read: Some(May::EditThemeOptions), ..Rights::all(May::EditThemeOptions) },
    )
};

pub(crate) static GLOBAL_STYLES: Kind = Kind {
    description: "Styles that hold for the whole site.",
    supports: &["title", "editor", "revisions"],
    fields: &[Field::Revisions],
    ..kind(
        ("wp_global_styles", "global-styles"),
        ("Global Styles", "Global Styles"),
        Rights {
            read: Some(May::EditPosts),
            publish: May::PublishPosts,
            ..Rights::all(May::EditThemeOptions)
        },
    )
};

pub(crate) static FONT_FAMILY: Kind = Kind {
    supports: &["title"],
    ..kind(
        ("wp_font_family", "font-families"),
        ("Font Families", "Font Family"),
        Rights { read: Some(May::EditThemeOptions), ..Rights::all(May::EditThemeOptions) },
    )
};

pub(crate) static FONT_FACE: Kind = Kind {
    supports: &["title"],
    ..kind(
        ("wp_font_face", "font-families/(?P<font_family_id>[\\d]+)/font-faces"),
        ("Font Faces", "Font Face"),
        Rights { read: Some(May::EditThemeOptions), ..Rights::all(May::EditThemeOptions) },
    )
};

/// Files; their routes are with the media.
pub(crate) static ATTACHMENT: Kind = Kind {
    icon: Some("dashicons-admin-media"),
    viewable: true,
    administered: true,
    supports: &["title", "author", "comments"],
    ..kind(("attachment", "media"), ("Media", "Media"), OF_POSTS)
};

/// The kinds whose items have the routes of posts.
pub(crate) static KINDS: &[&Kind] = &[&POST, &PAGE, &BLOCK, &NAVIGATION, &PRODUCT];
/// The kinds that readers search.
pub(crate) static SEARCHED_KINDS: &[&Kind] = &[&POST, &PAGE, &PRODUCT];
/// All kinds, in the order in which clients are told of them.
pub(crate) static ALL_KINDS: &[&Kind] = &[
    &POST,
    &PAGE,
    &ATTACHMENT,
    &MENU_ITEM,
    &BLOCK,
    &TEMPLATE,
    &TEMPLATE_PART,
    &GLOBAL_STYLES,
    &NAVIGATION,
    &FONT_FAMILY,
    &FONT_FACE,
    &PRODUCT,
];
/// Kinds that the site has and tells nobody about.
pub(crate) const UNLISTED_KINDS: &[&str] = &[
    "revision",
    "custom_css",
    "customize_changeset",
    "oembed_cache",
    "user_request",
    "product_variation",
    "shop_order",
    "shop_order_refund",
    "shop_coupon",
    "shop_order_placehold",
];
/// The formats that a post may have; the first is that of posts without one.
pub(crate) const FORMATS: &[&str] =
    &["standard", "aside", "chat", "gallery", "link", "image", "quote", "status", "video", "audio"];
pub(crate) const STANDARD_FORMAT: &str = "standard";

/// The kind with this name, if it is one of ours.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    ALL_KINDS.iter().copied().find(|kind| kind.name == name)
}

impl Kind {
    pub(crate) fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }
}

impl Rights {
    /// The names that clients know, with what each needs here.
    pub(crate) fn named(&self) -> [(&'static str, Capability); 12] {
        [
            ("edit_posts", self.edit),
            ("edit_others_posts", self.edit_others),
            ("delete_posts", self.delete),
            ("publish_posts", self.publish),
            ("read_private_posts", self.read_private),
            ("read", self.read.unwrap_or(May::Read)),
            ("delete_private_posts", self.delete_private),
            ("delete_published_posts", self.delete_published),
            ("delete_others_posts", self.delete_others),
            ("edit_private_posts", self.edit_private),
            ("edit_published_posts", self.edit_published),
            ("create_posts", self.create),
        ]
    }
}
