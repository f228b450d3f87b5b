//! What Telegram makes of Markdown: which links it follows, and what of them is written out.

use selkie_channel_core::links;
use selkie_channel_core::styled::{self, Dialect, Link, LinkKind, StyledText, Tables};

const TELEGRAM: Dialect = Dialect {
    behind_quote: 0,
    tables: Tables::Aligned,
    // Inside another link or a table there is nothing to follow.
    opens: |link| follows(&link.url) && !link.nested && !link.in_table,
    stand_in,
    explains,
};

/// Renders Markdown, with the styles that Telegram has.
pub fn render(markdown: &str) -> StyledText {
    styled::read(markdown, &TELEGRAM)
}

fn stand_in(link: &Link) -> Option<String> {
    let words = if link.kind == LinkKind::Image { "image" } else { &link.url };
    (!link.in_table).then(|| words.to_owned())
}

fn explains(link: &Link, words: &str) -> bool {
    match link.live {
        true => links::poses(words, &link.url),
        false => !link.nested && (link.in_table || words != &*link.url),
    }
}

/// Whether it becomes a link; anything else is shown as text. Telegram's own scheme does not: it mentions people
/// (`tg://user?id=…`) and presses buttons.
fn follows(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let known = matches!(scheme.as_deref(), Some("http" | "https" | "mailto" | "tel"));
    known && !url.contains(char::is_whitespace) && url.len() <= 2048
}
