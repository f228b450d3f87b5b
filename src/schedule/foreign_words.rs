//! Foreign words in a sentence of ours: as much of them as a line takes.

/// Characters of a value that an error repeats.
const MAX: usize = 60;

/// Cuts a value for an error.
pub fn shown(value: &str) -> String {
    let mut cut: String = value.chars().take(MAX).collect();
    if cut.len() < value.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        assert_eq!(shown("abc"), "abc");
        assert_eq!(shown(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
    }
}
