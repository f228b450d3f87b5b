//! Tools that are not selkie's own, as the table speaks of them: who uses them, and where.

use selkie_domain::tool::ToolSpec;
use selkie_tools::registry::Base;

/// Which tools that are not selkie's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignTools {
    /// All.
    All,
    /// Those that owners alone use.
    OfOwners,
    /// Those for which the config names places.
    Placed,
}

impl ForeignTools {
    /// Whether a tool is one of them.
    pub(super) fn has(self, spec: &ToolSpec) -> bool {
        spec.foreign.as_ref().is_some_and(|foreign| match self {
            Self::All => true,
            Self::OfOwners => !foreign.is_for_allowed,
            Self::Placed => foreign.is_placed,
        })
    }
}

/// The names of the tools that are not selkie's own.
pub(super) fn names(base: &Base) -> Vec<&'static str> {
    let specs = base.specs();
    specs.iter().filter(|spec| spec.foreign.is_some()).map(|spec| spec.name).collect()
}
