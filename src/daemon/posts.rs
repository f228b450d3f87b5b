//! What the command line asks of posts, carried out in the daemon or, where none runs, in the command itself.

use selkie_channel_core::Post;
use serde::{Deserialize, Serialize};

use crate::daemon::answered::{Answered, NotDone};
use crate::engine::flow::Flow;
use crate::domain::approval::{Verdict, code};
use crate::domain::ids::{OutboundId, ScheduleId};
use crate::domain::schedule::{Action, ScheduleState};
use crate::schedule::book::{Amended, BookError};
use crate::schedule::outlook::outlook;
use crate::schedule::post_view::{PostStands, PostView};
use crate::schedule::recurrence::UnknownRecurrence;
use crate::store::{ApprovalRow, PostRow, ScheduleRow, States, StoreError, Which};

/// So many posts that went out, or did not, are listed.
const MOST_PAST: usize = 50;

/// So many removed schedules are looked through for posts that were withdrawn.
const MOST_REMOVED: usize = 1_000;

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AskedOfPosts {
    /// Drafts, scheduled posts, and the newest that went out or did not.
    List,
    /// One.
    Show {
        /// Which.
        id: String,
    },
    /// It is not posted.
    Cancel {
        /// Which.
        id: String,
    },
    /// What was refused, or is unclear, is tried once more.
    Retry {
        /// Which.
        id: String,
    },
    /// A scheduled one gets other words, or another time.
    Edit {
        /// Which.
        id: String,
        /// Its texts.
        texts: Option<Vec<String>>,
        /// Its first time.
        time: Option<String>,
        /// How often.
        recurrence: Option<String>,
    },
}

/// The answer.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToldOfPosts {
    /// Posts.
    pub posts: Vec<PostView>,
}

/// What an id names.
enum Named {
    Schedule(ScheduleId),
    Post(OutboundId),
    Draft(String),
}

impl Named {
    fn read(id: &str) -> Self {
        let id = id.trim();
        let post = id.strip_prefix(['p', 'P']).and_then(|number| number.parse().ok());
        match (post, id.parse()) {
            (Some(post), _) => Self::Post(OutboundId(post)),
            (None, Ok(schedule)) => Self::Schedule(ScheduleId(schedule)),
            (None, Err(_)) => Self::Draft(id.to_lowercase()),
        }
    }
}

/// Whether an id has the form of one that was posted, or was not.
pub fn names_a_post(id: &str) -> bool {
    matches!(Named::read(id), Named::Post(_))
}

/// Carries out what is asked.
///
/// # Errors
/// When the store does not answer.
pub async fn carry_out_posts(
    flow: &Flow,
    asked: AskedOfPosts,
) -> anyhow::Result<Answered<ToldOfPosts>> {
    Answered::of(found(flow, asked).await.map(|posts| ToldOfPosts { posts }))
}

async fn found(flow: &Flow, asked: AskedOfPosts) -> Result<Vec<PostView>, NotDone> {
    match asked {
        AskedOfPosts::List => Ok(list(flow).await?),
        AskedOfPosts::Show { id } => Ok(one(flow, &id).await?),
        AskedOfPosts::Cancel { id } => Ok(cancel(flow, &id).await?),
        AskedOfPosts::Retry { id } => match Named::read(&id) {
            Named::Post(outbound) => {
                flow.post_again(outbound).await?;
                Ok(one(flow, &id).await?)
            }
            Named::Schedule(_) | Named::Draft(_) => Err(NotDone::Mistyped(format!(
                "{id:?} was not posted yet: only what was refused or is unclear is tried again (takes p12)"
            ))),
        },
        AskedOfPosts::Edit { id, texts, time, recurrence } => {
            let Named::Schedule(schedule) = Named::read(&id) else {
                return Err(NotDone::Mistyped(format!(
                    "{id:?} is not a scheduled post (takes its number): what was posted cannot be changed, and a draft \
                     can only be denied and written again"
                )));
            };
            let recurrence = recurrence.map(|word| word.parse()).transpose();
            let recurrence =
                recurrence.map_err(|why: UnknownRecurrence| NotDone::Mistyped(why.to_string()))?;
            let amended = Amended { texts, time, recurrence };
            let row = scheduled(flow, schedule).await?;
            flow.may_amend(&row, &amended).map_err(NotDone::mistyped)?;
            Ok(vec![of_schedule(flow, &flow.amend_post(schedule, amended).await?)])
        }
    }
}

/// Lists drafts, scheduled posts, and the newest that went out or did not.
///
/// # Errors
/// When the store does not answer.
pub async fn list_posts(flow: &Flow) -> Result<Vec<PostView>, StoreError> {
    match list(flow).await {
        Ok(posts) => Ok(posts),
        Err(BookError::Store(error)) => Err(error),
        // A list refuses nobody.
        Err(BookError::Refused(why)) => Err(StoreError::Corrupt(why)),
    }
}

async fn list(flow: &Flow) -> Result<Vec<PostView>, BookError> {
    let drafts = drafts(flow).await?;
    let which = Which { limit: usize::MAX, ..Which::default() };
    let scheduled = flow.book().list(&which).await?;
    let removed = Which { states: States::REMOVED, limit: MOST_REMOVED, ..which };
    let removed = flow.book().list(&removed).await?;
    let withdrawn = removed.iter().filter(|row| is_post(row)).take(MOST_PAST);
    let scheduled = scheduled.iter().filter(|row| is_post(row)).chain(withdrawn);
    let scheduled = scheduled.map(|row| of_schedule(flow, row));
    let past = flow.posts(MOST_PAST).await?;
    let past = past.iter().map(|row| of_post(flow, row));
    Ok(drafts.into_iter().chain(scheduled).chain(past).collect())
}

async fn one(flow: &Flow, id: &str) -> Result<Vec<PostView>, BookError> {
    let found = match Named::read(id) {
        Named::Schedule(schedule) => {
            let row = scheduled(flow, schedule).await?;
            is_post(&row).then(|| of_schedule(flow, &row))
        }
        Named::Post(outbound) => flow.post_of(outbound).await?.map(|row| of_post(flow, &row)),
        Named::Draft(code) => drafts(flow).await?.into_iter().find(|draft| draft.id == code),
    };
    Ok(vec![found.ok_or_else(|| unknown(id))?])
}

/// Finds what is scheduled; whoever asks for a post hears of posts.
async fn scheduled(flow: &Flow, schedule: ScheduleId) -> Result<ScheduleRow, BookError> {
    flow.book().get(schedule, None).await.map_err(|error| match error {
        BookError::Refused(_) => unknown(&schedule.to_string()),
        error @ BookError::Store(_) => error,
    })
}

async fn cancel(flow: &Flow, id: &str) -> Result<Vec<PostView>, BookError> {
    let mut shown = one(flow, id).await?;
    match Named::read(id) {
        Named::Schedule(schedule) => {
            flow.book().withdraw(schedule).await?;
        }
        Named::Post(outbound) => {
            if !flow.withdraw_post(outbound).await? {
                let why = match one(flow, id).await?[0].state.as_str() {
                    "posting" => format!(
                        "{id} is being posted: `selkie tweets show {id}` says what becomes of it"
                    ),
                    state => format!("{id} is {state}: nothing of it waits to be posted"),
                };
                return Err(BookError::Refused(why));
            }
            return one(flow, id).await;
        }
        Named::Draft(code) => {
            if flow.decide(&code, Verdict::Deny).await?.is_none() {
                return Err(unknown(id));
            }
        }
    }
    shown.iter_mut().for_each(|view| view.state = "withdrawn".to_owned());
    Ok(shown)
}

/// What waits for somebody's approval.
async fn drafts(flow: &Flow) -> Result<Vec<PostView>, BookError> {
    let names = flow.posting_tools();
    let open = flow.approvals().await?;
    let open = open.iter().filter(|row| names.contains(&row.request.tool.as_str()));
    Ok(open.map(draft).collect())
}

fn draft(row: &ApprovalRow) -> PostView {
    PostView {
        id: code(&row.key).to_owned(),
        state: "draft".to_owned(),
        why: "it waits for approval".to_owned(),
        when: String::new(),
        next: Vec::new(),
        zone: String::new(),
        schedule: None,
        texts: vec![row.request.preview.clone()],
        pictures: Vec::new(),
        url: None,
        asked: Some(row.conversation.key().to_owned()),
        at: None,
    }
}

fn is_post(row: &ScheduleRow) -> bool {
    matches!(row.schedule.action, Action::Post { .. })
}

fn of_schedule(flow: &Flow, row: &ScheduleRow) -> PostView {
    let ahead = outlook(row, flow.now());
    let state = match row.state {
        ScheduleState::Active => "scheduled",
        ScheduleState::Removed => "withdrawn",
        state => state.name(),
    };
    let post = match &row.schedule.action {
        Action::Post { post, .. } => post.clone(),
        action => Post { texts: vec![action.text().to_owned()], ..Post::default() },
    };
    let pictures = post.pictures.into_iter().map(|picture| picture.name).collect();
    PostView {
        id: row.id().to_string(),
        state: state.to_owned(),
        why: row.why.clone(),
        when: ahead.when,
        next: ahead.times,
        zone: row.schedule.zone.clone(),
        schedule: Some(row.id()),
        texts: post.texts,
        pictures,
        url: None,
        asked: Some(row.conversation.key().to_owned()),
        at: Some(row.created_at),
    }
}

fn of_post(flow: &Flow, row: &PostRow) -> PostView {
    let urls = flow.post_urls();
    let stands = PostStands::of(&row.standing, &row.said.conversation, &urls);
    let PostStands { state, why, url } = stands;
    let why = flow.post_waits(row).unwrap_or(why);
    PostView {
        id: format!("p{}", row.outbound.0),
        state,
        why,
        when: String::new(),
        next: Vec::new(),
        zone: String::new(),
        schedule: row.of.map(|of| of.schedule),
        texts: flow.post_texts(row),
        pictures: flow.post_pictures(row),
        url,
        asked: row.asked.as_ref().map(|asked| asked.key().to_owned()),
        at: Some(row.created_at),
    }
}

fn unknown(id: &str) -> BookError {
    let shown: String = id.chars().take(40).collect();
    BookError::Refused(format!("there is no post {shown:?}: `selkie tweets list` shows them"))
}
