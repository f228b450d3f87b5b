//! What the control API works on.

use std::sync::{Arc, Mutex};

use selkie_channel_core::locked;
use tokio_util::sync::CancellationToken;

use crate::clock::{Mover, Now};
use crate::line_platform::LinePlatform;
use crate::model::Model;
use crate::slack::Slack;
use crate::telegram::Telegram;
use crate::x::XPlatform;

/// What the control API works on.
pub(crate) struct Control {
    pub(super) telegram: Telegram,
    pub(super) slack: Slack,
    pub(super) line: LinePlatform,
    pub(super) x: XPlatform,
    pub(super) model: Model,
    pub(super) now: Now,
    /// Absent where the clock is the machine's.
    pub(super) mover: Mutex<Option<Mover>>,
    pub(super) stop: CancellationToken,
    pub(super) daemon_url: Mutex<Option<String>>,
    pub(super) model_name: Mutex<String>,
}

/// The platforms whose chats the page shows.
pub(crate) struct Platforms {
    pub(crate) telegram: Telegram,
    pub(crate) slack: Slack,
    pub(crate) line: LinePlatform,
    pub(crate) x: XPlatform,
}

impl Control {
    pub(crate) fn new(
        platforms: Platforms,
        model: Model,
        now: Now,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let Platforms { telegram, slack, line, x } = platforms;
        let model_name = Mutex::new("the playground's scripted model".to_owned());
        Arc::new(Self {
            telegram,
            slack,
            line,
            x,
            model,
            now,
            mover: Mutex::default(),
            stop,
            daemon_url: Mutex::default(),
            model_name,
        })
    }

    pub(crate) fn set_mover(&self, mover: Mover) {
        *locked(&self.mover) = Some(mover);
    }

    pub(crate) fn set_daemon_url(&self, url: &str) {
        *locked(&self.daemon_url) = Some(url.to_owned());
    }

    pub(crate) fn set_model_name(&self, name: &str) {
        *locked(&self.model_name) = name.to_owned();
    }
}
