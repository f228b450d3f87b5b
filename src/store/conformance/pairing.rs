//! Laws of pairing: the code that is open makes one owner, whoever else guesses, and no restart opens it again.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::*;
use crate::{PairedPerson, PairingOutcome, PairingRequest};
use selkie_domain::pairing::GUESSES;

laws![
    a_code_makes_one_owner_and_no_restart_loses_them,
    strangers_who_guess_do_not_close_it_and_are_bounded,
    a_code_ends_with_its_time_and_with_the_next_one,
    a_request_lets_in_who_made_it_and_no_more,
    the_oldest_request_makes_way_where_many_are_open,
    an_owners_button_lets_in_or_ignores_once,
    three_wrong_codes_close_the_requests_that_were_open,
];

fn person(n: i64) -> PersonId {
    PersonId::new(format!("tg:{n}"))
}

fn paired(n: i64, trust: Trust) -> PairedPerson {
    PairedPerson { person: person(n), trust }
}

fn request(n: i64, code: &str) -> PairingRequest {
    PairingRequest {
        person: person(n),
        name: format!("Nr. {n}"),
        code: code.to_owned(),
        until: later(),
    }
}

async fn asked(ledger: &dyn Ledger, n: i64, code: &str) -> Option<String> {
    ledger.request_pairing(request(n, code)).await.unwrap().code
}

/// Long after every test.
fn later() -> DateTime<Utc> {
    DateTime::from_timestamp(9_000_000_000, 0).unwrap()
}

async fn a_code_makes_one_owner_and_no_restart_loses_them(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert!(!ledger.pair(&person(1), "ab3defgh").await.unwrap());
    ledger.open_pairing("ab3defgh", later()).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    assert!(ledger.pair(&person(1), "ab3defgh").await.unwrap());
    assert!(ledger.pair(&person(1), "ab3defgh").await.unwrap(), "done twice");
    assert!(!ledger.pair(&person(2), "ab3defgh").await.unwrap(), "it is used");
    assert!(!ledger.pair(&person(2), "zz9zzzzz").await.unwrap());
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Owner)]);
    assert!(ledger.unpair(&person(1)).await.unwrap());
    assert!(!ledger.unpair(&person(1)).await.unwrap());
    assert_eq!(ledger.paired().await.unwrap(), []);
}

async fn strangers_who_guess_do_not_close_it_and_are_bounded(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.open_pairing("ab3defgh", later()).await.unwrap();
    guessed(ledger.as_ref(), GUESSES - 1).await;
    drop(ledger);
    let ledger = bed.open();
    assert!(ledger.pair(&person(1), "ab3defgh").await.unwrap(), "others' guesses are theirs");
    ledger.open_pairing("gh4jkmnp", later()).await.unwrap();
    guessed(ledger.as_ref(), GUESSES).await;
    assert!(!ledger.pair(&person(2), "gh4jkmnp").await.unwrap(), "so many find none");
    ledger.open_pairing("np5qrstu", later()).await.unwrap();
    assert!(ledger.pair(&person(2), "np5qrstu").await.unwrap(), "a new one is new");
}

/// So many strangers try a wrong code, as many at once as a store likes.
async fn guessed(ledger: &dyn Ledger, times: i64) {
    let guess = |n| async move { ledger.pair(&person(1_000 + n), "zz9zzzzz").await };
    let guesses: Vec<bool> =
        stream::iter(0..times).map(guess).buffer_unordered(500).try_collect().await.unwrap();
    assert!(guesses.into_iter().all(|paired| !paired));
}

async fn a_code_ends_with_its_time_and_with_the_next_one(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.open_pairing("ab3defgh", DateTime::UNIX_EPOCH).await.unwrap();
    assert!(!ledger.pair(&person(1), "ab3defgh").await.unwrap());
    ledger.open_pairing("gh4jkmnp", later()).await.unwrap();
    ledger.open_pairing("np5qrstu", later()).await.unwrap();
    assert!(!ledger.pair(&person(1), "gh4jkmnp").await.unwrap());
    assert!(ledger.pair(&person(1), "np5qrstu").await.unwrap());
}

async fn a_request_lets_in_who_made_it_and_no_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert_eq!(ledger.approve_pairing("ab3defgh").await.unwrap(), PairingOutcome::NoneOpen);
    let one = ledger.as_ref();
    assert_eq!(asked(one, 1, "ab3defgh").await.as_deref(), Some("ab3defgh"));
    assert_eq!(
        asked(one, 1, "gh4jkmnp").await.as_deref(),
        Some("ab3defgh"),
        "the one that is open"
    );
    assert!(!ledger.pair(&person(2), "ab3defgh").await.unwrap(), "an owner's alone");
    let done = PairingOutcome::Done { person: person(1), name: "Nr. 1".to_owned() };
    assert_eq!(ledger.approve_pairing("ab3defgh").await.unwrap(), done);
    assert_eq!(ledger.approve_pairing("ab3defgh").await.unwrap(), done, "done twice");
    assert_eq!(asked(one, 1, "gh4jkmnp").await, None, "they are in");
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Allowed)]);
    ledger.open_pairing("np5qrstu", later()).await.unwrap();
    assert!(ledger.pair(&person(1), "np5qrstu").await.unwrap());
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Owner)]);
    assert!(ledger.unpair(&person(1)).await.unwrap());
    assert_eq!(ledger.paired().await.unwrap(), []);
    let none = ledger.approve_pairing("ab3defgh").await.unwrap();
    assert_eq!(none, PairingOutcome::NoneOpen, "their request went with it");
}

async fn an_owners_button_lets_in_or_ignores_once(bed: &dyn Fixture) {
    let ledger = bed.open();
    let one = ledger.as_ref();
    assert_eq!(one.settle_pairing("ab3defgh", true).await.unwrap(), None);
    for (n, code) in [(1, "ab3defgh"), (2, "gh4jkmnp")] {
        one.request_pairing(request(n, code)).await.unwrap();
    }
    for _ in 0..2 {
        let settled = one.settle_pairing("ab3defgh", true).await.unwrap().expect("it is open");
        assert_eq!((settled.person, settled.name.as_str()), (person(1), "Nr. 1"));
    }
    assert_eq!(one.settle_pairing("ab3defgh", false).await.unwrap(), None, "they are in");
    assert!(one.settle_pairing("gh4jkmnp", false).await.unwrap().is_some());
    assert_eq!(one.settle_pairing("gh4jkmnp", true).await.unwrap(), None, "they are ignored");
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Allowed)]);
    assert_eq!(ledger.pairing_requests().await.unwrap(), []);
    assert_eq!(asked(ledger.as_ref(), 2, "np5qrstu").await, None, "nobody is asked again");
}

async fn three_wrong_codes_close_the_requests_that_were_open(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.request_pairing(request(1, "ab3defgh")).await.unwrap();
    for left in [2, 1, 0] {
        let wrong = ledger.approve_pairing("zz9zzzzz").await.unwrap();
        assert_eq!(wrong, PairingOutcome::Wrong { left });
    }
    assert_eq!(ledger.approve_pairing("ab3defgh").await.unwrap(), PairingOutcome::NoneOpen);
    assert_eq!(asked(ledger.as_ref(), 1, "gh4jkmnp").await, None, "for its hour");
    let over = PairingRequest { until: DateTime::UNIX_EPOCH, ..request(2, "gh4jkmnp") };
    ledger.request_pairing(over).await.unwrap();
    assert_eq!(ledger.approve_pairing("gh4jkmnp").await.unwrap(), PairingOutcome::NoneOpen);
    assert_eq!(ledger.paired().await.unwrap(), []);
}

async fn the_oldest_request_makes_way_where_many_are_open(bed: &dyn Fixture) {
    let ledger = bed.open();
    let asks = |n: i64| {
        let until = later() + chrono::TimeDelta::seconds(n);
        ledger.request_pairing(PairingRequest { until, ..request(n, &format!("n{n:07}")) })
    };
    for n in 1..=100 {
        assert!(!asks(n).await.unwrap().crowded, "{n}");
    }
    let crowded = asks(101).await.unwrap();
    assert_eq!((crowded.code.as_deref(), crowded.crowded), (Some("n0000101"), true));
    assert!(!asks(101).await.unwrap().crowded, "who waits asks again");
    let open = ledger.pairing_requests().await.unwrap();
    assert_eq!((open.len(), open[0].code.as_str()), (100, "n0000002"));
    // A clock that was set back shuts nobody out.
    let early = PairingRequest { until: later(), ..request(500, "ab3defgh") };
    let early = ledger.request_pairing(early).await.unwrap();
    assert_eq!(early.code.as_deref(), Some("ab3defgh"));
    assert_eq!(ledger.pairing_requests().await.unwrap().len(), 100);
}
