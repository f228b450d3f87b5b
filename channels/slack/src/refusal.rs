//! What a refusal of Slack means for us, and how a person is told.

use std::time::Duration;

use selkie_channel_core::http::{Fault, Refusal};

/// What to do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Slower, please.
    Limited,
    /// The token is not taken: nothing can be done until it is replaced.
    Token,
    /// A right is missing that the app's manifest can give.
    Scope,
    /// It was so already: a proof.
    Done,
    /// The bot may not speak here any more.
    Closed,
    /// This form of the call is not taken; the plain one may be.
    Form,
    /// Anything else: it will never be taken.
    Other,
}

/// Sorts a refusal.
pub fn kind(refusal: &Refusal) -> Kind {
    match refusal.code.as_str() {
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => Kind::Limited,
        "invalid_auth"
        | "not_authed"
        | "token_revoked"
        | "token_expired"
        | "account_inactive"
        | "not_allowed_token_type"
        | "org_login_required" => Kind::Token,
        "missing_scope" | "no_permission" => Kind::Scope,
        "already_reacted" | "no_reaction" => Kind::Done,
        "not_in_channel"
        | "is_archived"
        | "channel_not_found"
        | "user_not_found"
        | "cannot_dm_bot"
        | "channel_is_limited_access"
        | "restricted_action"
        | "restricted_action_read_only_channel" => Kind::Closed,
        "invalid_blocks"
        | "invalid_blocks_format"
        | "invalid_attachments"
        | "msg_too_long"
        | "msg_blocks_too_long"
        | "metadata_too_large"
        | "invalid_metadata_format"
        | "invalid_metadata_schema"
        | "metadata_must_be_sent_from_app"
        | "block_mismatch"
        | "markdown_text_conflict" => Kind::Form,
        _ => Kind::Other,
    }
}

/// Says it for a person: Slack's word first, then what can be done.
pub fn words(refusal: &Refusal) -> String {
    let code = &refusal.code;
    let advice = match code.as_str() {
        "missing_scope" => {
            let needed = refusal.body["needed"].as_str();
            let needed = needed.unwrap_or("a scope that Slack does not name");
            return format!(
                "missing_scope: the app needs {needed}; add it under \"OAuth & Permissions\", \
                 reinstall the app, and take the new token"
            );
        }
        "not_in_channel" => "the bot is not in this channel: invite it with /invite",
        "channel_not_found" => "no such channel, or the bot was never invited to it",
        "is_archived" => "the channel is archived",
        "invalid_name" => "there is no emoji of this name in the workspace",
        "message_not_found" => "the message is gone",
        "cant_update_message" | "cant_delete_message" => "the message is not this app's",
        "edit_window_closed" => "the workspace lets nobody change messages that are so old",
        "user_not_in_channel" => "the person is not in this channel",
        "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" | "account_inactive" => {
            "Slack does not take the token: reinstall the app and put the new token into \
             slack.bot_token_file or slack.bot_token"
        }
        "not_allowed_token_type" => {
            "this is the other kind of token: bot_token takes xoxb-…, app_token xapp-…"
        }
        _ => return code.clone(),
    };
    format!("{code}: {advice}")
}

/// Says a fault for a log or for a person.
pub fn why(fault: &Fault) -> String {
    match fault {
        Fault::NotSent(why) | Fault::Unclear(why) => why.clone(),
        Fault::Refused(refusal) => words(refusal),
    }
}

/// Slack asks us to be slower.
pub fn limited(retry_after: Option<Duration>) -> Refusal {
    Refusal { code: "ratelimited".to_owned(), retry_after, ..Refusal::default() }
}

/// Returns how long Slack asks to wait, when that is all it says; zero where it names no time.
pub fn limit(fault: &Fault) -> Option<Duration> {
    match fault {
        Fault::Refused(refusal) if kind(refusal) == Kind::Limited => {
            Some(refusal.retry_after.unwrap_or_default())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slacks_words_are_understood() {
        let rows = [
            ("ratelimited", Kind::Limited),
            ("invalid_auth", Kind::Token),
            ("token_revoked", Kind::Token),
            ("missing_scope", Kind::Scope),
            ("already_reacted", Kind::Done),
            ("not_in_channel", Kind::Closed),
            ("is_archived", Kind::Closed),
            ("channel_not_found", Kind::Closed),
            ("msg_too_long", Kind::Form),
            ("no_text", Kind::Other),
            ("invalid_name", Kind::Other),
            ("something_new", Kind::Other),
        ];
        for (code, wanted) in rows {
            let refusal = Refusal { code: code.to_owned(), ..Refusal::default() };
            assert_eq!(kind(&refusal), wanted, "{code}");
            assert!(words(&refusal).starts_with(code), "{code}");
        }
    }

    #[test]
    fn a_missing_scope_is_named() {
        let body = Box::new(serde_json::json!({ "needed": "reactions:write" }));
        let refusal = Refusal { code: "missing_scope".to_owned(), body, ..Refusal::default() };
        insta::assert_snapshot!(words(&refusal), @r#"missing_scope: the app needs reactions:write; add it under "OAuth & Permissions", reinstall the app, and take the new token"#);
    }
}
