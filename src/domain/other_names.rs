//! Other harnesses' words for tools and their parameters.

/// Other harnesses' words for a tool: taken when it is called, never listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Also {
    /// Its other names.
    pub names: &'static [OtherName],
    /// Other names of its parameters.
    pub parameters: &'static [OtherParameter],
    /// Parameters that others have and it may not.
    pub absent: &'static [AbsentParameter],
}

/// Another name of a tool.
#[derive(Clone, Copy, Debug)]
pub struct OtherName {
    /// The name.
    pub called: &'static str,
    /// The argument that the name means, where the model gives none of its own.
    pub implies: Option<ImpliedArgument>,
}

/// An argument that another name of a tool means.
#[derive(Clone, Copy, Debug)]
pub struct ImpliedArgument {
    /// Our parameter.
    pub parameter: &'static str,
    /// Its value.
    pub value: ImpliedValue,
}

/// The value of an argument that another name means.
#[derive(Clone, Copy, Debug)]
pub enum ImpliedValue {
    /// `true` or `false`.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

/// Another name of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct OtherParameter {
    /// The name.
    pub called: &'static str,
    /// Ours.
    pub ours: &'static str,
}

/// A parameter that other harnesses' tool has: refused while ours has none of this name.
#[derive(Clone, Copy, Debug)]
pub struct AbsentParameter {
    /// The name.
    pub called: &'static str,
    /// Why it is refused, and what to do instead.
    pub why: &'static str,
}

impl OtherName {
    /// A name that means nothing more.
    pub const fn plain(called: &'static str) -> Self {
        Self { called, implies: None }
    }

    /// A name that means an argument, too.
    pub const fn meaning(
        called: &'static str,
        parameter: &'static str,
        value: ImpliedValue,
    ) -> Self {
        Self { called, implies: Some(ImpliedArgument { parameter, value }) }
    }
}

impl OtherParameter {
    /// Another name of one of ours.
    pub const fn new(called: &'static str, ours: &'static str) -> Self {
        Self { called, ours }
    }
}

impl Also {
    /// Other names and nothing else.
    pub const fn called(names: &'static [OtherName]) -> Self {
        Self { names, parameters: &[], absent: &[] }
    }
}
