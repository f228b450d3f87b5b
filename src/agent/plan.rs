//! The task's plan, read from its transcript: what `plan_create` answered, moved on by the model's own
//! marks in its text. Nothing of it is stored twice.

use selkie_domain::plan::{Plan, StepStatus};
use selkie_domain::transcript::Item;
use selkie_store::Past;
use selkie_tools::conversation::plan_create::plan_in;

/// The tool whose answer is a plan.
const TOOL: &str = "plan_create";

/// Returns the plan as it stands after `items`; the newest one when there were several.
pub fn standing(items: &[Item]) -> Option<Plan> {
    let mut plan = None;
    for pair in items.windows(2) {
        match pair {
            [Item::Asked { calls, .. }, Item::Answered { answers }] => {
                let made = calls.iter().zip(answers).filter(|(c, a)| c.name == TOOL && !a.is_error);
                plan = made.rev().find_map(|(_, answer)| plan_in(&answer.text)).or(plan);
            }
            [_, Item::Asked { text, .. } | Item::Said { text, .. }] => {
                plan.iter_mut().for_each(|plan| mark(plan, text));
            }
            _ => {}
        }
    }
    plan
}

/// Returns the task's plan, else the one that its conversation made last.
pub fn newest(history: &[Past], items: &[Item]) -> Option<Plan> {
    standing(items).or_else(|| history.iter().rev().find_map(|task| standing(&task.items)))
}

/// Returns a text without the lines that only mark steps: people see the plan itself.
pub fn without_marks(text: &str) -> String {
    if !text.lines().any(|line| Mark::read(line).is_some()) {
        return text.to_owned();
    }
    let kept: Vec<&str> = text.lines().filter(|line| Mark::read(line).is_none()).collect();
    kept.join("\n").trim().to_owned()
}

/// Moves a plan on by the marks in a text. Where no step is in progress any more, the next open one is.
fn mark(plan: &mut Plan, text: &str) {
    for Mark { step, status } in text.lines().filter_map(Mark::read) {
        let Some(at) = step.checked_sub(1).filter(|at| *at < plan.steps.len()) else { continue };
        if status == StepStatus::InProgress {
            let before = plan.steps.iter_mut().filter(|s| s.status == StepStatus::InProgress);
            before.for_each(|other| other.status = StepStatus::Pending);
        }
        plan.steps[at].status = status;
    }
    if plan.steps.iter().all(|s| s.status != StepStatus::InProgress)
        && let Some(next) = plan.steps.iter_mut().find(|s| s.status == StepStatus::Pending)
    {
        next.status = StepStatus::InProgress;
    }
}

/// A line that marks a step and says nothing else but, perhaps, the step again.
struct Mark {
    /// From 1.
    step: usize,
    status: StepStatus,
}

impl Mark {
    /// Reads `[x] 2`, `- [~] 3. boil water`.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['-', '*']).trim_start();
        let (mark, rest) = line.strip_prefix('[')?.split_once(']')?;
        let status = match mark {
            "x" | "X" => StepStatus::Completed,
            "~" => StepStatus::InProgress,
            _ => return None,
        };
        let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
        Some(Self { step: digits.parse().ok()?, status })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use selkie_domain::taint::Taint;
    use selkie_domain::transcript::{Answer, Call};

    fn asked(text: &str, name: &str) -> Item {
        let call = Call { id: "c".into(), name: name.into(), arguments: json!({}) };
        Item::Asked { text: text.into(), calls: vec![call], taint: Taint::Clean }
    }

    fn answered(text: &str, is_error: bool) -> Item {
        let answer = Answer { is_error, ..Answer::words("c", text) };
        Item::Answered { answers: vec![answer] }
    }

    fn planned() -> Vec<Item> {
        let steps =
            ["look", "cook", "eat"].map(|step| json!({ "step": step, "status": "pending" }));
        let mut plan = json!({ "plan": { "summary": "soup", "steps": steps } });
        plan["plan"]["steps"][0]["status"] = json!("in_progress");
        vec![asked("", TOOL), answered(&plan.to_string(), false)]
    }

    fn shown(items: &[Item]) -> String {
        let Some(plan) = standing(items) else { return "none".to_owned() };
        let sign = |status| match status {
            StepStatus::Pending => '.',
            StepStatus::InProgress => '~',
            StepStatus::Completed => 'x',
        };
        plan.steps.iter().map(|s| sign(s.status)).collect()
    }

    #[test]
    fn only_the_models_own_marks_close_steps() {
        let mut items = planned();
        assert_eq!(shown(&items), "~..");
        items.extend([asked("I look.", "glob"), answered("soup.txt", false)]);
        assert_eq!(shown(&items), "~..", "a call closes nothing");
        items.push(asked("Found it.\n[x] 1", "glob"));
        assert_eq!(shown(&items), "x~.", "the next open step begins");
        items.extend([answered("", false), asked("- [~] 3. eat\n[X] 9", "glob")]);
        assert_eq!(shown(&items), "x.~", "a step of no plan is nothing");
        items.extend([answered("", false), Item::said("[x] 2\n[x] 3\nDone.", Taint::Clean)]);
        assert_eq!(shown(&items), "xxx");
        items.extend(planned());
        assert_eq!(shown(&items), "~..", "a new plan takes the place of the old one");
    }

    #[test]
    fn a_plan_of_the_conversation_stands_until_the_task_makes_its_own() {
        let done = [planned(), vec![Item::said("[x] 1", Taint::Clean)]].concat();
        let talk = vec![Item::said("Hello.", Taint::Clean)];
        let history = [planned(), done.clone(), talk.clone()];
        let past = |items: &[Item]| Past { finish: 1, is_short: false, items: items.to_vec() };
        let history: Vec<Past> = history.iter().map(|items| past(items)).collect();
        assert_eq!(newest(&history, &talk), standing(&done));
        assert_eq!(newest(&history, &planned()), standing(&planned()));
        assert_eq!(newest(&[past(&talk)], &talk), None);
    }

    #[test]
    fn a_refused_plan_is_none() {
        assert_eq!(
            shown(&[asked("", TOOL), answered("plan_create tool is disabled", true)]),
            "none"
        );
        assert_eq!(shown(&[asked("[x] 1", "glob"), answered("", false)]), "none");
    }

    #[test]
    fn marks_are_not_shown_to_people_and_other_lists_are() {
        assert_eq!(without_marks("[x] 3\nSoup is ready.\n"), "Soup is ready.");
        let list = "- [x] milk\n- [ ] 2 eggs\n[1] a footnote";
        assert_eq!(without_marks(list), list);
    }

    proptest! {
        #[test]
        fn any_text_leaves_a_plan_of_as_many_steps(texts in prop::collection::vec("(\\[[x~ ]\\] ?[0-9]{0,3}[ a-z]{0,4}\n?){0,5}", 0..6)) {
            let mut items = planned();
            items.extend(texts.iter().flat_map(|t| [asked(t, "glob"), answered("", false)]));
            let plan = standing(&items).unwrap();
            prop_assert_eq!(plan.steps.len(), 3);
            let begun = plan.steps.iter().filter(|s| s.status == StepStatus::InProgress).count();
            prop_assert!(begun <= 1);
        }
    }
}
