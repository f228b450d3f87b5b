//! `plan_create`: asks a model for a plan, which becomes the task's. A runtime tool: it knows the tools of
//! its own task and no others.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::typed;
use crate::ports::Small;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::plan::{Plan, PlanStep, StepStatus};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "plan_create";
/// How long one question to the model may take.
const LIMIT: Duration = Duration::from_secs(90);
/// Steps of any plan.
const MAX_STEPS: usize = 50;

/// What the planner is told.
pub const INSTRUCTION: &str = "You plan work for an assistant that acts with tools. You get one JSON object: \
`task`, `max_steps`, `style` (a hint, may be empty), `available_tools` and `constraints`. Answer with one JSON \
object and nothing else: {\"plan\": {\"thought\": \"why this way, one sentence\", \"summary\": \"the plan in one \
line\", \"steps\": [{\"step\": \"what is done\", \"status\": \"pending\"}], \"risks\": [], \"questions\": [], \
\"completion\": \"how one sees that it is done\"}}. Each step is one outcome that can be checked, in the \
language of the task. Use as few steps as the task needs.";

/// `tools.plan_create`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PlanCreate")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// Steps of a plan when the model names no number.
    #[schemars(range(min = 1, max = 50))]
    pub max_steps: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, max_steps: 6 }
    }
}

/// The tool.
pub(crate) struct PlanCreate {
    model: Arc<dyn Small>,
    usual_steps: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    task: String,
    /// Default: tools.plan_create.max_steps, usually 6.
    #[schemars(range(min = 1, max = 50))]
    max_steps: Option<u32>,
    style: Option<String>,
    /// A profile. Default: the conversation's.
    model: Option<String>,
}

impl PlanCreate {
    /// Plans with `model`.
    pub(crate) fn new(settings: &Settings, model: &Arc<dyn Small>) -> Self {
        Self { model: Arc::clone(model), usual_steps: settings.max_steps }
    }

    fn planner(&self, wanted: Option<&str>) -> Result<Arc<dyn Small>, ToolError> {
        let Some(wanted) = wanted.map(str::trim).filter(|w| !w.is_empty()) else {
            return Ok(Arc::clone(&self.model));
        };
        self.model.named(wanted).map_err(|known| {
            let known = if known.is_empty() { "no other".to_owned() } else { known.join(", ") };
            ToolError::tell(format!("invalid model: {wanted} (takes {known})"))
        })
    }
}

#[async_trait]
impl Handler for PlanCreate {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Plan a task of several steps; people in the chat see it. Step 1 is in progress. Then \
                          tell how far you are beside your calls, a line each: [~] 2 begins step 2, [x] 2 closes \
                          it."
                .to_owned(),
            group: "conversation",
            sources: &["S3"],
            doing: "planning",
            longest: Some(LIMIT * 2 + Duration::from_secs(5)),
            ..spec::<Args>(NAME, Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { task, max_steps, style, model } = typed(args)?;
        let most = max_steps.unwrap_or(self.usual_steps);
        let planner = self.planner(model.as_deref())?;
        let names = scope.tools.specs().iter().map(|spec| spec.name);
        let tools: Vec<&str> = names.filter(|name| *name != NAME).collect();
        let asked = json!({
            "task": task,
            "max_steps": most,
            "style": style.unwrap_or_default(),
            "available_tools": tools,
            "constraints": ["at most max_steps steps", "no step needs a tool that is not listed"],
        });
        let answer = planner.ask(INSTRUCTION, &asked.to_string(), LIMIT, &scope.spent).await?;
        let drawn = match drawn(&answer, most as usize) {
            Ok(drawn) => drawn,
            Err(why) => {
                let again = format!("{asked}\n\nYour last answer could not be used: {why}.");
                let answer = planner.ask(INSTRUCTION, &again, LIMIT, &scope.spent).await?;
                drawn(&answer, most as usize).map_err(|why| {
                    ToolError::tell(format!("invalid plan_create response: {why}"))
                })?
            }
        };
        let text = serde_json::to_string(&json!({ "plan": drawn }));
        text.map(Output::ok).map_err(|e| ToolError::tell(e.to_string()))
    }
}

/// Reads the plan out of an answer of this tool.
pub fn plan_in(answer: &str) -> Option<Plan> {
    let whole: Value = serde_json::from_str(answer).ok()?;
    serde_json::from_value(whole.get("plan")?.clone()).ok()
}

/// A plan as it is answered: the reference's keys.
#[derive(Debug, PartialEq, Serialize)]
struct PlanAnswer {
    thought: String,
    summary: String,
    steps: Vec<PlanStep>,
    risks: Vec<String>,
    questions: Vec<String>,
    completion: String,
}

/// Reads a model's answer: the object alone, in a fence, or among words.
fn drawn(answer: &str, most: usize) -> Result<PlanAnswer, String> {
    let start = answer.find('{').ok_or("it contains no JSON object")?;
    let mut values = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
    let whole = match values.next() {
        Some(Ok(whole)) => whole,
        _ => return Err("it is not JSON".to_owned()),
    };
    let plan = whole.get("plan").unwrap_or(&whole);
    let steps = plan.get("steps").and_then(Value::as_array).ok_or("`steps` must be a list")?;
    let mut steps: Vec<PlanStep> = steps
        .iter()
        .filter_map(step)
        .take(most.min(MAX_STEPS))
        .map(|step| PlanStep { step, status: StepStatus::Pending })
        .collect();
    // A plan has just been made: nothing of it is done, whatever the model says.
    match steps.first_mut() {
        Some(first) => first.status = StepStatus::InProgress,
        None => return Err("`steps` must hold at least one step".to_owned()),
    }
    let text =
        |key: &str| plan.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    Ok(PlanAnswer {
        thought: text("thought"),
        summary: text("summary"),
        steps,
        risks: lines(plan.get("risks")),
        questions: lines(plan.get("questions")),
        completion: text("completion"),
    })
}

/// A step is a text, or an object that has one.
fn step(written: &Value) -> Option<String> {
    let text = written.as_str().or_else(|| written.get("step").and_then(Value::as_str))?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

fn lines(written: Option<&Value>) -> Vec<String> {
    let list = written.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::testkit::{Act, Acting, Folders};
    use selkie_domain::tool::ToolBlock;
    use selkie_domain::usage::Meter;

    /// Answers what it was given, last first, and remembers what it was asked.
    #[derive(Default)]
    struct Planner {
        answers: Mutex<Vec<&'static str>>,
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl Small for Planner {
        async fn ask(
            &self,
            _: &str,
            text: &str,
            _: Duration,
            _: &Meter,
        ) -> Result<String, ToolError> {
            self.asked.lock().unwrap().push(text.to_owned());
            Ok(self.answers.lock().unwrap().pop().unwrap_or("nothing").to_owned())
        }

        fn named(&self, name: &str) -> Result<Arc<dyn Small>, Vec<String>> {
            match name {
                "big" => Ok(Arc::new(Self { answers: Mutex::new(vec![PLAIN]), ..Self::default() })),
                _ => Err(vec!["big".to_owned()]),
            }
        }
    }

    const PLAIN: &str = r#"{"steps":["look",{"step":"  cook\nit ","status":"completed"},"eat"]}"#;
    const FENCED: &str =
        "Here:\n```json\n{\"plan\":{\"summary\":\"soup\",\"steps\":[\"cook\"]}}\n```";

    async fn made(answers: &[&'static str], args: Value) -> (Result<Output, ToolError>, String) {
        let planner = Arc::new(Planner::default());
        planner.answers.lock().unwrap().extend(answers.iter().rev());
        let model: Arc<dyn Small> = planner.clone();
        let tool = PlanCreate::new(&Settings::default(), &model);
        let folders = Folders::new();
        let listed = Acting::tool("echo", Class::Read, Act::Echo);
        let mut scope = folders.scope();
        scope.tools =
            Arc::new(ToolBlock::new(vec![Arc::clone(listed.spec()), Arc::new(tool.spec())]));
        let done = tool.call(&scope, args).await;
        (done, planner.asked.lock().unwrap().join("\n---\n"))
    }

    #[tokio::test]
    async fn a_plan_is_cut_begins_with_its_first_step_and_knows_the_tasks_tools() {
        let (done, asked) = made(&[PLAIN], json!({ "task": "soup", "max_steps": 2 })).await;
        insta::assert_snapshot!(done.unwrap().text, @r#"{"plan":{"thought":"","summary":"","steps":[{"step":"look","status":"in_progress"},{"step":"cook it","status":"pending"}],"risks":[],"questions":[],"completion":""}}"#);
        insta::assert_snapshot!(asked, @r#"{"task":"soup","max_steps":2,"style":"","available_tools":["echo"],"constraints":["at most max_steps steps","no step needs a tool that is not listed"]}"#);
    }

    #[tokio::test]
    async fn what_is_no_plan_is_asked_for_once_more_and_then_told() {
        let (done, asked) = made(&["sorry", FENCED], json!({ "task": "soup" })).await;
        let plan = plan_in(&done.unwrap().text).unwrap();
        assert_eq!((plan.summary.as_str(), plan.steps.len()), ("soup", 1));
        assert!(asked.contains("could not be used: it contains no JSON object"), "{asked}");
        let (done, _) = made(&["{\"steps\":[]}", "{\"steps\":{}}"], json!({ "task": "x" })).await;
        insta::assert_snapshot!(done.unwrap_err(), @"invalid plan_create response: `steps` must be a list");
    }

    #[tokio::test]
    async fn another_model_is_taken_by_its_name() {
        let (done, asked) = made(&[], json!({ "task": "x", "model": "big" })).await;
        assert_eq!(plan_in(&done.unwrap().text).unwrap().steps.len(), 3);
        assert_eq!(asked, "", "the usual one is not asked");
        let (done, _) = made(&[], json!({ "task": "x", "model": "huge" })).await;
        assert_eq!(done.unwrap_err().to_string(), "invalid model: huge (takes big)");
    }
}
