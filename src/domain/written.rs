//! What is told of a text while a model writes it.

/// What is told of a text that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextProgress<'a> {
    /// It begins: what was told before is void, for whoever wrote that has failed.
    Begun,
    /// It goes on with this.
    More(&'a str),
}
