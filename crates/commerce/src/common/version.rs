//! The versions of the commerce interface: the same records in shapes that differ a little.

use frame::Names;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    One,
    Two,
    Three,
    /// What analytics mounts: the third version with additions.
    Analytics,
}

impl Version {
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Three, Self::Analytics];

    pub fn namespace(self, names: &Names) -> &str {
        match self {
            Self::One => &names.commerce_v1,
            Self::Two => &names.commerce_v2,
            Self::Three => &names.commerce_v3,
            Self::Analytics => &names.analytics,
        }
    }
}
