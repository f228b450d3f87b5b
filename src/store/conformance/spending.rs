//! Counters of use.

use super::*;
use selkie_domain::usage::UsageDelta;

laws![counters_add_up_and_no_restart_begins_anew];

async fn counters_add_up_and_no_restart_begins_anew(bed: &dyn Fixture) {
    let day = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
    let spent =
        |who: &str, what, since, amount| UsageDelta { who: who.to_owned(), what, since, amount };
    let ledger = bed.open();
    let all = vec![
        spent("tg:1", "calls", day, 2),
        spent("tg:1", "calls", day, 3),
        spent("tg:1", "bytes", day, u64::MAX),
        spent("tg:1", "bytes", day, 1),
        spent("tg:2", "calls", day, 0),
        spent("tg:1", "calls", day + TimeDelta::days(1), 7),
    ];
    let most = u64::try_from(i64::MAX).unwrap();
    let came = ledger.spend(all, day).await.unwrap();
    assert_eq!(came, [2, 5, most, most, 0, 7]);
    drop(ledger);
    let ledger = bed.open();
    let look = |since| vec![spent("tg:1", "calls", since, 0)];
    assert_eq!(ledger.spend(look(day), day).await.unwrap(), [5]);
    let next = day + TimeDelta::days(1);
    assert_eq!(ledger.spend(look(next), next).await.unwrap(), [7], "the old day is forgotten");
    assert_eq!(ledger.spend(look(day), day).await.unwrap(), [0]);
}
