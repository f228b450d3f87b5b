//! Landlock: which files the calling thread, and all that it starts, may open.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use crate::boundary::{Boundary, DEVICES};
use crate::spread::spread;

/// The newest interface that is known; of an older kernel's everything there is gets used.
const NEWEST: ABI = ABI::V10;

/// Holds the calling thread to a boundary. Returns the version of the interface that holds it; 0: none does.
pub(crate) fn restrict(boundary: &Boundary) -> Result<u32, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if !boundary.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?;
    for root in &boundary.reads {
        for path in spread(root, &boundary.closed) {
            rules = open(rules, &path, AccessFs::from_read(NEWEST))?;
        }
    }
    for folder in &boundary.named {
        rules = open(rules, folder, AccessFs::from_read(NEWEST))?;
    }
    let devices = AccessFs::ReadFile | AccessFs::WriteFile;
    for device in DEVICES {
        rules = open(rules, device.as_ref(), devices)?;
    }
    // Device nodes are nobody's to make.
    let never = AccessFs::MakeChar | AccessFs::MakeBlock;
    for folder in &boundary.writes {
        rules = open(rules, folder, AccessFs::from_all(NEWEST) & !never)?;
    }
    let status = rules.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        _ => 0,
    })
}

/// Opens a path with all below it; one that is not there stays closed.
fn open(
    rules: RulesetCreated,
    path: &std::path::Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(at) = PathFd::new(path) else { return Ok(rules) };
    let access = match path.is_dir() {
        true => access,
        false => access & AccessFs::from_file(NEWEST),
    };
    rules.add_rule(PathBeneath::new(at, access))
}
