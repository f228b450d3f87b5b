//! `plan_exit`: shows the plan to the person; only their approval ends plan mode.

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::{Choice, shorten};
use serde::Deserialize;
use serde_json::Value;

use super::ask_user::Settings;
use crate::args::typed;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::facts::Mode;
use selkie_domain::plan::Plan;
use selkie_domain::question::{Ask, QuestionResult};
use selkie_domain::span::Span;
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

/// The choice that approves.
const APPROVE: &str = "yes";
/// What people write instead of tapping. Anything more may be a condition.
const AGREES: [&str; 14] = [
    "approve",
    "approved",
    "yes",
    "yes please",
    "y",
    "ok",
    "okay",
    "ok go",
    "go",
    "go ahead",
    "do it",
    "yes do it",
    "sure",
    "looks good",
];
/// A longer plan is cut where it is asked for approval.
const MAX_CHARACTERS: usize = 6_000;

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("exit_plan_mode")];

/// The tool.
pub(crate) struct PlanExit {
    timeout: Span,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Markdown. Default: what plan_create made last.
    plan_summary: Option<String>,
}

impl PlanExit {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { timeout: settings.timeout }
    }

    fn ask(&self, plan: Option<String>) -> Ask {
        let choice = |id: &str, label: &str| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        let markdown = match plan {
            Some(plan) => {
                format!("{}\n\nShall I carry out this plan?", shorten(plan.trim(), MAX_CHARACTERS))
            }
            None => "Shall I carry out the plan?".to_owned(),
        };
        Ask {
            v: Ask::VERSION,
            markdown,
            choices: vec![choice(APPROVE, "Approve"), choice("no", "Keep planning")],
            many: false,
            free_text: true,
            placeholder: "Approve it, or say what should be different.".to_owned(),
            within: self.timeout,
        }
    }
}

#[async_trait]
impl Handler for PlanExit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Show your plan for approval. Approved, plan mode ends; otherwise you read what the \
                          person says and plan on."
                .to_owned(),
            group: "conversation",
            sources: &["S0", "S2"],
            doing: "showing its plan",
            also: Also::called(ALSO),
            stands_alone: true,
            ..spec::<Args>("plan_exit", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { plan_summary } = typed(args)?;
        match scope.given.last() {
            None if scope.mode != Mode::Plan => Ok(Output::ok("Not in plan mode.")),
            None => {
                let told = plan_summary.filter(|summary| !summary.trim().is_empty());
                let plan = told.or_else(|| scope.plan.as_ref().map(in_words));
                Err(ToolError::ask(self.ask(plan)))
            }
            Some(given) if approves(given) => {
                scope.modes.change(&scope.conversation, Mode::Normal).await?;
                Ok(Output::ok("The plan is approved and plan mode is off: carry it out."))
            }
            Some(QuestionResult::Chosen { .. }) => Ok(Output::ok(
                "Not approved: plan mode stays on. Improve the plan or ask what is missing, then call plan_exit again.",
            )),
            Some(QuestionResult::Words { text }) => {
                Ok(Output::ok(format!("Not approved: plan mode stays on. The person says: {text}")))
            }
            Some(given @ (QuestionResult::Expired | QuestionResult::NotAsked { .. })) => {
                let why = self.ask(None).says(given);
                Ok(Output::ok(format!("{why}. Plan mode stays on.")))
            }
        }
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let summary = args.get("plan_summary").and_then(Value::as_str)?;
        Some(Preview::of("end plan mode with this plan", &["plan_summary"]).with(summary))
    }
}

/// Whether the person agrees: by the button, or in words that say nothing else.
fn approves(given: &QuestionResult) -> bool {
    match given {
        QuestionResult::Chosen { choices } => choices.iter().any(|id| id == APPROVE),
        QuestionResult::Words { text } => {
            let words = text.trim_end_matches(['.', '!']).to_lowercase();
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ").replace(',', "");
            AGREES.contains(&words.as_str())
        }
        QuestionResult::Expired | QuestionResult::NotAsked { .. } => false,
    }
}

/// Writes a plan as a numbered list below its summary.
fn in_words(plan: &Plan) -> String {
    let steps = (1..).zip(&plan.steps).map(|(n, step)| format!("{n}. {}", step.step));
    let list = steps.collect::<Vec<_>>().join("\n");
    match plan.summary.trim() {
        "" => list,
        summary => format!("{summary}\n\n{list}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testkit::Folders;
    use selkie_domain::plan::{PlanStep, StepStatus};

    async fn shown(plan: Option<Plan>, args: Value) -> String {
        let scope = Scope { mode: Mode::Plan, plan, ..Folders::new().scope() };
        match PlanExit::new(&Settings::default()).call(&scope, args).await {
            Err(ToolError::Ask(question)) => question.ask.markdown,
            other => panic!("{other:?}"),
        }
    }

    fn plan(summary: &str) -> Plan {
        let step = |step: &str| PlanStep { step: step.to_owned(), status: StepStatus::Pending };
        Plan { summary: summary.to_owned(), steps: ["look", "cook"].map(step).to_vec() }
    }

    #[test]
    fn plain_agreement_approves_and_a_condition_does_not() {
        let words = |text: &str| approves(&QuestionResult::Words { text: text.to_owned() });
        for text in ["yes", "Yes, please!", "OK.", "  go   ahead ", "Approve"] {
            assert!(words(text), "{text}");
        }
        for text in ["yes, but not the second step", "no", "ok?", "", "yesterday"] {
            assert!(!words(text), "{text}");
        }
        assert!(approves(&QuestionResult::Chosen { choices: vec![APPROVE.to_owned()] }));
        assert!(!approves(&QuestionResult::Expired));
    }

    #[tokio::test]
    async fn without_a_summary_the_last_plan_is_shown() {
        let shown = [
            shown(Some(plan("Soup")), json!({})).await,
            shown(Some(plan("")), json!({ "plan_summary": "  " })).await,
            shown(Some(plan("Soup")), json!({ "plan_summary": "Tea instead." })).await,
            shown(None, json!({})).await,
        ];
        insta::assert_snapshot!(shown.join("\n---\n"), @r"
        Soup

        1. look
        2. cook

        Shall I carry out this plan?
        ---
        1. look
        2. cook

        Shall I carry out this plan?
        ---
        Tea instead.

        Shall I carry out this plan?
        ---
        Shall I carry out the plan?
        ");
    }
}
