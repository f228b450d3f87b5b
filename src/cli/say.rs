//! `selkie say`: the owner's own words into a conversation, through the bot.

use anyhow::anyhow;
use tokio_util::task::TaskTracker;

use super::args::Say;
use super::outcome::{Failure, Outcome};
use super::request::{mismatched, to_ask, told_if_new};
use super::{input, print};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::client::RunningDaemon;
use selkie_app::lifecycle;
use selkie_app::request::{Request, Response};
use selkie_engine::delivery::runtime::Stop;
use selkie_engine::delivery::say::SayOutcome;
use selkie_store::DeliveryState;

/// Says it and prints the receipt; what did not arrive is a failure.
pub fn say(binary: &Binary, chosen: &ConfigChoice, say: Say) -> Outcome {
    let plan = to_ask(binary, chosen)?;
    let Say { to, text, json } = say;
    let text = input::text(&[text])?;
    let known: Vec<&str> = plan.channels.iter().map(|channel| channel.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let request = Request::Say { to: to.clone(), text };
    let told = lifecycle::runtime()?.block_on(async {
        match RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
            Some(daemon) => daemon.answer(&request).await,
            None => {
                told_if_new(&plan);
                alone(plan, &to, request).await
            }
        }
    })?;
    let Response::Told(told) = told else { return mismatched() };
    if json {
        print::json(&told)?;
    }
    match told {
        SayOutcome::Stands { conversation, standing, why } => {
            ended(&conversation, &standing, why, json)
        }
        SayOutcome::Nowhere => Err(Failure::Usage(format!(
            "--to {:?} is not a conversation of a configured channel ({known}); it takes an id such as x:main or \
             tg:4711, which /id shows in a chat",
            to
        ))),
        SayOutcome::Nothing => {
            Err(Failure::Usage("TEXT has nothing in it that could be shown".to_owned()))
        }
    }
}

/// Says it in this very process: only that channel speaks, nothing is heard and no task is run.
async fn alone(mut plan: AppConfig, to: &str, request: Request) -> anyhow::Result<Response> {
    plan.channels.retain(|channel| channel.address.parse(to).is_some());
    plan.channels.iter_mut().for_each(|channel| channel.receiver = None);
    let app = plan.open()?;
    let tracker = TaskTracker::new();
    let stop = Stop::default();
    app.flow.know_paired().await?;
    app.flow.start_delivery(&tracker, stop.clone()).await?;
    let told = request.answer(&app).await;
    stop.work.cancel();
    tracker.close();
    tracker.wait().await;
    app.ledger.close().await;
    Ok(told?)
}

fn ended(conversation: &str, standing: &DeliveryState, why: Option<String>, json: bool) -> Outcome {
    let failed = |words: String| Err(Failure::Failed(anyhow!("{conversation}: {words}")));
    match standing {
        DeliveryState::Delivered { .. } if json => Ok(()),
        DeliveryState::Delivered { message: Some(message) } => {
            Ok(print::prose(&format!("{conversation}: sent, message {message}\n"))?)
        }
        DeliveryState::Delivered { message: None } => {
            Ok(print::prose(&format!("{conversation}: sent\n"))?)
        }
        DeliveryState::Refused { reason } => failed(format!("refused: {reason}")),
        DeliveryState::Partly { reason } => {
            failed(format!("only the beginning was sent; the rest was refused: {reason}"))
        }
        DeliveryState::Unclear => failed(
            "nobody knows whether it arrived: check there before you send it again".to_owned(),
        ),
        DeliveryState::Open => {
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            failed(format!(
                "stored and not sent yet{why}; it goes out when selkie runs and the platform accepts it: do not \
                 send it again"
            ))
        }
        DeliveryState::Cancelled => failed("withdrawn before it was sent".to_owned()),
        DeliveryState::Expired => failed("it expired before it could be sent".to_owned()),
    }
}
