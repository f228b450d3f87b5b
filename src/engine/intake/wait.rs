//! How long a message's task waits before it starts, and what else belongs to it.

use chrono::TimeDelta;
use selkie_channel_core::Inbound;

use selkie_domain::span::Span;
use selkie_store::{Gathering, NextPiece};

/// How long an album gathers its pictures.
pub(super) const ALBUM: TimeDelta = TimeDelta::milliseconds(800);
/// A text that is shorter than its platform's longest by no more than this part of it was cut there.
pub(super) const CUT_MARGIN: usize = 16;

/// What config and the platform say about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitRules {
    /// How long a speaker's messages gather.
    pub(super) debounce: Span,
    /// How soon behind each other a speaker's messages are one request.
    pub(super) join_within: Span,
    /// The longest text that people can send, in UTF-16 units.
    pub(super) longest: Option<usize>,
}

/// What a message's task waits for.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    /// How long, when it waits.
    pub(super) span: Option<TimeDelta>,
    /// With what else it is one request.
    pub(super) gathers: Option<Gathering>,
}

impl WaitRules {
    /// Says what the task of a message waits for.
    pub(super) fn wait(self, inbound: &Inbound) -> Wait {
        let within = delta(self.join_within);
        let length = || inbound.text.encode_utf16().count();
        let is_cut = self.longest.is_some_and(|most| length() >= most - most / CUT_MARGIN);
        let (span, next) = match inbound {
            _ if inbound.album.is_some() => (ALBUM, NextPiece::Expected),
            _ if !self.debounce.0.is_zero() => (delta(self.debounce), NextPiece::Expected),
            _ if is_cut => (within, NextPiece::Expected),
            _ if inbound.forwarded => (within, NextPiece::Words),
            _ => (TimeDelta::zero(), NextPiece::Unknown),
        };
        let is_alone = within.is_zero() && span.is_zero();
        let word = format!("say:{}", inbound.speaker.id);
        let gathers = (!is_alone).then_some(Gathering { word, within, next });
        Wait { span: (!span.is_zero()).then_some(span), gathers }
    }
}

fn delta(span: Span) -> TimeDelta {
    TimeDelta::from_std(span.0).unwrap_or(TimeDelta::MAX)
}
