//! Slack's envelopes, as Slack sends them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use selkie_channel_core::{AddressReason, Audience, Inbound, Redactor, What};
use serde_json::{Value, json};

use super::*;
use crate::ids::account_of;
use crate::whoami::Me;

fn hear(raw: &str) -> Envelope {
    hear_as(&Me { team: "T1".to_owned(), user: "U9".to_owned() }, raw)
}

fn hear_as(me: &Me, raw: &str) -> Envelope {
    let account = account_of("xoxb-test");
    let (teams, redactor) = (BTreeSet::new(), Redactor::default());
    let frame = Frame { account: &account, me, teams: &teams, latest: 7, redactor: &redactor };
    read(raw, frame)
}

fn row(kind: &str, payload: Value) -> Inbound {
    let raw = json!({ "envelope_id": "e", "type": kind, "payload": payload }).to_string();
    match hear(&raw) {
        Envelope::Event { id: Some(_), inbound } => *inbound,
        other => panic!("{other:?}"),
    }
}

fn event(event: Value) -> Inbound {
    row("events_api", json!({ "team_id": "T1", "event_id": "Ev1", "event": event }))
}

fn mention(kind: &str) -> Value {
    json!({
        "type": kind, "channel": "C2", "channel_type": "channel", "user": "U2",
        "ts": "1763640000.000100", "text": "<@U9> tea &amp; cake?",
    })
}

#[test]
fn both_events_of_a_mention_are_one_row() {
    let (first, second) = (event(mention("message")), event(mention("app_mention")));
    assert_eq!(first, second);
    assert_eq!(first.addressed, AddressReason::Mention);
    assert_eq!(first.text, "tea & cake?");
    assert_eq!(first.conversation.key(), "slack:T1:C2:1763640000.000100");
    assert_eq!(first.place.key(), "slack:T1:C2");
    assert_eq!((first.order, first.audience), (1_763_640_000_000_100, Audience::Group));
}

#[test]
fn a_deleted_message_is_taken_back_in_both_of_slacks_ways() {
    let before = |user: &str| json!({ "ts": "1763640000.000100", "user": user, "text": "tea?" });
    let gone = |user: &str| {
        event(json!({
            "type": "message", "subtype": "message_deleted", "channel": "C2", "ts": "1763640009.000100",
            "deleted_ts": "1763640000.000100", "previous_message": before(user),
        }))
    };
    let alone = gone("U2");
    let thread = event(json!({
        "type": "message", "subtype": "message_changed", "channel": "C2", "ts": "1763640010.000100",
        "message": {
            "subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT",
            "ts": "1763640000.000100", "thread_ts": "1763640000.000100",
        },
        "previous_message": before("U2"),
    }));
    for taken in [&alone, &thread] {
        assert_eq!((&taken.what, taken.text.as_str()), (&What::Unsent, ""));
        assert_eq!(taken.message.as_ref().unwrap().as_str(), "1763640000.000100");
        assert_eq!(taken.place.key(), "slack:T1:C2");
    }
    assert_eq!(alone.key, thread.key, "once");
    assert!(matches!(gone("U9").what, What::Other { .. }), "our own are nobody's words");
}

/// What is heard while `auth.test` has not answered.
fn unknown(payload: Value) -> Inbound {
    let raw = json!({ "envelope_id": "e", "type": "events_api", "payload": payload }).to_string();
    match hear_as(&Me::default(), &raw) {
        Envelope::Event { inbound, .. } => *inbound,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_event_tells_who_the_bot_is() {
    for kind in ["message", "app_mention"] {
        let payload = json!({
            "team_id": "T1", "event_id": "Ev1", "event": mention(kind),
            "authorizations": [
                { "team_id": "T1", "user_id": "U2", "is_bot": false },
                { "team_id": "T1", "user_id": "U9", "is_bot": true },
            ],
        });
        let said = unknown(payload);
        assert_eq!((said.addressed, said.text.as_str()), (AddressReason::Mention, "tea & cake?"));
        assert_eq!(said.key, "m:T1:C2:1763640000.000100");
    }
}

#[test]
fn a_mention_is_one_while_nobody_knows_who_the_bot_is() {
    let payload = |kind| json!({ "team_id": "T1", "event_id": "Ev1", "event": mention(kind) });
    let (twin, said) = (unknown(payload("message")), unknown(payload("app_mention")));
    assert_eq!(twin.what, What::Other { name: "may_name_us".to_owned() });
    assert_ne!(twin.key, said.key, "the one must not take the other's row");
    assert_eq!((said.addressed, said.text.as_str()), (AddressReason::Mention, "tea & cake?"));
    assert_eq!(said.conversation.key(), "slack:T1:C2:1763640000.000100");
    assert_eq!(said.key, event(mention("message")).key, "nobody answers it twice later");
}

#[test]
fn slacks_own_word_that_the_bot_is_named_counts() {
    let mut other = mention("app_mention");
    other["text"] = json!("tea?");
    let (named, twin) = (event(other.clone()), {
        other["type"] = json!("message");
        event(other.clone())
    });
    assert_eq!((named.addressed, twin.addressed), (AddressReason::Mention, AddressReason::No));
    assert_ne!(named.key, twin.key, "whichever comes first");
    assert_eq!(named.conversation.key(), "slack:T1:C2:1763640000.000100");
    other["parent_user_id"] = json!("U9");
    other["thread_ts"] = json!("1763630000.000100");
    let reply = event(other);
    assert_eq!(reply.addressed, AddressReason::Reply);
    assert_eq!(reply.conversation.key(), "slack:T1:C2:1763630000.000100");
    assert_eq!(reply.thread.unwrap().as_str(), "1763630000.000100");
    assert_eq!(named.thread, None, "it opens a thread, and stands in none");
}

#[test]
fn somebody_of_another_workspace_is_heard_in_a_shared_channel() {
    let mut said = mention("message");
    said["user_team"] = json!("T2");
    let payload = json!({
        "team_id": "T2", "event_id": "Ev1", "event": said,
        "authorizations": [{ "team_id": "T1", "user_id": "U9", "is_bot": true }],
    });
    let said = row("events_api", payload);
    assert_eq!((said.what, said.addressed), (What::Message, AddressReason::Mention));
    assert_eq!(said.place.key(), "slack:T1:C2", "the channel is ours");
    assert_eq!(said.speaker.id.as_str(), "slack:T2:U2", "the speaker is theirs");
}

#[test]
fn an_edit_is_an_edit_whichever_event_tells_it() {
    let mut again = mention("app_mention");
    again["edited"] = json!({ "ts": "1763640009.000000" });
    let changed = json!({
        "type": "message", "subtype": "message_changed", "channel": "C2", "channel_type": "channel",
        "ts": "1763640009.000300", "message": again,
        "previous_message": { "text": "tea?" },
    });
    let (mention, changed) = (event(again), event(changed));
    assert_eq!((mention.what.clone(), changed.what), (What::Edit, What::Edit));
    assert_eq!(
        (mention.key.as_str(), mention.key.as_str()),
        (changed.key.as_str(), "m:T1:C2:1763640000.000100:e1763640009.000000")
    );
}

#[test]
fn an_unfurled_link_is_no_edit() {
    let unfurled = json!({
        "type": "message", "subtype": "message_changed", "channel": "C2", "ts": "1763640009.000300",
        "message": { "ts": "1763640000.000100", "user": "U2", "text": "see <https://x.org>" },
        "previous_message": { "text": "see <https://x.org>" },
    });
    assert_eq!(event(unfurled).what, What::Other { name: "message_changed".to_owned() });
}

#[test]
fn words_that_stand_in_blocks_alone_are_heard() {
    let mut said = mention("message");
    said["text"] = json!("");
    said["blocks"] = json!([{ "type": "rich_text", "elements": [
        { "type": "rich_text_section", "elements": [
            { "type": "user", "user_id": "U9" }, { "type": "text", "text": " tea & cake?" },
        ] },
    ] }]);
    let said = event(said);
    assert_eq!((said.addressed, said.text.as_str()), (AddressReason::Mention, "tea & cake?"));
}

#[test]
fn what_is_forwarded_is_heard_and_is_nobodys_own() {
    let mut said = mention("message");
    said["text"] = json!("<@U9>");
    said["attachments"] = json!([{
        "is_share": true, "author_name": "Bob", "text": "run `$bash` &amp; go", "ts": "1763630000.000100",
        "files": [{ "id": "F1", "name": "cat.png", "mimetype": "image/png" }],
    }]);
    let alone = event(said.clone());
    assert!(alone.forwarded && alone.addressed == AddressReason::Mention);
    assert_eq!(alone.text, "Bob: run `$bash` & go");
    assert_eq!(alone.attachments.len(), 1);
    said["text"] = json!("<@U9> what is this?");
    let with_words = event(said.clone());
    assert_eq!((with_words.text.as_str(), with_words.forwarded), ("what is this?", false));
    let quote = with_words.quote.unwrap();
    assert_eq!((quote.speaker.as_str(), quote.text.as_str()), ("Bob", "run `$bash` & go"));
    assert!(!quote.ours);
    said["bot_id"] = json!("B7");
    said["text"] = json!("alarm");
    said["attachments"] = json!([{ "title": "disk full", "fallback": "x" }]);
    assert_eq!(event(said).text, "alarm\ndisk full", "a program's cards are its words");
}

#[test]
fn direct_messages_and_their_files_are_for_us() {
    let said = event(json!({
        "type": "message", "subtype": "file_share", "channel": "D3", "channel_type": "im",
        "user": "U2", "ts": "1763640000.000100", "text": "",
        "files": [
            { "id": "F1", "name": "cat.png", "mimetype": "image/png", "size": 12,
              "url_private_download": "https://files.slack.com/cat.png" },
            { "id": "F2", "mode": "tombstone" },
        ],
    }));
    assert_eq!((said.addressed, said.audience), (AddressReason::Direct, Audience::Direct));
    assert_eq!(said.conversation.key(), "slack:T1:D3");
    assert_eq!(said.attachments.len(), 1);
    let handle = handle(&said.attachments[0].handle).unwrap();
    assert_eq!(handle.url.as_deref(), Some("https://files.slack.com/cat.png"));
}

#[test]
fn a_group_of_people_is_a_channel_whichever_event_comes_first() {
    let mut said = mention("message");
    said["channel"] = json!("G5");
    said["channel_type"] = json!("mpim");
    let mut twin = said.clone();
    twin["type"] = json!("app_mention");
    twin.as_object_mut().unwrap().remove("channel_type");
    assert_eq!(event(said.clone()), event(twin));
    said["text"] = json!("hi");
    let among_others = event(said);
    assert_eq!(among_others.conversation.key(), "slack:T1:G5");
    assert_eq!(
        (among_others.addressed, among_others.audience),
        (AddressReason::No, Audience::Group)
    );
}

#[test]
fn what_people_say_at_a_channels_root_is_one_conversation() {
    let mut said = mention("message");
    said["text"] = json!("tea is ready");
    assert_eq!(event(said.clone()).conversation.key(), "slack:T1:C2");
    said["thread_ts"] = json!("1763630000.000100");
    assert_eq!(event(said).conversation.key(), "slack:T1:C2:1763630000.000100");
}

#[test]
fn an_edit_that_takes_the_name_out_stays_in_its_thread() {
    let mut inner = mention("message");
    inner["text"] = json!("tea?");
    let changed = event(json!({
        "type": "message", "subtype": "message_changed", "channel": "C2", "ts": "1763640009.000300",
        "message": inner, "previous_message": { "text": "<@U9> tea?" },
    }));
    assert_eq!(changed.what, What::Edit);
    assert_eq!(changed.conversation.key(), "slack:T1:C2:1763640000.000100");
}

#[test]
fn bots_are_marked_and_joins_ask_nothing() {
    let mut ours = mention("message");
    ours["user"] = json!("U9");
    assert!(event(ours).speaker.is_bot);
    let mut another = mention("message");
    another["bot_id"] = json!("B7");
    assert!(event(another).speaker.is_bot);
    let mut join = mention("message");
    join["subtype"] = json!("channel_join");
    assert_eq!(event(join).what, What::Other { name: "channel_join".to_owned() });
}

#[test]
fn coming_and_going_open_and_close() {
    let archived = json!({ "type": "channel_archive", "channel": "C2", "user": "U2" });
    assert_eq!(event(archived).what, What::Closed { reason: "the channel is archived".to_owned() });
    let joined = json!({ "type": "member_joined_channel", "channel": "C2", "user": "U9" });
    assert_eq!(event(joined).what, What::Opened);
    let somebody = json!({ "type": "member_joined_channel", "channel": "C2", "user": "U2" });
    assert!(matches!(event(somebody).what, What::Other { .. }));
}

#[test]
fn another_workspace_is_not_heard() {
    let foreign = json!({ "team_id": "T2", "event_id": "Ev1", "event": mention("message") });
    let row = row("events_api", foreign);
    assert_eq!(row.what, What::Other { name: "team_not_allowed".to_owned() });
}

#[test]
fn slash_commands_and_buttons_have_keys_of_their_own() {
    let slash = row(
        "slash_commands",
        json!({
            "team_id": "T1", "channel_id": "C2", "channel_name": "tea-room", "user_id": "U2",
            "user_name": "ada", "command": "/selkie", "text": "Reset now", "trigger_id": "1.2.abc",
        }),
    );
    let command = slash.command.clone().unwrap();
    assert_eq!((command.name.as_str(), command.args.as_str()), ("reset", "now"));
    assert_eq!((slash.key.as_str(), slash.addressed), ("t:1.2.abc", AddressReason::Command));
    assert_eq!((slash.order, slash.conversation.key()), (7, "slack:T1:C2"));
    let press = row(
        "interactive",
        json!({
            "type": "block_actions", "team": { "id": "T1" }, "user": { "id": "U2", "username": "ada" },
            "container": { "channel_id": "C2", "message_ts": "1763640000.000100",
                "thread_ts": "1763630000.000100" },
            "actions": [{ "action_id": "yes", "action_ts": "1763640005.000000" }],
        }),
    );
    assert_eq!(press.key, "a:C2:1763640000.000100:1763640005.000000");
    assert_eq!(press.conversation.key(), "slack:T1:C2:1763630000.000100");
    let What::Tap { question, choice, .. } = press.what else { panic!("{press:?}") };
    assert_eq!((question.as_str(), choice.as_str()), ("", ""), "none of our buttons");
}

fn tap(action_id: &str) -> Inbound {
    row(
        "interactive",
        json!({
            "type": "block_actions", "team": { "id": "T1" }, "user": { "id": "U2", "username": "ada" },
            "channel": { "id": "C2" }, "trigger_id": "1.2.abc",
            "container": { "type": "message", "channel_id": "C2", "message_ts": "1763640000.000100",
                "thread_ts": "1763630000.000100" },
            "response_url": "https://hooks.slack.com/actions/T1/1/x",
            "actions": [
                { "action_id": "foreign", "value": "1", "action_ts": "1763640005.000000" },
                { "action_id": action_id, "value": "yes", "action_ts": "1763640005.000000" },
            ],
        }),
    )
}

#[test]
fn a_tap_names_its_question_and_who_is_to_be_answered() {
    let inbound = tap("selkie:q7:0");
    assert_eq!(inbound.message.as_ref().map(|m| m.as_str()), Some("1763640000.000100"));
    let What::Tap { question, choice, handle } = inbound.what else { panic!("{inbound:?}") };
    assert_eq!((question.as_str(), choice.as_str()), ("q7", "yes"));
    assert!(!handle.contains("hooks.slack.com"), "the right to post stays out of the row");
    let handle = TapHandle::read(&handle).unwrap();
    assert_eq!((handle.channel.as_str(), handle.user.as_str()), ("C2", "U2"));
    assert_eq!(handle.thread.as_deref(), Some("1763630000.000100"));
    let What::Tap { question, .. } = tap("other").what else { panic!("no tap") };
    assert_eq!(question, "");
}

#[test]
fn a_tap_from_another_workspace_is_theirs_on_a_message_of_ours() {
    let payload = json!({
        "type": "block_actions", "team": { "id": "T2" }, "user": { "id": "U2", "team_id": "T2" },
        "container": { "channel_id": "C2", "message_ts": "1763640000.000100" },
        "actions": [{ "action_id": "selkie:q7:0", "value": "yes", "action_ts": "1.000001" }],
    });
    let inbound = row("interactive", payload);
    assert!(matches!(inbound.what, What::Tap { .. }), "{inbound:?}");
    assert_eq!(inbound.conversation.key(), "slack:T1:C2");
    assert_eq!(inbound.speaker.id.as_str(), "slack:T2:U2");
}

#[test]
fn a_slash_command_brings_a_right_to_answer() {
    let slash = |channel: &str, text: &str| {
        let payload = json!({
            "team_id": "T1", "channel_id": channel, "user_id": "U2", "command": "/selkie",
            "text": text, "trigger_id": "1.2.abc", "response_url": "https://hooks.slack.com/commands/x",
        });
        let window = row("slash_commands", payload).reply_window.unwrap();
        AnswerAt::read(&window.token).unwrap()
    };
    assert!(slash("C2", "status").alone);
    assert!(slash("C2", "").alone, "help");
    assert!(!slash("C2", "ask what now").alone, "everybody may read the answer");
    assert!(!slash("D3", "status").alone, "nobody else reads along");
}

#[test]
fn what_nobody_knows_is_kept() {
    let Envelope::Event { id, inbound } = hear(r#"{"envelope_id":"e","type":"future"}"#) else {
        panic!("not an event");
    };
    assert_eq!(id.as_deref(), Some("e"));
    assert!(matches!(inbound.what, What::Unparsed { .. }));
}

proptest! {
    #[test]
    fn any_frame_can_be_read(raw in "\\PC{0,80}") {
        hear(&raw);
    }

    #[test]
    fn any_field_may_have_any_shape(field in 0usize..8, number in any::<i64>()) {
        let keys = ["type", "channel", "user", "ts", "text", "thread_ts", "subtype", "files"];
        let mut event = mention("message");
        event[keys[field]] = json!([{ "x": number }]);
        hear(&json!({ "envelope_id": "e", "type": "events_api",
            "payload": { "team_id": "T1", "event_id": "Ev1", "event": event } }).to_string());
    }
}
