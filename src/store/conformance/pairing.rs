//! Laws of pairing: the code that is open makes one owner, three wrong ones close it, and no restart opens it again.

use super::*;
use crate::store::Paired;

laws![
    a_code_makes_one_owner_and_no_restart_loses_them,
    three_wrong_codes_close_it_for_the_right_one_too,
    a_code_ends_with_its_time_and_with_the_next_one,
];

fn person(n: i64) -> PersonId {
    PersonId::new(format!("tg:{n}"))
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
    assert_eq!(ledger.paired().await.unwrap(), [person(1)]);
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
