//! In what platforms differ before a letter is written: which addresses they open, and what of a link is then
//! written out; how tables look.

use std::rc::Rc;

/// What a platform makes of Markdown.
pub struct Dialect {
    /// Line breaks owed when a quote ends.
    pub behind_quote: usize,
    /// How tables look.
    pub tables: Tables,
    /// Whether the platform opens a link.
    pub opens: fn(&Link) -> bool,
    /// What stands for a link without words; `None` for nothing.
    pub stand_in: fn(&Link) -> Option<String>,
    /// Whether the address stands behind these words, too.
    pub explains: fn(&Link, &str) -> bool,
}

/// How tables look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Fixed-width text, aligned.
    Aligned,
    /// A line for each row.
    Rows,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it leads.
    pub url: Rc<str>,
    /// How it was written.
    pub kind: LinkKind,
    /// It stands inside another.
    pub nested: bool,
    /// It stands in a table.
    pub in_table: bool,
    /// The platform opens it.
    pub live: bool,
}

/// How a link was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[words](address)`
    Words,
    /// `<address>`
    Bare,
    /// `![words](address)`
    Image,
}
