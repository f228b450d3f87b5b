//! Approval of a call: the owner is asked in private, once, about exactly what is done; nobody else decides.

use std::fs;
use std::path::PathBuf;

use selkie_playground::line_platform::{self, LinePlatform};
use selkie_playground::telegram::{
    ADA, FileDraft, FileKind, GRACE, GROUP, LINUS, MessageView, PRIVATE,
};
use selkie_playground::{Fault, FaultKind, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::line::Line;
use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

/// A group in which an allowed person may ask for files in a folder that the owner has set.
pub(crate) struct Team {
    pub(crate) world: World,
    folder: PathBuf,
    _dir: TempDir,
}

impl Team {
    pub(crate) async fn with(sections: Value) -> Self {
        let dir = TempDir::new().expect("a folder");
        let folder = dir.path().canonicalize().expect("a folder").join("team");
        fs::create_dir(&folder).expect("a folder");
        let mut all = json!({"llm": {"provider": "offline"}});
        for (section, value) in sections.as_object().into_iter().flatten() {
            all[section] = value.clone();
        }
        let world = World::with(all).await;
        Self { world, folder, _dir: dir }
    }

    pub(crate) async fn set_folder(&self) {
        let set = format!("/workspace {}", self.folder.display());
        self.world.ask_in(GROUP, ADA, &set).await;
    }

    /// Grace asks for a file, and Ada's private chat shows the request.
    pub(crate) async fn asks(&self) -> MessageView {
        self.world.telegram().say(GROUP, GRACE, &write("plan.txt", "tide"));
        self.asked().await
    }

    pub(crate) async fn asked(&self) -> MessageView {
        let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
        self.world.within("a request", self.world.telegram().wait_for(PRIVATE, buttons)).await
    }

    pub(crate) async fn closed(&self, request: &MessageView) -> String {
        let closed = |m: &MessageView| m.id == request.id && m.edited;
        self.world.within("its outcome", self.world.telegram().wait_for(PRIVATE, closed)).await.text
    }

    pub(crate) async fn tap(&self, request: &MessageView, label: &str) -> String {
        let telegram = self.world.telegram();
        let query = telegram.tap(ADA, ADA, request.id, label).expect("a button");
        self.world.within("an answer to the tap", telegram.tap_answer(&query)).await
    }

    async fn press(&self, (chat, by): (i64, i64), message: i64, data: &str) -> String {
        let telegram = self.world.telegram();
        let query = telegram.press(chat, by, message, data);
        self.world.within("an answer to the tap", telegram.tap_answer(&query)).await
    }

    /// Waits for what the bot says in the group.
    pub(crate) async fn told(&self, part: &str) -> String {
        let said = |m: &MessageView| m.from.is_bot && m.text.contains(part);
        self.world.within(part, self.world.telegram().wait_for(GROUP, said)).await.text
    }

    fn wrote(&self) -> Option<String> {
        fs::read_to_string(self.folder.join("plan.txt")).ok()
    }

    pub(crate) fn states(&self) -> Vec<String> {
        texts(&self.world.home, "SELECT state FROM approval ORDER BY id")
    }
}

pub(crate) fn write(path: &str, content: &str) -> String {
    let call = json!({"path": path, "content": content, "mode": "append"});
    format!("@selkie_demo_bot call write_file {call}")
}

fn data(request: &MessageView, at: usize) -> String {
    let keyboard = request.keyboard.as_ref().expect("buttons");
    let buttons: Vec<&Value> = keyboard
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|row| row.as_array().into_iter().flatten())
        .collect();
    buttons[at]["callback_data"].as_str().expect("data").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_person_asks_the_owner_taps_and_it_runs_once() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    assert!(
        request.text.contains("(1 line)? Grace Hopper (tg:4712) asked for it"),
        "{}",
        request.text
    );
    assert!(request.text.contains("tide"), "{}", request.text);
    assert_eq!(team.wrote(), None, "nothing is done before");
    assert_eq!(team.tap(&request, "Approve").await, "✔ Approved by Ada Lovelace");
    team.told("write_file answered").await;
    assert_eq!(team.wrote().as_deref(), Some("tide"));
    let closed = team.closed(&request).await;
    assert!(closed.contains("✔ Approved by Ada Lovelace"), "{closed}");
    let about = "(1 line). Grace Hopper (tg:4712) asked for it in telegram:group";
    assert!(closed.contains(about) && closed.contains("it asks first"), "{closed}");
    let again = team.press((ADA, ADA), request.id, &data(&request, 0)).await;
    assert_eq!(again, "Already decided: ✔ Approved by Ada Lovelace");
    settled(&team.world, 2).await;
    assert_eq!(team.wrote().as_deref(), Some("tide"), "once");
    assert_eq!(team.states(), ["consumed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_holds_for_the_task() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    assert_eq!(team.tap(&request, "Deny").await, "✖ Denied by Ada Lovelace");
    let told = team.told("write_file").await;
    assert!(told.contains("an owner has denied it"), "{told}");
    assert_eq!((team.wrote(), team.states()), (None, vec!["denied".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_decides_and_no_bare_word_does() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    let approve = data(&request, 0);
    let in_group = team.world.telegram().messages(GROUP).into_iter().find(|m| m.from.is_bot);
    let in_group = in_group.expect("a message of the bot").id;
    let foreign = team.press((GROUP.chat, GRACE), in_group, &approve).await;
    assert_eq!(foreign, "This request is for somebody else.");
    let elsewhere = team.press((GROUP.chat, ADA), in_group, &approve).await;
    assert_eq!(elsewhere, "This request is for somebody else.", "it was asked in private");
    for words in ["yes", "1", "approve", "approve 000000"] {
        team.world.ask(words).await;
    }
    let (_, code) = request.text.rsplit_once("approve ").expect("a code");
    let code = &code[..6];
    // The same code from somebody who was not asked is talk.
    team.world.ask_in(GROUP, GRACE, &format!("@selkie_demo_bot approve {code}")).await;
    assert_eq!((team.states(), team.wrote()), (vec!["open".to_owned()], None));
    team.world.telegram().say(PRIVATE, ADA, &format!("approve {code}"));
    team.told("write_file answered").await;
    assert_eq!(team.wrote().as_deref(), Some("tide"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_in_reply_to_the_request_decides() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    // A reply goes by the message's id, which the receipt brings: no person types before it is stored.
    settled(&team.world, 2).await;
    team.world.telegram().reply(PRIVATE, ADA, request.id, "yes");
    team.told("write_file answered").await;
    assert_eq!(team.states(), ["consumed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_has_changed_since_is_not_what_was_allowed() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    fs::write(team.folder.join("plan.txt"), "before ").expect("a file");
    let request = team.asks().await;
    fs::write(team.folder.join("plan.txt"), "meanwhile ").expect("a file");
    team.tap(&request, "Approve").await;
    let told = team.told("write_file").await;
    assert!(told.contains("is not as it was when somebody looked at it"), "{told}");
    assert_eq!(team.wrote().as_deref(), Some("meanwhile "));
    settled(&team.world, 2).await;
    assert_eq!(team.states(), ["withdrawn"], "an approval that was not used ends with its task");
}

/// A request is decided under the message that shows it, and under no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_button_under_another_message_decides_nothing() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    team.world.ask("hello").await;
    let request = team.asks().await;
    // Its receipt tells which message shows it.
    settled(&team.world, 3).await;
    let other = bots(&team).into_iter().find(|m| m.id != request.id).expect("another message");
    for message in [other.id, 9_999_999] {
        let told = team.press((ADA, ADA), message, &data(&request, 0)).await;
        assert_eq!(told, "This button no longer works.");
    }
    assert_eq!((team.wrote(), team.states()), (None, vec!["open".to_owned()]));
    assert_eq!(team.tap(&request, "Approve").await, "✔ Approved by Ada Lovelace");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_expires_and_a_late_tap_allows_nothing() {
    let team = Team::with(json!({"approvals": {"timeout": "1s"}})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    let told = team.told("write_file").await;
    assert!(told.contains("nobody approved it in time"), "{told}");
    assert!(team.closed(&request).await.contains("⌛ Expired"));
    let late = team.press((ADA, ADA), request.id, &data(&request, 0)).await;
    assert_eq!(late, "Already decided: ⌛ Expired: it was not done.");
    assert_eq!((team.wrote(), team.states()), (None, vec!["expired".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_changed_meanwhile_wins() {
    let mut team = Team::with(json!({})).await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    daemon.kill();
    let policy = json!({"policy": [{"trust": "allowed", "deny": ["write"]}]});
    team.world.home.set("approvals", policy);
    let _second = team.world.daemon();
    team.tap(&request, "Approve").await;
    let told = team.told("write_file").await;
    assert!(told.contains("approvals.policy denies it here, row 1 ("), "{told}");
    assert_eq!(team.wrote(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_the_request() {
    let team = Team::with(json!({})).await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    team.world.telegram().say(GROUP, GRACE, "/stop@selkie_demo_bot");
    assert!(team.closed(&request).await.contains("✖ Withdrawn: its task has ended"));
    let late = team.press((ADA, ADA), request.id, &data(&request, 0)).await;
    assert!(late.contains("Already decided: ✖ Withdrawn"), "{late}");
    assert_eq!((team.wrote(), team.states()), (None, vec!["withdrawn".to_owned()]));
}

/// Who asked for what waits may reset it away, and so may the owner; another person of the group may not.
#[tokio::test(flavor = "multi_thread")]
async fn a_reset_withdraws_the_request() {
    for by in [GRACE, ADA] {
        let team = Team::with(json!({})).await;
        let _daemon = team.world.daemon();
        team.set_folder().await;
        let request = team.asks().await;
        let refused = team.world.ask_in(GROUP, LINUS, "/reset@selkie_demo_bot").await;
        assert!(refused.contains("/reset"), "{refused}");
        assert_eq!(team.states(), ["open"], "it is not his: {refused}");
        let reset = team.world.ask_in(GROUP, by, "/reset@selkie_demo_bot").await;
        assert!(reset.starts_with("A fresh start"), "{reset}");
        assert!(team.closed(&request).await.contains("✖ Withdrawn: its task has ended"));
        let late = team.press((ADA, ADA), request.id, &data(&request, 0)).await;
        assert!(late.contains("Already decided: ✖ Withdrawn"), "{late}");
        settled(&team.world, 3).await;
        assert_eq!((team.wrote(), team.states()), (None, vec!["withdrawn".to_owned()]));
        let states = texts(&team.world.home, "SELECT state FROM task ORDER BY id");
        assert_eq!(states, ["stopped"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_who_cannot_be_reached_is_told_of() {
    let mut team = Team::with(json!({})).await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    daemon.kill();
    team.world.home.set("owners", json!(["slack:T0PLAY:U0NOBODY"]));
    let _second = team.world.daemon();
    team.world.telegram().say(GROUP, GRACE, &write("plan.txt", "tide"));
    let told = team.told("write_file").await;
    assert!(told.contains("nobody who could approve it can be reached in private"), "{told}");
    assert_eq!((team.wrote(), team.states()), (None, vec!["not_asked".to_owned()]));
}

const TOLD: &str = "⏳ I asked an owner for approval (changing files); I go on when they answer.";

/// A team whose status messages are shown.
async fn told_team() -> Team {
    Team::with(json!({"progress": {"status": "auto", "every": "1ms"}})).await
}

/// Waits until no status message stands in the group.
async fn untold(team: &Team) {
    let mut events = team.world.telegram().subscribe();
    let gone = async {
        while team.world.texts(GROUP).iter().any(|text| text.starts_with('⏳')) {
            events.recv().await.expect("the playground lives");
        }
    };
    team.world.within("the end of the status message", gone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_group_reads_that_the_owner_is_asked_until_it_has_the_answer() {
    let team = told_team().await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    let told = team.told("I asked").await;
    assert_eq!(told, TOLD);
    team.tap(&request, "Approve").await;
    team.told("write_file answered").await;
    untold(&team).await;
    let answers = team.world.texts(GROUP).into_iter().filter(|text| text.contains("write_file"));
    assert_eq!(answers.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_takes_the_line_away() {
    let team = told_team().await;
    let _daemon = team.world.daemon();
    team.set_folder().await;
    team.asks().await;
    team.told("I asked").await;
    team.world.telegram().say(GROUP, GRACE, "/stop@selkie_demo_bot");
    team.told("Stopped.").await;
    untold(&team).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_outlives_the_process_and_goes_with_the_answer_or_a_stop() {
    for stopped in [false, true] {
        let team = told_team().await;
        let daemon = team.world.daemon();
        team.set_folder().await;
        let request = team.asks().await;
        team.told("I asked").await;
        assert!(daemon.stop().await.success());
        let _second = team.world.daemon();
        if stopped {
            team.world.telegram().say(GROUP, GRACE, "/stop@selkie_demo_bot");
            team.told("Stopped.").await;
        } else {
            assert!(team.world.texts(GROUP).contains(&TOLD.to_owned()), "it still waits");
            team.tap(&request, "Approve").await;
            team.told("write_file answered").await;
        }
        untold(&team).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_alone_with_the_bot_reads_the_request_and_nothing_else() {
    let sections = json!({
        "llm": {"provider": "offline"},
        "progress": {"status": "auto", "after": "1h"},
        "approvals": {"policy": [{"trust": "owner", "ask": ["write"]}]},
    });
    let world = World::with(sections).await;
    let _daemon = world.daemon();
    let telegram = world.telegram();
    telegram.say(PRIVATE, ADA, "write plan.txt: tide");
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", telegram.wait_for(PRIVATE, buttons)).await;
    telegram.tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(PRIVATE, "Written: plan.txt.").await;
    settled(&world, 1).await;
    assert!(telegram.calls().iter().all(|call| call.params["disable_notification"] != true));
}

#[tokio::test(flavor = "multi_thread")]
async fn on_line_nothing_is_pushed_to_who_waits() {
    let sections = json!({"llm": {"provider": "offline"}, "progress": {"status": "auto"}});
    let line = Line::of(World::with(sections).await, json!({})).await;
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().canonicalize().expect("a folder");
    line.ask(line_platform::GROUP, &format!("/workspace {}", folder.display())).await;
    let asked = format!("{} add to plan.txt: tide", line_platform::BOT_NAME);
    let asked = line.platform().say(line_platform::GROUP, line_platform::GRACE, &asked);
    let here = |l: &LinePlatform| {
        l.messages(line_platform::ADA).into_iter().find(|m| m.text.contains("May I "))
    };
    let request = line.world.within("a request", line.platform().wait_until(here)).await;
    assert_eq!(line.said(line_platform::GROUP), 1, "the answer to /workspace");
    line.platform().tap(line_platform::ADA, line_platform::ADA, &request.id, "Approve");
    let answer = line.answer(line_platform::GROUP, &asked).await;
    assert_eq!(answer.text, "Added to plan.txt.");
    assert_eq!(fs::read_to_string(folder.join("plan.txt")).expect("a file"), "tide\n");
    assert_eq!(line.said(line_platform::GROUP), 2);
}

/// A world's model says this, in turn.
fn scripted(world: &mut World, turns: Vec<Turn>) {
    let model = json!({
        "provider": "openai",
        "endpoint": world.playground.model_endpoint(),
        "model": "playground",
        "api_key": "sk-playground-key-1234567890",
    });
    world.home.set("llm", model);
    world.playground.model().script(turns);
}

/// A file that no message holds, and the call that writes it.
fn long_call() -> (String, Vec<Turn>) {
    let long: String = (0..2_000).map(|n| format!("tide {n}\n")).collect();
    let call = Turn::call("write_file", json!({"path": "plan.txt", "content": long}));
    (long, vec![call, Turn::text("that is all")])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_no_message_holds_is_a_file_before_its_buttons() {
    let mut team = Team::with(json!({})).await;
    let (long, turns) = long_call();
    scripted(&mut team.world, turns);
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let telegram = team.world.telegram();
    telegram.say(GROUP, GRACE, "@selkie_demo_bot write it all");
    let request = team.asked().await;
    assert!(request.text.contains("is in the file above"), "{}", request.text);
    assert!(request.text.chars().count() < 2_000, "{}", request.text);
    let messages = telegram.messages(PRIVATE).into_iter();
    let files: Vec<MessageView> = messages.filter(|m| m.file.is_some()).collect();
    assert_eq!(files.len(), 1);
    assert!(files[0].id < request.id);
    let url = files[0].file.as_ref().expect("a file").url.clone();
    let id = url.rsplit('/').next().expect("an id");
    let (name, bytes) = telegram.file(id).expect("its bytes");
    let whole = String::from_utf8(bytes.to_vec()).expect("text");
    assert_eq!(name, "write_file.txt");
    assert!(whole.contains("tide 0\n") && whole.contains("tide 1999\n"), "{whole}");
    assert_eq!(team.tap(&request, "Approve").await, "✔ Approved by Ada Lovelace");
    team.told("that is all").await;
    assert_eq!(team.wrote(), Some(long));
}

/// A request of two messages of which the platform refuses one; returns what then stands in private.
async fn half_refused(arrives: u32) -> Vec<MessageView> {
    let mut team = Team::with(json!({})).await;
    let call = json!({"path": "plan.txt", "content": "tide ".repeat(1_200)});
    scripted(&mut team.world, vec![Turn::call("write_file", call), Turn::text("that is all")]);
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let refusal = FaultKind::Refuse { code: 400, description: "Bad Request: not today".into() };
    let fault = Fault::next("sendMessage", refusal).in_chat(ADA).after(arrives);
    team.world.telegram().fault(fault);
    team.world.telegram().say(GROUP, GRACE, "@selkie_demo_bot write it all");
    team.told("that is all").await;
    let prompt = team.world.last_prompt();
    assert!(prompt.contains("nobody who could approve it can be reached in private"), "{prompt}");
    assert_eq!((team.wrote(), team.states()), (None, vec!["not_asked".to_owned()]));
    let told = |m: &MessageView| m.text.contains("cannot be answered here");
    if arrives > 0 {
        team.world.within("a line", team.world.telegram().wait_for(PRIVATE, told)).await;
    }
    let private = team.world.telegram().messages(PRIVATE);
    private.into_iter().filter(|m| m.from.is_bot).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_beginning_of_a_request_is_refused_its_buttons_are_not_shown() {
    assert_eq!(half_refused(0).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_end_of_a_request_is_refused_its_reader_is_told() {
    let shown = half_refused(1).await;
    assert!(shown.iter().all(|m| m.keyboard.is_none()));
    assert_eq!(shown.len(), 2, "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_file_does_not_arrive_nothing_is_asked() {
    let mut team = Team::with(json!({})).await;
    scripted(&mut team.world, long_call().1);
    let _daemon = team.world.daemon();
    team.set_folder().await;
    let refused = FaultKind::Refuse { code: 400, description: "Bad Request: no files".into() };
    team.world.telegram().fault(Fault::next("sendDocument", refused));
    team.world.telegram().say(GROUP, GRACE, "@selkie_demo_bot write it all");
    team.told("that is all").await;
    let prompt = team.world.last_prompt();
    assert!(prompt.contains("nobody who could approve it can be reached in private"), "{prompt}");
    assert!(team.world.telegram().messages(PRIVATE).iter().all(|m| m.keyboard.is_none()));
    assert_eq!((team.wrote(), team.states()), (None, vec!["not_asked".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_file_can_be_carried_a_long_call_is_refused() {
    let mut world = World::start().await;
    scripted(&mut world, long_call().1);
    let line = Line::of(world, json!({})).await;
    let dir = TempDir::new().expect("a folder");
    let folder = dir.path().canonicalize().expect("a folder");
    line.ask(line_platform::GROUP, &format!("/workspace {}", folder.display())).await;
    let asked = format!("{} write it all", line_platform::BOT_NAME);
    let asked = line.platform().say(line_platform::GROUP, line_platform::GRACE, &asked);
    assert_eq!(line.answer(line_platform::GROUP, &asked).await.text, "that is all");
    let prompt = line.world.last_prompt();
    assert!(prompt.contains("it takes more than 8000 characters"), "{prompt}");
    assert_eq!(line.said(line_platform::ADA), 0);
}

/// The call is made once, or once at most where the process died while it was being made.
#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_edge_makes_nothing_twice() {
    let edges = [
        "after_calls_stored",
        "after_park",
        "before_answer",
        "after_answer",
        "after_claim:2",
        "after_tool",
        "after_results",
        "before_finish",
        "after_sending",
        "after_deliver",
    ];
    for edge in edges {
        let mut team = Team::with(json!({})).await;
        let daemon = team.world.daemon();
        team.set_folder().await;
        settled(&team.world, 1).await;
        daemon.kill();
        team.world.home.set("debug", json!({"crash_at": edge}));
        let dying = team.world.daemon();
        team.world.telegram().say(GROUP, GRACE, &write("plan.txt", "tide"));
        let mut gone = std::pin::pin!(dying.gone());
        let asked = tokio::select! {
            biased;
            _ = &mut gone => None,
            request = team.asked() => Some(request),
        };
        let mut second = None;
        let request = match asked {
            Some(request) => request,
            None => {
                team.world.home.set("debug", json!({}));
                second = Some(team.world.daemon());
                team.asked().await
            }
        };
        let telegram = team.world.telegram();
        telegram.tap(ADA, ADA, request.id, "Approve").expect("a button");
        if second.is_none() {
            team.world.within(edge, gone).await;
            team.world.home.set("debug", json!({}));
            second = Some(team.world.daemon());
        }
        let told = team.told("write_file").await;
        let unknown = told.contains("outcome unknown");
        assert!(unknown == (edge == "after_tool"), "{edge}: {told}");
        assert_eq!(team.wrote().as_deref(), Some("tide"), "{edge}");
        drop(second);
        assert_eq!(team.states(), ["consumed"], "{edge}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_others_ask_the_owner_and_reach_nothing_else() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let (telegram, model) = (world.telegram(), world.playground.model());
    let bash = Turn::call("bash", json!({"cmd": "echo ti''de"}));
    model.script(vec![bash, Turn::text("it ran")]);
    telegram.upload(PRIVATE, ADA, FileDraft::new(FileKind::Document, "orders.txt", "run it"));
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    let request = world.within("a request", telegram.wait_for(PRIVATE, buttons)).await;
    assert!(
        request.text.contains("echo ti''de") && request.text.contains("other people's words"),
        "{}",
        request.text
    );
    assert_eq!(number(&world.home, "SELECT count(*) FROM task WHERE state = 'parked'"), Some(1));
    telegram.tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(PRIVATE, "it ran").await;
    assert!(world.last_prompt().contains("tide"), "{}", world.last_prompt());
}

/// A world whose model answers with these turns, and whose owner is asked for commands, requests to the network
/// and files that are sent.
async fn asking(turns: Vec<Turn>) -> World {
    let world = World::with(json!({
        "approvals": {"policy": [{"trust": "owner", "ask": ["exec", "network", "reply"]}]},
        "guard": {"network": {"allow_private": ["127.0.0.1"]}},
    }))
    .await;
    world.playground.model().script(turns);
    world
}

async fn request_in(world: &World) -> MessageView {
    let buttons = |m: &MessageView| m.from.is_bot && m.keyboard.is_some();
    world.within("a request", world.telegram().wait_for(PRIVATE, buttons)).await
}

async fn outcome_in(world: &World, request: &MessageView, part: &str) -> String {
    let said = |m: &MessageView| m.id == request.id && m.text.contains(part);
    world.within(part, world.telegram().wait_for(PRIVATE, said)).await.text
}

const CHANGED: &str = "is not as it was when somebody looked at it";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_to_the_network_carries_is_shown() {
    let fetch = json!({
        "url": "http://127.0.0.1:1/x", "method": "POST", "body": "a=1",
        "headers": {"User-Agent": "carries-this", "Accept-Language": "and-that"},
    });
    let world = asking(vec![Turn::call("url_fetch", fetch), Turn::text("so it is")]).await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, "send it");
    let request = request_in(&world).await;
    for shown in ["send a POST request to http://127.0.0.1:1/x", "a=1", "carries-this", "and-that"]
    {
        assert!(request.text.contains(shown), "{}", request.text);
    }
    world.telegram().tap(ADA, ADA, request.id, "Deny").expect("a button");
    world.hears(PRIVATE, "so it is").await;
}

/// What was approved and has failed does not stay "Approved".
#[tokio::test(flavor = "multi_thread")]
async fn who_allowed_a_call_that_failed_reads_why() {
    let fetch = json!({"url": "http://127.0.0.1:1/x", "method": "POST", "body": "a=1"});
    let world = asking(vec![Turn::call("url_fetch", fetch), Turn::text("it did not work")]).await;
    let _daemon = world.daemon();
    world.telegram().say(PRIVATE, ADA, "send it");
    let request = request_in(&world).await;
    world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
    world.hears(PRIVATE, "it did not work").await;
    let said = outcome_in(&world, &request, "failed").await;
    assert!(said.contains("✖ Approved by Ada Lovelace, but it failed: "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_in_the_folder_that_was_shown_or_not_at_all() {
    for swapped in [false, true] {
        let run = Turn::call("bash", json!({"cmd": "pwd -P > ran", "cwd": "sub"}));
        let world = asking(vec![run, Turn::text("so it is")]).await;
        let _daemon = world.daemon();
        let dir = TempDir::new().expect("a folder");
        let folder = dir.path().canonicalize().expect("a folder");
        for name in ["sub", "other"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
        world.ask(&format!("/workspace {}", folder.display())).await;
        world.telegram().say(PRIVATE, ADA, "run it");
        let request = request_in(&world).await;
        assert!(request.text.contains(&folder.display().to_string()), "{}", request.text);
        if swapped {
            fs::rename(folder.join("sub"), folder.join("gone")).expect("a name");
            std::os::unix::fs::symlink("other", folder.join("sub")).expect("a link");
        }
        world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
        world.hears(PRIVATE, "so it is").await;
        let ran = fs::read_to_string(folder.join("sub/ran")).ok();
        let here = folder.join("sub").display().to_string();
        assert_eq!(ran.as_deref().map(str::trim), (!swapped).then_some(here.as_str()));
        assert!(world.last_prompt().contains(CHANGED) == swapped, "{}", world.last_prompt());
        assert!(!folder.join("gone/ran").exists());
        if swapped {
            let said = outcome_in(&world, &request, "not done").await;
            assert!(
                said.contains(
                    "✖ Approved by Ada Lovelace, but it was not done: a file, the folder"
                ),
                "{said}"
            );
            settled(&world, 2).await;
            assert_eq!(texts(&world.home, "SELECT state FROM approval"), ["withdrawn"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_as_it_was_when_somebody_looked() {
    for changed in [false, true] {
        let send =
            Turn::call("telegram_send_file", json!({"path": "list.txt", "caption": "a-list"}));
        let world = asking(vec![send, Turn::text("so it is")]).await;
        let _daemon = world.daemon();
        let dir = TempDir::new().expect("a folder");
        let folder = dir.path().canonicalize().expect("a folder");
        fs::write(folder.join("list.txt"), "milk").expect("a file");
        world.ask(&format!("/workspace {}", folder.display())).await;
        world.telegram().say(PRIVATE, ADA, "send it");
        let request = request_in(&world).await;
        for shown in ["list.txt", "a-list", "not shown: what list.txt holds"] {
            assert!(request.text.contains(shown), "{}", request.text);
        }
        if changed {
            fs::write(folder.join("list.txt"), "keys").expect("a file");
        }
        world.telegram().tap(ADA, ADA, request.id, "Approve").expect("a button");
        world.hears(PRIVATE, "so it is").await;
        let sent = world.telegram().messages(PRIVATE).iter().any(|m| m.file.is_some());
        assert_eq!(sent, !changed);
        assert!(world.last_prompt().contains(CHANGED) == changed, "{}", world.last_prompt());
    }
}

/// What a rule takes away between the tap and the call is not done, and who tapped reads so.
#[tokio::test(flavor = "multi_thread")]
async fn who_allowed_a_call_reads_that_it_was_not_done() {
    let mut team = Team::with(json!({})).await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    // Its receipt tells which message is to be changed.
    settled(&team.world, 2).await;
    daemon.kill();
    team.world.home.set("approvals", json!({"policy": [{"trust": "allowed", "deny": ["write"]}]}));
    let _second = team.world.daemon();
    team.tap(&request, "Approve").await;
    team.told("approvals.policy denies it here").await;
    let said = outcome_in(&team.world, &request, "not done").await;
    assert!(said.contains("✖ Approved by Ada Lovelace, but it was not done"), "{said}");
    assert!(said.contains("approvals.policy denies it here"), "{said}");
    assert_eq!((team.wrote(), team.states()), (None, vec!["withdrawn".to_owned()]));
}

fn bots(team: &Team) -> Vec<MessageView> {
    let said = team.world.telegram().messages(PRIVATE);
    said.into_iter().filter(|m| m.from.is_bot).collect()
}

/// Codes cannot be tried out: after five wrong ones none is read for a while, the right one neither. Buttons are.
#[tokio::test(flavor = "multi_thread")]
async fn codes_cannot_be_tried_out() {
    let team = Team::with(json!({})).await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    let (_, code) = request.text.rsplit_once("approve ").expect("a code");
    let code = code
        .split_whitespace()
        .next()
        .expect("a code")
        .replace(|c: char| !c.is_ascii_alphanumeric(), "");
    let right = format!("approve {code}");
    for wrong in 0..5 {
        let told = team.world.ask(&format!("approve 00000{wrong}")).await;
        assert!(told.starts_with("Nothing with the code"), "{told}");
    }
    let told = team.world.ask(&right).await;
    assert!(told.starts_with("Too many wrong codes"), "{told}");
    let before = bots(&team).len();
    for unread in [&*right, "deny 000009", "approve"] {
        team.world.telegram().say(PRIVATE, ADA, unread);
    }
    let told = |m: &MessageView| m.text.starts_with("Write the code of the request after it.");
    team.world.within("an answer", team.world.telegram().wait_for(PRIVATE, told)).await;
    assert_eq!(bots(&team).len(), before + 1, "the two before were met with silence");
    assert_eq!(team.states(), ["open"], "the right one was not read");
    let counted = "SELECT CAST(SUM(amount) AS TEXT) FROM spent WHERE what = 'wrong_codes'";
    assert_eq!(texts(&team.world.home, counted), ["6"]);
    assert_eq!(team.tap(&request, "Approve").await, "✔ Approved by Ada Lovelace");
    team.told("write_file answered").await;
    assert!(daemon.stop().await.success());
}

/// Who looks into a task sees what it was approved for, and nothing that approves.
#[tokio::test(flavor = "multi_thread")]
async fn a_trace_shows_the_request_and_its_decision() {
    let team = Team::with(json!({})).await;
    let daemon = team.world.daemon();
    team.set_folder().await;
    let request = team.asks().await;
    let task = texts(&team.world.home, "SELECT CAST(task AS TEXT) FROM approval").remove(0);
    let (_, open, _) = team.world.home.run(&["trace", &task]);
    assert!(open.contains("Approval of write_file was asked for Grace Hopper (tg:4712)"), "{open}");
    assert!(open.contains(": waits for approval\n") && open.contains("and is open."), "{open}");
    team.tap(&request, "Approve").await;
    team.told("write_file answered").await;
    let (_, made, _) = team.world.home.run(&["trace", &task]);
    assert!(made.contains("and approved by Ada Lovelace, and the call was made"), "{made}");
    let (_, json, _) = team.world.home.run(&["trace", "--json", &task]);
    let key = texts(&team.world.home, "SELECT key FROM approval").remove(0);
    let chains: Value = serde_json::from_str(&json).expect("JSON");
    let approvals = chains[0]["approvals"].to_string();
    assert!(approvals.contains("consumed") && !approvals.contains(&key), "{approvals}");
    assert!(daemon.stop().await.success());
}
