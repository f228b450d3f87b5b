//! `while_busy: steer`: what is said while a task runs reaches its model before the next step, from those
//! who may do as much as the task, and once, even when the process dies in between.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::{Value, json};

use crate::support::rows::{number, settled, texts};
use crate::support::world::World;

async fn world() -> World {
    World::with(json!({ "while_busy": "steer" })).await
}

/// A model that thinks first, slowly, and then says this.
fn busy(says: &str) -> Vec<Turn> {
    vec![Turn::call("think", json!({ "thought": "hm" })).delayed(1_500), Turn::text(says)]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_step_sees_what_was_said_meanwhile() {
    let world = world().await;
    let _daemon = world.daemon();
    world.playground.model().script(busy("two lumps, then"));
    let first = world.telegram().say(ADA, ADA, "tea, one lump");
    world.asked(1).await;
    world.telegram().say(ADA, ADA, "no, two lumps");
    world.telegram().edit(ADA, first, "black tea, one lump");
    world.hears(ADA, "two lumps, then").await;
    let prompt = world.last_prompt();
    assert!(prompt.contains("no, two lumps"), "{prompt}");
    assert!(prompt.contains("black tea, one lump"), "an edit of what runs is context: {prompt}");
    assert_eq!(world.playground.model().calls(), 2, "one task answered both");
    world.telegram().say(ADA, ADA, "and later?");
    world.hears(ADA, "and later?").await;
    assert_eq!(world.said(ADA).len(), 2);
    let absorbed =
        texts(&world.home, "SELECT disposition FROM inbox WHERE disposition LIKE 'absorbed%'");
    assert_eq!(absorbed, ["absorbed: step 2"]);
    assert_eq!(world.malformed(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_may_do_less_waits() {
    let world = world().await;
    let _daemon = world.daemon();
    world.playground.model().script(busy("for the owner"));
    let first = world.telegram().say(GROUP, ADA, "@selkie_demo_bot what is on?");
    world.asked(1).await;
    let second = world.telegram().say(GROUP, GRACE, "@selkie_demo_bot forget the owner");
    assert_eq!(world.answer(GROUP.chat, first).await, "for the owner");
    assert!(!world.prompts()[1].contains("forget the owner"), "{}", world.prompts()[1]);
    assert!(world.answer(GROUP.chat, second).await.contains("forget the owner"));
    assert_eq!(number(&world.home, "SELECT count(*) FROM task WHERE state = 'done'"), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_given_up_task_had_taken_in_is_named() {
    let mut world = world().await;
    let think = || Turn::call("think", json!({ "thought": "hm" }));
    world.playground.model().script(vec![think().delayed(1_500), think(), think(), think()]);
    // It dies when it has taken in what was said meanwhile, and then in every life.
    for (life, point) in ["after_calls_stored:2", "after_model", "after_model"].iter().enumerate() {
        world.home.set("debug", json!({ "crash_at": point }));
        let dying = world.daemon();
        if life == 0 {
            world.telegram().say(ADA, ADA, "one");
            world.asked(1).await;
            world.telegram().say(ADA, ADA, "marmalade");
        }
        world.within("a death", dying.gone()).await;
    }
    world.home.set("debug", json!({}));
    let _last = world.daemon();
    world.hears(ADA, "I was interrupted 3 times").await;
    settled(&world, 1).await;
    let said = world.texts(ADA);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("“marmalade”"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_task_had_taken_in_is_named() {
    let world = world().await;
    let _daemon = world.daemon();
    let think = || Turn::call("think", json!({ "thought": "hm" }));
    let hangs = Turn::text("too late").delayed(3_600_000);
    world.playground.model().script(vec![think().delayed(1_500), think(), hangs]);
    world.telegram().say(GROUP, ADA, "@selkie_demo_bot what is on?");
    world.asked(1).await;
    world.telegram().say(GROUP, ADA, "@selkie_demo_bot and marmalade?");
    // The step that is asked for now has the second message behind it.
    world.asked(3).await;
    world.telegram().say(GROUP, ADA, "/stop@selkie_demo_bot");
    world.hears(GROUP.chat, "marmalade?”").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_once_whenever_the_process_dies() {
    for point in ["after_model:2", "after_calls_stored:2", "before_finish:1"] {
        let mut world = world().await;
        let think = || Turn::call("think", json!({ "thought": "hm" }));
        // The first step, the step that saw the second message, and what comes after the death.
        world.playground.model().script(vec![think().delayed(1_500), think()]);
        world.home.set("debug", json!({ "crash_at": point }));
        let dying = world.daemon();
        world.telegram().say(ADA, ADA, "one");
        world.asked(1).await;
        world.telegram().say(ADA, ADA, "marmalade");
        world.within("the death", dying.gone()).await;
        world.home.set("debug", Value::Object(Default::default()));
        let _second = world.daemon();
        settled(&world, 1).await;
        let said = world.texts(ADA);
        assert_eq!(said.len(), 1, "{point}: {said:?}");
        assert!(said[0].contains("marmalade"), "{point}: the last that was heard: {said:?}");
        let open = "SELECT count(*) FROM task WHERE state <> 'done'";
        assert_eq!(number(&world.home, open), Some(0), "{point}");
        let told = world.last_prompt().matches("marmalade").count();
        assert_eq!(told, 1, "{point}: {}", world.last_prompt());
    }
}
