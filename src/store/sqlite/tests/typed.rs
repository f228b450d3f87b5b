//! What the command line asked when it was still stored as messages: it is read as ever, and new tasks go on from it.

use std::path::Path;

use rusqlite::Connection;
use selkie_channel_core::PlaceId;

use super::open;
use crate::conformance::{at, facts, finish, finished, fuse, instance};
use crate::read::Reader;
use crate::sqlite::schema;
use crate::{Intake, Location, NewTask, TaskRequest, Work};
use selkie_domain::cause::Cause;
use selkie_domain::command_line;
use selkie_domain::facts::Where;
use selkie_domain::task::Lane;
use selkie_domain::words::Words;

/// What the command line asked as version 9 kept it: as messages. Never changed.
const V9: &str = include_str!("../fixtures/v9.sql");

#[tokio::test]
async fn what_the_command_line_asked_of_version_9_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    schema::make_version(&dir.path().join("selkie.db"), 9);
    Connection::open(dir.path().join("selkie.db")).unwrap().execute_batch(V9).unwrap();
    let ledger = open(dir.path()).unwrap();
    let folder = command_line::conversation(Path::new("/w"));
    let claimed = ledger.claim(&Lane::of(&folder), &instance("b"), at(0)).await.unwrap().unwrap();
    assert_eq!((claimed.heard[0].1.text.as_str(), claimed.words), ("second", None));
    assert_eq!((claimed.history.len(), claimed.history[0].items.len()), (1, 2));
    assert!(matches!(claimed.facts.place, Where::CommandLine { terminal: true }));
    for (name, text) in [("ask:one", "first"), ("2", "second"), ("ask:three", "/status")] {
        let chains = ledger.trace(name).await.unwrap();
        assert_eq!((chains.len(), chains[0].event().unwrap().inbound.text.as_str()), (1, text));
    }
    let asked: Vec<String> =
        ledger.tasks(Some(&folder), 9).await.unwrap().into_iter().map(|row| row.asked).collect();
    assert_eq!(asked, ["second", "first"]);
    finished(&ledger, &claimed.claim, finish("yes", vec![])).await;
    let words = Words {
        person: command_line::person(),
        name: String::new(),
        at: at(5),
        text: "third".to_owned(),
        note: String::new(),
        fixed: false,
        agent: None,
    };
    let request = TaskRequest {
        location: Location {
            place: PlaceId::new(folder.account().clone(), folder.key()),
            conversation: folder,
            title: "/w".to_owned(),
        },
        order: 3,
        task: NewTask::new(Cause::CommandLine { id: "four".to_owned() }, facts()),
        words,
    };
    let next = ledger.request(request, fuse(1)).await.unwrap().claimed.unwrap();
    assert_eq!(next.history.len(), 2, "the new kind of task knows both");
}
