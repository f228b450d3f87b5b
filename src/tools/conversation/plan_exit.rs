//! `plan_exit`: shows the plan to the person; only their approval ends plan mode.

use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::Choice;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::facts::Mode;
use crate::domain::question::{Ask, Given};
use crate::domain::span::Span;
use crate::domain::tool::{Class, Recovery, ToolSpec};
use crate::tools::args::{parameters, typed};
use crate::tools::scope::{Roots, Scope};
use crate::tools::settings::AskUser as Settings;
use crate::tools::{Output, Tool, ToolError};

/// The choice that approves.
const APPROVE: &str = "yes";
/// A longer plan is cut where it is asked for approval.
const MOST_CHARACTERS: usize = 6_000;

/// The tool.
pub(in crate::tools) struct PlanExit {
    spec: Arc<ToolSpec>,
    timeout: Span,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// The plan, in markdown, as the person reads it. Without one: the plan you told last.
    plan_summary: Option<String>,
}

impl PlanExit {
    pub(in crate::tools) fn new(settings: &Settings) -> Self {
        let spec = ToolSpec {
            name: "plan_exit",
            description: "Show your plan and ask the person to approve it. Approved, plan mode ends and all tools \
                          are back; otherwise you read what they say and go on planning."
                .to_owned(),
            parameters: parameters::<Args>(),
            class: Class::Note,
            group: "conversation",
            sources: &["S0", "S2"],
            recovery: Recovery::CallAgain,
        };
        Self { spec: Arc::new(spec), timeout: settings.timeout }
    }

    fn ask(&self, plan: Option<String>) -> Ask {
        let choice = |id: &str, label: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        let plan = plan.map(|p| p.trim().to_owned()).filter(|p| !p.is_empty());
        let markdown = match plan {
            Some(plan) => format!("{}\n\nShall I carry out this plan?", cut(&plan)),
            None => "Shall I carry out the plan?".to_owned(),
        };
        Ask {
            v: Ask::VERSION,
            markdown,
            choices: vec![choice(APPROVE, "Approve"), choice("no", "Keep planning")],
            many: false,
            free_text: true,
            placeholder: "What should be different?".to_owned(),
            within: self.timeout,
        }
    }
}

#[async_trait]
impl Tool for PlanExit {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { plan_summary } = typed(args)?;
        match scope.given.last() {
            None if scope.mode != Mode::Plan => Ok(Output::ok("Not in plan mode.")),
            None => Err(ToolError::Ask(Box::new(self.ask(plan_summary)))),
            Some(Given::Chosen { choices }) if choices.iter().any(|id| id == APPROVE) => {
                scope.modes.change(&scope.conversation, Mode::Normal).await?;
                Ok(Output::ok("The plan is approved and plan mode is off: carry it out."))
            }
            Some(Given::Chosen { .. }) => Ok(Output::ok(
                "Not approved: plan mode stays on. Improve the plan or ask what is missing, then call plan_exit again.",
            )),
            Some(Given::Words { text }) => {
                Ok(Output::ok(format!("Not approved: plan mode stays on. The person says: {text}")))
            }
            Some(given @ (Given::Expired | Given::NotAsked { .. })) => {
                let why = self.ask(None).says(given);
                Ok(Output::ok(format!("{why}. Plan mode stays on.")))
            }
        }
    }

    fn stands_alone(&self) -> bool {
        true
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<String> {
        args.get("plan_summary").and_then(Value::as_str).map(str::to_owned)
    }
}

fn cut(plan: &str) -> String {
    match plan.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}…", &plan[..at]),
        None => plan.to_owned(),
    }
}
