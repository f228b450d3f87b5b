//! Tools that post in public, by a made-up channel: what is refused, what asks, what is told.

use std::fs::File;
use std::io::Read as _;
use std::sync::Mutex;

use async_trait::async_trait;
use selkie_channel_core::{Body, ConversationId, MessageRef, PersonId, Redactor, locked};
use serde_json::{Value, json};

use super::*;
use crate::ToolError;
use crate::args::accept;
use crate::ports::{
    Entry, EntryDoes, KeptFile, PostFiles, SayOutcome, ScheduleList, Timetable, When, Wisher,
};
use crate::preview::whole;
use crate::scope::Scope;
use crate::songs::SONGS;
use crate::testkit::Folders;
use selkie_domain::facts::Trigger;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::Wish;

/// Writes down what it is to keep.
#[derive(Default)]
struct Noted(Mutex<Vec<Entry>>);

#[async_trait]
impl Timetable for Noted {
    async fn add(&self, entry: Entry) -> Result<String, ToolError> {
        locked(&self.0).push(entry);
        Ok("kept.".to_owned())
    }

    fn fault(&self, entry: &Entry) -> Option<String> {
        matches!(&entry.when, When::Recurring { time, .. } if time == "never")
            .then(|| "it is no time".to_owned())
    }

    async fn list(&self, _: &ConversationId) -> Result<ScheduleList, ToolError> {
        Ok(ScheduleList::default())
    }

    async fn wish(
        &self,
        _: &ConversationId,
        _: &Wisher,
        _: ScheduleId,
        _: Wish,
    ) -> Result<String, ToolError> {
        Err(ToolError::tell("not here"))
    }
}

fn tools() -> [Arc<Tool>; 2] {
    posting(&SONGS, "bird")
}

async fn called(tool: &Arc<Tool>, scope: &Scope, args: Value) -> String {
    let args = match accept(&tool.spec().parameters, &args) {
        Ok(accepted) => accepted.args,
        Err(faults) => return faults,
    };
    tool.handler
        .call(scope, args)
        .await
        .map_or_else(|error| error.to_string(), |output| output.text)
}

#[tokio::test]
async fn a_post_says_what_became_of_it() {
    let folders = Folders::new();
    let scope = folders.scope();
    let [now, _] = tools();
    let say = |spoken| *folders.sender.next.lock().unwrap() = Some(spoken);
    let mut told = Vec::new();
    for spoken in [
        SayOutcome::Sent(Some(MessageRef::new("17"))),
        SayOutcome::Sent(None),
        SayOutcome::Queued,
        SayOutcome::Unclear,
        SayOutcome::Refused("seen before".to_owned()),
    ] {
        say(spoken);
        told.push(
            called(&now, &scope, json!({"text": "tea", "thread": ["cake"], "quote": "5"})).await,
        );
    }
    insta::assert_snapshot!(told.join("\n"), @"
    posted: bird://17
    posted; its address is not known
    queued: it is stored, will be posted, and what becomes of it is told here; do not post it again
    unclear: it may or may not stand there, and it is not repeated; do not post it again
    refused: seen before
    ");
    let said = folders.sender.said.lock().unwrap();
    let Body::Post(post) = &said[0] else { panic!("no post: {:?}", said[0]) };
    assert_eq!((post.texts.len(), post.quote.as_ref().unwrap().as_str()), (2, "5"));
}

#[tokio::test]
async fn what_could_never_be_posted_is_refused_before_anybody_is_asked() {
    let folders = Folders::new();
    let speaker = Some(PersonId::new("bird:1"));
    let timetable = Arc::new(Noted::default()) as _;
    let scope = Scope { speaker, timetable, ..folders.scope() };
    let [now, later] = tools();
    let mut told = Vec::new();
    for (tool, args) in [
        (&now, json!({"text": ""})),
        (&now, json!({"text": "much too long"})),
        (&now, json!({"text": "tea", "thread": ["cake", "much too long"]})),
        (&now, json!({"text": "a", "thread": ["b", "c", "d"]})),
        (&now, json!({"text": "tea", "quote": "that one"})),
        (&now, json!({"text": "tea", "reply_to": "https://example.org"})),
        (&later, json!({"text": "tea", "time": "never"})),
        (&later, json!({"text": "much too long", "time": "08:00"})),
    ] {
        told.push(tool.handler.refuses(&scope, &args).unwrap_or_else(|| panic!("taken: {args}")));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    text: it is empty
    text: it has 13 letters and 10 are the most
    thread, post 2: it has 13 letters and 10 are the most
    a thread has 3 posts at most, not 4
    quote "that one" names no post (takes 17)
    reply_to "https://example.org" names no post (takes 17)
    it is no time
    text: it has 13 letters and 10 are the most
    "#);
    assert_eq!(now.handler.refuses(&scope, &json!({"text": "tea"})), None);
    assert_eq!(later.handler.refuses(&scope, &json!({"text": "tea", "time": "08:00"})), None);
    let wrong =
        called(&later, &scope, json!({"text": "a", "time": "08:00", "recurrence": "monthly"}));
    assert_eq!(wrong.await, "invalid recurrence: monthly (takes once, hourly, daily, weekly)");
    assert!(folders.sender.said.lock().unwrap().is_empty(), "nothing was posted");
}

#[test]
fn a_post_to_somebody_asks_whatever_the_policy() {
    let [now, later] = tools();
    for tool in [&now, &later] {
        assert_eq!(tool.handler.asks(&Folders::new().roots(), &json!({"text": "tea"})), None);
        let mention = tool
            .handler
            .asks(&Folders::new().roots(), &json!({"text": "tea", "thread": ["@ada"]}))
            .unwrap();
        assert_eq!(mention, "asks first: it speaks to somebody by name (@ada)");
        let reply = tool
            .handler
            .asks(&Folders::new().roots(), &json!({"text": "tea", "reply_to": "5"}))
            .unwrap();
        assert_eq!(reply, "asks first: it answers somebody's post");
    }
}

#[test]
fn whoever_is_asked_sees_the_whole_post() {
    let folders = Folders::new();
    let [_, later] = tools();
    let args =
        json!({"text": "tea\n· time: now", "thread": ["cake\nand"], "time": "08:00", "quote": "5"});
    let shown = whole(&later, &folders.scope().roots, &args, &[], &Redactor::default());
    insta::assert_snapshot!(shown, @"
    schedule a post in public
    · post 2 of the thread: cake⟨U+000A⟩and
    · time: 08:00
    · quote: 5
    as follows:
    tea
    · time: now
    ");
}

#[tokio::test]
async fn a_schedule_is_kept_and_a_repetition_is_warned_of() {
    let folders = Folders::new();
    let noted = Arc::new(Noted::default());
    let speaker = Some(PersonId::new("bird:1"));
    let timetable = Arc::clone(&noted) as _;
    let scope = Scope { speaker, timetable, ..folders.scope() };
    let [_, later] = tools();
    let once = json!({"text": "tea", "time": "08:00", "timezone": "Europe/Berlin"});
    assert_eq!(called(&later, &scope, once).await, "kept.");
    let daily = json!({"text": "tea", "time": "08:00", "recurrence": "daily"});
    let told = called(&later, &scope, daily).await;
    assert_eq!(told, "kept. Note: birds sing the same song once a day.");
    let kept = locked(&noted.0).clone();
    let when = |recurrence| When::Recurring { time: "08:00".to_owned(), recurrence };
    assert_eq!([&kept[0].when, &kept[1].when], [&when("once"), &when("daily")]);
    assert_eq!(
        (kept[0].key.as_str(), kept[0].zone.as_deref()),
        ("call:1:c1.0", Some("Europe/Berlin"))
    );
    assert!(matches!(&kept[0].does, EntryDoes::Post(posted) if posted.to == "bird:songs"));
    let unasked = Scope { trigger: Trigger::Scheduled, ..scope };
    let told = called(&later, &unasked, json!({"text": "tea", "time": "08:00"})).await;
    assert!(told.starts_with("a task that nobody asked for cannot make schedules"), "{told}");
}

/// Keeps nothing and says where it would.
struct Keeps(std::path::PathBuf);

#[async_trait]
impl PostFiles for Keeps {
    async fn keep(&self, mut file: File, _: &str) -> Result<KeptFile, ToolError> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        std::fs::write(&self.0, &bytes).unwrap();
        let (path, bytes) = (self.0.clone(), bytes.len() as u64);
        Ok(KeptFile { path, bytes, sha256: "00".to_owned() })
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0";

#[tokio::test]
async fn pictures_are_judged_before_anybody_is_asked_and_kept_with_their_post() {
    let folders = Folders::new();
    let kept = folders.at("kept");
    let timetable = Arc::new(Noted::default());
    let scope = Scope {
        speaker: Some(PersonId::new("bird:1")),
        post_files: Arc::new(Keeps(kept.clone())),
        timetable: Arc::clone(&timetable) as _,
        ..folders.scope()
    };
    std::fs::write(folders.at("work/cat.png"), PNG).unwrap();
    std::fs::write(folders.at("cache/bird/one/own.gif"), b"GIF89a\x0a\0\x14\0").unwrap();
    std::fs::write(folders.at("work/cat.txt"), "no picture").unwrap();
    std::fs::write(folders.at("work/large.png"), [PNG, &[0; 64]].concat()).unwrap();
    std::fs::write(folders.at("outside/cat.png"), PNG).unwrap();
    let outside = folders.at("outside/cat.png").to_string_lossy().into_owned();
    let [now, later] = tools();
    let with = |pictures: Value| json!({"text": "tea", "pictures": pictures, "time": "08:00"});
    let told: Vec<String> = [
        json!(["cat.png", "cat.png", "cat.png"]),
        json!(["cat.png", "own.gif"]),
        json!(["cat.txt"]),
        json!(["large.png"]),
        json!(["no.png"]),
        json!([outside]),
    ]
    .into_iter()
    .map(|pictures| {
        let why = now.handler.refuses(&scope, &with(pictures.clone()));
        assert_eq!(why, later.handler.refuses(&scope, &with(pictures)));
        why.unwrap().replace(&outside, "OUTSIDE")
    })
    .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    pictures: a post has 2 at most, not 3
    pictures: a GIF stands alone in its post
    pictures: cat.txt is none that can be posted (takes PNG, GIF)
    pictures: large.png has 88 bytes, and a PNG 64 at most
    pictures: no such file: no.png
    pictures: refusing to send file outside file_cache_dir: OUTSIDE (write or copy it to file_cache_dir/<path> first)
    ");
    let args = with(json!(["cat.png"]));
    assert_eq!(now.handler.refuses(&scope, &args), None);
    let shown = whole(&later, &scope.roots, &args, &[], &Redactor::default());
    insta::assert_snapshot!(shown, @"
    schedule a post in public
    · picture: cat.png (PNG image, 640×480 pixels, 24 bytes)
    · time: 08:00
    as follows:
    tea
    ");
    assert_eq!(now.handler.basis(&scope, &args).reads.len(), 1, "approval is for its bytes");
    called(&now, &scope, json!({"text": "tea", "pictures": ["cat.png"]})).await;
    called(&later, &scope, args).await;
    let said = folders.sender.said.lock().unwrap();
    let Body::Post(posted) = &said[0] else { panic!("no post: {:?}", said[0]) };
    let noted = locked(&timetable.0);
    let EntryDoes::Post(scheduled) = &noted[0].does else { panic!("no post") };
    for pictures in [&posted.pictures, &scheduled.post.pictures] {
        assert_eq!(
            (pictures[0].name.as_str(), pictures[0].mime.as_str()),
            ("cat.png", "image/png")
        );
        assert_eq!((pictures[0].path.as_str(), pictures[0].bytes), (kept.to_str().unwrap(), 24));
    }
}
