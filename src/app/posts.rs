//! What the command line asks of posts, carried out in the daemon or, where none runs, in the command itself.

use selkie_channel_core::Post;
use serde::{Deserialize, Serialize};

use crate::answered::NotDone;
use crate::approvals::decided;
use selkie_domain::approval::{Verdict, code};
use selkie_domain::ids::{OutboundId, ScheduleId};
use selkie_domain::schedule::{Action, ScheduleState};
use selkie_engine::delivery::messages::posts as messages;
use selkie_engine::flow::Flow;
use selkie_schedule::book::{BookError, PostChange};
use selkie_schedule::outlook::outlook;
use selkie_schedule::post_view::{PostStands, PostView};
use selkie_schedule::recurrence::UnknownRecurrence;
use selkie_store::{ApprovalRow, PostRow, ScheduleRow, States, StoreError, Which};

/// So many posts that went out, or did not, are listed.
const MAX_PAST: usize = 50;

/// So many removed schedules are looked through for posts that were withdrawn.
const MAX_REMOVED: usize = 1_000;

/// What of a scheduled post is changed.
#[derive(Debug, Serialize, Deserialize)]
pub struct PostEdit {
    /// Its texts.
    pub texts: Option<Vec<String>>,
    /// Its first time.
    pub time: Option<String>,
    /// How often.
    pub recurrence: Option<String>,
}

/// What an id names.
enum PostTarget {
    Schedule(ScheduleId),
    Post(OutboundId),
    Draft(String),
}

impl PostTarget {
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
    matches!(PostTarget::read(id), PostTarget::Post(_))
}

/// Lists drafts, scheduled posts, and the newest that went out or did not.
///
/// # Errors
/// When the store does not answer.
pub async fn list(flow: &Flow) -> Result<Vec<PostView>, StoreError> {
    let ledger = flow.ledger();
    let drafts = drafts(flow).await?;
    let which = Which { limit: usize::MAX, ..Which::default() };
    let scheduled = ledger.schedules(&which).await?;
    let removed = Which { states: States::REMOVED, limit: MAX_REMOVED, ..which };
    let removed = ledger.schedules(&removed).await?;
    let withdrawn = removed.iter().filter(|row| is_post(row)).take(MAX_PAST);
    let scheduled = scheduled.iter().filter(|row| is_post(row)).chain(withdrawn);
    let scheduled = scheduled.map(|row| of_schedule(flow, row));
    let past = ledger.posts(MAX_PAST).await?;
    let past = past.iter().map(|row| of_post(flow, row));
    Ok(drafts.into_iter().chain(scheduled).chain(past).collect())
}

/// Shows one.
///
/// # Errors
/// When there is none.
pub async fn show(flow: &Flow, id: &str) -> Result<Vec<PostView>, BookError> {
    let found = match PostTarget::read(id) {
        PostTarget::Schedule(schedule) => {
            let row = scheduled(flow, schedule).await?;
            is_post(&row).then(|| of_schedule(flow, &row))
        }
        PostTarget::Post(outbound) => {
            let row = flow.ledger().post_of(outbound).await?;
            row.map(|row| of_post(flow, &row))
        }
        PostTarget::Draft(code) => drafts(flow).await?.into_iter().find(|draft| draft.id == code),
    };
    Ok(vec![found.ok_or_else(|| unknown(id))?])
}

/// Tries what was refused, or is unclear, once more.
///
/// # Errors
/// When it stands there, nobody can tell, or it was not posted yet.
pub async fn retry(flow: &Flow, id: &str) -> Result<Vec<PostView>, NotDone> {
    let PostTarget::Post(outbound) = PostTarget::read(id) else {
        return Err(NotDone::Mistyped(format!(
            "{id:?} was not posted yet: only what was refused or is unclear is tried again (takes p12)"
        )));
    };
    flow.post_again(outbound).await?;
    Ok(show(flow, id).await?)
}

/// Gives a scheduled post other words, or another time.
///
/// # Errors
/// When there is none, or it could never be posted so.
pub async fn edit(flow: &Flow, id: &str, edit: PostEdit) -> Result<Vec<PostView>, NotDone> {
    let PostTarget::Schedule(schedule) = PostTarget::read(id) else {
        return Err(NotDone::Mistyped(format!(
            "{id:?} is not a scheduled post (takes its number): what was posted cannot be changed, and a draft can only be \
             denied and written again"
        )));
    };
    let PostEdit { texts, time, recurrence } = edit;
    let recurrence = recurrence.map(|word| word.parse()).transpose();
    let recurrence =
        recurrence.map_err(|why: UnknownRecurrence| NotDone::Mistyped(why.to_string()))?;
    let amended = PostChange { texts, time, recurrence };
    let row = scheduled(flow, schedule).await?;
    may_amend(flow, &row, &amended).map_err(NotDone::mistyped)?;
    let row = flow.timetable.book.amend(schedule, amended).await?;
    Ok(vec![of_schedule(flow, &row)])
}

/// Whether what is written for a scheduled post could ever be posted.
fn may_amend(flow: &Flow, row: &ScheduleRow, amended: &PostChange) -> Result<(), BookError> {
    if let (Action::Post { to, .. }, Some(texts)) = (&row.schedule.action, &amended.texts) {
        let account = flow.accounts().of(to);
        let posting = account.and_then(|account| account.channel.posting);
        let fault =
            posting.and_then(|posting| texts.iter().find_map(|text| (posting.data.fault)(text)));
        if let Some(why) = fault {
            return Err(BookError::Refused(why));
        }
    }
    flow.timetable.book.may_amend(row, amended)
}

/// Finds what is scheduled; whoever asks for a post hears of posts.
async fn scheduled(flow: &Flow, schedule: ScheduleId) -> Result<ScheduleRow, BookError> {
    flow.timetable.book.get(schedule, None).await.map_err(|error| match error {
        BookError::Refused(_) => unknown(&schedule.to_string()),
        error @ BookError::Store(_) => error,
    })
}

/// Keeps one from being posted.
///
/// # Errors
/// When there is none, or nothing of it waits.
pub async fn cancel(flow: &Flow, id: &str) -> Result<Vec<PostView>, BookError> {
    let mut shown = show(flow, id).await?;
    match PostTarget::read(id) {
        PostTarget::Schedule(schedule) => {
            flow.timetable.book.withdraw(schedule).await?;
        }
        PostTarget::Post(outbound) => {
            if !flow.ledger().withdraw_post(outbound).await? {
                let why = match show(flow, id).await?[0].state.as_str() {
                    "posting" => format!(
                        "{id} is being posted: `selkie tweets show {id}` says what becomes of it"
                    ),
                    state => format!("{id} is {state}: nothing of it waits to be posted"),
                };
                return Err(BookError::Refused(why));
            }
            return show(flow, id).await;
        }
        PostTarget::Draft(code) => {
            if decided(flow, &code, Verdict::Deny).await?.is_none() {
                return Err(unknown(id));
            }
        }
    }
    shown.iter_mut().for_each(|view| view.state = "withdrawn".to_owned());
    Ok(shown)
}

/// What waits for somebody's approval.
async fn drafts(flow: &Flow) -> Result<Vec<PostView>, StoreError> {
    let posting = flow.accounts().all().filter_map(|account| account.channel.posting);
    let names: Vec<_> =
        posting.flat_map(|postable| [postable.data.now.name, postable.data.later.name]).collect();
    let open = flow.ledger().approvals(None).await?;
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
    let why = match flow.waits_for_login(row) {
        true => messages::why_waits(&row.said),
        false => why,
    };
    PostView {
        id: format!("p{}", row.outbound.0),
        state,
        why,
        when: String::new(),
        next: Vec::new(),
        zone: String::new(),
        schedule: row.of.map(|of| of.schedule),
        texts: messages::texts(&row.said),
        pictures: messages::pictures(&row.said),
        url,
        asked: row.asked.as_ref().map(|asked| asked.key().to_owned()),
        at: Some(row.created_at),
    }
}

fn unknown(id: &str) -> BookError {
    let shown: String = id.chars().take(40).collect();
    BookError::Refused(format!("there is no post {shown:?}: `selkie tweets list` shows them"))
}
