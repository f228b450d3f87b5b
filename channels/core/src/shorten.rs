//! Text of which only the beginning is shown.

/// Returns a text as it is; of one with more than so many characters the beginning, with `…` behind it.
pub fn shorten(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The same of a text that is put into one line first, with one blank for all white space in a row.
pub fn shorten_line(text: &str, characters: usize) -> String {
    shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_ends_behind_a_character() {
        for (text, shown) in
            [("", ""), ("né 日", "né 日"), ("né 日本", "né 日…"), ("abc  def", "abc…")]
        {
            assert_eq!(shorten(text, 4), shown);
        }
        assert_eq!(shorten_line(" a\n\t b  ", 3), "a b");
        assert_eq!(shorten_line("a\nb c", 3), "a b…");
    }
}
