//! A page as a tree, in time that grows with its length alone.

use dom_query::Document;
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

/// The parser looks through all that it was given for each `&`: it is given so many bytes at a time.
const PIECE: usize = 512;

/// Parses a page.
pub fn parse(html: &str) -> Document {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let opts = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = parse_document(Document::default(), opts);
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
    }
    parser.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_pieces_is_the_same_page() {
        let long =
            "<p class=\"äöü\">a &amp; b &lt;tag&gt; &copy 日本語</p><!-- – -->\r\n".repeat(900);
        assert_eq!(parse(&long).html(), Document::from(long.as_str()).html());
        assert_eq!(parse("").html(), Document::from("").html());
    }
}
