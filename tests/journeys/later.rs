//! Commands about later, in a chat: reminders in one's own time zone, what is to come here, and whose that is.

use serde_json::{Value, json};

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};

use crate::support::rows::{self, number};
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn somebody_is_reminded_in_their_own_zone_and_may_take_it_back() {
    let world = World::start().await;
    let daemon = world.daemon();
    let unknown = world.ask("/timezone Asia/Tokio").await;
    assert!(unknown.contains("is not a time zone") && unknown.contains("Asia/Tokyo"), "{unknown}");
    let set = world.ask("/timezone asia/tokyo").await;
    assert!(set.starts_with("Your times are Asia/Tokyo from now on"), "{set}");
    let made = world.ask("/remind at 18:30 go home").await;
    assert!(made.contains("18:30 Asia/Tokyo") && made.contains("/schedules remove 1"), "{made}");
    let listed = world.ask("/schedules").await;
    assert!(listed.contains("once on") && listed.contains("reminder: go home"), "{listed}");
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    let zone = world.ask("/timezone").await;
    assert!(zone.starts_with("Times are Asia/Tokyo (it is yours)"), "{zone}");
    let told = world.ask("what time is it?").await;
    assert!(told.contains("+09:00 Asia/Tokyo"), "the model is told local time: {told}");
    assert!(world.ask("/schedules remove 1").await.starts_with("Removed schedule 1"));
    assert!(world.ask("/schedules remove 1").await.contains("there is no schedule 1 here"));
    assert!(world.ask("/schedules").await.starts_with("Nothing is scheduled here."));
    world.ask("/remind in 1s the kettle").await;
    world.hears(ADA, "the kettle").await;
    rows::delivered(&world, "SELECT count(*) FROM occurrence", 1).await;
    for (wrong, says) in [
        ("/remind", "Write when, then what"),
        ("/remind in a while tea", "is not a length of time"),
        ("/remind at 18:30", "Of what?"),
        ("/remind every 10m tea", "A reminder comes only once."),
        ("/schedules dance 1", "Write /schedules"),
    ] {
        let said = world.ask(wrong).await;
        assert!(said.contains(says), "{wrong}: {said}");
    }
    assert!(world.ask("/timezone off").await.contains("again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_the_zone_is_the_owners_and_a_schedule_its_makers() {
    let world = World::with_allowed(json!([GROUP.chat, GRACE])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    let shown = world.ask_in(GROUP.chat, GRACE, "/timezone").await;
    assert!(shown.contains("Only my owner can change it here"), "{shown}");
    assert!(
        world.ask_in(GROUP.chat, ADA, "/timezone").await.contains("/timezone Europe/Berlin sets")
    );
    let refused = world.ask_in(GROUP.chat, GRACE, "/timezone UTC").await;
    assert!(refused.contains("only my owner can set the time zone"), "{refused}");
    let set = world.ask_in(GROUP.chat, ADA, "/timezone America/Lima").await;
    assert!(set.starts_with("Times in this place are America/Lima"), "{set}");
    let made = world.ask_in(GROUP.chat, ADA, "/remind at 18:30 tea").await;
    assert!(made.contains("18:30 America/Lima"), "{made}");
    let others = world.ask_in(GROUP.chat, GRACE, "/schedules remove 1").await;
    assert!(others.contains("is somebody else's"), "{others}");
    let own = world.ask_in(GRACE, GRACE, "/remind in 2h my own").await;
    assert!(own.contains("I will remind you on"), "{own}");
    let listed = world.ask_in(GROUP.chat, GRACE, "/schedules").await;
    assert!(listed.contains("tea") && !listed.contains("my own"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_not_reminded() {
    let world = World::with_allowed(json!(["*"])).await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    for command in ["/remind in 20m tea", "/schedules"] {
        let said = world.ask_in(GRACE, GRACE, command).await;
        assert!(said.contains("only for people whom my owner has let in"), "{said}");
    }
}

/// What people write to be reminded is taken, or answered with what is.
/// What `/remind` gives everybody, words give them, too; what would ask a model later stays an owner's in a group.
#[tokio::test(flavor = "multi_thread")]
async fn in_a_group_everybody_is_reminded_in_words_and_takes_that_back() {
    let world = World::with_allowed(json!([GROUP.chat])).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    let cron = async |args: Value| {
        model.script(vec![Turn::call("cron", args), Turn::text("so it is")]);
        world.ask_in(GROUP, GRACE, "@selkie_demo_bot as I said").await;
        world.last_prompt()
    };
    let kept = cron(json!({"action": "add", "schedule": "in 20m", "remind": "tea"})).await;
    assert!(kept.contains("Schedule 1"), "{kept}");
    let refused = cron(json!({"action": "add", "schedule": "in 20m", "prompt": "look"})).await;
    assert!(refused.contains("hidden in groups: other people read along"), "{refused}");
    let gone = cron(json!({"action": "remove", "id": "1"})).await;
    assert!(gone.contains("Removed schedule 1 (tea)"), "{gone}");
    assert_eq!(number(&world.home, "SELECT count(*) FROM schedule"), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn reminders_are_asked_for_in_peoples_words() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for when in ["in 20 minutes", "18:30", "at 18:30", "tomorrow 08:00", "tomorrow at 8:00"] {
        let made = world.ask(&format!("/remind {when} call Ada")).await;
        assert!(made.starts_with("I will remind you on 20"), "{when}: {made}");
    }
    let listed = world.ask("/schedules").await;
    assert_eq!(listed.matches("reminder: call Ada").count(), 5, "{listed}");
    for (wrong, says) in [
        ("/remind at 8 call Ada", "\"8\" is not a time (takes 08:00, tomorrow 08:00"),
        ("/remind every day at 8 call Ada", "A reminder comes only once."),
        ("/remind call Ada", "Write when, then what"),
        ("/remind 18:30", "Of what? Write it after the time: /remind 18:30 turn off"),
        ("/remind at 2020-12-24 18:00 call Ada", "is in the past"),
    ] {
        let said = world.ask(wrong).await;
        assert!(said.contains(says), "{wrong}: {said}");
        assert!(!said.contains("crontab"), "{wrong}: {said}");
    }
}
