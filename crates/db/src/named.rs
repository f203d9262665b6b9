//! Columns whose text is one of a few names: an enum here, so that no other text gets in.

/// Declares an enum of names, with what makes it a parameter and a column.
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        $type:ident { $($(#[$variant_about:meta])* $variant:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$variant_about])* $variant,)+
        }

        impl $type {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one of this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == name)
            }
        }

        impl From<$type> for $crate::Val<'_> {
            fn from(value: $type) -> Self {
                Self::Text(value.as_str())
            }
        }

        impl From<$type> for $crate::filter::Param {
            fn from(value: $type) -> Self {
                Self::Text(value.as_str().to_owned())
            }
        }

        impl $crate::Column for $type {
            fn read_optional(
                row: &dyn $crate::Row,
                index: usize,
            ) -> types::Result<Option<Self>> {
                let mut found = None;
                row.look_at_text(index, &mut |name| found = Some(Self::from_name(name)))?;
                let unknown =
                    || types::Error::internal(format!("column {index} has an unknown name"));
                found.map(|one| one.ok_or_else(unknown)).transpose()
            }

            fn value(&self) -> $crate::Val<'_> {
                $crate::Val::Text(self.as_str())
            }
        }
    };
}
