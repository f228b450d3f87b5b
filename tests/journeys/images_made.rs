//! Pictures that are made from words: kept, shown behind the last words where that can be, changed, counted and paid once.

use selkie::domain::crash::CrashPoint;
use selkie_playground::telegram::{ADA, FileKind, GRACE, GROUP, MessageView, PRIVATE};
use selkie_playground::{Maker, MakerMode, Turn, line_platform, slack};
use serde_json::{Value, json};

use crate::support::line::Line;
use crate::support::rows::{settled, texts};
use crate::support::world::World;

async fn drawing(more: Value) -> World {
    let mut world = World::start().await;
    set_images(&mut world, more);
    world
}

fn set_images(world: &mut World, more: Value) {
    let endpoint = world.playground.model_endpoint();
    let mut section =
        json!({ "endpoint": endpoint, "model": "brush", "api_key": "sk-brush-key-1234567890" });
    for (key, value) in more.as_object().into_iter().flatten() {
        section[key] = value.clone();
    }
    world.home.set("images", section);
}

fn draws(args: Value, then: &str) -> Vec<Turn> {
    vec![Turn::call("image_generate", args), Turn::text(then)]
}

/// Waits for the bot's next picture behind a message; returns its bytes.
async fn picture(world: &World, behind: i64) -> Vec<u8> {
    let is_it = |m: &MessageView| m.from.is_bot && m.id > behind && m.file.is_some();
    let message = world.within("a picture", world.telegram().wait_for(ADA, is_it)).await;
    let file = message.file.expect("a file");
    assert_eq!(file.kind, FileKind::Photo);
    let id = file.url.rsplit('/').next().expect("an id");
    world.telegram().file(id).expect("its bytes").1.to_vec()
}

fn pictures(world: &World) -> usize {
    world.said(ADA).iter().filter(|message| message.file.is_some()).count()
}

/// The path in the newest answer of the tool.
fn path(world: &World) -> String {
    let prompt = world.last_prompt();
    let (_, path) = prompt.rsplit_once("file_cache_dir/pictures/").expect("a path");
    format!("file_cache_dir/pictures/{}", path.split(".png").next().expect("a name")) + ".png"
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_made_shown_and_changed() {
    let world = drawing(json!({ "size": "1024x1024" })).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    model.script(draws(json!({ "prompt": "a cat" }), "Here it is."));
    let asked = world.telegram().say(ADA, ADA, "draw a cat");
    assert_eq!(picture(&world, asked).await, Maker::picture("a cat"));
    assert_eq!(
        world.texts(ADA).into_iter().rev().find(|t| !t.is_empty()).as_deref(),
        Some("Here it is.")
    );
    let path = path(&world);
    let kept = world.home.cache().join("c1").join(path.trim_start_matches("file_cache_dir/"));
    assert_eq!(std::fs::read(kept).expect("the file"), Maker::picture("a cat"));
    // The next one is made of it, and lies at an address.
    model.maker().set(MakerMode::Other);
    let args = json!({ "prompt": "with a hat", "picture": path, "size": "512x512" });
    model.script(draws(args, "And now."));
    let asked = world.telegram().say(ADA, ADA, "give it a hat");
    assert_eq!(picture(&world, asked).await, Maker::picture("with a hat"));
    let wanted = model.maker().wanted();
    assert_eq!(wanted[0].size.as_deref(), Some("1024x1024"));
    assert_eq!((wanted[0].picture.clone(), wanted[1].size.as_deref()), (None, Some("512x512")));
    assert_eq!(wanted[1].picture.as_deref(), Some(&Maker::picture("a cat")[..]));
    assert_eq!(world.malformed(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_picture_is_told_to_the_model() {
    let world = drawing(json!({})).await;
    let _daemon = world.daemon();
    let model = world.playground.model();
    for (mode, told) in [
        (MakerMode::Page, "the answer is not"),
        (MakerMode::Empty, "the answer is not"),
        (MakerMode::Huge, "it is larger than"),
        (MakerMode::Refuses, "it answers 400: Your request was rejected."),
        (MakerMode::BusyOnce, "it answers 503"),
    ] {
        model.maker().set(mode);
        model.script(draws(json!({ "prompt": "a cat" }), "No picture."));
        assert_eq!(world.ask("draw a cat").await, "No picture.");
        let prompt = world.last_prompt();
        assert!(
            prompt.contains("no picture was made") && prompt.contains(told),
            "{mode:?}: {prompt}"
        );
    }
    assert_eq!((pictures(&world), model.maker().wanted().len()), (0, 5), "none is asked for twice");
    for (args, why) in [
        (json!({ "prompt": " " }), "prompt takes 1 to 4000 characters"),
        (json!({ "prompt": "a", "size": "big" }), "size takes width and height in pixels"),
        (json!({ "prompt": "a", "picture": "/etc/hostname" }), "refusing to send file outside"),
        (json!({ "prompt": "a", "picture": "file_state_dir/TODO.md" }), "refusing to send file"),
    ] {
        model.script(draws(args, "No picture."));
        world.ask("draw a cat").await;
        let prompt = world.last_prompt();
        assert!(prompt.contains(why), "{why}: {prompt}");
    }
    assert_eq!(model.maker().wanted().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_channel_shows_it_as_it_can() {
    let mut world = World::with_slack().await;
    set_images(&mut world, json!({}));
    let daemon = world.daemon();
    world.playground.model().script(draws(json!({ "prompt": "a cat" }), "A cat."));
    let ts = world.slack().say(slack::DM, slack::ADA, "draw a cat");
    let sent = |slack: &selkie_playground::Slack| {
        slack.answers(slack::DM, &ts).iter().find_map(|message| message.files.first().cloned())
    };
    let file = world.within("a file", world.slack().wait_until(sent)).await;
    assert_eq!(world.slack().file(&file).expect("its bytes"), Maker::picture("a cat"));
    assert!(daemon.stop().await.success());

    let world = drawing(json!({})).await;
    world.playground.model().script(draws(json!({ "prompt": "a cat" }), "A cat."));
    let line = Line::of(world, json!({})).await;
    let answer = line.ask(line_platform::ADA, "draw a cat").await.text;
    assert!(answer.starts_with("A cat.\n\nI cannot send pictures here: "), "{answer}");
    assert!(answer.contains("kept as file_cache_dir/c1/pictures/picture-"), "{answer}");

    let world = World::start().await;
    let (_, out, err) =
        world.home.run(&["tools", "why", "image_generate", "--in", "telegram:private"]);
    assert!(out.contains("images is not set in the config"), "{out}{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_counted_for_a_person_and_paid_by_everybody() {
    let mut world = drawing(json!({ "per_day": 1, "cost_usd": 0.04 })).await;
    world.home.set("limits", json!({ "everybody": { "cost_usd_per_day": 0.1 } }));
    let daemon = world.daemon();
    let model = world.playground.model();
    let shown = "it is shown here";
    let asks = [
        (GROUP, GRACE, shown),
        (GROUP, GRACE, "made for one person in a day"),
        (PRIVATE, ADA, shown),
    ];
    for (number, (spot, person, told)) in (1..).zip(asks) {
        model.script(draws(json!({ "prompt": "a cat" }), "So."));
        world.telegram().say(spot, person, "@selkie_demo_bot draw a cat");
        world.within("both questions", model.wait_for_calls(2 * number)).await;
        settled(&world, 1).await;
        let prompt = world.last_prompt();
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(daemon.stop().await.success());
    let spent = "SELECT who || ' ' || what || ' ' || amount FROM spent WHERE what = 'micro_usd'";
    let spent = texts(&world.home, spent);
    assert!(spent.contains(&"everybody micro_usd 80000".to_owned()), "{spent:?}");
    // The third is beyond what a day may cost, whoever asks.
    let _daemon = world.daemon();
    model.script(draws(json!({ "prompt": "a cat" }), "So."));
    let answer = world.ask("draw a cat").await;
    assert!(answer.contains("I have reached what I can do in a day"), "{answer}");
    assert_eq!(model.maker().wanted().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_before_the_answer_pays_once_and_shows_it_once() {
    for (edge, shown) in
        [(CrashPoint::AfterResults, 1), (CrashPoint::BeforeFinish, 1), (CrashPoint::AfterTool, 0)]
    {
        let mut world = drawing(json!({})).await;
        world.home.set("debug", json!({ "crash_at": edge.name() }));
        let model = world.playground.model();
        model.script(vec![Turn::call("image_generate", json!({ "prompt": "a cat" }))]);
        model.script(vec![Turn::text("A cat."); 2]);
        let asked = world.telegram().say(ADA, ADA, "draw a cat");
        world.daemon().gone().await;
        world.home.set("debug", json!({}));
        let _daemon = world.daemon();
        world.hears(ADA, "A cat.").await;
        if shown == 1 {
            picture(&world, asked).await;
        }
        world.ask("the end").await;
        assert_eq!((pictures(&world), model.maker().wanted().len()), (shown, 1), "{edge:?}");
        if shown == 0 {
            let prompts = world.prompts().concat();
            assert!(prompts.contains("outcome unknown"), "{prompts}");
        }
    }
}
