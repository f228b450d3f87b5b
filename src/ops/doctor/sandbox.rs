//! The look at the sandbox: what this machine can hold commands back from, and what it cannot.

use super::finding::Finding;
use super::look::Look;
use selkie_app::build::AppConfig;
use selkie_sandbox::{Confinement, Mode};

const WHAT: &str = "sandbox";
const NEWER: &str = "use Linux 5.13 or newer with landlock in its lsm= list; under a service unit of your own, let \
    SystemCallFilter have landlock_create_ruleset, landlock_add_rule, landlock_restrict_self and seccomp";

/// Tries it, as a command's start would.
pub fn look(plan: &AppConfig) -> Look {
    let policy = plan.sandbox.clone();
    Look::here(WHAT, move || findings(&policy.of(true, |_| false)))
}

fn findings(usual: &Confinement) -> Vec<Finding> {
    let says = usual.describe();
    match (usual.mode, usual.reach.holds()) {
        (Mode::Off, _) => vec![Finding::warning(
            WHAT,
            says,
            "whoever may use bash can do what selkie's user may: set sandbox to auto, and tools.bash.limits.sudo to false",
        )],
        (Mode::Required, false) => vec![Finding::error(WHAT, says, NEWER)],
        (Mode::Auto, false) => vec![Finding::warning(WHAT, says, NEWER)],
        (_, true) => {
            let list = |what: Vec<&str>| what.join("; ");
            let gaps =
                format!("this kernel does not stop commands in it to {}", list(usual.reach.gaps()));
            let losses = usual.reach.losses();
            let lost = format!("commands in it cannot {}", list(losses.clone()));
            let lost = (!losses.is_empty()).then(|| Finding::fine(WHAT, lost));
            [Finding::fine(WHAT, says), Finding::fine(WHAT, gaps)].into_iter().chain(lost).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;
    use selkie_sandbox::Reach;

    #[test]
    fn what_is_missing_is_as_bad_as_it_is_needed() {
        let level = |mode, landlock| {
            let reach = Reach { landlock, seccomp: true };
            findings(&Confinement { mode, reach, network: true })[0].level
        };
        assert_eq!(level(Mode::Auto, 7), Level::Fine);
        assert_eq!(level(Mode::Auto, 0), Level::Warning);
        assert_eq!(level(Mode::Required, 0), Level::Error);
        assert_eq!(level(Mode::Off, 7), Level::Warning);
    }
}
