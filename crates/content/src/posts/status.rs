//! The statuses that content may have, and what each means for those who read.

/// A status.
#[derive(Debug)]
pub(crate) struct Status {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) visibility: Visibility,
    /// The item has no date of its own until it gets another status.
    pub(crate) floating_date: bool,
    /// Shown as a choice in lists.
    pub(crate) listed: bool,
    /// May be asked for by clients that write.
    pub(crate) settable: bool,
}

/// For whom items of a status are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Everybody,
    /// Work in progress: for those who may edit.
    Unfinished,
    /// For those who may read what is private.
    Few,
    Nobody,
}

impl Status {
    pub(crate) fn is_public(&self) -> bool {
        self.visibility == Visibility::Everybody
    }
}

const fn status(name: &'static str, label: &'static str) -> Status {
    Status {
        name,
        label,
        visibility: Visibility::Nobody,
        floating_date: false,
        listed: true,
        settable: true,
    }
}

pub(crate) static STATUSES: &[Status] = &[
    Status { visibility: Visibility::Everybody, ..status("publish", "Published") },
    Status { visibility: Visibility::Unfinished, ..status("future", "Scheduled") },
    Status { visibility: Visibility::Unfinished, floating_date: true, ..status("draft", "Draft") },
    Status {
        visibility: Visibility::Unfinished,
        floating_date: true,
        ..status("pending", "Pending")
    },
    Status { visibility: Visibility::Few, ..status("private", "Private") },
    Status { listed: false, settable: false, ..status("trash", "Trash") },
];

/// Statuses of orders, of which clients are told as of the others.
pub(crate) static OF_ORDERS: &[Status] = &[
    Status { settable: false, ..status("wc-pending", "Pending payment") },
    Status { settable: false, ..status("wc-processing", "Processing") },
    Status { settable: false, ..status("wc-on-hold", "On hold") },
    Status { settable: false, ..status("wc-completed", "Completed") },
    Status { settable: false, ..status("wc-cancelled", "Cancelled") },
    Status { settable: false, ..status("wc-refunded", "Refunded") },
    Status { settable: false, ..status("wc-failed", "Failed") },
    Status { listed: false, settable: false, ..status("wc-checkout-draft", "Draft") },
];

/// Every name by which a list may be asked for. Those beyond [`STATUSES`] match nothing here;
/// clients of other sites may send them.
pub(crate) const LISTABLE: &[&str] = &[
    "publish",
    "future",
    "draft",
    "pending",
    "private",
    "trash",
    "auto-draft",
    "inherit",
    "request-pending",
    "request-confirmed",
    "request-failed",
    "request-completed",
    "any",
];

/// What `any` stands for in a list: all but the trash.
pub(crate) const ANY: &[&str] = &["publish", "future", "draft", "pending", "private"];

pub(crate) const PUBLISH: &str = "publish";
pub(crate) const FUTURE: &str = "future";
pub(crate) const DRAFT: &str = "draft";
pub(crate) const PENDING: &str = "pending";
pub(crate) const PRIVATE: &str = "private";
pub(crate) const TRASH: &str = "trash";

pub(crate) fn find(name: &str) -> Option<&'static Status> {
    STATUSES.iter().find(|status| status.name == name)
}

/// The statuses that a client may give an item.
pub(crate) fn settable() -> Vec<&'static str> {
    STATUSES.iter().filter(|status| status.settable).map(|status| status.name).collect()
}

pub(crate) fn is_public(name: &str) -> bool {
    find(name).is_some_and(Status::is_public)
}

/// Whether an item of this status has no slug and no date until it leaves it.
pub(crate) fn is_unfinished(name: &str) -> bool {
    find(name).is_some_and(|status| status.floating_date)
}
