//! The kinds of content and the taxonomies that group them, as data: posts and pages, categories
//! and tags. **What differs between them stands here and nowhere else.**

use types::Capability;
use types::Capability as May;

/// A kind of content.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Its part of REST paths.
    pub(crate) base: &'static str,
    pub(crate) label: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) icon: &'static str,
    /// Items lie within each other, and have an order among their siblings.
    pub(crate) hierarchical: bool,
    /// The query parameter of an address without a slug.
    pub(crate) id_parameter: &'static str,
    /// What stands for the slug in the template of an address.
    pub(crate) slug_tag: &'static str,
    pub(crate) supports: &'static [&'static str],
    pub(crate) may: Rights,
    pub(crate) taxonomies: &'static [&'static Taxonomy],
}

/// Who may do what with items of a kind.
#[derive(Debug)]
pub(crate) struct Rights {
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

/// A way of grouping items.
#[derive(Debug)]
pub(crate) struct Taxonomy {
    pub(crate) name: &'static str,
    /// Its part of REST paths, and the field of an item that lists its terms.
    pub(crate) base: &'static str,
    /// The title of its schema, its part of public addresses, and the start of class names.
    pub(crate) word: &'static str,
    pub(crate) label: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) hierarchical: bool,
    /// Creating, changing and deleting terms.
    pub(crate) manage: Capability,
    /// Putting terms on items.
    pub(crate) assign: Capability,
}

pub(crate) static CATEGORY: Taxonomy = Taxonomy {
    name: "category",
    base: "categories",
    word: "category",
    label: "Categories",
    singular: "Category",
    hierarchical: true,
    manage: May::ManageCategories,
    assign: May::EditPosts,
};

pub(crate) static TAG: Taxonomy = Taxonomy {
    name: "post_tag",
    base: "tags",
    word: "tag",
    label: "Tags",
    singular: "Tag",
    hierarchical: false,
    manage: May::ManageCategories,
    assign: May::EditPosts,
};

pub(crate) static POST: Kind = Kind {
    name: "post",
    base: "posts",
    label: "Posts",
    singular: "Post",
    icon: "dashicons-admin-post",
    hierarchical: false,
    id_parameter: "p",
    slug_tag: "%postname%",
    supports: &[
        "title",
        "editor",
        "author",
        "thumbnail",
        "excerpt",
        "custom-fields",
        "revisions",
        "post-formats",
    ],
    may: Rights {
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
    },
    taxonomies: &[&CATEGORY, &TAG],
};

pub(crate) static PAGE: Kind = Kind {
    name: "page",
    base: "pages",
    label: "Pages",
    singular: "Page",
    icon: "dashicons-admin-page",
    hierarchical: true,
    id_parameter: "page_id",
    slug_tag: "%pagename%",
    supports: &[
        "title",
        "editor",
        "author",
        "thumbnail",
        "page-attributes",
        "custom-fields",
        "revisions",
    ],
    may: Rights {
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
    taxonomies: &[],
};

pub(crate) static KINDS: &[&Kind] = &[&POST, &PAGE];
pub(crate) static TAXONOMIES: &[&Taxonomy] = &[&CATEGORY, &TAG];

/// The formats that a post may have; the first is that of posts without one.
pub(crate) const FORMATS: &[&str] =
    &["standard", "aside", "chat", "gallery", "link", "image", "quote", "status", "video", "audio"];
pub(crate) const STANDARD_FORMAT: &str = "standard";

/// The kind with this name, if it is one of ours.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
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
            ("read", May::Read),
            ("delete_private_posts", self.delete_private),
            ("delete_published_posts", self.delete_published),
            ("delete_others_posts", self.delete_others),
            ("edit_private_posts", self.edit_private),
            ("edit_published_posts", self.edit_published),
            ("create_posts", self.edit),
        ]
    }
}
