//! Long and odd text: whole, in order, as it was written; and refusals of form that fall back.

use selkie_playground::telegram::ADA;
use selkie_playground::{Fault, FaultKind, Turn};

use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_characters_come_whole_and_in_order() {
    let world = World::offline().await;
    let _daemon = world.daemon();
    world.telegram().say(ADA, ADA, "long 100000");
    world.telegram().say(ADA, ADA, "and what comes after?");
    world.hears(ADA, "and what comes after?").await;
    let mut texts = world.texts(ADA);
    texts.pop();
    assert!((24..=27).contains(&texts.len()), "{} parts", texts.len());
    assert!(texts.iter().all(|t| t.encode_utf16().count() <= 4096));
    let lines: Vec<u32> = texts
        .iter()
        .flat_map(|t| t.lines())
        .filter_map(|l| l.strip_prefix("Line ")?.split_once(' ')?.0.parse().ok())
        .collect();
    let all: Vec<u32> = (1..=lines.len() as u32).collect();
    assert_eq!(lines, all, "lines are lost, double or out of order");
    let length: usize = texts.iter().map(|t| t.len() + 1).sum();
    assert!((99_900..=100_100).contains(&length), "{length} characters of 100000");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_text_comes_back_as_it_was_written() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let odd = [
        "<b>not bold</b> & <script>alert(1)</script> &amp; &lt;",
        "a < b > c && d",
        "😀 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
        "ltr \u{202e}rtl\u{202c} שלום مرحبا",
        "zero\u{200b}width \u{feff}bom",
        "a_b_c snake_case 2*3*4 ** __ ~~ | `",
        "[link](javascript:alert(1))",
        "back\\slash \\* \\_",
    ];
    for text in odd {
        // The model's words come back by the same way as a person's.
        world.playground.model().script(vec![Turn::text(format!("say {text} end"))]);
        let answer = world.ask("repeat").await;
        let plain = answer.replace('\\', "");
        assert!(plain.starts_with("say ") && plain.ends_with(" end"), "{text:?} became {answer:?}");
        world.playground.model().script(vec![Turn::text("ok")]);
        world.ask(text).await;
        let heard = world.playground.model().requests().pop().expect("a request").body;
        let last = heard["messages"].as_array().and_then(|m| m.last()).expect("a message");
        let last = last["content"].to_string();
        let wanted = serde_json::to_string(text).expect("json");
        let wanted = wanted.trim_matches('"').trim_start_matches('[');
        assert!(last.contains(wanted), "{text:?} was heard as {last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_between_the_marks_of_markup_is_not_lost() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for (said, shown) in [
        ("<b>x</b> & y &lt; z", "<b>x</b> & y < z"),
        ("**bold** and `code <i>`", "bold and code <i>"),
        ("```rust\nlet a = 1 < 2;\n```", "let a = 1 < 2;"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("😀 **fett** 😀", "😀 fett 😀"),
    ] {
        world.playground.model().script(vec![Turn::text(said)]);
        assert_eq!(world.ask("show").await.trim(), shown);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_is_said_to_be_one() {
    let world = World::start().await;
    let _daemon = world.daemon();
    for _ in 0..8 {
        world.playground.model().script(vec![Turn::Empty]);
    }
    let answer = world.ask("anything?").await;
    assert!(answer.contains("I could not get an answer from the model"), "{answer}");
    assert!(answer.contains("an empty answer"), "{answer}");
    assert!(world.telegram().answer_counts(ADA).is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_the_platform_refuses_to_parse_go_out_plain() {
    let world = World::start().await;
    let _daemon = world.daemon();
    let description = "Bad Request: can't parse entities: Unsupported start tag".to_owned();
    let refusal = FaultKind::Refuse { code: 400, description };
    world.telegram().fault(Fault::next("sendMessage", refusal));
    world.playground.model().script(vec![Turn::text("**bold** & <plain>")]);
    let answer = world.ask("show").await;
    assert!(answer.contains("bold") && answer.contains("& <plain>"), "{answer}");
    // A call is logged behind its effect: the next answer comes after it.
    world.ask("and now?").await;
    let calls: Vec<_> =
        world.telegram().calls().into_iter().filter(|c| c.method == "sendmessage").collect();
    let [refused, plain, ..] = calls.as_slice() else { panic!("two calls, not {calls:#?}") };
    assert!(refused.params["parse_mode"].is_string() && plain.params["parse_mode"].is_null());
    assert!(world.telegram().answer_counts(ADA).is_clean());
}
