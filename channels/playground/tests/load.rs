//! The benchmark's load driver against a bot that answers everything.

#[path = "../../../benches/table/load.rs"]
mod load;

use std::time::Duration;

use load::{Load, Report};
use selkie_playground::telegram::TOKEN;
use selkie_playground::{Fault, FaultKind, Options, Pace, Playground};
use serde_json::{Value, json};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

const TIMEOUT: Duration = Duration::from_secs(60);

async fn with_bot() -> (Playground, AbortOnDropHandle<()>) {
    let options = Options { pace: Pace::Lifted, ..Options::default() };
    let playground = Playground::start(options).await.unwrap();
    let base = format!("{}/bot{TOKEN}", playground.telegram_base_url());
    let bot = AbortOnDropHandle::new(TaskTracker::new().spawn(echo(base)));
    (playground, bot)
}

/// Polls for ever and answers each text with `re: <text>`.
#[expect(clippy::disallowed_methods, reason = "the daemon's client lives above this crate")]
async fn echo(base: String) {
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = async |method: &str, params: Value| -> reqwest::Result<Value> {
        client.post(format!("{base}/{method}")).json(&params).send().await?.json().await
    };
    let mut offset = 0;
    loop {
        let Ok(answer) = call("getUpdates", json!({ "offset": offset, "timeout": 50 })).await
        else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        for update in answer["result"].as_array().into_iter().flatten() {
            offset = update["update_id"].as_i64().unwrap() + 1;
            let message = &update["message"];
            let text = format!("re: {}", message["text"].as_str().unwrap_or_default());
            let params = json!({ "chat_id": message["chat"]["id"], "text": text });
            call("sendMessage", params).await.unwrap();
        }
    }
}

/// Whether each message has exactly one answer, in order.
fn is_clean(report: &Report) -> bool {
    report.lost + report.duplicated + report.out_of_order + report.merged == 0
}

#[tokio::test]
async fn a_burst_and_single_messages_are_answered_once_in_order() {
    let (playground, _bot) = with_bot().await;
    let mut load = Load::new(&playground, TIMEOUT);
    let burst = load.burst(5, 200).await;
    assert!(is_clean(&burst) && burst.answered == 200, "{burst}");
    assert!(burst.per_second() > 0.0 && burst.latency(1.0) >= burst.latency(0.5));
    let single = load.paced(20, Duration::ZERO).await;
    assert!(is_clean(&single) && single.answered == 20, "{single}");
    assert!(playground.telegram().calls().is_empty(), "no call is kept under load");
}

#[tokio::test]
async fn a_lost_answer_and_a_double_one_are_counted() {
    let (playground, _bot) = with_bot().await;
    let mut load = Load::new(&playground, Duration::from_secs(2));
    let refusal = FaultKind::Refuse { code: 400, description: "Bad Request: no".to_owned() };
    playground.telegram().fault(Fault::next("sendMessage", refusal).after(1));
    playground.telegram().fault(Fault::next("getUpdates", FaultKind::Duplicate));
    let report = load.burst(1, 4).await;
    assert!(report.lost + report.duplicated > 0, "{report}");
    assert!(!is_clean(&report));
}

#[test]
fn numbers_are_found_in_an_answer() {
    assert_eq!(load::numbers("echo: load2x17 of this chat\necho: load2x18.", 2), [17, 18]);
    assert_eq!(load::numbers("load1x17", 2), Vec::<u64>::new());
}
