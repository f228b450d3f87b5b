//! `selkie mcp call`: a tool of a server by hand; what its server asks is asked at the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use anyhow::anyhow;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::outcome::{Failure, Outcome};
use super::super::print;
use super::trust::with_hint;
use selkie_app::build::AppConfig;
use selkie_app::lifecycle;
use selkie_domain::question::{Ask, QuestionResult};
use selkie_engine::delivery::questions::shown;
use selkie_mcp::{CallContext, CallOutcome, CallResult, Inquiry, ServerSettings};
use selkie_tools::ports::Silent;

/// A call by hand.
pub(super) struct ServerCall<'a> {
    pub(super) name: &'a str,
    pub(super) settings: &'a ServerSettings,
    pub(super) tool: &'a str,
    pub(super) arguments: Map<String, Value>,
}

pub(super) fn call(plan: &AppConfig, call: &ServerCall<'_>) -> Outcome {
    let done = lifecycle::runtime()?.block_on(async {
        let done = call.made(plan).await;
        plan.mcp.connections.end().await;
        done
    });
    let result = done?;
    print::out(&format!("{}\n", plan.redactor.clean(result.text.trim_end())))?;
    for picture in &result.pictures {
        print::told(&format!("A picture is not shown here: {picture:?}."));
    }
    if result.is_error { Err(Failure::Told) } else { Ok(()) }
}

impl ServerCall<'_> {
    /// Calls, and calls again with what was answered to what the server asks.
    async fn made(&self, plan: &AppConfig) -> anyhow::Result<CallResult> {
        let mut inquiry: Option<Inquiry> = None;
        loop {
            let context = CallContext {
                progress: Arc::new(Silent),
                cancel: CancellationToken::new(),
                deadline: Instant::now() + self.settings.timeout.0 * 2,
                schema: None,
                answers: inquiry.as_ref().map(Inquiry::answers).unwrap_or_default(),
            };
            let call = plan.mcp.connections.call(self.name, self.tool, &self.arguments, context);
            let asks = match call.await.map_err(|error| with_hint(plan, self.name, error))? {
                CallOutcome::Done(result) => return Ok(result),
                CallOutcome::Asks(asks) => asks,
            };
            let begun = Inquiry::begin(asks, inquiry.as_ref());
            let mut next =
                begun.map_err(|why| anyhow!("the server asks what nobody is asked here: {why}"))?;
            while let Some(ask) = next.question(self.name) {
                match answer(&ask)? {
                    Some(given) => next.take(&given),
                    None => next.close(),
                }
            }
            if let Some(outcome) = next.outcome() {
                print::told(&format!("{outcome}."));
            }
            inquiry = Some(next);
        }
    }
}

/// Asks whoever sits at the terminal, on standard error; `None` where nobody does, or they write nothing.
fn answer(ask: &Ask) -> io::Result<Option<QuestionResult>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    loop {
        let mut said = io::stderr().lock();
        write!(said, "{}\n> ", shown("", ask, &[]).in_words())?;
        said.flush()?;
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if line.trim().is_empty() {
            return Ok(None);
        }
        if let Some(given) = ask.read(&line) {
            return Ok(Some(given));
        }
    }
}
