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

/// Writes a number of bytes: `12 KiB`, `3.0 MiB`.
pub fn sized(bytes: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1 << 30, "GiB"), (1 << 20, "MiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{} KiB", bytes.div_ceil(1024)),
    }
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
    fn bytes_are_told_in_the_unit_that_fits() {
        let told = [0, 1, 4096, (1 << 20) - 1, 3 << 20, 5 << 29].map(sized);
        assert_eq!(told, ["0 KiB", "1 KiB", "4 KiB", "1024 KiB", "3.0 MiB", "2.5 GiB"]);
    }

    #[test]
    fn one_is_one() {
        let tries = |number| counted(number, ["try", "tries"]);
        assert_eq!([0, 1, 2].map(tries), ["0 tries", "1 try", "2 tries"]);
    }
}
