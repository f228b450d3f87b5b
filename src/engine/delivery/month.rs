//! What a calendar month lets be posted in public by an account.

use chrono::{DateTime, Datelike as _, Months, NaiveTime, Utc};
use selkie_channel_core::Channel;

use selkie_store::Month;

/// Returns the bounds of the month that it is now, for a channel by which things are posted in public.
pub fn month(channel: &Channel, now: DateTime<Utc>) -> Option<Month> {
    let most = channel.posting?.a_month;
    let first = now.date_naive().with_day(1)?;
    let since = first.and_time(NaiveTime::MIN).and_utc();
    let anew = first.checked_add_months(Months::new(1))?.format("%Y-%m-%d");
    let over = format!(
        "the {most} posts of this month are used up ({}.posts_a_month): the count starts over on {anew}, 00:00 UTC",
        channel.name
    );
    Some(Month { since, most, over })
}

#[cfg(test)]
mod tests {
    use selkie_channel_core::Postable;

    use super::*;
    use crate::flow::testing;
    use selkie_tools::songs::SONGS;

    #[test]
    fn a_month_begins_on_its_first_day_and_says_when_the_next_one_does() {
        let now = "2026-12-24T18:00:00Z".parse().unwrap();
        let (channel, _) = testing::other();
        assert_eq!(month(&channel, now), None, "nothing is posted there");
        let posting = Some(Postable { data: &SONGS, a_month: 2 });
        let found = month(&Channel { posting, ..channel }, now).unwrap();
        assert_eq!(found.since.to_rfc3339(), "2026-12-01T00:00:00+00:00");
        assert!(found.over.ends_with("starts over on 2027-01-01, 00:00 UTC"), "{}", found.over);
    }
}
