//! Tools called by hand: `selkie tools call`, without an agent; the same shape, scope and dispatch.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::{AccountId, Audience, ConversationId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::manual_ports::{LedgerTodos, Nobody, OfThisRun, SPEAKS_NOWHERE};
use selkie_domain::approval::Exposure;
use selkie_domain::facts::{Facts, Where};
use selkie_domain::ids::TaskId;
use selkie_domain::transcript::Call;
use selkie_engine::terminal::agent::AgentAnswer;
use selkie_guard::visible::{one_line, visible};
use selkie_shape::Shape;
use selkie_shape::roots::{Reach, Workspace};
use selkie_tools::ToolError;
use selkie_tools::agents::ChildOrder;
use selkie_tools::dispatch::dispatch;
use selkie_tools::paths::{Level, Roots, SkillFolders};
use selkie_tools::ports::{NoAsker, Progress};
use selkie_tools::preview::preview;
use selkie_tools::resolve::{ResolvedCall, resolve};
use selkie_tools::scope::{ApprovedBasis, Outward, Scope};

/// Not longer than this for one call.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The account of the command line's conversations, the same as `selkie ask` has.
const ACCOUNT: &str = "cli:local";
/// The command line as settings name it.
const AT_TERMINAL: Where = Where::CommandLine { terminal: true };
/// Why a call by hand asks nobody while it runs.
const ASKS_NOBODY: &str = "a call by hand asks nobody while it runs";
/// The folder of the cache that calls by hand own.
const OWN: &str = "by-hand";

/// Calls by hand, in order, in one setting.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByHand {
    /// What shape looks at.
    pub facts: Facts,
    /// The folder that the tools work in.
    pub workspace: PathBuf,
    /// Name and arguments.
    pub calls: Vec<(String, Value)>,
    /// Somebody sits there and sees what is done.
    #[serde(default)]
    pub terminal: bool,
    /// Nothing is done: what would be done is told.
    #[serde(default)]
    pub preview: bool,
}

/// What a call answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    /// The tool as it was named.
    pub tool: String,
    /// Its answer, or why there is none.
    pub text: String,
    /// It failed or was refused.
    pub is_error: bool,
}

/// Makes the calls, one after the other; the first that must end everything is the last.
pub async fn call(app: &App, by_hand: &ByHand, progress: Arc<dyn Progress>) -> Vec<CallReport> {
    ToolRunner { app, progress }.call(by_hand).await
}

/// Where calls by hand are made.
struct ToolRunner<'a> {
    app: &'a App,
    progress: Arc<dyn Progress>,
}

impl ToolRunner<'_> {
    async fn call(&self, by_hand: &ByHand) -> Vec<CallReport> {
        let mode = Arc::new(OfThisRun(Mutex::new(by_hand.facts.mode)));
        let mut answers = Vec::new();
        let mut taint = by_hand.facts.taint;
        for (index, (tool, arguments)) in by_hand.calls.iter().enumerate() {
            let id = format!("c1.{index}");
            let mut facts = Facts { mode: mode.now(), taint, ..by_hand.facts.clone() };
            if taint.is_any() && !by_hand.terminal && facts.place == AT_TERMINAL {
                // Nobody sees what a page or a file may have brought about.
                facts.place = Where::CommandLine { terminal: false };
            }
            let shape = self.app.shaper.now().shape(&facts);
            let modes = Arc::clone(&mode) as _;
            let scope =
                Scope { mode: facts.mode, modes, ..self.scope(by_hand, &facts, &shape, &id) };
            let call = Call { id, name: tool.clone(), arguments: arguments.clone() };
            let call = shape.registry.canonical(call);
            if by_hand.preview {
                answers.push(CallReport {
                    tool: tool.clone(),
                    ..self.preview(&shape, scope, call).await
                });
                continue;
            }
            let answer = dispatch(&shape.registry, &call, &scope, &self.app.plan.redactor).await;
            let answer = match answer {
                Err(ToolError::Spawn(orders)) => {
                    let agents = self.agents(by_hand, &facts, &orders).await;
                    agents.map(|answer| {
                        taint = taint.max(answer.level);
                        (answer.text, answer.is_error)
                    })
                }
                Ok(done) => {
                    taint = taint.max(done.answer.taint);
                    Ok((done.answer.text, done.answer.is_error))
                }
                Err(error) => Err(error),
            };
            let (text, is_error, over) = match answer {
                Ok((text, is_error)) => (text, is_error, false),
                Err(error @ ToolError::Ask(_)) => (format!("{tool}: {error}"), true, false),
                Err(error) => (error.to_string(), true, true),
            };
            answers.push(CallReport { tool: tool.clone(), text, is_error });
            if over {
                break;
            }
        }
        answers
    }

    /// Lets agents work, one after the other.
    async fn agents(
        &self,
        by_hand: &ByHand,
        facts: &Facts,
        orders: &[ChildOrder],
    ) -> Result<AgentAnswer, ToolError> {
        let mut all = AgentAnswer { text: String::new(), is_error: false, level: facts.taint };
        for order in orders {
            let counter = self.app.flow.counter();
            let done = counter.run_agent(&by_hand.workspace, order, facts).await;
            let done = done.map_err(|error| ToolError::Abort(error.to_string()))?;
            if !all.text.is_empty() {
                all.text.push_str("\n\n");
            }
            all.text.push_str(&done.text);
            all.is_error |= done.is_error;
            all.level = all.level.max(done.level);
        }
        Ok(all)
    }

    /// Tells what a call would do, in the words of an approval.
    async fn preview(&self, shape: &Shape, scope: Scope, call: Call) -> CallReport {
        let redactor = self.app.plan.redactor.clone();
        let resolved = match resolve(&shape.registry, &call, &scope).await {
            Ok(resolved) if resolved.tool.spec().speaks => Err(SPEAKS_NOWHERE.to_owned()),
            Ok(resolved) => resolved.refusal(&scope).map_or(Ok(resolved), Err),
            Err(why) => Err(why.to_string()),
        };
        let shown = match resolved {
            Ok(ResolvedCall { tool, exposure, .. }) => {
                let asks = asks_first(exposure);
                let look = move || {
                    let shown = preview(&tool, &scope.roots, &call.arguments, &redactor)?;
                    let unseen = tool.handler.unseen(&call.arguments).into_iter();
                    let notes =
                        unseen.map(|what| format!("\n- not shown: {}", one_line(&visible(&what))));
                    Ok(shown.map(|shown| shown + &notes.collect::<String>()))
                };
                let looked = tokio::task::spawn_blocking(look).await;
                looked
                    .unwrap_or_else(|_| Err("the preview failed: a bug in selkie".to_owned()))
                    .map(|shown| asks + &shown.unwrap_or_else(|| "it changes nothing".to_owned()))
            }
            Err(why) => Err(why),
        };
        let (text, is_error) = match shown {
            Ok(shown) => (shown, false),
            Err(why) => (why, true),
        };
        CallReport { tool: String::new(), text, is_error }
    }

    fn scope(&self, by_hand: &ByHand, facts: &Facts, shape: &Shape, call: &str) -> Scope {
        let workspace = &by_hand.workspace;
        let key = format!("cli:{}", workspace.display());
        let flow = &self.app.flow;
        Scope {
            task: TaskId(0),
            call: call.to_owned(),
            conversation: ConversationId::new(AccountId::new(ACCOUNT), key),
            agent: None,
            message: by_hand.facts.message.clone(),
            speaker: by_hand.facts.speaker.clone(),
            is_private: by_hand.facts.audience() == Audience::Direct,
            trust: by_hand.facts.trust,
            mode: by_hand.facts.mode,
            trigger: by_hand.facts.trigger,
            // Whoever calls by hand has written what is called.
            taint: facts.taint,
            outward: Outward::Free,
            // Whoever sits there sees what is done.
            approved: by_hand.terminal.then(ApprovedBasis::default),
            earlier: Arc::default(),
            plan: None,
            given: Vec::new(),
            kept: None,
            roots: self.roots(by_hand, facts, shape),
            reply: Arc::new(Nobody),
            tools: Arc::clone(shape.registry.block()),
            progress: Arc::clone(&self.progress),
            todos: Arc::new(LedgerTodos(Arc::clone(&self.app.ledger))),
            todo_file: Arc::clone(&flow.people.todo_file),
            memory: Arc::clone(&flow.memory) as _,
            skills: Arc::clone(&flow.skills) as _,
            own_memory: None,
            asked: Arc::default(),
            timetable: Arc::clone(&flow.timetable) as _,
            addressees: Arc::clone(&flow.people.addressees),
            sessions: Arc::clone(flow.sessions()) as _,
            agents: Arc::clone(flow.agents()) as _,
            begun: Vec::new(),
            post_files: Arc::clone(flow.post_files()) as _,
            studio: Arc::clone(flow.studio()) as _,
            modes: Arc::new(OfThisRun(Mutex::new(by_hand.facts.mode))),
            permissions: NoAsker::permissions(ASKS_NOBODY),
            spent: Arc::default(),
            deadline: Instant::now() + TIMEOUT,
            task_deadline: Instant::now() + Duration::from_secs(24 * 60 * 60),
            cancel: CancellationToken::new(),
            clock: Arc::clone(&self.app.clock),
        }
    }

    fn roots(&self, by_hand: &ByHand, facts: &Facts, shape: &Shape) -> Roots {
        let Reach { workspace: opened, state, skills, elsewhere } = shape.roots.opens;
        let flow = &self.app.flow;
        let folders = &self.app.plan.folders;
        Roots {
            cache: folders.cache.clone(),
            own: folders.cache.join(OWN),
            state: state.then(|| folders.state.clone()),
            workspace: (opened == Workspace::Any).then(|| by_hand.workspace.clone()),
            elsewhere,
            skills: match skills {
                true => flow.skills.folders(facts.trust),
                false => SkillFolders::default(),
            },
            confinement: shape.confinement,
            level: Level::of_task(facts.taint, by_hand.facts.trust),
            ours: flow.own_paths(),
            lists: flow.acquaintances.lists(),
        }
    }
}

/// A line that says so when a call needs approval, and who gives it.
fn asks_first(exposure: Exposure) -> String {
    match exposure {
        Exposure::Ask { reasons, .. } => format!(
            "needs approval, which you give by calling it at a terminal: {}\n",
            reasons.join("; ")
        ),
        _ => String::new(),
    }
}
