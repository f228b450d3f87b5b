//! Laws of whom the bot has met: derived from what is stored, once, and by who they are.

use selkie_channel_core::Speaker as Who;

use super::*;
use crate::{KeepResult, NewlyMet, PairingRequest, SeenPerson};

laws![
    who_speaks_is_met_where_they_speak,
    what_was_not_for_the_bot_meets_nobody,
    when_somebody_last_spoke_is_known_exactly,
    who_was_brought_is_new_again_under_another_name_or_a_day_later,
    whom_a_place_has_met_moves_with_it,
    who_was_met_is_forgotten_with_the_words,
    what_is_kept_does_not_name_who_was_forgotten,
];

fn by(n: i64, order: i64, id: &str, username: Option<&str>) -> Inbound {
    let speaker = Who {
        id: PersonId::new(id),
        name: format!("Name of {id}"),
        username: username.map(str::to_owned),
        is_bot: false,
    };
    Inbound { speaker, ..message(n, order) }
}

async fn look(ledger: &dyn Ledger, settled: i64) -> usize {
    let looked = ledger.look_for_met(None, at(settled)).await.unwrap();
    let found = looked.met.len();
    ledger.note_met(looked.met, looked.settled).await.unwrap();
    found
}

async fn newly(ledger: &dyn Ledger) -> Vec<NewlyMet> {
    ledger.newly_met(10).await.unwrap()
}

async fn bring(ledger: &dyn Ledger) {
    let all: Vec<SeenPerson> = newly(ledger).await.into_iter().map(|new| new.met).collect();
    ledger.note_brought(all).await.unwrap();
}

async fn who_speaks_is_met_where_they_speak(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    assert_eq!(look(ledger, 10).await, 0);
    push(ledger, task(by(1, 1, "tg:1", Some("ann"))), no_fuse()).await;
    push(ledger, task(by(1, 2, "tg:2", None)), no_fuse()).await;
    push(ledger, arrival(by(2, 3, "tg:2", None), Disposition::Context), no_fuse()).await;
    assert_eq!(look(ledger, 10).await, 3);
    assert_eq!(look(ledger, 10).await, 0, "each row is looked through once");
    let here = ledger.met_in(&place(1), 10).await.unwrap();
    let who: Vec<&str> = here.iter().map(|met| met.person.as_str()).collect();
    assert_eq!(who, ["tg:2", "tg:1"], "the latest first");
    assert_eq!((here[1].name.as_str(), here[1].username.as_str()), ("Name of tg:1", "ann"));
    assert_eq!((here[1].at, here[1].is_direct), (at(1), false));
    assert_eq!(ledger.met_in(&place(1), 1).await.unwrap().len(), 1);
    assert_eq!(ledger.met_in(&place(2), 10).await.unwrap().len(), 1);
    let beside = |id| async move {
        let (account, id) = (place(1).account().clone(), PersonId::new(id));
        let all = ledger.met_beside(&account, &id, 10).await.unwrap();
        all.into_iter().map(|met| (met.place, met.person.as_str().to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(beside("tg:1").await, [(place(1), "tg:2".to_owned())], "whoever shares a group");
    assert_eq!(beside("tg:2").await, [(place(1), "tg:1".to_owned())]);
    assert_eq!(beside("tg:3").await, []);
    // What may have something older before it is looked at again.
    push(ledger, task(by(1, 4, "tg:4", None)), no_fuse()).await;
    assert_eq!(look(ledger, -10).await, 1);
    assert!(look(ledger, 10).await <= 1, "again where several write at a time");
    assert_eq!(look(ledger, 10).await, 0);
}

async fn when_somebody_last_spoke_is_known_exactly(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(by(1, 1, "tg:1", None)), no_fuse()).await;
    push(ledger, task(by(2, 2, "tg:2", None)), no_fuse()).await;
    look(ledger, 9000).await;
    push(ledger, task(by(1, 60, "tg:1", None)), no_fuse()).await;
    look(ledger, 9000).await;
    assert_eq!(ledger.met_in(&place(1), 10).await.unwrap()[0].at, at(60), "a minute later");
    let lately = ledger.met_lately(10).await.unwrap();
    let lately: Vec<_> = lately.iter().map(|met| (met.person.as_str(), met.at)).collect();
    assert_eq!(lately, [("tg:1", at(60)), ("tg:2", at(2))], "wherever, the latest first");
    assert_eq!(ledger.met_lately(1).await.unwrap().len(), 1);
}

async fn what_was_not_for_the_bot_meets_nobody(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(message(1, 1)), no_fuse()).await;
    look(ledger, 10).await;
    let edit = Inbound { what: What::Edit, ..by(1, 2, "tg:2", None) };
    push(ledger, arrival(edit, Disposition::Edit), no_fuse()).await;
    push(ledger, arrival(by(1, 3, "tg:3", None), Disposition::Ignored("not_allowed")), no_fuse())
        .await;
    push(ledger, arrival(by(7, 4, "tg:4", None), Disposition::Ignored("untriggered")), no_fuse())
        .await;
    assert_eq!(look(ledger, 10).await, 0);
    push(ledger, arrival(by(1, 5, "tg:5", None), Disposition::Ignored("untriggered")), no_fuse())
        .await;
    assert_eq!(look(ledger, 10).await, 1, "who talks in a group is met there");
}

async fn who_was_brought_is_new_again_under_another_name_or_a_day_later(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(by(1, 1, "tg:1", Some("ann"))), no_fuse()).await;
    look(ledger, 10).await;
    let new = newly(ledger).await;
    assert_eq!((new.len(), new[0].is_new, new[0].brought.as_str()), (1, true, ""));
    bring(ledger).await;
    push(ledger, task(by(1, 7200, "tg:1", Some("ann"))), no_fuse()).await;
    look(ledger, 9000).await;
    assert_eq!(newly(ledger).await, [], "the same person on the same day");
    push(ledger, task(by(1, 7201, "tg:1", Some("ann2"))), no_fuse()).await;
    look(ledger, 9000).await;
    let renamed = newly(ledger).await;
    assert_eq!((renamed[0].is_new, renamed[0].brought.as_str()), (false, "ann"));
    assert_eq!(renamed[0].met.username, "ann2");
    bring(ledger).await;
    push(ledger, task(by(1, 100_000, "tg:1", Some("ann2"))), no_fuse()).await;
    look(ledger, 200_000).await;
    assert_eq!(newly(ledger).await.len(), 1, "a day later");
    // What comes late says nothing newer.
    push(ledger, task(by(1, 9_000, "tg:1", Some("ann"))), no_fuse()).await;
    look(ledger, 200_000).await;
    assert_eq!(newly(ledger).await[0].met.username, "ann2");
}

async fn whom_a_place_has_met_moves_with_it(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(by(1, 1, "tg:1", None)), no_fuse()).await;
    push(ledger, task(by(1, 2, "tg:2", None)), no_fuse()).await;
    push(ledger, task(by(2, 3, "tg:2", None)), no_fuse()).await;
    look(ledger, 10).await;
    bring(ledger).await;
    let moved = Inbound { what: What::Moved { to: place(2) }, ..by(1, 4, "tg:1", None) };
    push(ledger, arrival(moved, Disposition::Moved(place(2))), no_fuse()).await;
    assert_eq!(ledger.met_in(&place(1), 10).await.unwrap(), []);
    let who: Vec<String> = ledger
        .met_in(&place(2), 10)
        .await
        .unwrap()
        .iter()
        .map(|met| met.person.to_string())
        .collect();
    assert_eq!(who, ["tg:2", "tg:1"]);
    let new: Vec<String> =
        newly(ledger).await.iter().map(|new| new.met.person.to_string()).collect();
    assert_eq!(new, ["tg:1"], "their chat has another name now");
}

async fn who_was_met_is_forgotten_with_the_words(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    push(ledger, task(by(1, 1, "tg:1", None)), no_fuse()).await;
    push(ledger, task(by(1, 500, "tg:2", None)), no_fuse()).await;
    look(ledger, 1000).await;
    let never = at(-1_000_000);
    let since = crate::settings::Since {
        transcripts: never,
        inbox: at(100),
        outbox: never,
        keys: never,
        cache: never,
    };
    while ledger.forget_old(since).await.unwrap() > 0 {}
    let left = ledger.met_in(&place(1), 10).await.unwrap();
    assert_eq!(left.iter().map(|met| met.person.as_str()).collect::<Vec<_>>(), ["tg:2"]);
}

async fn what_is_kept_does_not_name_who_was_forgotten(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let alone = |n: i64, id: &str| Inbound {
        audience: Audience::Direct,
        title: format!("Name of {id}"),
        ..by(n, n, id, None)
    };
    push(ledger, task(alone(1, "tg:1")), no_fuse()).await;
    push(ledger, task(alone(2, "tg:2")), no_fuse()).await;
    push(ledger, task(by(3, 3, "tg:1", None)), no_fuse()).await;
    look(ledger, 10).await;
    let mut theirs = new_schedule("a", 1, 60);
    theirs.schedule.maker.person = PersonId::new("tg:1");
    let KeepResult::New(schedule) = ledger.schedule(theirs).await.unwrap() else { panic!("known") };
    let ask = |id: &str, code: &str| PairingRequest {
        person: PersonId::new(id),
        name: format!("Name of {id}"),
        code: code.to_owned(),
        until: at(3_600),
    };
    ledger.request_pairing(ask("tg:1", "ab3defgh")).await.unwrap();
    ledger.request_pairing(ask("tg:2", "cd3defgh")).await.unwrap();

    let person = [PersonId::new("tg:1")];
    let chats = ledger.private_chats(&person).await.unwrap();
    ledger.forget_names(&person, &chats).await.unwrap();
    let titles = ledger.conversations(9).await.unwrap();
    let titles = titles.iter().map(|row| (row.id.key(), row.title.as_str()));
    let titles: std::collections::BTreeSet<_> = titles.collect();
    assert_eq!(
        titles,
        [("tg:-1", ""), ("tg:-2", "Name of tg:2"), ("tg:-3", "Group 3")].into(),
        "a group keeps its name"
    );
    for known in [1, 3] {
        let met = ledger.met_in(&place(known), 9).await.unwrap();
        assert!(met.is_empty(), "in no place are they somebody whom the bot knows");
    }
    let open = ledger.pairing_requests().await.unwrap();
    assert_eq!(open.iter().map(|one| one.person.as_str()).collect::<Vec<_>>(), ["tg:2"]);
    let left = ledger.schedule_of(schedule.id()).await.unwrap().unwrap();
    assert_eq!((left.schedule.maker.name.as_str(), left.version), ("", schedule.version));
    assert_eq!(left.schedule.maker.person, schedule.schedule.maker.person);
}
