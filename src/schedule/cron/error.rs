//! What is wrong with a crontab expression, and what to write instead.

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It is no expression somebody wrote.
    #[error("a cron expression is at most {most} characters long")]
    TooLong {
        /// Bytes it may have.
        most: usize,
    },
    /// It has not five fields.
    #[error("a cron expression has 5 fields (minute hour day month weekday), this has {number}{}", hint(*number))]
    Fields {
        /// How many it has.
        number: usize,
    },
    /// A word after `@` that is not known.
    #[error(
        "{name:?} is not known (takes @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually)"
    )]
    Name {
        /// The word.
        name: String,
    },
    /// A field holds what it does not take.
    #[error("{field}: {value:?} {why} (takes {takes})")]
    Field {
        /// Which one.
        field: &'static str,
        /// The part of it that is wrong.
        value: String,
        /// What is wrong with it.
        why: String,
        /// What may be written there.
        takes: &'static str,
    },
    /// There is no such day.
    #[error("\"{text}\" never happens: no such day is in the calendar")]
    Never {
        /// The expression.
        text: String,
    },
}

fn hint(number: usize) -> &'static str {
    if number == 6 { "; seconds are not taken: leave the first field out" } else { "" }
}
