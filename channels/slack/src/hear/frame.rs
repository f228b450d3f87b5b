//! What surrounds an envelope, and a row about a channel with nothing said yet.

use std::collections::BTreeSet;

use selkie_channel_core::hash::fnv;
use selkie_channel_core::{AccountId, Audience, Inbound, PersonId, Redactor, Speaker, What};

use crate::ids::Spot;
use crate::whoami::Me;

/// What surrounds an envelope.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Which bot heard it.
    pub account: &'a AccountId,
    /// Who that bot is.
    pub me: &'a Me,
    /// Workspaces that are heard; empty is the bot's own.
    pub teams: &'a BTreeSet<String>,
    /// The newest order seen: for events without a time of their own.
    pub latest: i64,
    /// Cleans what is kept raw.
    pub redactor: &'a Redactor,
}

impl Frame<'_> {
    /// Returns an inbound about a channel with nothing said yet.
    pub fn blank(&self, key: String, team: &str, channel: Option<&str>, what: What) -> Inbound {
        let channel = channel.unwrap_or("C0");
        let spot = Spot { team: team.to_owned(), channel: channel.to_owned(), thread: None };
        let direct = spot.kind() == "dm";
        let conversation = spot.conversation(self.account);
        let place = spot.place(self.account);
        let blank = Inbound::blank(key, conversation, place, what);
        Inbound {
            order: self.latest,
            speaker: Speaker {
                id: PersonId::new(format!("slack:{team}:")),
                ..blank.speaker.clone()
            },
            audience: if direct { Audience::Direct } else { Audience::Group },
            ..blank
        }
    }

    /// Returns this workspace when the app is installed there and heard, else the bot's own.
    pub fn ours<'b>(&'b self, team: &'b str) -> &'b str {
        if self.hears(team) || self.me.team.is_empty() { team } else { &self.me.team }
    }

    fn hears(&self, team: &str) -> bool {
        match self.teams.is_empty() {
            true => self.me.team.is_empty() || self.me.team == team,
            false => self.teams.contains(team),
        }
    }

    /// Lets only the app's installations of the settings be heard; the row stays. Who speaks there is the
    /// allow list's matter: in a shared channel people of other workspaces do.
    pub fn heard(&self, team: &str, mut inbound: Inbound) -> Inbound {
        if !self.hears(team)
            && matches!(inbound.what, What::Message | What::Edit | What::Tap { .. })
        {
            tracing::info!(team, "a message of a workspace that is not in slack.allowed_team_ids");
            inbound.what = What::Other { name: "team_not_allowed".to_owned() };
        }
        inbound
    }

    /// Returns what nobody can read as a row that keeps it raw.
    pub fn unparsed(&self, raw: &str) -> Inbound {
        let kept = self.redactor.kept(raw);
        let team = if self.me.team.is_empty() { "T0" } else { self.me.team.as_str() };
        let key = format!("u:{:016x}", fnv(raw.as_bytes()));
        self.blank(key, team, None, What::Unparsed { raw: kept })
    }
}
