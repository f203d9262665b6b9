//! How a fact is declared: its members, and among them the texts and numbers that reports filter,
//! group and sum by. Columns of chunks, dictionaries, the file and its version follow from the
//! declaration, and so do the columns of tables in ClickHouse.

use types::Amount;

/// A number of a fact as columns keep it: whole, or an amount in millionths.
pub(super) trait Number: Copy {
    fn to_column(self) -> i64;
    fn of_column(value: i64) -> Self;
}

impl Number for i64 {
    fn to_column(self) -> i64 {
        self
    }

    fn of_column(value: i64) -> Self {
        value
    }
}

impl Number for Amount {
    fn to_column(self) -> i64 {
        self.as_millionths()
    }

    fn of_column(value: i64) -> Self {
        Self::from_millionths(value)
    }
}

/// Declares a fact: first its plain members, then those that are columns of their own. A column is
/// one line: the name that reports know it by, the member, and how it comes out of the record. One
/// without a value is set by what derives the fact.
macro_rules! fact {
    (
        $(#[$about:meta])*
        $fact:ident from $source:ty {
            $($(#[$plain_about:meta])* $plain:ident: $plain_type:ty,)*
        }
        $(texts: $(#[$texts_about:meta])* $texts:ident {
            $($(#[$text_about:meta])* $text:ident => $text_member:ident = $text_value:expr;)*
        })?
        numbers: $(#[$numbers_about:meta])* $numbers:ident {
            $($(#[$number_about:meta])*
            $number:ident => $member:ident: $type:ty $(= $value:expr)?;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $fact {
            $($(#[$plain_about])* pub $plain: $plain_type,)*
            $($($(#[$text_about])* pub $text_member: Arc<str>,)*)?
            $($(#[$number_about])* pub $member: $type,)*
        }

        impl $fact {
            /// What the record says of the columns.
            pub(crate) fn of(source: &$source) -> Self {
                Self {
                    $($($text_member: {
                        let value: fn(&$source) -> Arc<str> = $text_value;
                        value(source)
                    },)*)?
                    $($($member: {
                        let value: fn(&$source) -> $type = $value;
                        value(source)
                    },)?)*
                    ..Self::default()
                }
            }

            /// The names of its columns, by which a file of other ones is known.
            pub(super) const COLUMNS: &[&str] = &[
                $($(stringify!($text_member),)*)?
                $(stringify!($member),)*
            ];
        }

        $(columns! {
            $(#[$texts_about])*
            $texts { $($text,)* }
        }

        impl $texts {
            /// The name of its column.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$text => stringify!($text_member),)* }
            }

            pub fn of(self, fact: &$fact) -> &Arc<str> {
                match self { $(Self::$text => &fact.$text_member,)* }
            }

            pub(crate) fn set(self, fact: &mut $fact, text: Arc<str>) {
                match self { $(Self::$text => fact.$text_member = text,)* }
            }
        })?

        columns! {
            $(#[$numbers_about])*
            $numbers { $($number,)* }
        }

        impl $numbers {
            /// The name of its column.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$number => stringify!($member),)* }
            }

            /// Its value: whole, or in millionths.
            pub fn of(self, fact: &$fact) -> i64 {
                match self { $(Self::$number => fact.$member.to_column(),)* }
            }

            pub(crate) fn set(self, fact: &mut $fact, value: i64) {
                match self { $(Self::$number => fact.$member = Number::of_column(value),)* }
            }
        }
    };
}
pub(super) use fact;

/// The columns of one kind.
macro_rules! columns {
    ($(#[$about:meta])* $name:ident { $($variant:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
            pub(super) const COUNT: usize = Self::ALL.len();

            /// Its place among all.
            pub(super) fn index(self) -> usize {
                Self::ALL.iter().position(|own| *own == self).unwrap_or_default()
            }
        }
    };
}
pub(super) use columns;
