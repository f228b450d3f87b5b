//! Markdown, read once for all platforms: text whose every stretch knows the path of styles that lead to it. That is
//! the tree of the Markdown with the depth bounded, and in the form that can be cut: the length that counts is the
//! length of the text, a cut hits no markup, and whoever writes it opens and closes what a stretch needs.

mod cut;
mod dialect;
mod fence;
mod flanking;
mod formula;
mod literal;
mod mention;
mod read;
mod text;
mod writer;

pub use dialect::{Dialect, Link, LinkKind, Tables};
pub use literal::push_literal;
pub use mention::mention;
pub use read::read;
pub use text::{StyledText, Tag};

pub use crate::table::Table;
