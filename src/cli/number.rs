//! Numbers of the command line: whoever types something else hears what is taken.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a number.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "takes a number, such as 3".to_owned())
}

/// Reads a number with a point.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "takes a number, such as 0.5".to_owned())
}

/// Reads a number within bounds.
pub(super) fn number_in<T>(
    bounds: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let read = text.parse().ok().filter(|number| bounds.contains(number));
        read.ok_or_else(|| format!("takes a number from {} to {}", bounds.start(), bounds.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_says_what_is_taken() {
        assert_eq!(number::<i64>("3"), Ok(3));
        for bad in ["abc", "", "3.5", "99999999999999999999"] {
            assert_eq!(number::<i64>(bad), Err("takes a number, such as 3".to_owned()), "{bad}");
        }
        assert_eq!(fraction("0.35"), Ok(0.35));
        assert!(fraction("x").is_err());
        let few = number_in(1..=500_u16);
        assert_eq!((few("1"), few("500")), (Ok(1), Ok(500)));
        for bad in ["0", "501", "70000", "x"] {
            assert_eq!(few(bad), Err("takes a number from 1 to 500".to_owned()), "{bad}");
        }
    }
}
