//! Requests to approve a call as people see them: what it would do, literally, with buttons; then what came of it.

use std::sync::Arc;

use selkie_channel_core::styled::push_literal;
use selkie_channel_core::{Body, Choice, Question, shorten};

use crate::delivery::outbox::Outbox;
use crate::delivery::waiters;
use selkie_agent::prompt;
use selkie_domain::approval::{ApprovalState, Approvers, MuteOf, Request, Verdict, code};
use selkie_domain::question::Person;
use selkie_guard::visible::{fenced, visible};
use selkie_store::{ApprovalRow, AskedPerson};

/// A request is repeated in its outcome as far as surely fits into one message, in bytes.
const MAX_REPEATED: usize = 1200;
/// What a message shows of a call that goes along as a file, in bytes.
const HEAD: usize = 1200;
/// Why something was not done is cut to this, in characters.
const MAX_WHY: usize = 300;
/// Names of people and places are cut to this, in characters.
const MAX_NAME: usize = 60;
/// Characters of what a call would do that stand in the sentence which asks for it; all of it stands below.
const MAX_EFFECT: usize = 100;

/// What a request says besides the request itself.
pub struct About<'a> {
    /// Its key.
    pub key: &'a str,
    /// Who asked for what needs it.
    pub requester: Option<&'a Person>,
    /// How long it stays open: `5 minutes`.
    pub within: String,
    /// Whom who is asked can mute with it.
    pub mutes: &'static [Verdict],
}

/// Returns the request with its buttons; a terminal is asked by [`super::approval_at_terminal`].
pub fn asked(about: &About<'_>, request: &Request) -> Question {
    let told = told(about, request);
    let code = code(about.key);
    let how = format!(
        "If somebody approves it within {}, it is done once. In words: `approve {code}` or `deny {code}`{}.",
        about.within,
        in_words(about.mutes, code)
    );
    let choice = |verdict: Verdict, label: &str| Choice {
        id: verdict.name().to_owned(),
        label: label.to_owned(),
        description: String::new(),
    };
    let mut choices = vec![choice(Verdict::Approve, "Approve"), choice(Verdict::Deny, "Deny")];
    choices.extend(about.mutes.iter().map(|verdict| match verdict {
        Verdict::MuteGroup => choice(*verdict, "Mute this group"),
        _ => choice(*verdict, "Mute this person"),
    }));
    Question {
        key: about.key.to_owned(),
        markdown: format!("{told}\n\n{how}"),
        choices,
        free_text: false,
        placeholder: String::new(),
    }
}

/// How somebody is muted in words.
fn in_words(mutes: &[Verdict], code: &str) -> String {
    let words = mutes.iter().map(|verdict| match verdict {
        Verdict::MuteGroup => format!("`mute group {code}`"),
        _ => format!("`mute {code}`"),
    });
    match words.collect::<Vec<_>>().join(" or ") {
        words if words.is_empty() => words,
        words => format!("; {words} denies it, and keeps such requests from you for a day"),
    }
}

/// Writes all that a request is for, for a file that goes along with it.
pub fn whole(request: &Request) -> String {
    visible(&request.preview) + "\n"
}

/// What would be done, and for whom. Nothing that the model said stands in it but what it would do.
fn told(about: &About<'_>, request: &Request) -> String {
    let head = format!("May I {}? {}:", effect(request), origin(about.requester, request));
    let shown = visible(&request.preview);
    let shown = match request.is_long() {
        true => {
            let characters = request.preview.chars().count();
            let head = fenced(&format!("{}…", &shown[..shown.floor_char_boundary(HEAD)]));
            format!(
                "{head}\n\nThis is the beginning. The whole call, {characters} characters, is in the file above: \
                 read it before you decide."
            )
        }
        false => fenced(&shown),
    };
    let unseen: String =
        request.unseen.iter().map(|what| format!("\n- not shown: {}", literal(what))).collect();
    format!("{head}\n\n{shown}\n{unseen}{}", reasons(request))
}

/// What the call would do, to follow `May I`: the first line of its preview, on which no other can stand.
pub(super) fn effect(request: &Request) -> String {
    let first = request.preview.lines().next().unwrap_or_default();
    let said = first.trim_end().trim_end_matches(':');
    literal(&shorten(said, MAX_EFFECT))
}

/// Who asked for it, and where.
fn origin(requester: Option<&Person>, request: &Request) -> String {
    let place = plain(&request.place);
    match requester {
        Some(_) => format!("{} asked for it in {place}", whom(requester)),
        None => format!("It comes from {place}"),
    }
}

/// Who asked for what needs it.
fn whom(requester: Option<&Person>) -> String {
    match requester {
        Some(person) => plain(&prompt::person(&person.name, person.id.as_str())),
        None => "nobody in particular".to_owned(),
    }
}

fn reasons(request: &Request) -> String {
    request.reasons.iter().map(|reason| format!("\n- it {reason}")).collect()
}

/// Says in a line what came of a request.
pub fn outcome(approval: &ApprovalRow) -> String {
    let by = plain(&approval.by);
    let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
    let why = unmarked(approval.why.as_deref().unwrap_or_default())
        .chars()
        .take(MAX_WHY)
        .collect::<String>();
    let why = if why.is_empty() { why } else { format!(": {why}") };
    match approval.state {
        ApprovalState::Open => "It is still open.".to_owned(),
        // Some of it may be done.
        _ if approval.has_failed() => format!("✖ Approved{by}, but it failed{why}"),
        ApprovalState::Approved | ApprovalState::Consumed => format!("✔ Approved{by}"),
        ApprovalState::Denied => match muted(approval) {
            Some(muted) => format!("✖ Denied{by}. {muted}"),
            None => format!("✖ Denied{by}"),
        },
        ApprovalState::Expired => "⌛ Expired: it was not done.".to_owned(),
        ApprovalState::Lapsed => {
            format!("⌛ Approved{by}, but not begun in time: it was not done.")
        }
        ApprovalState::Withdrawn | ApprovalState::NotAsked => match by.is_empty() {
            true => format!("✖ Withdrawn{why}"),
            false => format!("✖ Approved{by}, but it was not done{why}"),
        },
    }
}

/// Says whom who decided has muted with it, and how that is lifted.
pub fn muted(approval: &ApprovalRow) -> Option<String> {
    let code = code(&approval.key);
    let whose = match approval.mute.as_ref()?.of {
        MuteOf::Person => format!("for {}", whom(approval.requester.as_ref())),
        MuteOf::Group => format!("from {}", plain(&approval.request.place)),
    };
    Some(format!("Requests {whose} are muted for a day; unmute {code} lifts that."))
}

/// Takes the buttons off every message of a request that is settled and says what came of it, once. A message
/// that is on its way is changed when it has arrived.
pub async fn close(outbox: &Arc<Outbox>, approval: &ApprovalRow) {
    if approval.state == ApprovalState::Open || approval.request.of == Approvers::Terminal {
        return;
    }
    for asked in &approval.asked {
        if asked.message.is_some() {
            replace(outbox, approval, asked).await;
            continue;
        }
        let (outbox, key, outbound) = (Arc::clone(outbox), approval.key.clone(), asked.outbound);
        let tracker = outbox.runtime.tracker.clone();
        tracker.spawn(async move {
            let mut standing = outbox.waiters.watch(outbound);
            let storage = Arc::clone(&outbox.storage);
            let read = async || storage.insist(|ledger| ledger.approval(&key)).await.flatten();
            let arrived = |row: &ApprovalRow| {
                row.asked
                    .iter()
                    .find(|one| one.outbound == outbound && one.message.is_some())
                    .cloned()
            };
            let stop = outbox.runtime.stop.work.clone();
            let now = read().await;
            if now.as_ref().and_then(arrived).is_none() {
                tokio::select! {
                    _ = waiters::settled(&mut standing) => {}
                    // The buttons stay; a tap is told what came of them.
                    () = stop.cancelled() => return,
                }
            }
            if let Some(row) = read().await
                && let Some(asked) = arrived(&row)
            {
                replace(&outbox, &row, &asked).await;
            }
        });
    }
}

/// Shows what came of requests that were settled while no daemon ran, or shortly before one was killed.
pub async fn close_left(outbox: Arc<Outbox>) {
    let left = outbox.storage.insist(|ledger| ledger.unshown_approvals()).await.unwrap_or_default();
    for approval in &left {
        close(&outbox, approval).await;
    }
}

async fn replace(outbox: &Arc<Outbox>, approval: &ApprovalRow, asked: &AskedPerson) {
    let Some(message) = asked.message.clone() else { return };
    let shown = visible(&approval.request.preview);
    let shown = match shown.len() <= MAX_REPEATED {
        true => fenced(&shown),
        false => fenced(&format!("{}…", &shown[..shown.floor_char_boundary(MAX_REPEATED)])),
    };
    let request = &approval.request;
    let markdown = format!(
        "I asked whether I may {}. {}:\n\n{shown}\n{}\n\n{}",
        effect(request),
        origin(approval.requester.as_ref(), request),
        reasons(request),
        outcome(approval)
    );
    let body = Body::Revision { message, markdown, question: None };
    if let Some(draft) = outbox.draft_of(&asked.conversation, body) {
        outbox.say_once(&approval.notice(asked), draft).await;
    }
}

/// A name of others on one line, without marks that mean something in a message.
fn plain(text: &str) -> String {
    unmarked(text).chars().take(MAX_NAME * 2).collect()
}

/// Words of a command on one line, each sign as it was written: nothing in it is a mark.
fn literal(text: &str) -> String {
    let shown = visible(text).replace(['\n', '\t'], " ");
    let cut = if shown.chars().nth(MAX_WHY).is_some() { "…" } else { "" };
    let mut out = String::new();
    for c in shown.chars().take(MAX_WHY) {
        match "\\`*_~[]<>|#&!$".contains(c) {
            true => push_literal(&mut out, c),
            false => out.push(c),
        }
    }
    out + cut
}

fn unmarked(text: &str) -> String {
    let shown = visible(text).replace(['\n', '\t'], " ");
    let shown: String =
        shown.chars().map(|c| if "`*_~[]<>|#".contains(c) { ' ' } else { c }).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::PersonId;

    use super::*;

    #[test]
    fn a_request_shows_what_it_is_and_nothing_speaks_for_it() {
        let ben =
            Person { id: PersonId::new("tg:2"), name: "Ben`\n**APPROVED**\u{202e}".to_owned() };
        let about = About {
            key: "3fa9c10000",
            requester: Some(&ben),
            within: "5 minutes".to_owned(),
            mutes: &[],
        };
        let request = Request {
            v: Request::VERSION,
            call: "c1.0".to_owned(),
            tool: "bash".to_owned(),
            words: "running a command".to_owned(),
            preview: "run a command:\nrm a\u{200b}b\n```\nApproved by Ada".to_owned(),
            unseen: vec!["what `id` stands for when it runs".to_owned()],
            place: "telegram:group “Team”".to_owned(),
            reasons: vec!["asks first: so".to_owned()],
            of: Approvers::Owners,
            hash: String::new(),
        };
        let question = asked(&about, &request);
        insta::assert_snapshot!(question.markdown, @r"
        May I run a command? Ben APPROVED (tg:2) asked for it in telegram:group “Team”:

        ````
        run a command:
        rm a⟨U+200B⟩b
        ```
        Approved by Ada
        ````

        - not shown: what \`id\` stands for when it runs
        - it asks first: so

        If somebody approves it within 5 minutes, it is done once. In words: `approve 3fa9c1` or `deny 3fa9c1`.
        ");
        assert_eq!(question.choices.len(), 2);
        let muting = About { mutes: &[Verdict::Mute, Verdict::MuteGroup], ..about };
        let question = asked(&muting, &request);
        let how = "; `mute 3fa9c1` or `mute group 3fa9c1` denies it, and keeps such requests from you for a day.";
        assert!(question.markdown.ends_with(how), "{}", question.markdown);
        assert_eq!(question.choices.len(), 4);
    }
}
