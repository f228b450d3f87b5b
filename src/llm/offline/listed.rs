//! A tool, as the stand-in knows it.

/// A tool that may be called.
#[derive(Clone, Copy, Debug)]
pub struct ListedTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// For the model.
    pub description: &'a str,
}
