//! What Slack sends, and what is made of a model's words, for any bytes.

use std::collections::BTreeSet;

use selkie_channel_core::Redactor;

use crate::hear::{self, Frame};
use crate::ids::account_of;
use crate::whoami::Me;
use crate::{cut, markdown};

#[test]
fn fuzz_envelopes() {
    let account = account_of("xoxb-test");
    let me = Me { team: "T1".to_owned(), user: "U9".to_owned() };
    let (teams, redactor) = (BTreeSet::new(), Redactor::default());
    selkie_fuzz::text("slack_envelope", |raw| {
        let frame =
            Frame { account: &account, me: &me, teams: &teams, latest: 7, redactor: &redactor };
        drop(hear::read(raw, frame));
    });
}

#[test]
fn fuzz_markdown() {
    selkie_fuzz::text("markdown", |markdown| drop(cut::pieces(&markdown::render(markdown), 3000)));
}
