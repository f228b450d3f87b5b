//! Pictures in a model's answers: sent behind the words, kept in the chat's folder, named where they cannot be sent, and
//! never in the way of the words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use selkie::domain::crash::CrashPoint;
use selkie_playground::slack::DM;
use selkie_playground::telegram::{ADA, FileKind, MessageView};
use selkie_playground::{Family, Slack, Turn, line_platform, slack};
use serde_json::{Value, json};

use crate::support::line::Line;
use crate::support::rows;
use crate::support::world::World;

const NAMED: &str = "[a picture from the model, which cannot be shown]";

/// A picture that differs by its length; nobody decodes it.
fn drawn(bytes: usize) -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(bytes, b'.');
    picture
}

fn draws(text: &str, pictures: &[Vec<u8>]) -> Turn {
    let address = |bytes: &Vec<u8>| format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    Turn::Drawn { text: text.to_owned(), pictures: pictures.iter().map(address).collect() }
}

fn profile(world: &World, more: &Value) -> Value {
    let mut profile = json!({
        "provider": "openai", "endpoint": world.playground.model_endpoint(), "model": "m",
        "api_key": "sk-playground-key-1234567890",
    });
    let fields = more.as_object().expect("an object").clone();
    fields.into_iter().for_each(|(key, value)| profile[key] = value);
    json!({ "profiles": { "main": profile } })
}

/// What was said: texts, and photos by their bytes.
fn said(world: &World) -> Vec<Result<String, Vec<u8>>> {
    let one = |message: MessageView| match message.file {
        None => Ok(message.text),
        Some(file) => {
            assert_eq!(file.kind, FileKind::Photo);
            let id = file.url.rsplit('/').next().expect("an id");
            Err(world.telegram().file(id).expect("a file").1.to_vec())
        }
    };
    world.said(ADA).into_iter().map(one).collect()
}

/// The files that are kept, in the place's own folder.
fn kept(world: &World) -> Vec<String> {
    let folder = world.home.cache().join("c1/pictures");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("pictures")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_follows_the_words_or_comes_alone() {
    for more in [json!({}), json!({ "stream": false }), json!({ "api": "responses" })] {
        let mut world = World::start().await;
        if more.get("api").is_some() {
            world.playground.model().set_family(Family::OpenAi);
        }
        let llm = profile(&world, &more);
        world.home.set("llm", llm);
        let (cat, dog, fox) = (drawn(5 * 1024 * 1024), drawn(40), drawn(41));
        let model = world.playground.model();
        model.script(vec![
            draws("Here is **your cat**.", std::slice::from_ref(&cat)),
            draws("", &[dog.clone(), fox.clone()]),
            Turn::text("gladly"),
        ]);
        let _daemon = world.daemon();
        for (count, words) in ["a cat", "a dog and a fox", "thank you"].into_iter().enumerate() {
            world.telegram().say(ADA, ADA, words);
            rows::settled(&world, i64::try_from(count).expect("few") + 1).await;
        }
        let expected =
            [Ok("Here is your cat.".to_owned()), Err(cat), Err(dog), Err(fox), Ok("gladly".into())];
        assert!(said(&world) == expected, "{more}: {:?}", world.texts(ADA));
        // It reads later where they are, and nothing of what they hold.
        let (names, prompt) = (kept(&world), world.last_prompt());
        assert_eq!(names.len(), 3);
        for name in names {
            assert!(
                prompt.contains(&format!("[picture: file_cache_dir/pictures/{name}]")),
                "{prompt}"
            );
        }
        assert!(prompt.len() < 200_000 && !prompt.contains("iVBORw0KGgo"), "{}", prompt.len());
        assert_eq!((world.malformed(), model.calls()), (vec![], 3));
        let copies = std::fs::read_dir(world.home.cache().join("outbox")).expect("a folder");
        assert_eq!(copies.count(), 0, "what was sent is not kept twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_picture_costs_no_words() {
    let mut world = World::start().await;
    let llm = profile(&world, &json!({}));
    world.home.set("llm", llm);
    let page = STANDARD.encode("<script>alert(1)</script>");
    let bad = [
        "data:image/png;base64,@@no base64@@".to_owned(),
        format!("data:text/html;base64,{page}"),
        format!("data:image/png;base64,{}", STANDARD.encode(drawn(11 * 1024 * 1024))),
        "https://example.com/cat.png".to_owned(),
    ];
    let drawn =
        |picture: &String| Turn::Drawn { text: "A cat.".into(), pictures: vec![picture.clone()] };
    world.playground.model().script(bad.iter().map(drawn).collect());
    let many = std::iter::repeat_n(bad[0].clone(), 1_000).collect();
    world.playground.model().script(vec![Turn::Drawn { text: String::new(), pictures: many }]);
    let _daemon = world.daemon();
    for _ in 0..bad.len() {
        assert_eq!(world.ask("a cat").await, format!("A cat.\n\n{NAMED}"));
    }
    assert_eq!(world.ask("many cats").await, NAMED);
    assert_eq!(world.playground.model().calls(), 5, "none is asked for again");
    let log = world.home.log();
    assert_eq!(log.matches("a picture of the model is not taken").count(), 5, "{log}");
    assert!(log.contains("it is no base64") && log.contains("may have 10 MiB"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_before_it_is_said_doubles_nothing() {
    let mut world = World::start().await;
    let llm = profile(&world, &json!({}));
    world.home.set("llm", llm);
    world.home.set("debug", json!({ "crash_at": CrashPoint::BeforeFinish.name() }));
    let cat = drawn(40);
    world.playground.model().script(vec![draws("A cat.", std::slice::from_ref(&cat)); 2]);
    world.telegram().say(ADA, ADA, "a cat");
    world.daemon().gone().await;
    assert_eq!(kept(&world).len(), 1);
    world.home.set("debug", json!({}));
    let daemon = world.daemon();
    rows::settled(&world, 1).await;
    assert_eq!(said(&world), [Ok("A cat.".to_owned()), Err(cat)]);
    assert_eq!((kept(&world).len(), world.telegram().counted("sendPhoto")), (1, 1));
    // A copy goes after its receipt is stored: whoever stops has nothing left to do.
    assert!(daemon.stop().await.success());
    let copies = std::fs::read_dir(world.home.cache().join("outbox")).expect("a folder");
    assert_eq!(copies.count(), 0, "the copy of the dead process is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_goes_out_as_its_channel_takes_it() {
    let mut world = World::with_slack().await;
    let llm = profile(&world, &json!({}));
    world.home.set("llm", llm);
    world.playground.model().script(vec![draws("A cat.", &[drawn(40)]); 2]);
    let daemon = world.daemon();
    let ts = world.slack().say(DM, slack::ADA, "a cat");
    let sent = |slack: &Slack| {
        slack.answers(DM, &ts).iter().find_map(|message| message.files.first().cloned())
    };
    let file = world.within("a file", world.slack().wait_until(sent)).await;
    assert_eq!(world.slack().file(&file).expect("a file"), drawn(40));
    assert!(daemon.stop().await.success());
    let (code, out, err) = world.home.run(&["ask", "a cat"]);
    let (_, path) =
        out.trim_end().rsplit_once("is kept as ").unwrap_or_else(|| panic!("{out}{err}"));
    assert!(out.starts_with("A cat.\n\nI cannot send pictures here: "), "{out}");
    assert_eq!((code, std::fs::read(path).expect("the file that is named")), (0, drawn(40)));

    let mut world = World::start().await;
    let llm = profile(&world, &json!({}));
    world.home.set("llm", llm);
    world.playground.model().script(vec![draws("A cat.", &[drawn(40)])]);
    let line = Line::of(world, json!({})).await;
    let answer = line.ask(line_platform::ADA, "a cat").await.text;
    assert!(answer.starts_with("A cat.\n\nI cannot send pictures here: "), "{answer}");
    assert!(answer.contains("kept as file_cache_dir/c1/pictures/picture-"), "{answer}");
    assert_eq!(line.platform().used(), 0, "one reply, and nothing that counts");
}
