//! Why a call is not made, in sentences for the model and for people.

/// Says that nothing here has this name, and what was perhaps meant.
pub fn unknown(name: &str, near: &[String]) -> String {
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", near.join(", "))
    };
    format!("there is no tool {name}{hint}")
}

/// Says that a name stands twice.
pub fn twice(name: &str) -> String {
    format!("two tools are called {name}: a name stands for one tool")
}

/// How a reason ends that a section of the config takes away.
const UNSET: &str = " is not set in the config";

/// Says that a tool needs a section of the config.
pub fn unset(section: &str) -> String {
    format!("{section}{UNSET}")
}

/// Says that there is nothing yet that `load_skill` could load.
pub const NO_SKILL: &str = "there is no skill yet: `selkie skills install FOLDER` installs one";

/// Whether a reason is a section that is not set, or that nothing is installed: the tool is there as soon as that is done.
pub fn is_unset(reason: &str) -> bool {
    reason.ends_with(UNSET) || reason == NO_SKILL
}

/// Says that config switched a tool off.
pub fn disabled(name: &str) -> String {
    format!("{name} tool is disabled")
}

/// Says that a call is not made without somebody's approval.
pub fn needs_approval(name: &str, reasons: &[String]) -> String {
    format!("{name} was not called: it needs approval first ({})", reasons.join("; "))
}

/// Says why a call of a hidden tool is refused.
pub fn refusal(name: &str, reasons: &[String]) -> String {
    let off = disabled(name);
    if reasons.contains(&off) {
        return off;
    }
    format!("{name} is not available here: {}", reasons.join("; "))
}
