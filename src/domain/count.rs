//! Numbers of things, in words.

/// Tells how many: `1 task`, `2 tasks`.
pub fn counted(number: u64, [one, more]: [&str; 2]) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// Writes a number with its thousands apart: `1,204`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let told = [0, 88, 999, 1_204, 12_345, 1_000_000].map(grouped);
        assert_eq!(told, ["0", "88", "999", "1,204", "12,345", "1,000,000"]);
    }

    #[test]
    fn one_is_one() {
        let tries = |number| counted(number, ["try", "tries"]);
        assert_eq!([0, 1, 2].map(tries), ["0 tries", "1 try", "2 tries"]);
    }
}
