//! How far a task is, in words: a checklist, and one line of what is being done. Pure.

use std::collections::BTreeMap;

use selkie_channel_core::styled::push_literal;
use selkie_channel_core::{Redactor, split};

use super::news::{ApprovalLine, News};
use selkie_domain::plan::{Plan, PlanStep, StepStatus};
use selkie_guard::visible::code;

/// The longest step and summary, UTF-16 units.
const STEP: usize = 100;
/// The longest line of output, UTF-16 units.
const LINE: usize = 120;
/// The most steps that are shown.
const STEPS: usize = 12;
/// Steps that are shown before the one being done.
const BEFORE: usize = 3;

/// Said of an agent that has done nothing yet.
pub(super) const BEGINS: &str = "thinking";
/// Said when the model's answer takes long.
pub(super) const WAITING: &str = "waiting for the language model";

/// Writes what is being done, in CommonMark; empty when there is nothing to tell.
pub(super) fn status(news: &News) -> String {
    let list = news.plan.as_ref().map(|plan| checklist(plan, "⏳")).unwrap_or_default();
    let doing = match news.agents.is_empty() {
        true => doing(news),
        false => agents(&news.agents),
    };
    match (list.is_empty(), doing.is_empty()) {
        (false, false) => format!("{list}\n\n{doing}"),
        _ => format!("{list}{doing}"),
    }
}

/// Writes what each agent does, a line each.
fn agents(agents: &BTreeMap<String, String>) -> String {
    let rest = agents.len().saturating_sub(STEPS);
    let shown = agents.iter().take(STEPS);
    let mut lines: Vec<String> =
        shown.map(|(name, step)| format!("⏳ {}: {}", one_line(name), one_line(step))).collect();
    if rest > 0 {
        lines.push(format!("⏳ … {rest} more"));
    }
    lines.join("\n")
}

/// Writes a plan as it stands when nothing is done any more.
pub(super) fn left(plan: &Plan) -> String {
    checklist(plan, "◻")
}

/// Returns the last line of what a command has printed, as one line without control characters.
pub(super) fn last_line(text: &str) -> String {
    let lines = text.split(['\n', '\r']).map(visible);
    let last = lines.rev().find(|line| !line.is_empty()).unwrap_or_default();
    split::shorten(&last, LINE)
}

/// Returns the plan without secrets.
pub(super) fn clean_plan(plan: &Plan, redactor: &Redactor) -> Plan {
    let step = |step: &PlanStep| PlanStep { step: redactor.clean(&step.step), ..step.clone() };
    Plan { summary: redactor.clean(&plan.summary), steps: plan.steps.iter().map(step).collect() }
}

fn checklist(plan: &Plan, current: &str) -> String {
    let steps = &plan.steps;
    let at = steps.iter().position(|step| step.status != StepStatus::Completed);
    let from = at.unwrap_or(steps.len()).saturating_sub(BEFORE);
    let from = from.min(steps.len().saturating_sub(STEPS));
    let shown = &steps[from..(from + STEPS).min(steps.len())];
    let summary = one_line(&plan.summary);
    let mut lines = Vec::new();
    if !summary.is_empty() {
        lines.push(format!("**{summary}**"));
    }
    if from > 0 {
        lines.push(format!("☑ … {from} more"));
    }
    lines.extend(shown.iter().map(|step| {
        let mark = match step.status {
            StepStatus::Completed => "☑",
            StepStatus::InProgress => current,
            StepStatus::Pending => "◻",
        };
        format!("{mark} {}", one_line(&step.step))
    }));
    let rest = steps.len() - from - shown.len();
    if rest > 0 {
        lines.push(format!("◻ … {rest} more"));
    }
    lines.join("\n")
}

fn doing(news: &News) -> String {
    if let Some(ApprovalLine::Sought(line) | ApprovalLine::Settled(line)) = &news.approval {
        return line.clone();
    }
    if news.waiting && news.tool.is_none() {
        return format!("⏳ {WAITING} …");
    }
    if news.tool.is_none() && news.line.is_empty() {
        // Between two tools the model thinks; before the first there is nothing to tell but typing.
        return String::new();
    }
    let what = news.tool.as_deref().map_or_else(|| "working".to_owned(), one_line);
    match news.line.is_empty() {
        true => format!("⏳ {what} …"),
        false => format!("⏳ {what}: {}", code(&news.line)),
    }
}

/// Says that approval was asked for elsewhere, for what a tool does. What the call itself would do is not for everybody.
pub fn asked_for_approval(words: &str) -> String {
    format!("⏳ I asked an owner for approval ({}); I go on when they answer.", one_line(words))
}

/// Says that it was decided.
pub(super) fn settled(approved: bool) -> String {
    match approved {
        true => "⏳ approved: going on …".to_owned(),
        false => "⏳ not approved: going on without it …".to_owned(),
    }
}

/// One line of plain text as CommonMark.
fn one_line(text: &str) -> String {
    escaped(&split::shorten(&visible(text), STEP))
}

/// Writes text so that no character of it is markup.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match "\\`*_[]<>~&|#!$".contains(c) {
            true => push_literal(&mut out, c),
            false => out.push(c),
        }
    }
    out
}

/// One line of what a person would see: no control characters, no terminal's colours, single blanks.
fn visible(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // `ESC [ … letter` sets a colour or moves the cursor.
            let mut tail = rest.clone();
            if tail.next() == Some('[') {
                tail.by_ref().find(|c| c.is_ascii_alphabetic());
                rest = tail;
            }
        } else {
            plain.push(if c.is_control() { ' ' } else { c });
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(summary: &str, steps: &[(&str, StepStatus)]) -> Plan {
        let step = |(step, status): &(&str, StepStatus)| PlanStep {
            step: (*step).to_owned(),
            status: *status,
        };
        Plan { summary: summary.to_owned(), steps: steps.iter().map(step).collect() }
    }

    fn news(plan: Option<Plan>, tool: &str, line: &str) -> News {
        let tool = (!tool.is_empty()).then(|| tool.to_owned());
        News { plan, tool, line: line.to_owned(), ..News::default() }
    }

    use StepStatus::{Completed, InProgress, Pending};

    #[test]
    fn a_plan_is_a_checklist_over_what_is_being_done() {
        let steps =
            [("Read the *log*", Completed), ("Fix\nit", InProgress), ("Tell `ops`", Pending)];
        let plan = plan("Repair", &steps);
        insta::assert_snapshot!(status(&news(Some(plan.clone()), "running a command", "12 of `40`")), @r"
        **Repair**
        ☑ Read the \*log\*
        ⏳ Fix it
        ◻ Tell \`ops\`

        ⏳ running a command: `` 12 of `40` ``
        ");
        insta::assert_snapshot!(left(&plan), @r"
        **Repair**
        ☑ Read the \*log\*
        ◻ Fix it
        ◻ Tell \`ops\`
        ");
    }

    #[test]
    fn without_a_plan_it_is_one_line() {
        let lines = [
            ("", ""),
            ("searching the web", ""),
            ("acme deploy", ""),
            ("running a command", "a`b"),
            ("", "x"),
        ];
        let lines = lines.map(|(tool, line)| status(&news(None, tool, line)));
        insta::assert_snapshot!(lines.join("\n"), @r"
        ⏳ searching the web …
        ⏳ acme deploy …
        ⏳ running a command: ``a`b``
        ⏳ working: `x`
        ");
    }

    #[test]
    fn an_approval_is_told_without_what_the_call_would_do() {
        let told = asked_for_approval("running a\n*command*");
        insta::assert_snapshot!(told, @r"⏳ I asked an owner for approval (running a \*command\*); I go on when they answer.");
        let approval = Some(ApprovalLine::Settled(settled(true)));
        assert_eq!(status(&News { approval, ..News::default() }), "⏳ approved: going on …");
    }

    #[test]
    fn of_a_long_plan_the_steps_around_now_are_shown() {
        let names: Vec<String> = (1..=30).map(|n| format!("step {n}")).collect();
        let status = |n: usize| if n < 9 { Completed } else { Pending };
        let steps: Vec<_> = names.iter().enumerate().map(|(n, s)| (&**s, status(n))).collect();
        insta::assert_snapshot!(left(&plan("", &steps)), @r"
        ☑ … 6 more
        ☑ step 7
        ☑ step 8
        ☑ step 9
        ◻ step 10
        ◻ step 11
        ◻ step 12
        ◻ step 13
        ◻ step 14
        ◻ step 15
        ◻ step 16
        ◻ step 17
        ◻ step 18
        ◻ … 12 more
        ");
    }

    #[test]
    fn of_output_the_last_line_is_shown_as_a_person_sees_it() {
        assert_eq!(last_line("one\n\u{1b}[32mtwo\u{1b}[0m\tthree\n\n"), "two three");
        assert_eq!(last_line(" 10%\r 55%\r"), "55%");
        assert_eq!(last_line("\u{1b}[2K"), "");
        assert!(split::utf16_len(&last_line(&"x".repeat(900))) <= LINE);
    }

    proptest! {
        #[test]
        fn whatever_the_plan_every_step_is_one_line_and_all_fits_one_message(
            summary in "(\\PC|\n|\u{1b}){0,200}",
            steps in prop::collection::vec(("(\\PC|\n|[*_`\\\\]){0,200}", 0..3), 0..40),
            line in "(\\PC|`){0,200}",
        ) {
            let status_of = |n: &i32| [Completed, InProgress, Pending][*n as usize];
            let steps: Vec<_> = steps.iter().map(|(s, n)| (&**s, status_of(n))).collect();
            let plan = plan(&summary, &steps);
            let shown = left(&plan);
            prop_assert!(shown.lines().count() <= STEPS + 3);
            prop_assert!(!shown.contains('⏳') || summary.contains('⏳') || steps.iter().any(|(s, _)| s.contains('⏳')));
            let marks = ["☑ ", "◻ ", "**", "⏳ "];
            for line in shown.lines() {
                prop_assert!(marks.iter().any(|mark| line.starts_with(mark)), "{line:?}");
            }
            let all = status(&news(Some(plan), "running a command", &last_line(&line)));
            prop_assert!(split::utf16_len(&all) <= 3_800, "{}", split::utf16_len(&all));
        }
    }
}
