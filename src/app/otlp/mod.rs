//! Traces of tasks for a collector, by OTLP over HTTP with JSON: sent beside the tasks, which never wait for it; what finds no
//! room or is not taken is counted and gone.

mod encode;

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::build::{AppConfig, VERSION};
use crate::http;
use selkie_domain::metrics::Metrics;
use selkie_domain::traces::{TaskTrace, Traces};

/// So many tasks may wait to be sent.
const ROOM: usize = 1_024;
/// So many go in one request at most.
const MAX: usize = 64;
/// So long is gathered for one.
const GATHERS: Duration = Duration::from_secs(1);
/// So long a collector may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// So long after a refusal that may pass it is asked once more.
const AGAIN: Duration = Duration::from_secs(5);
/// So long the end of the daemon waits for the last ones.
const LAST: Duration = Duration::from_secs(2);

/// Sends traces.
pub struct Exporter {
    queue: mpsc::Receiver<TaskTrace>,
    client: Client,
    url: Url,
    header: Option<HeaderValue>,
    instance: String,
    metrics: Arc<Metrics>,
    /// The collector took nothing the last time.
    failed: bool,
}

impl Exporter {
    /// Makes one as the config says, with the near end of its queue; `None` where it names no collector.
    pub fn of(
        config: &AppConfig,
        instance: &str,
        metrics: &Arc<Metrics>,
    ) -> Option<(Traces, Self)> {
        let otlp = &config.settings.telemetry.otlp;
        let url = otlp.url()?;
        let client = match http::client(&config.tls) {
            Ok(client) => client,
            Err(error) => {
                tracing::error!(%error, "no client for traces: none are sent");
                return None;
            }
        };
        let (sender, queue) = mpsc::channel(ROOM);
        let traces = Traces::into_queue(sender, Arc::clone(metrics));
        let header = otlp.header();
        Some((
            traces,
            Self {
                queue,
                client,
                url,
                header,
                instance: instance.to_owned(),
                metrics: Arc::clone(metrics),
                failed: false,
            },
        ))
    }

    /// Sends what comes, until `stop` and what was queued then.
    pub async fn run(mut self, stop: CancellationToken) {
        while let Some(Some(first)) = stop.run_until_cancelled(self.queue.recv()).await {
            let batch = self.gather(first, &stop).await;
            self.send(batch, &stop).await;
        }
        self.queue.close();
        let mut rest = Vec::new();
        while let Ok(trace) = self.queue.try_recv() {
            rest.push(trace);
        }
        if !rest.is_empty() {
            rest.truncate(MAX);
            drop(tokio::time::timeout(LAST, self.send(rest, &stop)).await);
        }
    }

    async fn gather(&mut self, first: TaskTrace, stop: &CancellationToken) -> Vec<TaskTrace> {
        let until = Instant::now() + GATHERS;
        let mut batch = vec![first];
        while batch.len() < MAX {
            let next = timeout_at(until, self.queue.recv());
            match stop.run_until_cancelled(next).await {
                Some(Ok(Some(trace))) => batch.push(trace),
                _ => break,
            }
        }
        batch
    }

    async fn send(&mut self, batch: Vec<TaskTrace>, stop: &CancellationToken) {
        let body = encode::request(&batch, VERSION, &self.instance);
        let mut sent = self.post(&body).await;
        if matches!(&sent, Err(ExportError { may_pass: true, .. }))
            && stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_some()
        {
            sent = self.post(&body).await;
        }
        match sent {
            Ok(()) if self.failed => tracing::info!("the collector takes traces again"),
            Ok(()) => {}
            Err(ExportError { why, .. }) => {
                self.metrics.lost_traces(batch.len() as u64);
                if !self.failed {
                    tracing::warn!(
                        why,
                        "the collector takes no traces: they are dropped and counted (telemetry.otlp)"
                    );
                }
                self.failed = true;
                return;
            }
        }
        self.failed = false;
    }

    async fn post(&self, body: &serde_json::Value) -> Result<(), ExportError> {
        let mut request = self.client.post(self.url.clone()).timeout(TIMEOUT).json(body);
        if let Some(header) = &self.header {
            request = request.header(AUTHORIZATION, header.clone());
        }
        match request.send().await {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => {
                let status = response.status();
                let may_pass = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
                Err(ExportError { why: format!("it answers {status}"), may_pass })
            }
            Err(error) => {
                let why = format!("it cannot be reached: {}", error.without_url());
                Err(ExportError { why, may_pass: true })
            }
        }
    }
}

/// Why a request was not taken.
struct ExportError {
    why: String,
    /// It may be taken later.
    may_pass: bool,
}
