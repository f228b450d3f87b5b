//! Numbers of things, in words.

/// Tells how many: `1 task`, `2 tasks`.
pub fn counted(number: u64, [one, more]: [&str; 2]) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let tries = |number| counted(number, ["try", "tries"]);
        assert_eq!([0, 1, 2].map(tries), ["0 tries", "1 try", "2 tries"]);
    }
}
