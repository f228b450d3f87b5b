//! How the commands of a task run: what the config wants, and what this machine can.

use std::sync::{Arc, OnceLock};

use crate::launcher::Launcher;
use crate::reach::Reach;
use crate::settings::{Mode, Rule, Settings};

/// What this machine can, found out when it is first asked for.
#[derive(Debug, Default)]
pub struct Machine {
    launcher: Launcher,
    reach: OnceLock<Reach>,
}

impl Machine {
    /// The machine on which this one starts programs.
    pub fn new(launcher: Launcher) -> Self {
        Self { launcher, reach: OnceLock::new() }
    }

    /// Returns who starts programs.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// Returns what its sandbox reaches. The first time a process is waited for.
    pub fn reach(&self) -> Reach {
        *self.reach.get_or_init(|| self.launcher.reach())
    }
}

/// How the commands of one task run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Confinement {
    /// What the config wants.
    pub mode: Mode,
    /// What this machine can.
    pub reach: Reach,
    /// Whether they reach the network.
    pub network: bool,
}

impl Confinement {
    /// Whether commands run in the sandbox.
    pub fn is_in_force(&self) -> bool {
        self.mode != Mode::Off && self.reach.holds()
    }

    /// Whether nothing that a command does leaves its folders: it needs nobody's approval.
    pub fn is_closed(&self) -> bool {
        self.is_in_force() && !self.network
    }

    /// Whether there is none although the config wants none without.
    pub fn is_missing(&self) -> bool {
        self.mode == Mode::Required && !self.reach.holds()
    }

    /// Says in a sentence how commands run.
    pub fn describe(&self) -> String {
        let network = if self.network { "with the network" } else { "without the network" };
        match (self.mode, self.reach.holds()) {
            (Mode::Off, _) => "commands run without a sandbox: it is off here".to_owned(),
            (Mode::Auto, true) if self.network => format!(
                "commands run in the sandbox, {network} ({}), but for folders that hold selkie's own files: a preview says so",
                self.reach
            ),
            (_, true) => format!("commands run in the sandbox, {network} ({})", self.reach),
            (Mode::Auto, false) => format!("commands run without a sandbox: {}", self.reach),
            (Mode::Required, false) => {
                format!("commands do not run: the sandbox is required here, and {}", self.reach)
            }
        }
    }
}

/// The config's `sandbox` on one machine.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    settings: Settings,
    machine: Arc<Machine>,
}

impl Policy {
    /// Takes what the config wants; `sudo` excludes the sandbox where it is not required.
    pub fn new(settings: Settings, sudo: bool, machine: &Arc<Machine>) -> Self {
        let without = |mode: Mode| if sudo && mode == Mode::Auto { Mode::Off } else { mode };
        let rule = |rule: Rule| Rule { mode: rule.mode.map(without), ..rule };
        let rules = settings.rules.into_iter().map(rule).collect();
        let settings = Settings { mode: without(settings.mode), rules, ..settings };
        Self { settings, machine: Arc::clone(machine) }
    }

    /// Returns how the commands of a task run: with the network where that is usual there. `holds` says whether a rule speaks
    /// of it.
    pub fn of(&self, has_network: bool, holds: impl Fn(&Rule) -> bool) -> Confinement {
        let mut mode = self.settings.mode;
        let mut network = has_network;
        for rule in self.settings.rules.iter().filter(|rule| holds(rule)) {
            mode = rule.mode.unwrap_or(mode);
            network = rule.network.unwrap_or(network);
        }
        // Nobody is kept waiting for what nobody wants to know.
        let reach = if mode == Mode::Off { Reach::default() } else { self.machine.reach() };
        Confinement { mode, reach, network }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_says_something_counts() {
        let rule = |mode, network| Rule { mode, network, ..Rule::default() };
        let rules = vec![rule(Some(Mode::Required), Some(true)), rule(None, Some(false))];
        let settings = Settings { rules, ..Settings::default() };
        let policy = Policy::new(settings, false, &Arc::default());
        let all = policy.of(true, |_| true);
        assert_eq!((all.mode, all.network, all.is_missing()), (Mode::Required, false, true));
        let none = policy.of(true, |_| false);
        assert_eq!((none.mode, none.network), (Mode::Auto, true));
        assert!(!policy.of(false, |_| false).network);
    }

    #[test]
    fn sudo_excludes_a_sandbox_that_is_not_required() {
        let of = |mode| {
            let settings = Settings { mode, ..Settings::default() };
            Policy::new(settings, true, &Arc::default()).of(true, |_| true).mode
        };
        assert_eq!([Mode::Auto, Mode::Required].map(of), [Mode::Off, Mode::Required]);
    }
}
