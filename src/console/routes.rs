//! The questions and their answers. Read-only: every route is a GET over the ledger's read ports.

use std::sync::Arc;

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use selkie_channel_core::ConversationId;
use serde::Serialize;
use tokio::time::timeout;

use super::answer::{Answer, Fault, KeyedRow};
use super::approval::Approval;
use super::asked::{ConsoleState, Of, Rows, TIMEOUT, TOTAL, find, limit};
use super::{ChannelView, Console};
use selkie_domain::config_drift::NotInForce;
use selkie_domain::ids::{ScheduleId, TaskId};
use selkie_schedule::post_view::PostView;
use selkie_schedule::view::{Time, View};
use selkie_shape::Explanation;
use selkie_store::read::{AgentChain, Chain, ConversationRow, Counts, TaskDetail, TaskRow};
use selkie_store::{QuestionRow, States, Which};

/// What there is for people and for whoever watches over selkie.
const OPEN: &str = "selkie's console. It only reads: ask with GET.

  /livez     whether all loops turn
  /readyz    whether selkie answers people, or what is missing
  /metrics   what is counted, for Prometheus
";
/// What the read API answers.
const ANSWERED: [&str; 18] = [
    "/v1/status",
    "/v1/conversations",
    "/v1/conversations/{key}/tasks",
    "/v1/conversations/{key}/questions",
    "/v1/conversations/{key}/contacts",
    "/v1/conversations/{key}/todos",
    "/v1/conversations/{key}/memory",
    "/v1/tasks",
    "/v1/tasks/{id}",
    "/v1/tasks/{id}/shape",
    "/v1/tasks/{id}/agents",
    "/v1/tasks/{id}/approvals",
    "/v1/approvals",
    "/v1/schedules",
    "/v1/schedules/{id}/times",
    "/v1/posts",
    "/v1/trace/{message}",
    "/v1/events",
];

/// Returns the routes that answer once.
pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/", get(home))
        .route("/v1/status", get(status))
        .route("/v1/conversations", get(conversations))
        .route("/v1/conversations/{key}/tasks", get(conversation_tasks))
        .route("/v1/conversations/{key}/questions", get(open_questions))
        .route("/v1/tasks", get(tasks))
        .route("/v1/tasks/{id}", get(task))
        .route("/v1/tasks/{id}/shape", get(shape))
        .route("/v1/tasks/{id}/agents", get(agents))
        .route("/v1/tasks/{id}/approvals", get(task_approvals))
        .route("/v1/approvals", get(approvals))
        .route("/v1/schedules", get(schedules))
        .route("/v1/schedules/{id}/times", get(schedule_times))
        .route("/v1/posts", get(posts))
        .route("/v1/trace/{message}", get(trace))
        .fallback(unknown)
}

#[derive(Serialize)]
struct Status {
    version: &'static str,
    model: String,
    healthy: bool,
    /// Why it is not.
    problem: Option<String>,
    counts: Counts,
    /// Durable commits synced to the disk since the start.
    store_syncs: u64,
    channels: Vec<ChannelView>,
    /// What of the config is not in force.
    config: NotInForce,
}

/// A store that cannot be read or written is an answer here, not a fault: that is what one asks for.
async fn status(State(console): ConsoleState) -> Json<Status> {
    let looked =
        timeout(TIMEOUT, async { (console.ledger.counts().await, console.ledger.healthy().await) });
    let (counts, problem) = match looked.await {
        Ok((counts, healthy)) => {
            let problem = counts.as_ref().err().or(healthy.as_ref().err()).map(ToString::to_string);
            (counts.unwrap_or_default(), problem)
        }
        Err(_) => {
            let problem = format!("the store has not answered for {} s", TIMEOUT.as_secs());
            (Counts::default(), Some(problem))
        }
    };
    Json(Status {
        version: console.version,
        model: console.model.now().as_ref().to_owned(),
        healthy: problem.is_none(),
        problem,
        counts,
        store_syncs: (console.syncs)(),
        channels: (console.channels)(),
        config: console.health.not_in_force().await,
    })
}

async fn conversations(
    State(console): ConsoleState,
    rows: Rows,
) -> Answer<Vec<KeyedRow<ConversationRow>>> {
    let rows = console.ledger.conversations(limit(rows)?).await?;
    Ok(Json(rows.into_iter().map(|row| KeyedRow::by(row, |r| &r.id)).collect()))
}

async fn conversation_tasks(
    State(console): ConsoleState,
    Of(key): Of,
    rows: Rows,
) -> Answer<Vec<KeyedRow<TaskRow>>> {
    let limit = limit(rows)?;
    let conversation = find(&console, &key).await?;
    keyed_tasks(&console, Some(&conversation), limit).await
}

/// What waits for a person there, the oldest first.
async fn open_questions(State(console): ConsoleState, Of(key): Of) -> Answer<Vec<QuestionRow>> {
    let conversation = find(&console, &key).await?;
    Ok(Json(console.ledger.open_questions(Some(&conversation)).await?))
}

async fn tasks(State(console): ConsoleState, rows: Rows) -> Answer<Vec<KeyedRow<TaskRow>>> {
    let limit = limit(rows)?;
    keyed_tasks(&console, None, limit).await
}

async fn task(State(console): ConsoleState, Of(id): Of) -> Answer<KeyedRow<TaskDetail>> {
    let detail = detail(&console, &id).await?;
    Ok(Json(KeyedRow::by(detail, |d| &d.row.conversation)))
}

async fn shape(State(console): ConsoleState, Of(id): Of) -> Answer<Explanation> {
    let detail = detail(&console, &id).await?;
    Ok(Json((console.explain)(&detail.facts)))
}

/// What the agents of a task did and do, in the order in which they were begun.
async fn agents(State(console): ConsoleState, Of(id): Of) -> Answer<Vec<AgentChain>> {
    let task = detail(&console, &id).await?.row.id;
    let chains = console.ledger.trace(&task.to_string()).await?;
    let is_its = |chain: &Chain| chain.task.as_ref().is_some_and(|of| of.row.id == task);
    Ok(Json(chains.into_iter().find(is_its).map(|chain| chain.agents).unwrap_or_default()))
}

/// What a task has asked approval for, in any state, the oldest first.
async fn task_approvals(
    State(console): ConsoleState,
    Of(id): Of,
) -> Answer<Vec<KeyedRow<Approval>>> {
    let task = detail(&console, &id).await?.row.id;
    keyed_approvals(&console, Some(task)).await
}

/// What waits for somebody's approval anywhere, the oldest first.
async fn approvals(State(console): ConsoleState) -> Answer<Vec<KeyedRow<Approval>>> {
    keyed_approvals(&console, None).await
}

/// What is done later, or again: the next to come due first, then what is paused or over.
async fn schedules(
    State(console): ConsoleState,
    rows: Rows,
) -> Result<([(&'static str, String); 1], Json<Vec<KeyedRow<View>>>), Fault> {
    let which = Which { states: States::KEPT, limit: limit(rows)?, ..Which::default() };
    let rows = console.schedules.schedules(&which).await?;
    let all = console.schedules.how_many_schedules(&which).await?;
    let now = console.clock.now();
    let views = rows.iter().map(|row| KeyedRow::under(&row.conversation, View::of(row, now)));
    Ok(([(TOTAL, all.to_string())], Json(views.collect())))
}

/// The newest times of one schedule, the newest first.
async fn schedule_times(State(console): ConsoleState, Of(id): Of, rows: Rows) -> Answer<Vec<Time>> {
    let limit = limit(rows)?;
    let known = id.parse().map(ScheduleId);
    let known = known.map_err(|_| {
        Fault::unreadable(format!("{id:?} is not a schedule's number: see /v1/schedules"))
    })?;
    let row = console.schedules.schedule_of(known).await?;
    let missing = || Fault::missing(format!("there is no schedule {id}: see /v1/schedules"));
    let row = row.ok_or_else(missing)?;
    let times = console.schedules.occurrences(known, limit).await?;
    let shown = times.into_iter().map(|time| Time::of(time, &row, &console.post_url));
    Ok(Json(shown.collect()))
}

/// Drafts that wait for approval, scheduled posts, and the newest that went out or did not.
async fn posts(State(console): ConsoleState) -> Answer<Vec<PostView>> {
    Ok(Json((console.posts)().await?))
}

async fn trace(State(console): ConsoleState, Of(message): Of) -> Answer<Vec<Chain>> {
    let chains = console.ledger.trace(&message).await?;
    if chains.is_empty() {
        return Err(Fault::missing(format!(
            "nothing is known about {message:?}: give a task id, the key of an event or a cause, or a message id"
        )));
    }
    Ok(Json(chains))
}

/// Says what there is to whoever opens the address in a browser.
async fn home(State(console): ConsoleState) -> String {
    let answered: String = ANSWERED.iter().map(|path| format!("  {path}\n")).collect();
    let pages: String =
        console.wall.pages().map(|page| format!("\nThe page that shows it: {page}\n")).collect();
    format!("{OPEN}{answered}{pages}")
}

async fn unknown() -> Fault {
    Fault::missing(format!("no such page: there are {}", ANSWERED.join(", ")))
}

async fn keyed_tasks(
    console: &Console,
    of: Option<&ConversationId>,
    limit: usize,
) -> Answer<Vec<KeyedRow<TaskRow>>> {
    let rows = console.ledger.tasks(of, limit).await?;
    Ok(Json(rows.into_iter().map(|row| KeyedRow::by(row, |r| &r.conversation)).collect()))
}

async fn keyed_approvals(console: &Console, of: Option<TaskId>) -> Answer<Vec<KeyedRow<Approval>>> {
    let rows = console.ledger.approvals(of).await?;
    Ok(Json(
        rows.into_iter()
            .map(|row| KeyedRow::by(Approval::of(row), Approval::conversation))
            .collect(),
    ))
}

async fn detail(console: &Console, id: &str) -> Result<TaskDetail, Fault> {
    let id = id
        .parse()
        .map_err(|_| Fault::unreadable(format!("{id:?} is not a task id: see /v1/tasks")))?;
    let detail = console.ledger.task(TaskId(id)).await?;
    detail.ok_or_else(|| Fault::missing(format!("there is no task {id}: see /v1/tasks")))
}
