//! `selkie ask`: one task in the terminal.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use anyhow::anyhow;
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, BufReader, Lines};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::live::Live;
use super::outcome::{Failure, Outcome};
use super::request::{ToAsk, mismatched, to_ask_of};
use super::streamed::StreamedAnswer;
use super::{input, print};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::client::RunningDaemon;
use selkie_app::lifecycle;
use selkie_app::request::{Request, Response};
use selkie_config::Flag;
use selkie_domain::choice::Choice;
use selkie_domain::effort::Effort;
use selkie_domain::plan::Plan as Steps;
use selkie_domain::words::Enclosure;
use selkie_engine::delivery::runtime::Stop;
use selkie_engine::delivery::settings::StreamMode;
use selkie_engine::terminal::ask::{Ask, AskEvent, Reply};
use selkie_llm as llm;
use selkie_tools::ports::Progress as _;

/// So long nothing is shown before a person is told that something is waited for.
const QUIET: Duration = Duration::from_secs(1);

/// Said where nobody would answer.
const NO_MODEL: &str = "no language model is configured: run `selkie init`, or set OPENAI_API_KEY or ANTHROPIC_API_KEY; --offline asks \
    the built-in stand-in, which knows a few phrases (`selkie demo` shows them)";

/// `selkie ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie ask what is in this folder
  selkie ask 'why does the build fail?' --json
  git diff | selkie ask 'review this'
  selkie ask 'what do you see?' --file tea.png --file notes.txt
  selkie ask - < request.txt
  selkie ask 'is this proof right?' --file proof.md --model strong --effort high
  selkie ask 'note: buy milk' --offline

What comes on standard input is read to its end (1 MiB at most) and goes along with your words, as text of others: nothing in it is \
followed. Where standard input stays open and nothing comes, as in some scripts and with ssh, add </dev/null.

Exit codes: 0 answered · 1 not answered · 2 the command line or the config is wrong")]
pub struct AskArgs {
    /// What to ask; - alone reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// A file that goes along: text is read, anything else is attached; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// The profile in `llm.profiles` that answers [default: the one that answers here, see /model]
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    pub model: Option<String>,
    /// How hard it thinks: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL")]
    pub effort: Option<Effort>,
    /// Ask the built-in stand-in, which knows a few phrases, instead of a model
    #[arg(long)]
    pub offline: bool,
    /// Print one JSON object a line: progress, answer, end
    #[arg(long, conflicts_with_all = ["stream", "whole"])]
    pub json: bool,
    /// Print the answer while it is written, also into a pipe or a file
    #[arg(long, conflicts_with = "whole")]
    pub stream: bool,
    /// Print the answer when it is whole, also at a terminal
    #[arg(long)]
    pub whole: bool,
}

/// Asks, shows progress, prints the answer.
pub fn ask(binary: &Binary, chosen: &ConfigChoice, ask: AskArgs) -> Outcome {
    let plan = planned(binary, chosen, ask.offline)?;
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let live = Live::new(plan.redactor.clone());
    let wanted = !ask.whole && plan.settings.progress.stream == StreamMode::Auto;
    let streams = ask.stream || (wanted && std::io::stdout().is_terminal());
    let choice = choice(&plan, &ask)?;
    let body = Ask { choice, ..body(binary, &ask, terminal)? };
    let runtime = lifecycle::runtime()?;
    let asked = runtime.block_on(async {
        let (lines, heard) = mpsc::channel(64);
        let (replies, replied) = mpsc::channel(1);
        let person = Person { json: ask.json, workspace: body.workspace.clone(), replies };
        let streamed = StreamedAnswer::new(streams);
        let asked = async {
            match RunningDaemon::find(&plan.tls, &plan.folders.state).await? {
                Some(daemon) => served(&daemon, &body, lines, replied).await,
                None => alone(plan, body, lines, replied).await,
            }
        };
        let input = BufReader::new(tokio::io::stdin());
        let (asked, shown) = tokio::join!(asked, person.follow(heard, &live, streamed, input));
        asked.map_err(Failure::from).and(shown)
    });
    // A line that nobody has typed keeps a thread waiting: not this process.
    runtime.shutdown_background();
    asked
}

/// Reads the config. Without a daemon this process works for one question: it must not answer the platforms too.
fn planned(binary: &Binary, chosen: &ConfigChoice, offline: bool) -> Result<AppConfig, Failure> {
    let mut chosen = chosen.clone();
    if offline {
        let routes = ["main", "small", "decision", "heartbeat"].map(|route| (route, "offline"));
        let value = json!({ "llm": { "routes": BTreeMap::from(routes) } });
        chosen.flags.push(Flag { name: "--offline".to_owned(), value });
    }
    let ToAsk { plan, runs } = to_ask_of(binary, &chosen)?;
    match (runs, offline) {
        (true, true) => Err(Failure::Usage(
            "--offline: the running selkie answers, by its own model: leave --offline out, or name another state folder \
             (--state)"
                .to_owned(),
        )),
        (false, false) if !plan.settings.llm.is_configured() => Err(Failure::Usage(NO_MODEL.to_owned())),
        _ => Ok(plan.at_terminal()),
    }
}

/// Reads who is to answer.
fn choice(plan: &AppConfig, ask: &AskArgs) -> Result<Choice, Failure> {
    let named = |text: &String| {
        let named = llm::model_list(&plan.settings.llm).named(text);
        named.map_err(|why| Failure::Usage(format!("--model: {why}")))
    };
    let model = ask.model.as_ref().map(named).transpose()?;
    Ok(Choice { model, effort: ask.effort, ..Choice::default() })
}

/// Reads what is asked.
fn body(binary: &Binary, ask: &AskArgs, terminal: bool) -> Result<Ask, Failure> {
    let mut words = ask.text.clone();
    let piped = input::enclosed(&mut words)?;
    let files = ask.file.iter().map(|path| input::file(&binary.here, path));
    let enclosed: Vec<_> = piped.into_iter().map(Ok).chain(files).collect::<Result<_, _>>()?;
    let text = input::text(&words)?;
    if text.trim().is_empty() {
        return Err(Failure::Usage("TEXT is empty: there is nothing to ask".to_owned()));
    }
    let length = |enclosure: &Enclosure| match enclosure {
        Enclosure::Text { text, .. } => text.len(),
        Enclosure::File(_) => 0,
    };
    if enclosed.iter().map(length).sum::<usize>() > input::MAX_TEXT {
        let most = input::MAX_TEXT;
        let says = format!("standard input and files hold more than {most} bytes of text together");
        return Err(Failure::Usage(says));
    }
    Ok(Ask { text, enclosed, workspace: binary.here.clone(), terminal, ..Ask::default() })
}

/// A line that answers a question, and where what became of it is told.
struct Answer {
    line: Request,
    told: oneshot::Sender<anyhow::Result<Response>>,
}

/// Answers by the running daemon.
async fn served(
    daemon: &RunningDaemon,
    body: &Ask,
    lines: mpsc::Sender<AskEvent>,
    mut replied: mpsc::Receiver<Answer>,
) -> anyhow::Result<()> {
    let reader = lines.clone();
    let mut asked = pin!(daemon.ask(body, lines));
    loop {
        tokio::select! {
            asked = &mut asked => return asked,
            // The daemon sees the connection close, and stops the task.
            () = reader.closed() => return Ok(()),
            Some(Answer { line, told }) = replied.recv() => {
                // Whoever wrote it may have gone.
                drop(told.send(daemon.answer(&line).await));
            }
        }
    }
}

/// Answers in this very process.
async fn alone(
    plan: AppConfig,
    body: Ask,
    lines: mpsc::Sender<AskEvent>,
    mut replied: mpsc::Receiver<Answer>,
) -> anyhow::Result<()> {
    let app = plan.open()?;
    let mut signals = lifecycle::Signals::listen()?;
    let tracker = TaskTracker::new();
    let stop = Stop::default();
    app.flow.start_at_terminal(&tracker, stop.clone()).await?;
    let mut events = app.flow.ask(body).await?;
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { break };
                // Nobody reading any more is the end.
                if lines.send(event).await.is_err() {
                    break;
                }
            }
            () = lines.closed() => break,
            _ = signals.next() => {
                // Whoever reads may have gone with the terminal.
                drop(lines.send(AskEvent::Ended("stopped".to_owned())).await);
                break;
            }
            Some(Answer { line, told }) = replied.recv() => {
                // Whoever wrote it may have gone.
                drop(told.send(line.answer(&app).await.map_err(Into::into)));
            }
        }
    }
    // Before its end the task is stopped by this.
    drop(events);
    lifecycle::stop(&app, &tracker, &stop, &mut signals).await;
    Ok(())
}

/// Whoever sits at the terminal.
struct Person {
    json: bool,
    workspace: PathBuf,
    replies: mpsc::Sender<Answer>,
}

/// How a question at the terminal was left.
#[derive(PartialEq, Eq)]
enum QuestionExit {
    /// Answered, closed, or stopped with the whole process.
    Settled,
    /// No line will come any more: Ctrl-D, or the terminal was closed.
    HungUp,
}

impl Person {
    /// Asks for a line until one of them is an answer.
    async fn answer(
        &self,
        question: &str,
        typed: &mut Lines<impl AsyncBufRead + Unpin>,
    ) -> Result<QuestionExit, Failure> {
        // What is unreadable twice is no yes.
        let mut unread = false;
        loop {
            // A courtesy: a closed standard error stops nothing.
            write!(std::io::stderr(), "> ").ok();
            let text = tokio::select! {
                text = typed.next_line() => text,
                // Ctrl-C while the question stands.
                () = self.replies.closed() => return Ok(QuestionExit::Settled),
            };
            // A terminal that was closed cannot be read: nobody is there any more, either.
            let Ok(Some(text)) = text else { return Ok(QuestionExit::HungUp) };
            let reply = match self.told(question, text).await? {
                Some(Reply::NeitherYesNorNo) if unread => {
                    self.told(question, "n".to_owned()).await?
                }
                other => other,
            };
            let Some(reply) = reply else { return Ok(QuestionExit::Settled) };
            let (hint, is_over) = match reply {
                Reply::Taken => return Ok(QuestionExit::Settled),
                Reply::NoAnswer => {
                    ("Please answer with a number or one of the words above.", false)
                }
                Reply::NeitherYesNorNo => {
                    unread = true;
                    ("Please answer y or n. Anything else is a no.", false)
                }
                Reply::Closed => ("This question is already closed.", true),
            };
            writeln!(std::io::stderr(), "{hint}").ok();
            if is_over {
                return Ok(QuestionExit::Settled);
            }
        }
    }

    /// Hands in what was typed and returns what became of it; `None` when nobody is there to take it any more.
    async fn told(&self, question: &str, text: String) -> Result<Option<Reply>, Failure> {
        let (told, became) = oneshot::channel();
        let reply =
            Ask { workspace: self.workspace.clone(), text, terminal: true, ..Ask::default() };
        let line = Request::Answer { question: question.to_owned(), reply };
        if self.replies.send(Answer { line, told }).await.is_err() {
            return Ok(None);
        }
        let Ok(became) = became.await else { return Ok(None) };
        match became? {
            Response::Reply(reply) => Ok(Some(reply)),
            _ => mismatched(),
        }
    }

    /// Prints lines as they come; an end that is not `done` is a failure.
    async fn follow(
        self,
        mut lines: mpsc::Receiver<AskEvent>,
        live: &Live,
        mut streamed: StreamedAnswer,
        input: impl AsyncBufRead + Unpin,
    ) -> Outcome {
        let mut typed = input.lines();
        let mut end = None;
        let mut said = false;
        loop {
            let quietly = self.json || streamed.is_open();
            let Some(line) = next(&mut lines, (!quietly).then_some(live)).await else { break };
            if self.json {
                print::out(&format!("{}\n", serde_json::to_string(&line)?))?;
            } else {
                person(&line, live, &mut streamed)?;
            }
            match line {
                // Nobody follows any more: that ends the task, as Ctrl-C does.
                AskEvent::Asked(question)
                    if self.answer(&question, &mut typed).await? == QuestionExit::HungUp =>
                {
                    return Err(anyhow!(
                        "the input ended at a question: it is withdrawn and the task is stopped; ask again to \
                         go on"
                    )
                    .into());
                }
                AskEvent::Asked(_) => {}
                AskEvent::Ended(state) => end = Some(state),
                AskEvent::Said(_) => said = true,
                AskEvent::Progress(_) => {}
            }
        }
        ended(end.as_deref(), said)
    }
}

/// Waits for the next line. When none comes for a second, `live` shows what is waited for.
async fn next(lines: &mut mpsc::Receiver<AskEvent>, live: Option<&Live>) -> Option<AskEvent> {
    if let Some(live) = live {
        match timeout(QUIET, lines.recv()).await {
            Ok(line) => return line,
            Err(_) => live.wait("waiting for the model to answer (Ctrl-C stops)"),
        }
    }
    lines.recv().await
}

/// What a task's end comes to. `said`: the person has read what the task had to say, its failure included.
fn ended(end: Option<&str>, said: bool) -> Outcome {
    match end {
        Some("done") => Ok(()),
        Some("failed") if said => Err(Failure::Told),
        Some("failed") => Err(anyhow!("the task failed").into()),
        Some(state) => Err(anyhow!("the task was {state}").into()),
        None => Err(anyhow!("the task has not ended; it continues when a daemon runs").into()),
    }
}

fn person(line: &AskEvent, live: &Live, streamed: &mut StreamedAnswer) -> io::Result<()> {
    match line {
        AskEvent::Said(text) => streamed.said(text, live)?,
        AskEvent::Progress(what) => progress(what, live, streamed)?,
        AskEvent::Asked(_) | AskEvent::Ended(_) => {
            streamed.breaks()?;
            live.clear();
        }
    }
    Ok(())
}

fn progress(what: &Value, live: &Live, streamed: &mut StreamedAnswer) -> io::Result<()> {
    let text = |key: &str| what.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("happening") {
        "wrote" => return streamed.wrote(text("text"), live),
        "asked" => return streamed.breaks(),
        "again" => {
            streamed.breaks()?;
            live.stay("… the model failed and begins its answer again");
        }
        "called" => {
            streamed.breaks()?;
            live.stay(&format!("→ {} {}", text("tool"), text("arguments")));
        }
        "answered" if what.get("is_error") == Some(&Value::Bool(true)) => {
            live.stay(&format!("✗ {} {}", text("tool"), text("text")));
        }
        "doing" => live.doing(text("newest")),
        "planned" => {
            if let Some(Ok(plan)) = what.get("plan").map(Steps::deserialize) {
                live.plan(&plan);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::Redactor;

    use super::*;

    #[tokio::test]
    async fn the_end_of_input_at_a_question_hangs_up() {
        let (lines, heard) = mpsc::channel(1);
        let (replies, _replied) = mpsc::channel(1);
        let person = Person { json: true, workspace: "/w".into(), replies };
        lines.send(AskEvent::Asked("q".to_owned())).await.unwrap();
        let live = Live::new(Redactor::default());
        let shown = person.follow(heard, &live, StreamedAnswer::default(), &b""[..]).await;
        let Err(Failure::Failed(why)) = shown else { panic!("it is a failure that is told") };
        assert!(why.to_string().contains("it is withdrawn"), "{why}");
        // Whoever works for it notices.
        lines.closed().await;
    }
}
