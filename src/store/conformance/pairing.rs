//! Laws of pairing: the code that is open makes one owner, three wrong ones close it, and no restart opens it again.

use super::*;
use crate::store::{Approved, Paired, PairedPerson, PairingRequest};

laws![
    a_code_makes_one_owner_and_no_restart_loses_them,
    three_wrong_codes_close_it_for_the_right_one_too,
    a_code_ends_with_its_time_and_with_the_next_one,
    a_request_lets_in_who_made_it_and_no_more,
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
    ledger.request_pairing(request(n, code)).await.unwrap()
}

/// Long after every test.
fn later() -> DateTime<Utc> {
    DateTime::from_timestamp(9_000_000_000, 0).unwrap()
}

async fn a_code_makes_one_owner_and_no_restart_loses_them(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert_eq!(ledger.pair(&person(1), "ab3def").await.unwrap(), Paired::NoneOpen);
    ledger.open_pairing("ab3def", later()).await.unwrap();
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.pair(&person(1), "ab3def").await.unwrap(), Paired::Done);
    assert_eq!(ledger.pair(&person(1), "ab3def").await.unwrap(), Paired::Done, "done twice");
    assert_eq!(ledger.pair(&person(2), "ab3def").await.unwrap(), Paired::NoneOpen, "it is used");
    assert_eq!(ledger.pair(&person(2), "zz9zzz").await.unwrap(), Paired::NoneOpen);
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Owner)]);
    assert!(ledger.unpair(&person(1)).await.unwrap());
    assert!(!ledger.unpair(&person(1)).await.unwrap());
    assert_eq!(ledger.paired().await.unwrap(), []);
}

async fn three_wrong_codes_close_it_for_the_right_one_too(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.open_pairing("ab3def", later()).await.unwrap();
    for left in [2, 1, 0] {
        let wrong = ledger.pair(&person(left), "zz9zzz").await.unwrap();
        assert_eq!(wrong, Paired::Wrong { left });
    }
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.pair(&person(1), "ab3def").await.unwrap(), Paired::NoneOpen);
    assert_eq!(ledger.paired().await.unwrap(), []);
    ledger.open_pairing("gh4jkm", later()).await.unwrap();
    assert_eq!(ledger.pair(&person(1), "gh4jkm").await.unwrap(), Paired::Done, "a new one is new");
}

async fn a_code_ends_with_its_time_and_with_the_next_one(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.open_pairing("ab3def", DateTime::UNIX_EPOCH).await.unwrap();
    assert_eq!(ledger.pair(&person(1), "ab3def").await.unwrap(), Paired::NoneOpen);
    ledger.open_pairing("gh4jkm", later()).await.unwrap();
    ledger.open_pairing("np5qrs", later()).await.unwrap();
    assert_eq!(ledger.pair(&person(1), "gh4jkm").await.unwrap(), Paired::Wrong { left: 2 });
    assert_eq!(ledger.pair(&person(1), "np5qrs").await.unwrap(), Paired::Done);
}

async fn a_request_lets_in_who_made_it_and_no_more(bed: &dyn Fixture) {
    let ledger = bed.open();
    assert_eq!(ledger.approve_pairing("ab3def").await.unwrap(), Approved::NoneOpen);
    let one = ledger.as_ref();
    assert_eq!(asked(one, 1, "ab3def").await.as_deref(), Some("ab3def"));
    assert_eq!(asked(one, 1, "gh4jkm").await.as_deref(), Some("ab3def"), "the one that is open");
    for n in 2..=20 {
        let code = format!("n{n:05}");
        assert!(asked(one, n, &code).await.is_some(), "{n}");
    }
    assert_eq!(asked(one, 21, "zz9zzz").await, None, "too many are open");
    assert_eq!(ledger.pairing_requests().await.unwrap().len(), 20);
    assert_eq!(
        ledger.pair(&person(2), "ab3def").await.unwrap(),
        Paired::NoneOpen,
        "an owner's alone"
    );
    let done = Approved::Done { person: person(1), name: "Nr. 1".to_owned() };
    assert_eq!(ledger.approve_pairing("ab3def").await.unwrap(), done);
    assert_eq!(ledger.approve_pairing("ab3def").await.unwrap(), done, "done twice");
    assert_eq!(asked(one, 1, "gh4jkm").await, None, "they are in");
    drop(ledger);
    let ledger = bed.open();
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Allowed)]);
    ledger.open_pairing("np5qrs", later()).await.unwrap();
    assert_eq!(ledger.pair(&person(1), "np5qrs").await.unwrap(), Paired::Done);
    assert_eq!(ledger.paired().await.unwrap(), [paired(1, Trust::Owner)]);
    assert!(ledger.unpair(&person(1)).await.unwrap());
    assert_eq!(ledger.paired().await.unwrap(), []);
    let wrong = ledger.approve_pairing("ab3def").await.unwrap();
    assert_eq!(wrong, Approved::Wrong { left: 2 }, "their request went with it");
}

async fn three_wrong_codes_close_the_requests_that_were_open(bed: &dyn Fixture) {
    let ledger = bed.open();
    ledger.request_pairing(request(1, "ab3def")).await.unwrap();
    for left in [2, 1, 0] {
        let wrong = ledger.approve_pairing("zz9zzz").await.unwrap();
        assert_eq!(wrong, Approved::Wrong { left });
    }
    assert_eq!(ledger.approve_pairing("ab3def").await.unwrap(), Approved::NoneOpen);
    assert_eq!(ledger.request_pairing(request(1, "gh4jkm")).await.unwrap(), None, "for its hour");
    let over = PairingRequest { until: DateTime::UNIX_EPOCH, ..request(2, "gh4jkm") };
    ledger.request_pairing(over).await.unwrap();
    assert_eq!(ledger.approve_pairing("gh4jkm").await.unwrap(), Approved::NoneOpen);
    assert_eq!(ledger.paired().await.unwrap(), []);
}
