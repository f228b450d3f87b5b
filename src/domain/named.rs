//! Enums whose variants have names, in rows, on pages and in config: each is one table.

/// Makes an enum of a table of variants and their names.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        pub enum $enum {
            $($(#[$doc])* $variant,)+
        }

        impl $enum {
            /// Every one, in the order of the table.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant,)+];

            /// Returns its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Reads a name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
pub(crate) use named;
