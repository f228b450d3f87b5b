//! The stand-in as a planner: the steps are what stands between `>` in the task.

use serde_json::{Value, json};

use crate::model::TalkTurn;

/// Answers a planner's question; `None` when the turns are none.
pub(super) fn planned(turns: &[TalkTurn]) -> Option<String> {
    let [TalkTurn::User(asked)] = turns else { return None };
    let asked: Value = serde_json::from_str(asked).ok()?;
    let task = asked.get("task")?.as_str()?;
    asked.get("max_steps")?;
    let steps: Vec<&str> = task.split('>').map(str::trim).filter(|s| !s.is_empty()).collect();
    let plan = json!({ "plan": { "summary": steps.join(", "), "steps": steps } });
    Some(plan.to_string())
}

/// Tells a plan that was made.
pub(super) fn told(answer: &str) -> String {
    let plan: Value = serde_json::from_str(answer).unwrap_or_default();
    let steps = plan["plan"]["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line =
        |(n, step): (usize, &Value)| format!("{n}. {}", step["step"].as_str().unwrap_or_default());
    let lines: Vec<String> = (1..).zip(steps).map(line).collect();
    format!("The plan:\n{}", lines.join("\n"))
}
