//! Pictures that people send: a model that sees gets them as pictures, whoever sent them, and no tool is needed.

use std::io::Cursor;

use image::{ImageFormat, RgbImage};
use selkie_playground::telegram::{ADA, FileDraft, FileKind, GRACE};
use serde_json::{Value, json};

use crate::support::world::World;

fn drawn() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(3, 2).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

/// A world that listens to everyone, with a model of this provider.
async fn seeing(provider: &str, sees: bool) -> World {
    let mut world = World::with_allowed(json!(["*"])).await;
    world.telegram().add_person(GRACE, "Grace");
    let endpoint = match provider {
        "anthropic" => world.playground.anthropic_endpoint(),
        _ => world.playground.model_endpoint(),
    };
    let profile = json!({
        "provider": provider, "endpoint": endpoint, "model": "m",
        "api_key": "sk-playground-key-1234567890", "sees_images": sees,
    });
    world.home.set("llm", json!({ "profiles": { "main": profile } }));
    world
}

/// The pictures of the last request, as base64.
fn shown(world: &World) -> Vec<String> {
    let asked = world.playground.model().requests();
    let body = &asked.last().expect("a request").body;
    let parts = body["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let data = |part: Value| {
        let url = part["image_url"]["url"].as_str().map(|url| url.rsplit(',').next());
        let data = url.flatten().or(part["source"]["data"].as_str());
        data.map(str::to_owned)
    };
    parts.filter_map(data).collect()
}

async fn send(world: &World, file: FileDraft) -> String {
    let message = world.telegram().upload(GRACE, GRACE, file);
    world.answer(GRACE, message).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_picture_is_in_the_request_and_in_the_next_one() {
    for provider in ["openai", "anthropic"] {
        let world = seeing(provider, true).await;
        let _daemon = world.daemon();
        let draft = FileDraft::new(FileKind::Photo, "p.png", drawn());
        let answer = send(&world, FileDraft { caption: "what is it?".into(), ..draft }).await;
        assert!(answer.contains("what is it?"), "{answer}");
        assert_eq!(shown(&world).len(), 1, "{provider}");
        world.ask_in(GRACE, GRACE, "and its colour?").await;
        assert_eq!(shown(&world).len(), 1, "{provider}: the next task sees it, too");
        // The same bytes as a file: shown once more, kept once.
        send(&world, FileDraft::new(FileKind::Document, "same.png", drawn())).await;
        assert_eq!(shown(&world).len(), 2, "{provider}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_name_says_whether_it_sees() {
    let mut world = World::with(json!({})).await;
    let endpoint = world.playground.model_endpoint();
    for (model, pictures) in [("llama3.2-vision:11b", 1), ("llama3.2:3b", 0)] {
        let llm = json!({ "provider": "ollama", "endpoint": endpoint, "model": model });
        world.home.set("llm", llm);
        let daemon = world.daemon();
        let draft = FileDraft::new(FileKind::Photo, "p.png", drawn());
        let message = world.telegram().upload(ADA, ADA, draft);
        world.answer(ADA, message).await;
        assert_eq!(shown(&world).len(), pictures, "{model}");
        assert!(daemon.stop().await.success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_see_gets_words_and_a_broken_picture_is_told() {
    let world = seeing("openai", false).await;
    let _daemon = world.daemon();
    send(&world, FileDraft::new(FileKind::Photo, "p.png", drawn())).await;
    assert_eq!(shown(&world), Vec::<String>::new());

    let world = seeing("openai", true).await;
    let _daemon = world.daemon();
    send(&world, FileDraft::new(FileKind::Photo, "p.png", vec![7_u8; 500])).await;
    assert_eq!(shown(&world), Vec::<String>::new());
    let prompt = world.last_prompt();
    assert!(prompt.contains("it cannot be shown"), "{prompt}");
}
