//! Who sees what: THE table. A rule says when it is at work, what it hides, and why, in words that the
//! model passes on. Rows add up: what any rule hides is hidden, and every reason is kept.

use std::sync::Arc;

use crate::foreign::ForeignTools;
use crate::when::When;
use selkie_domain::facts::{Facts, Trust};
use selkie_domain::tool::Class;
use selkie_tools::registry::{Base, Selection};
use selkie_tools::resolve::SENDING;

/// What a rule does to the tools that it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// They are not there.
    Hide,
    /// Somebody has to allow each call.
    Ask,
}

/// A row of the table.
pub struct Rule {
    /// Its name in tests and traces.
    pub id: &'static str,
    /// Why, for the model and for people.
    pub reason: &'static str,
    /// What it does.
    pub effect: Effect,
    /// When it is at work.
    pub when: When,
    /// Whole classes that it speaks of.
    pub classes: &'static [Class],
    /// Single tools that it speaks of. A name may come before its tool: policy does not wait for code.
    pub names: &'static [&'static str],
    /// Tools that are not selkie's own and that it speaks of.
    pub foreign: Option<ForeignTools>,
    /// Whether it gives way to tools that are not selkie's own: a rule of their own says who uses them.
    pub gives_way: bool,
    /// Whether config (`places.<id>.allow`, a hook's `tools`) opens what it hides.
    pub opens: bool,
    /// Whether it only asks where the owner's own words name a tool (`$bash`), for one task.
    pub yields: bool,
    /// Whether `approvals.policy` makes it less: what hides asks, what asks is free.
    pub bends: bool,
    /// Whether it gives way to commands in a sandbox without the network: what it hides of them config opens, to be used
    /// unasked, and what it asks for is free.
    pub eases: bool,
}

/// All that does more than answer and keep our own records.
const BEYOND_ANSWERS: &[Class] = &[
    Class::Read,
    Class::Write,
    Class::Exec,
    Class::Network,
    Class::Message,
    Class::Agent,
    Class::Public,
];

/// The tools that run commands.
pub const COMMANDS: [&str; 3] = ["bash", "powershell", "process"];

/// Why something asks while words of others are in play; calls that ask for themselves say it, too.
pub const TAINTED: &str = "asks first while the task holds other people's words (a quote, a forward, a file, group \
    talk, a web page, what a program has brought from the network, or an answer that came of them): they may have asked for it";

/// Why a name that the owner wrote gives nothing.
pub const UNHEEDED: &str = "naming it with $ does not open it while the task holds other people's words (group talk, a \
    quote, a file, a page, or an answer that came of them): ask in private, or send /reset, which forgets what was said here, and ask again";

/// A row that nothing lifts, before it says when it is at work and of what it speaks.
const HIDES: Rule = Rule {
    id: "",
    reason: "",
    effect: Effect::Hide,
    when: When::Always,
    classes: &[],
    names: &[],
    foreign: None,
    gives_way: false,
    opens: false,
    yields: false,
    bends: false,
    eases: false,
};

/// The table. Speaking tools (class reply) are given by the place itself: they are there where its
/// channel lists them. Own records (class note) are never hidden but by name.
pub const RULES: &[Rule] = &[
    Rule {
        id: "group",
        reason: "hidden in groups: other people read along; an owner can open it with places.<id>.allow",
        when: When::Group,
        classes: &[Class::Message, Class::Exec],
        opens: true,
        yields: true,
        bends: true,
        eases: true,
        ..HIDES
    },
    Rule {
        id: "allowed",
        reason: "hidden for allowed people: only owners run programs; in a sandbox without the \
            network, an owner can open them with places.<id>.allow",
        when: When::Trust(Trust::Allowed),
        classes: &[Class::Exec],
        gives_way: true,
        bends: true,
        eases: true,
        ..HIDES
    },
    Rule {
        id: "stranger",
        reason: "hidden for strangers: they get answers and notes, and nothing else",
        when: When::Trust(Trust::Stranger),
        classes: BEYOND_ANSWERS,
        names: &["cron", "say_aloud"],
        ..HIDES
    },
    Rule {
        id: "foreign_owners",
        reason: "hidden for allowed people: it is not selkie's own, and only owners use it; `who: allowed` beside it in \
            the config opens it",
        when: When::Trust(Trust::Allowed),
        foreign: Some(ForeignTools::OfOwners),
        ..HIDES
    },
    Rule {
        id: "foreign_places",
        reason: "hidden here: the config names the places where it is (`places` beside it)",
        when: When::InChannel,
        foreign: Some(ForeignTools::Placed),
        opens: true,
        ..HIDES
    },
    Rule {
        id: "persona_group",
        reason: "hidden in groups: who the bot is, its owner says in private",
        when: When::Group,
        names: &["persona_write"],
        ..HIDES
    },
    Rule {
        id: "persona_allowed",
        reason: "hidden for allowed people: only owners say who the bot is",
        when: When::Trust(Trust::Allowed),
        names: &["persona_write"],
        ..HIDES
    },
    Rule {
        id: "outward",
        reason: "asks first: it speaks to people outside this conversation",
        effect: Effect::Ask,
        classes: &[Class::Public],
        bends: true,
        ..HIDES
    },
    Rule {
        id: "sending",
        reason: SENDING,
        effect: Effect::Ask,
        when: When::Trust(Trust::Allowed),
        classes: &[Class::Message],
        bends: true,
        ..HIDES
    },
    Rule {
        id: "tainted",
        reason: TAINTED,
        effect: Effect::Ask,
        when: When::Tainted,
        classes: &[Class::Exec, Class::Message, Class::Public],
        eases: true,
        ..HIDES
    },
    Rule {
        id: "foreign_tainted",
        reason: TAINTED,
        effect: Effect::Ask,
        when: When::Tainted,
        foreign: Some(ForeignTools::All),
        ..HIDES
    },
    Rule {
        id: "unattended",
        reason: "hidden in scheduled tasks and those of webhooks: nobody is there to answer",
        when: When::Unattended,
        names: &["ask_user", "plan_enter", "plan_exit", "persona_write"],
        ..HIDES
    },
    Rule {
        id: "child",
        reason: "hidden in child tasks: the parent task plans, starts others and talks to people",
        when: When::Child,
        names: &[
            "spawn",
            "acp_spawn",
            "ask_user",
            "plan_create",
            "plan_enter",
            "plan_exit",
            "persona_write",
        ],
        ..HIDES
    },
    Rule {
        id: "relayed",
        reason: "hidden in tasks that another conversation began: they answer where they are, and send nothing on",
        when: When::Relayed,
        classes: &[Class::Message],
        names: &["cron", "ask_user", "plan_enter", "plan_exit", "persona_write"],
        ..HIDES
    },
    Rule {
        id: "webhook",
        reason: "hidden in tasks of webhooks, which get what answers and nothing else; the hook's tools (webhooks.hooks.<name>) \
            open it",
        when: When::Webhook,
        classes: BEYOND_ANSWERS,
        names: &[
            "cron",
            "memory_write",
            "navigate",
            "plan_create",
            "say_aloud",
            "todo_read",
            "todo_update",
            "todo_write",
        ],
        opens: true,
        ..HIDES
    },
    Rule {
        id: "webhook_acts",
        reason: "asks first in tasks of webhooks: what another service sends may have asked for it",
        effect: Effect::Ask,
        when: When::Webhook,
        classes: &[Class::Exec, Class::Message, Class::Public],
        ..HIDES
    },
    Rule {
        id: "plan",
        reason: "hidden in plan mode: nothing changes until a person approves the plan",
        when: When::Plan,
        classes: &[Class::Write, Class::Exec, Class::Message, Class::Public],
        names: &["cron"],
        ..HIDES
    },
    Rule {
        id: "no_terminal",
        reason: "hidden without a terminal: nobody is there to answer",
        when: When::NoTerminal,
        names: &["ask_user", "plan_enter", "plan_exit"],
        ..HIDES
    },
];

/// Whether a reason is a rule's that gives way to the owner's own words.
pub(super) fn yields(reason: &str) -> bool {
    RULES.iter().any(|rule| rule.yields && rule.reason == reason)
}

/// Whether these rules say that nobody is there to allow anything.
pub(super) fn nobody_to_ask(mask: u32) -> bool {
    let alone = RULES.iter().position(|rule| rule.when == When::NoTerminal);
    alone.is_some_and(|at| mask & (1 << at) != 0)
}

/// Which rules are at work, one bit each.
pub(super) fn at_work(facts: &Facts) -> u32 {
    RULES
        .iter()
        .enumerate()
        .fold(0, |mask, (at, rule)| mask | u32::from(rule.when.holds(facts)) << at)
}

/// The rules of a mask, each with its place in the table.
pub(super) fn rows(mask: u32) -> impl Iterator<Item = (usize, &'static Rule)> {
    RULES.iter().enumerate().filter(move |(at, _)| mask & (1 << at) != 0)
}

/// What every rule hides of a base, worked out once.
pub(super) fn over(base: &Base) -> Vec<Arc<Selection>> {
    let specs = base.specs();
    let selection = |rule: &Rule| {
        let foreign = specs.iter().filter(|spec| rule.foreign.is_some_and(|which| which.has(spec)));
        let names = rule.names.iter().copied().chain(foreign.map(|spec| spec.name));
        let names: Vec<&str> = names.collect();
        Arc::new(Selection::over(base, rule.classes, &names))
    };
    RULES.iter().map(selection).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_keeps_its_own_law() {
        let mut ids: Vec<_> = RULES.iter().map(|r| r.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len(), "every rule has its own name");
        assert!(RULES.len() <= 32, "the mask has a bit for every rule");
        for rule in RULES {
            assert!(!rule.classes.contains(&Class::Note), "{}: own records stay", rule.id);
            let says = match rule.effect {
                Effect::Hide => "hidden ",
                Effect::Ask => "asks first",
            };
            assert!(rule.reason.starts_with(says), "{}: the words say it", rule.id);
            assert!(
                !(rule.when == When::Tainted && rule.bends),
                "{}: no policy takes others' words for the owner's",
                rule.id
            );
            assert!(
                !rule.opens
                    || matches!(rule.when, When::Group | When::Webhook)
                    || rule.foreign.is_some(),
                "{}: config opens groups, hooks, and the places of tools that are not ours",
                rule.id
            );
            assert!(
                !rule.yields || rule.when == When::Group,
                "{}: trust, others' words, trigger and mode yield to nobody's words",
                rule.id
            );
        }
    }
}
