//! The free reply: its token works once at most, which resolves what a lost result leaves open.

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{Lookup, Receipt};
use serde_json::json;
use tokio::time::sleep;

use super::messenger::{
    ASK_AGAIN, BRAKED, DEAD, Messenger, REPEATS, REPLY, is_final, unbutton, unmention, unquote,
};
use crate::call::Say;
use crate::refusal::{Kind, kind};

const PRESUMED: &str = "presumed delivered: LINE took the reply token, most likely for this answer, but \
    its first result was lost";

/// How a reply went.
pub(super) enum ReplyOutcome {
    Sent(Receipt),
    /// LINE refuses the message itself.
    Refused(Refusal),
    /// Nothing left.
    NotSent(String),
    /// The token is dead and nothing was said with it.
    Dead,
    /// Nobody knows.
    Open(String),
}

impl Messenger {
    /// Replies; while the result is unclear, the same token is tried again. With `doubt` an earlier
    /// attempt may have used it: then a refused token is proof only while it surely lives.
    pub(super) async fn reply(&self, say: &Say, token: &str, mut doubt: bool) -> ReplyOutcome {
        let mut body = json!({ "replyToken": token, "messages": self.messages(say) });
        let mut pauses = REPEATS.iter();
        loop {
            if doubt && self.has_leave(REPLY, self.life(say)).await.is_err() {
                return ReplyOutcome::Open(BRAKED.to_owned());
            }
            let fault = match self.post(REPLY, &body, None).await {
                Ok(answer) => return ReplyOutcome::Sent(self.sent(say, &answer, None)),
                Err(fault) => fault,
            };
            let why = match fault {
                Fault::Refused(refusal) => match kind(&refusal) {
                    Kind::ReplyToken if !doubt => return ReplyOutcome::Dead,
                    Kind::ReplyToken if self.lives(say) => return ReplyOutcome::Sent(presumed()),
                    Kind::ReplyToken => {
                        let why =
                            format!("{DEAD}: nothing proves that it was used for this answer");
                        return ReplyOutcome::Open(why);
                    }
                    Kind::Quote if unquote(&mut body) => continue,
                    Kind::Buttons if unbutton(&mut body) => continue,
                    // Whoever is named may have left.
                    Kind::Other if unmention(&mut body, say) => continue,
                    _ if doubt && !is_final(&refusal) => refusal.words,
                    _ => return ReplyOutcome::Refused(refusal),
                },
                Fault::NotSent(why) if !doubt => return ReplyOutcome::NotSent(why),
                Fault::NotSent(why) => why,
                Fault::Unclear(why) => {
                    doubt = true;
                    why
                }
            };
            let Some(pause) = pauses.next() else { return ReplyOutcome::Open(why) };
            sleep(*pause).await;
        }
    }

    /// Replies again with a token that an unclear attempt may have used. When the token is dead, only a
    /// push is left.
    pub(super) async fn look_up_reply(&self, say: &Say, token: &str) -> Lookup {
        match self.reply(say, token, true).await {
            ReplyOutcome::Sent(receipt) => Lookup::Sent(receipt),
            // What is refused now was refused before.
            ReplyOutcome::Refused(_) => Lookup::NotSent,
            ReplyOutcome::NotSent(why) | ReplyOutcome::Open(why) if self.lives(say) => {
                Lookup::Later { after: ASK_AGAIN, at_most: self.life(say), why }
            }
            ReplyOutcome::NotSent(_) | ReplyOutcome::Open(_) | ReplyOutcome::Dead => {
                Lookup::Unknown
            }
        }
    }
}

fn presumed() -> Receipt {
    Receipt { message: None, note: Some(PRESUMED.to_owned()), ..Receipt::default() }
}
