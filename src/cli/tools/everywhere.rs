//! Every tool of every setting.

use std::sync::Arc;

use crate::outcome::Failure;
use crate::setting;
use selkie_app::Binary;
use selkie_app::build::{ConfigChoice, plan};
use selkie_domain::tool::ToolSpec;
use selkie_tools::refusals::is_unset;
use selkie_tools::speak;

/// A tool and the settings where it is.
pub(super) struct Everywhere {
    pub(super) spec: Arc<ToolSpec>,
    pub(super) runtime: bool,
    pub(super) settings: Vec<String>,
}

/// Every tool of every setting: the base first, then what is injected. The channels' come last because
/// `cli` is asked first.
pub(super) fn whole(binary: &Binary, chosen: &ConfigChoice) -> Result<Vec<Everywhere>, Failure> {
    let plan = plan(binary, chosen)?;
    let mut all: Vec<Everywhere> = Vec::new();
    let mut lacking: Vec<Everywhere> = Vec::new();
    for setting in setting::names(&binary.kits) {
        let registry = plan.shaper.shape(&setting::facts(&binary.kits, &setting)?).registry;
        let unset = registry.hidden().into_iter();
        let unset = unset.filter(|(_, reasons)| reasons.iter().any(|why| is_unset(why)));
        lacking.extend(unset.map(|(spec, _)| Everywhere {
            spec,
            runtime: true,
            settings: Vec::new(),
        }));
        for spec in registry.block().specs() {
            let runtime = registry.is_runtime(spec.name);
            // Two channels may call a tool by one name and take other parameters.
            let same = |t: &&mut Everywhere| {
                t.spec.name == spec.name && t.spec.parameters == spec.parameters
            };
            match all.iter_mut().find(same) {
                Some(tool) => tool.settings.push(setting.clone()),
                None => {
                    let settings = vec![setting.clone()];
                    all.push(Everywhere { spec: Arc::clone(spec), runtime, settings });
                }
            }
        }
    }
    // What only lacks its section or an account belongs to the page of tools, too.
    for tool in lacking {
        if !all.iter().any(|known| known.spec.name == tool.spec.name) {
            all.push(tool);
        }
    }
    for (kit, posting) in binary.kits.iter().filter_map(|kit| Some((kit, kit.posting?))) {
        for tool in speak::posting(posting, kit.name) {
            if !all.iter().any(|known| known.spec.name == tool.spec().name) {
                let spec = Arc::clone(tool.spec());
                all.push(Everywhere { spec, runtime: true, settings: Vec::new() });
            }
        }
    }
    all.sort_by_key(|tool| tool.runtime);
    Ok(all)
}
