//! One conversation knows of others: an owner reads them and sends words into one, where they are answered once, and
//! everybody else sees their own alone.

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::{Value, json};

use crate::support::daemon::Daemon;
use crate::support::rows::number;
use crate::support::world::World;

const RELAYED: &str = "SELECT count(*) FROM task WHERE cause LIKE 'from:%'";

fn call(tool: &str, args: Value) -> String {
    format!("call {tool} {args}")
}

/// A group in which Grace has spoken, and an owner.
async fn talked() -> (World, Daemon) {
    let world = World::offline().await;
    world.telegram().add_person(GRACE, "Grace");
    let daemon = world.daemon();
    let there = world.ask_in(GROUP.chat, GRACE, "@selkie_demo_bot say the kettle is on").await;
    assert!(there.contains("the kettle is on"), "{there}");
    (world, daemon)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_sees_all_and_a_group_itself_alone() {
    let (world, _daemon) = talked().await;
    let list = world.ask(&call("sessions_list", json!({}))).await;
    assert!(list.contains("tg:-100200300 · telegram:group"), "{list}");
    assert!(list.contains("· this one"), "{list}");
    let said = json!({ "session_id": "tg:-100200300" });
    let said = world.ask(&call("sessions_history", said)).await;
    assert!(said.contains("Grace") && said.contains("the kettle is on"), "{said}");
    let status = world.ask(&call("sessions_status", json!({}))).await;
    assert!(
        status.contains(&format!("session tg:{ADA}: "))
            && status.contains("tokens, no price known"),
        "{status}"
    );
    let mention = |words: String| format!("@selkie_demo_bot {words}");
    let there = mention(call("sessions_list", json!({})));
    let there = world.ask_in(GROUP.chat, GRACE, &there).await;
    assert!(there.contains("tg:-100200300") && !there.contains(&format!("tg:{ADA}")), "{there}");
    for foreign in [format!("tg:{ADA}"), "tg:999".to_owned()] {
        let there = mention(call("sessions_history", json!({ "session_id": foreign })));
        let there = world.ask_in(GROUP.chat, GRACE, &there).await;
        let told = format!("session not found: {foreign}");
        assert!(there.contains(&told), "{there}");
    }
    let there = world.ask_in(GROUP.chat, GRACE, "/sessions@selkie_demo_bot").await;
    assert!(there.contains("tg:-100200300") && !there.contains(&format!("tg:{ADA}")), "{there}");
    let here = world.ask("/sessions").await;
    assert!(here.contains("tg:-100200300 · telegram:group"), "{here}");
    let (code, out, err) = world.home.run(&["sessions", "list"]);
    assert!(code == 0 && out.contains("tg:-100200300") && !out.contains("Z\n"), "{out}{err}");
    let (code, out, err) = world.home.run(&["sessions", "export", "tg:-100200300"]);
    assert!(code == 0 && out.contains("# tg:-100200300") && out.contains("**Grace"), "{out}{err}");
    let (code, out, err) = world.home.run(&["sessions", "show", "tg:-100200300", "--json"]);
    let shown: Value = serde_json::from_str(&out).expect("JSON");
    assert!(
        code == 0 && shown[0]["speaker"].as_str().is_some_and(|who| who.contains("Grace")),
        "{out}{err}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn words_for_another_conversation_are_answered_there_and_send_nothing_on() {
    let world = World::start().await;
    world.telegram().add_person(GRACE, "Grace");
    let _daemon = world.daemon();
    world.ask_in(GROUP.chat, GRACE, "@selkie_demo_bot hello").await;
    let send = |to: &str, words: &str| {
        let args = json!({ "session_id": to, "content": words });
        vec![Turn::call("sessions_send", args), Turn::text("I have sent it.")]
    };
    let model = world.playground.model();
    model.script_for("please tell the group", send(&format!("tg:{}", GROUP.chat), "tea is ready"));
    let here = world.ask("please tell the group").await;
    assert!(here.contains("I have sent it."), "{here}");
    let there = world.hears(GROUP.chat, "tea is ready").await;
    assert!(there.text.contains("tea is ready"), "{}", there.text);
    let mut asked = model.requests().into_iter().map(|asked| asked.body.to_string());
    let asked = asked.rfind(|body| body.contains("sent from another conversation"));
    let asked = asked.expect("it was asked there");
    assert!(asked.contains("on behalf of") && asked.contains("tea is ready"), "{asked}");
    assert!(
        !asked.contains("\"sessions_send\"") && !asked.contains("please tell the group"),
        "{asked}"
    );
    assert_eq!(number(&world.home, RELAYED), Some(1));
    model.script_for("tell yourself", send(&format!("tg:{ADA}"), "x"));
    world.ask("tell yourself").await;
    let told = model.requests().last().expect("a request").body.to_string();
    assert!(told.contains("is this conversation; just answer here"), "{told}");
    assert_eq!(number(&world.home, RELAYED), Some(1));
}
