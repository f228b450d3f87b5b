//! Certificates that selkie depends on and does not hold: of the addresses where platforms reach it, and of its database.
//! They are looked at when it starts and every few hours, beside everything else.

mod look;
mod places;
mod twice;

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use rustls::client::danger::ServerCertVerifier;
use selkie_channel_core::locked;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::build::AppConfig;
use selkie_domain::clock::SharedClock;
use selkie_domain::span::Span;
use selkie_guard::network;

pub use look::{CertificateState, Terms, look};
pub use places::{Of, Place, of_channel, of_store};

/// How often they are looked at.
const EVERY: Duration = Duration::from_secs(6 * 3600);
/// How soon again where somebody could not be asked.
const AGAIN: Duration = Duration::from_secs(30 * 60);

/// What one look at all of them came to.
#[derive(Clone, Debug, Default)]
pub struct CertificateReport {
    /// Each place with what was found there.
    pub looked: Vec<PlaceReport>,
    /// All places are known: each platform has told where it reaches the bot.
    pub is_whole: bool,
}

/// What was found at a place.
#[derive(Clone, Debug)]
pub struct PlaceReport {
    /// Where.
    pub place: Place,
    /// What.
    pub found: CertificateState,
}

/// How certificates are judged, whenever that is.
#[derive(Clone)]
pub struct Judge {
    trust: Arc<dyn ServerCertVerifier>,
    network: network::Settings,
    clock: SharedClock,
    ahead: Span,
}

/// Looks after them.
pub struct Certificates {
    app: Arc<App>,
    judge: Judge,
    seen: Mutex<Option<CertificateReport>>,
}

impl Judge {
    /// Judges by a config.
    pub fn of(plan: &AppConfig) -> Self {
        Self {
            trust: Arc::clone(&plan.trust),
            network: plan.settings.guard.network.clone(),
            clock: plan.clock(),
            ahead: plan.settings.alerts.certificate,
        }
    }

    /// Looks at one place, now.
    pub async fn look(&self, place: &Place) -> CertificateState {
        let Self { trust, network, clock, ahead } = self;
        let trust = Arc::clone(trust);
        look(place, &Terms { trust, network, now: clock.now(), ahead: ahead.0 }).await
    }
}

impl Certificates {
    /// Looks after those of an app.
    pub fn of(app: &Arc<App>) -> Self {
        Self { app: Arc::clone(app), judge: Judge::of(&app.plan), seen: Mutex::new(None) }
    }

    /// Looks until `stop`, where the config wants it.
    pub async fn run(&self, stop: CancellationToken) {
        if self.judge.ahead.0.is_zero() {
            *locked(&self.seen) = Some(CertificateReport { looked: Vec::new(), is_whole: true });
            return;
        }
        stop.run_until_cancelled(self.look_again_and_again()).await;
    }

    async fn look_again_and_again(&self) -> Infallible {
        loop {
            let seen = self.look().await;
            let is_sure = seen.is_whole && !seen.looked.iter().any(PlaceReport::is_unknown);
            tracing::debug!(places = seen.looked.len(), is_sure, "looked at certificates");
            *locked(&self.seen) = Some(seen);
            tokio::time::sleep(if is_sure { EVERY } else { AGAIN }).await;
        }
    }

    /// Tells what the last look came to; `None` before the first.
    pub fn seen(&self) -> Option<CertificateReport> {
        locked(&self.seen).clone()
    }

    async fn look(&self) -> CertificateReport {
        let channels = self.app.flow.platforms();
        let told = join_all(channels.iter().map(of_channel)).await;
        let is_whole = told.iter().all(Result::is_ok);
        let places =
            told.into_iter().flatten().flatten().chain(of_store(&self.app.plan.settings.store));
        let looked = places.map(async |place| {
            let found = self.judge.look(&place).await;
            if let CertificateState::Unknown(why) | CertificateState::Untrusted(why) = &found {
                tracing::debug!(
                    host = place.host,
                    port = place.port,
                    why,
                    "a certificate is not judged"
                );
            }
            PlaceReport { place, found }
        });
        CertificateReport { looked: join_all(looked).await, is_whole }
    }
}

impl PlaceReport {
    fn is_unknown(&self) -> bool {
        matches!(self.found, CertificateState::Unknown(_))
    }

    /// What names the trouble with it, as long as that lasts: the certificate, by its place and its end. `None` where there
    /// is none.
    pub fn trouble(&self) -> Option<String> {
        let until = match &self.found {
            CertificateState::Ends(until) | CertificateState::Ended(until) => until,
            _ => return None,
        };
        let until = until.map_or_else(|| "soon".to_owned(), |at| at.timestamp().to_string());
        Some(format!("{}{until}", self.place.key()))
    }
}

impl CertificateReport {
    /// Whether it tells how a trouble of this name stands: of what nobody could look at nobody knows that it is over.
    pub fn tells(&self, trouble: &str) -> bool {
        let unknown = |one: &PlaceReport| one.is_unknown() && trouble.starts_with(&one.place.key());
        self.is_whole && !self.looked.iter().any(unknown)
    }
}
