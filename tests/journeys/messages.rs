//! Words for people elsewhere: they arrive once, the person's answer is understood, and nobody unknown is spoken of.

use std::fs;

use selkie_playground::Turn;
use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::{Value, json};

use crate::support::world::World;

/// Grace stands in the contact files.
pub(crate) fn knows_grace(world: &World) {
    let contacts = world.home.state().join("contacts");
    fs::create_dir_all(&contacts).expect("a folder");
    let grace = format!(
        "# Active Contacts\n\n## Grace\n\n```yaml\ncontact_id: tg:{GRACE}\nnickname: Grace\nkind: human\n\
         tg_private_chat_id: \"{GRACE}\"\n```\n"
    );
    fs::write(contacts.join("ACTIVE.md"), grace).expect("a file");
}

fn call(tool: &str, args: Value) -> String {
    format!("call {tool} {args}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_owner_has_said_to_somebody_arrives_and_is_refused_where_it_cannot() {
    let world = World::offline().await;
    world.telegram().add_person(GRACE, "Grace");
    knows_grace(&world);
    let _daemon = world.daemon();
    let told = world.ask("tell Grace: tea is ready").await;
    assert!(told.contains(&format!("to tg:{GRACE}: sent")), "{told}");
    world.hears(GRACE, "tea is ready").await;
    let args = json!({ "contact_id": format!("tg:{GRACE}"), "message_text": "cake is ready" });
    let sent = world.ask(&call("contacts_send", args.clone())).await;
    assert!(sent.contains(r#""accepted":true"#) && sent.contains(r#""deduped":false"#), "{sent}");
    world.hears(GRACE, "cake is ready").await;
    for (args, words) in [
        (json!({ "contact_id": "tg:1", "message_text": "x" }), "contact not found: tg:1"),
        (
            json!({ "contact_id": format!("tg:{GRACE}") }),
            "message_text or message_base64 is required",
        ),
        (
            json!({ "contact_id": "x", "message_text": "x", "content_type": "text/plain" }),
            "content_type must be application/json envelope",
        ),
        (
            json!({ "contact_id": "x", "message_text": "x", "session_id": "7" }),
            "session_id must be uuid_v7",
        ),
        (json!({ "contact_id": "x", "message_base64": "??" }), "message_base64 decode failed"),
        (
            json!({ "contact_id": "x", "message_base64": "eHg" }),
            "message_base64 must be envelope json",
        ),
        (
            json!({ "contact_id": "x", "message_base64": "e30" }),
            "message envelope missing message_id",
        ),
    ] {
        let refused = world.ask(&call("contacts_send", args)).await;
        assert!(refused.contains(words), "{refused}");
    }
    let here =
        world.ask(&call("message", json!({ "to": format!("tg:{ADA}"), "content": "x" }))).await;
    assert!(here.contains("is this conversation: just answer here"), "{here}");
    let nobody = world.ask("tell Zoe: hello").await;
    assert!(nobody.contains("there is nobody called Zoe"), "{nobody}");
    let group = "@selkie_demo_bot tell Grace: hello";
    let hidden = world.ask_in(GROUP.chat, GRACE, group).await;
    assert!(hidden.contains("hidden in groups"), "{hidden}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_go_once_in_a_task_and_an_answer_to_them_is_understood() {
    let world = World::with_allowed(json!([GROUP.chat, GRACE])).await;
    world.telegram().add_person(GRACE, "Grace");
    knows_grace(&world);
    let _daemon = world.daemon();
    let send = || Turn::call("message", json!({ "to": "Grace", "content": "the ferry is late" }));
    let model = world.playground.model();
    model.script_for("please warn her", vec![send(), send(), Turn::text("I have told her.")]);
    world.ask("please warn her, and mind my secret plan").await;
    let told = model.requests().last().expect("a request").body.to_string();
    assert!(told.contains("before: it is not sent again"), "{told}");
    world.hears(GRACE, "the ferry is late").await;
    assert_eq!(world.said(GRACE).len(), 1, "{:?}", world.said(GRACE));
    world.ask_in(GRACE, GRACE, "how late?").await;
    let asked = model.requests().last().expect("a request").body.to_string();
    assert!(asked.contains("on behalf of Ada") && asked.contains("the ferry is late"), "{asked}");
    assert!(!asked.contains("secret plan"), "nothing of the asking chat: {asked}");
}
