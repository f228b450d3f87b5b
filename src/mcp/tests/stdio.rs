//! Servers that are programs.

use std::time::Duration;

use selkie_channel_core::locked;
use selkie_domain::span::Span;
use tokio::time::{Instant, timeout};

use super::desk::{Desk, TIMEOUT, runs};
use crate::McpError;

#[tokio::test]
async fn nothing_starts_before_the_first_call_and_one_process_serves_all() {
    let desk = Desk::script(
        r#"echo started >> starts; legacy; while :; do next; text $id "$name $KEY $$"; done"#,
    );
    let desk = desk.open();
    assert_eq!(desk.read("starts"), "");
    let first = desk.call().await.unwrap().text;
    let second = desk.call().await.unwrap().text;
    assert!(first.starts_with("a k-1 "), "{first}");
    assert_eq!(first, second, "the same process");
    assert_eq!(desk.read("starts"), "started\n");
    let pid = first.rsplit(' ').next().unwrap().to_owned();
    assert!(runs(&pid));
    desk.connections().end().await;
    assert!(!runs(&pid));
    assert!(matches!(desk.call().await, Err(McpError::Stopping)));
}

#[tokio::test]
async fn both_eras_are_spoken() {
    for (hello, server, protocol, instructions) in [
        ("legacy", "old 1", "2025-11-25", "be quick"),
        ("modern", "new 2", "2026-07-28", "be kind"),
        // Dies at the first word that it does not know.
        (
            "[ -e ../seen ] || { touch ../seen; next; exit 1; }; next; initialized",
            "old 1",
            "2025-11-25",
            "be quick",
        ),
    ] {
        let desk =
            Desk::script(&format!("{hello}; next; echo \"$line\" > asked; tools; next")).open();
        let list = desk.connections().list("robin").await.unwrap();
        assert_eq!((list.server.as_str(), list.offer.protocol.as_str()), (server, protocol));
        assert_eq!(list.offer.instructions, instructions);
        let [tool] = &list.offer.tools[..] else { panic!("{list:?}") };
        assert_eq!((tool.name.as_str(), tool.description.as_str()), ("a", "does a"));
        let is_modern = desk
            .read("asked")
            .contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#);
        assert_eq!(is_modern, hello == "modern", "{}", desk.read("asked"));
    }
}

#[tokio::test]
async fn calls_are_answered_by_their_numbers_and_a_slow_one_delays_none() {
    let desk = Desk::script(
        r#"legacy; next; [ $name = slow ] && slow=$id || quick=$id; next; [ $name = slow ] && slow=$id || quick=$id
        text $quick quick; text $quick twice; text 9999 nobody; next; tools; text $slow late; next"#,
    );
    let desk = desk.open();
    let (slow, quick) = tokio::join!(desk.says("slow"), async {
        let quick = desk.says("quick").await;
        desk.connections().list("robin").await.unwrap();
        quick
    });
    assert_eq!((slow.as_str(), quick.as_str()), ("late", "quick"));
}

#[tokio::test]
async fn what_is_no_message_is_passed_over_and_requests_are_refused() {
    let desk = Desk::script(
        r#"echo 'npm notice: hello'; legacy; next; call=$id
        tell '{"jsonrpc":"2.0","id":"r1","method":"roots/list"}'; IFS= read -r one
        tell '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}'; IFS= read -r two
        tell '{"jsonrpc":"2.0","id":8,"method":"ping"}'; IFS= read -r three
        echo '[]'; echo '{}'; echo; printf '\377\n'; echo "$one$two$three" > answers; text $call done; next"#,
    );
    let desk = desk.open();
    assert_eq!(desk.says("a").await, "done");
    let answers = desk.read("answers");
    assert_eq!(answers.matches("-32601").count(), 2, "{answers}");
    assert!(
        answers.contains(r#""id":"r1""#) && answers.contains(r#""id":8,"result":{}"#),
        "{answers}"
    );
}

#[tokio::test]
async fn one_that_dies_in_a_call_leaves_its_outcome_unknown_and_rests() {
    let desk = Desk::script(r#"legacy; next; echo 'no disk' >&2; exit 3"#).open();
    let said = desk.says("a").await;
    assert_eq!(
        said,
        "the MCP server ended with exit code 3 (its standard error ends with: no disk): whether it did what was asked is not known"
    );
    let Err(McpError::Resting { left, .. }) = desk.call().await else { panic!("it rests") };
    assert!(left <= Duration::from_secs(1));
    // It is started again, and each rest is twice the one before.
    let again = async {
        while let Err(McpError::Resting { .. }) = desk.call().await {
            tokio::task::yield_now().await;
        }
        match desk.call().await {
            Err(McpError::Resting { left, .. }) => left,
            other => panic!("{other:?}"),
        }
    };
    let left = timeout(TIMEOUT, again).await.unwrap();
    assert!(left > Duration::from_secs(1) && left <= Duration::from_secs(2), "{left:?}");
}

#[tokio::test]
async fn one_that_cannot_be_started_says_why() {
    let desk = Desk::script("echo 'what am I?' >&2; exit 1").open();
    let said = desk.says("a").await;
    assert!(
        said.starts_with("the MCP server cannot be started: it ended with exit code 1"),
        "{said}"
    );
    assert!(said.contains("what am I?"));
    let mut desk = Desk::script("");
    desk.settings.command = Some("no-such-program".to_owned());
    let said = desk.open().says("a").await;
    assert!(said.contains("no-such-program cannot be started: it is not found"), "{said}");
    let mut desk = Desk::script("");
    desk.settings.url = Some("https://a.example/".to_owned());
    assert!(desk.open().says("a").await.contains("takes command or url, not both"));
}

#[tokio::test]
async fn progress_is_told_and_extends_nothing() {
    let desk = Desk::script(
        r#"legacy; next; n=0; while :; do n=$((n + 1)); tell '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'"$id"',"progress":'"$n"',"total":100,"message":"step\u001b[2J '"$n"'"}}'; done"#,
    );
    let desk = desk.within(Span::seconds(1)).open();
    let began = Instant::now();
    let said = desk.says("a").await;
    assert!(said.contains("did not answer within 1 second"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let lines = locked(&desk.ear.lines).clone();
    assert!(lines[0].starts_with("step⟨U+001B⟩[2J 1, 1 %"), "{lines:?}");
    assert!(lines.len() <= 3, "not too often: {lines:?}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_called_off() {
    let desk = Desk::script(
        r#"legacy; next; echo $id > asked; next; echo "$line" > off; next; text $id after; next"#,
    );
    let desk = desk.open();
    let of = desk.context();
    let cancel = of.cancel.clone();
    let (called, ()) = tokio::join!(desk.call_with(of), async {
        desk.wrote("asked").await;
        cancel.cancel();
    });
    assert!(matches!(called, Err(McpError::Cancelled)));
    let off = desk.wrote("off").await;
    let id = desk.read("asked");
    assert!(off.contains("notifications/cancelled"), "{off}");
    assert!(off.contains(&format!(r#""requestId":{}"#, id.trim())), "{off}");
    assert_eq!(desk.says("a").await, "after");
}

#[tokio::test]
async fn all_that_it_started_ends_with_it() {
    let desk = Desk::script(
        r#"sleep 1000 & echo $! > child; (setsid sleep 1000 & echo $! > far); trap '' TERM; legacy
        while :; do next; text $id "$$"; done"#,
    );
    let desk = desk.open();
    let own = desk.call().await.unwrap().text;
    desk.connections().end().await;
    // Without a supervisor, which only the daemon's own binary can be, strays are looked for when it has ended.
    let gone = async {
        for pid in [own, desk.read("child"), desk.read("far")] {
            assert!(!pid.is_empty());
            while runs(&pid) {
                tokio::task::yield_now().await;
            }
        }
    };
    timeout(TIMEOUT, gone).await.expect("nothing is left");
}

#[tokio::test]
async fn a_line_that_is_too_long_or_has_no_end_ends_the_server() {
    let desk = Desk::script(r#"legacy; next; yes | tr -d '\n'"#).open();
    let said = desk.says("a").await;
    assert_eq!(
        said,
        "the MCP server was ended: it wrote a line of more than 16777216 bytes: whether it did what was asked is not known"
    );
    let desk = Desk::script(
        r#"legacy; next; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' $id
        head -c 16000000 /dev/zero | tr '\0' a; echo '"}]}}'; next; text $id after; next"#,
    );
    let desk = desk.open();
    assert!(desk.says("a").await.starts_with("aaaa"), "one that is just not too long");
    assert_eq!(desk.says("a").await, "after");
}

#[tokio::test]
async fn a_change_of_the_list_is_told_not_too_often() {
    let desk = Desk::script(
        r#"legacy; next; n=0; while [ $n -lt 1000 ]; do n=$((n + 1)); tell '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; done; text $id done; next"#,
    );
    let desk = desk.open();
    assert_eq!(desk.says("a").await, "done");
    let told = async {
        while *locked(&desk.ear.changes) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, told).await.expect("it is told");
    assert!(*locked(&desk.ear.changes) <= 2);
}

#[tokio::test]
async fn one_that_nobody_asks_for_ten_minutes_is_ended_and_started_again() {
    let desk = Desk::script(r#"legacy; while :; do next; text $id $$; done"#).open();
    let first = desk.says("a").await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(9 * 60)).await;
    assert!(runs(&first));
    tokio::time::advance(Duration::from_secs(2 * 60)).await;
    tokio::time::resume();
    let gone = async {
        while runs(&first) {
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, gone).await.expect("it is ended");
    let second = desk.says("a").await;
    assert!(second.parse::<u32>().is_ok() && second != first, "{second}");
}

#[tokio::test]
async fn a_list_that_holds_a_secret_is_not_used() {
    let desk = Desk::script(
        r#"modern; next; result $id '{"resultType":"complete","tools":[{"name":"a","description":"zX9-quiet-otter-4471","inputSchema":{"type":"object"}}]}'"#,
    );
    desk.redactor.learn("zX9-quiet-otter-4471");
    let desk = desk.open();
    let why = desk.connections().list("robin").await.unwrap_err().to_string();
    assert!(why.contains("puts a secret that it was given into its list"), "{why}");
    desk.connections().end().await;
}
