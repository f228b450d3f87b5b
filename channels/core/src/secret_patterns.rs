//! Finds what looks like a secret in any text: keys and tokens by how their makers write them, passwords in the addresses
//! of databases, blocks of private keys. Reads each byte a bounded number of times; prose, hashes and ids are let be.

use std::ops::Range;

/// What stands where a secret stood.
pub const MARK: &str = "[redacted]";

/// A key that begins with words of its maker.
struct Key {
    begins: &'static str,
    /// How many bytes follow at least.
    least: usize,
    /// Whether such a byte can follow.
    takes: fn(u8) -> bool,
    /// Whether what follows can be one.
    fits: fn(&[u8]) -> bool,
    /// Whether it may, by how it goes on at first.
    begun: fn(&[u8]) -> bool,
}

const KEYS: &[Key] = &[
    Key { begins: "xoxb-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "xoxp-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "xoxa-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "xoxr-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "xoxs-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "xapp-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "sk-", least: 20, takes: is_word, fits: is_random, begun: is_random },
    Key { begins: "ghp_", least: 30, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "gho_", least: 30, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "ghu_", least: 30, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "ghs_", least: 30, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "ghr_", least: 30, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "github_pat_", least: 40, takes: is_word, fits: is_random, begun: is_random },
    Key { begins: "AKIA", least: 16, takes: is_letter, fits: is_aws, begun: is_anything },
    Key { begins: "ASIA", least: 16, takes: is_letter, fits: is_aws, begun: is_anything },
    Key { begins: "AIza", least: 35, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "glpat-", least: 20, takes: is_word, fits: has_digit, begun: has_digit },
    Key { begins: "npm_", least: 36, takes: is_letter, fits: has_digit, begun: has_digit },
    Key { begins: "hf_", least: 30, takes: is_letter, fits: is_mixed, begun: is_mixed },
    Key { begins: "eyJ", least: 60, takes: is_dotted, fits: has_three_parts, begun: is_anything },
    Key {
        begins: "AAAAAAAAAA",
        least: 60,
        takes: is_escaped,
        fits: has_escape,
        begun: is_anything,
    },
];
/// No key is longer.
const MAX_KEY: usize = 2048;
/// So much of it shows what it cannot be.
const BEGUN: usize = 256;
/// So long is the part of a key that nobody would write by hand.
const RANDOM: usize = 12;
/// The end of every channel access token of LINE, and how much stands before it at least.
const LINE_END: &[u8] = b"/1O/w1cDnyilFU=";
const LINE_LEAST: usize = 80;
const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
const PRIVATE: &[u8] = b"PRIVATE KEY-----";
/// A private key's words before its own: `OPENSSH`, `RSA`, `ENCRYPTED`.
const MAX_KIND: usize = 24;
/// So many letters of a key stand on a line of its block at least.
const KEY_LINE: usize = 32;
/// What examples write in the place of a password.
const PLACEHOLDERS: &str = "\
    changeme example my-password my_password mypassword pass passwd password placeholder postgres pw pwd \
    secret your-password your_password yourpassword";
/// Who and where in a database's address, at most.
const MAX_AUTHORITY: usize = 1024;

/// A word of letters alone that is longer may be a token.
const LONG_WORD: usize = 24;
/// What is longer without a blank is no token and no key.
const MAX_OPEN: usize = 4096;
/// The longest block of a private key that is waited for.
const MAX_BLOCK: usize = 16 * 1024;

/// Returns where something stands that looks like a secret, in order.
pub fn found(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut passed = 0;
    let mut at = 0;
    while at < bytes.len() {
        match secret(bytes, passed, at) {
            // All bounds are beside ASCII bytes.
            Some((from, to)) => {
                spans.push(from..to);
                (passed, at) = (to, to);
            }
            None => at += 1,
        }
    }
    spans
}

/// Where something that looks like a secret may have begun that is not whole yet; the text's length when nothing can
/// have. A word of letters is let go: from some length on, or with marks in it, it is held.
pub fn open_at(text: &str) -> usize {
    let bytes = text.as_bytes();
    let visible = run_back(bytes, |b| b.is_ascii_graphic());
    let start = bytes.len() - visible;
    let word = &bytes[start..];
    let plain = |b: &u8| b.is_ascii_alphabetic() || b"'.,;!?()*\"".contains(b);
    let head = word.iter().position(u8::is_ascii_alphanumeric).map_or(word, |at| &word[at..]);
    let begins = |key: &Key| {
        let begins = key.begins.as_bytes();
        !head.is_empty() && (begins.starts_with(head) || head.starts_with(begins))
    };
    let is_word = visible < LONG_WORD && word.iter().all(plain) && !KEYS.iter().any(begins);
    let is_let_go = visible > MAX_OPEN || is_word;
    let word = if is_let_go { bytes.len() } else { start };
    word.min(open_block(text).unwrap_or(word))
}

/// Where a block of a private key begins whose end has not come.
fn open_block(text: &str) -> Option<usize> {
    let tail = text.floor_char_boundary(text.len().saturating_sub(MAX_BLOCK));
    let at = tail + text[tail..].rfind("-----BEGIN ")?;
    let ended = text[at..].find("-----END ").map(|end| &text[at + end + 9..]);
    ended.is_none_or(|rest| !rest.contains("-----")).then_some(at)
}

/// The secret that is known by what stands at `at`, from where to where.
fn secret(bytes: &[u8], copied: usize, at: usize) -> Option<(usize, usize)> {
    match bytes[at..] {
        // How keys begin: most letters are passed by at once.
        [b'x', b'o' | b'a', ..]
        | [b's', b'k', ..]
        | [b'g', b'h' | b'i' | b'l', ..]
        | [b'A', b'K' | b'S' | b'I' | b'A', ..]
        | [b'n', b'p', ..]
        | [b'h', b'f', ..]
        | [b'e', b'y', ..] => key(bytes, at).map(|end| (at, end)),
        [b'/', ..] => line_token(bytes, copied, at),
        [b'-', ..] => private_key(bytes, at).map(|end| (at, end)),
        [b':', ..] => bot_token(bytes, copied, at).or_else(|| password(bytes, copied, at)),
        _ => None,
    }
}

fn key(bytes: &[u8], at: usize) -> Option<usize> {
    // Emphasis of Markdown may stand around a key.
    let marks = run_back(&bytes[..at], is_emphasis);
    let is_apart = !bytes[..at - marks].last().is_some_and(|b| is_word(*b));
    let key = KEYS.iter().find(|key| bytes[at..].starts_with(key.begins.as_bytes()))?;
    // Before the rest is read: a long word may begin so at each of its letters.
    if !is_apart && !may_be_glued(key.begins, &bytes[..at]) {
        return None;
    }
    let rest = &bytes[at + key.begins.len()..];
    let rest = &rest[..rest.len().min(MAX_KEY)];
    // One that could be none by how it goes on at first is none: many may begin in one long word.
    if !(key.begun)(&rest[..rest.len().min(BEGUN)]) {
        return None;
    }
    let tail = &rest[..run(rest, key.takes)];
    // What closes the emphasis is no part of it, and stays.
    let closing = run_back(tail, is_emphasis).min(marks);
    let fits =
        |tail: &[u8]| tail.len() >= key.least && (key.fits)(tail) && (is_apart || is_random(tail));
    let length = [tail.len() - closing, tail.len()].into_iter().find(|end| fits(&tail[..*end]))?;
    Some(at + key.begins.len() + length)
}

/// Whether a key that nobody would write by hand may begin in the middle of a word: behind a joint, and behind letters, where
/// its maker's words are none that others end with (`task-…`, `disk-…` do).
fn may_be_glued(begins: &str, before: &[u8]) -> bool {
    let is_joint = before.last().is_some_and(|b| matches!(b, b'_' | b'-'));
    let is_unlike_words = begins.len() > 3 && begins.ends_with(['_', '-']);
    is_joint || is_unlike_words
}

/// `<digits>:<30 or more of A-Za-z0-9_->`, as Telegram writes a bot's token.
fn bot_token(bytes: &[u8], copied: usize, colon: usize) -> Option<(usize, usize)> {
    let digits = run_back(&bytes[copied..colon], |b| b.is_ascii_digit());
    if digits < 5 {
        return None;
    }
    let tail = run(&bytes[colon + 1..], is_word);
    (tail >= 30).then_some((colon - digits, colon + 1 + tail))
}

fn line_token(bytes: &[u8], copied: usize, at: usize) -> Option<(usize, usize)> {
    if !bytes[at..].starts_with(LINE_END) {
        return None;
    }
    let before = run_back(&bytes[copied..at], |b| is_base64(b) && b != b'=');
    (before >= LINE_LEAST).then_some((at - before, at + LINE_END.len()))
}

/// The password in `postgres://user:password@`; what is before it and after it stays.
fn password(bytes: &[u8], copied: usize, colon: usize) -> Option<(usize, usize)> {
    let scheme = &bytes[copied..colon];
    if !bytes[colon..].starts_with(b"://")
        || !(scheme.ends_with(b"postgres") || scheme.ends_with(b"postgresql"))
    {
        return None;
    }
    let start = colon + 3;
    let rest = &bytes[start..bytes.len().min(start + MAX_AUTHORITY)];
    let who = rest.iter().position(|b| is_end(*b)).map_or(rest, |end| &rest[..end]);
    // A password that is written as it is may hold marks: the last `@` before the next name ends it.
    let at = who.iter().rposition(|b| *b == b'@')?;
    let from = who[..at].iter().position(|b| *b == b':')? + 1;
    let is_one = at > from && !is_placeholder(&who[from..at]);
    is_one.then_some((start + from, start + at))
}

/// Whether a password stands for any: a word for one, or marks around a name (`$PASSWORD`, `{password}`, `***`).
fn is_placeholder(password: &[u8]) -> bool {
    let is_mark = |b: &u8| b.is_ascii_punctuation();
    let begins = password.iter().position(|b| !is_mark(b)).unwrap_or(password.len());
    let ends = password.iter().rposition(|b| !is_mark(b)).map_or(begins, |last| last + 1);
    let name = &password[begins..ends];
    let after = &password[ends..];
    let is_name = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b';' | b'&');
    let is_around = match &password[..begins] {
        b"$" => name.iter().all(|b| b.is_ascii_uppercase() || *b == b'_'),
        b"%" => name.len() == 1,
        [b'$' | b'{' | b'[' | b'(' | b'%' | b'&', ..] => !after.is_empty(),
        _ => false,
    };
    let worded = || PLACEHOLDERS.split(' ').any(|word| name.eq_ignore_ascii_case(word.as_bytes()));
    let dotted = |b: &u8| matches!(b, b'*' | b'.' | b'x' | b'X');
    (is_around && name.iter().all(is_name)) || worded() || password.iter().all(dotted)
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or as far as it goes.
fn private_key(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes[at..].strip_prefix(BEGIN)?;
    let kind = run(&rest[..rest.len().min(MAX_KIND)], |b| b.is_ascii_uppercase() || b == b' ');
    let kind = rest[..kind].windows(7).position(|w| w == &PRIVATE[..7])?;
    let body = rest[kind..].strip_prefix(PRIVATE)?;
    let length = body.windows(DASHES.len()).take_while(|w| is_body(w[0]) && *w != DASHES).count();
    // The last bytes of a block that was cut off.
    let length = if length + DASHES.len() > body.len() { run(body, is_body) } else { length };
    let (inside, after) = body.split_at(length);
    if longest(inside, is_base64) < KEY_LINE {
        return None;
    }
    let end = after.strip_prefix(b"-----END ").map_or(0, |tail| {
        let words =
            run(&tail[..tail.len().min(MAX_KIND + 11)], |b| b.is_ascii_uppercase() || b == b' ');
        9 + words + run(&tail[words..tail.len().min(words + DASHES.len())], |b| b == b'-')
    });
    Some(bytes.len() - after.len() + end)
}

fn run(bytes: &[u8], fits: fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| fits(**b)).count()
}

fn run_back(bytes: &[u8], fits: fn(u8) -> bool) -> usize {
    bytes.iter().rev().take_while(|b| fits(**b)).count()
}

fn longest(bytes: &[u8], fits: fn(u8) -> bool) -> usize {
    bytes.split(|b| !fits(*b)).map(<[u8]>::len).max().unwrap_or_default()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_emphasis(byte: u8) -> bool {
    byte == b'_'
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_escaped(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'%'
}

/// What stands in a private key's block: its lines, their ends (written out, in JSON), its headers.
fn is_body(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b':' | b',' | b'-')
}

/// What ends the part of an address that names who and where.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'/')
}

fn has_digit(tail: &[u8]) -> bool {
    tail.iter().any(u8::is_ascii_digit)
}

fn is_anything(_: &[u8]) -> bool {
    true
}

fn has_escape(tail: &[u8]) -> bool {
    tail.windows(3).any(|w| matches!(w, b"%2F" | b"%2B" | b"%3D"))
}

/// Of letters alone, large and small.
fn is_mixed(tail: &[u8]) -> bool {
    tail.iter().any(u8::is_ascii_uppercase) && tail.iter().any(u8::is_ascii_lowercase)
}

fn is_dotted(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

/// A token that is signed: head, claims and signature, whose claims begin like its head.
fn has_three_parts(tail: &[u8]) -> bool {
    let mut parts = tail.split(|b| *b == b'.');
    let head = parts.next();
    let claims = parts.next();
    let signature = parts.next();
    head.is_some_and(|head| head.len() >= RANDOM)
        && claims.is_some_and(|claims| claims.starts_with(b"eyJ"))
        && signature.is_some_and(|signature| signature.len() >= RANDOM)
}

fn is_aws(tail: &[u8]) -> bool {
    tail.len() == 16
        && has_digit(tail)
        && tail.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// Some part of it is long and mixes letters and digits: no words with dashes.
fn is_random(tail: &[u8]) -> bool {
    tail.split(|b| !is_letter(*b)).any(|part| {
        part.len() >= RANDOM && has_digit(part) && part.iter().any(u8::is_ascii_alphabetic)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hide(text: &str) -> String {
        let (mut out, mut copied) = (String::new(), 0);
        for span in found(text) {
            out += &text[copied..span.start];
            out += MARK;
            copied = span.end;
        }
        out + &text[copied..]
    }

    /// Each is put together here: what scans a repository for secrets finds none.
    fn secrets() -> Vec<String> {
        let mixed = "a1B2c3D4e5F6g7H8i9J0";
        let line = format!("{}/1O/w1cDnyilFU=", format!("{mixed}+/").repeat(7));
        let body = format!("{}\n", mixed.repeat(3)).repeat(4);
        vec![
            format!("xoxb-{}-{}-{mixed}", "1234567890", "9876543210"),
            format!("xoxp-{}-{mixed}", "1234567890-1234567890"),
            format!("xapp-1-A012345-{mixed}"),
            format!("sk-{mixed}{mixed}"),
            format!("sk-proj-{mixed}-{mixed}_{mixed}"),
            format!("sk-or-v1-{}", "0123456789abcdef".repeat(4)),
            format!("sk-ant-api03-{mixed}-{mixed}"),
            format!("ghp_{mixed}{}", "Zz9".repeat(6)),
            format!("github_pat_{mixed}_{mixed}{mixed}"),
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            line,
            format!("{}{mixed}%2F{mixed}%3D{mixed}", "A".repeat(22)),
            format!("110201543:AA{mixed}{mixed}"),
            format!("AIza{mixed}{}", "Sy-9_a".repeat(3)),
            format!("glpat-{mixed}"),
            format!("npm_{mixed}{mixed}"),
            format!("hf_{}", "AbCdEfGhIj".repeat(3)),
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.{mixed}{mixed}"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"),
            format!(
                "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----",
                mixed.repeat(3)
            ),
            format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}-----END OPENSSH PRIVATE KEY-----"),
        ]
    }

    #[test]
    fn every_makers_secret_is_hidden_wherever_it_stands() {
        for secret in secrets() {
            for (before, after) in
                [("", ""), ("token=", " is"), ("(\"", "\")"), ("é ", ", ü"), ("Bearer ", "\n")]
            {
                let said = hide(&format!("{before}{secret}{after}"));
                assert_eq!(said, format!("{before}{MARK}{after}"), "{secret}");
            }
        }
        let all = secrets().join(" ");
        assert_eq!(hide(&all), vec![MARK; secrets().len()].join(" "));
    }

    #[test]
    fn a_key_is_hidden_between_marks_of_emphasis() {
        let mixed = "a1B2c3D4e5F6g7H8i9J0";
        let keys = [
            format!("ghp_{mixed}{mixed}"),
            format!("xoxb-1234567890-{mixed}"),
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            format!("sk-{mixed}"),
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.{mixed}{mixed}"),
        ];
        for key in keys {
            for marks in ["_", "__", "___"] {
                let wanted = format!("so {marks}{MARK}{marks}!");
                assert_eq!(hide(&format!("so {marks}{key}{marks}!")), wanted, "{key}");
            }
            for before in ["a_", "x-", "_x__", "key_of-"] {
                assert_eq!(hide(&format!("{before}{key} y")), format!("{before}{MARK} y"));
            }
            let last = hide(&format!("_it is {key}_"));
            assert!(last.starts_with(&format!("_it is {MARK}")), "{last}");
        }
    }

    #[test]
    fn a_block_that_was_cut_off_is_hidden_as_far_as_it_goes() {
        let body = "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0\n";
        assert_eq!(hide(&format!("-----BEGIN PRIVATE KEY-----\n{body}{body}")), MARK);
        let json = format!(
            "{{\"a\":\"-----BEGIN PRIVATE KEY-----\\n{body}\",\"b\":\"-----END PRIVATE KEY-----\"}}"
        );
        assert_eq!(hide(&json), "{\"a\":\"[redacted]\",\"b\":\"-----END PRIVATE KEY-----\"}");
    }

    #[test]
    fn a_password_in_a_databases_address_is_hidden_and_nothing_around_it() {
        for (text, wanted) in [
            ("at postgres://ann:hush@db/tea ok", "at postgres://ann:[redacted]@db/tea ok"),
            ("postgresql://ann:p@ss:w@h:5432/tea", "postgresql://ann:[redacted]@h:5432/tea"),
            ("postgres://ann@db:5432/tea", "postgres://ann@db:5432/tea"),
            ("postgres://db:5432/ann@tea", "postgres://db:5432/ann@tea"),
            ("https://ann:hush@db/tea", "https://ann:hush@db/tea"),
            ("postgres://ann:p4ssword@db", "postgres://ann:[redacted]@db"),
            ("postgres://ann:$ecret1$x@db", "postgres://ann:[redacted]@db"),
            ("postgres://ann:{x@db", "postgres://ann:[redacted]@db"),
        ] {
            assert_eq!(hide(text), wanted);
        }
    }

    #[test]
    fn what_stands_for_any_password_is_let_be() {
        for password in [
            "password",
            "PASS",
            "Passwd",
            "<password>",
            "&lt;password&gt;",
            "example",
            "$PGPASSWORD",
            "${DB_PASSWORD}",
            "{password}",
            "{{ db.password }}",
            "[password]",
            "***",
            "xxxx",
            "...",
            "your_password",
            "%s",
            "$(PASSWORD)",
        ] {
            let text = format!("store.url: postgres://user:{password}@host:5432/selkie");
            assert_eq!(hide(&text), text);
        }
    }

    #[test]
    fn prose_code_hashes_and_ids_are_let_be() {
        let texts = [
            "bot_token takes xoxb-…, app_token xapp-…: see https://api.slack.com/authentication/token-types",
            "a risk-averse, task-oriented ask-me-anything-about-scikit-learn-1-2 and sk-learn-pipelines-for-people-of-2024",
            "sk-estimator-with-very-long-descriptive-name, disk-0123456789abcdef0123456789abcdef",
            "an eyJhbGciOiJIUzI1NiJ9.eyJzdWIi, npm_config_registry, hf_transformers_for_people_and_their_models, AIza",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "01a20436-30df-70a5-a6af-66991d950265 2026-11-22T17:03:20.533717Z",
            "let key = map.get(\"ghp_token\").unwrap_or(&AKIA_PREFIX); AKIA ASIAN AKIAPREFIXNOTKEYS",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAfFcSJAAAADUlEQVR42mNk",
            "a file from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY----- holds it",
            "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0\n-----END CERTIFICATE-----",
            "the ratio is 12345:67890, at 10:30; std::collections::HashMap",
        ];
        for text in texts {
            assert_eq!(hide(text), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_has_no_marks_is_untouched(text in "\\PC{0,200}", plain in "[a-z .,]{0,200}") {
            hide(&text);
            prop_assert_eq!(hide(&plain), plain);
        }

        #[test]
        fn what_was_hidden_stays_as_it_is(at in 0usize..21, before in "[a-z ]{0,20} ", after in " [a-z ]{0,20}") {
            let once = hide(&format!("{before}{}{after}", secrets()[at]));
            prop_assert_eq!(hide(&once), once);
        }
    }

    /// Beginnings without ends, as many as fit: time grows with the length alone.
    #[test]
    fn a_long_text_of_beginnings_is_read_at_once() {
        for piece in [
            "-----BEGIN PRIVATE KEY-----",
            "sk-",
            "/1O/w1cDnyilFU=",
            "12345:",
            "postgres://a:",
            "xoxb-",
            "AAAAAAAAAA",
            "AAAAAAAAAA%",
        ] {
            let text = piece.repeat(400_000 / piece.len());
            let started = std::time::Instant::now();
            hide(&text);
            // Seconds on a busy machine; with the square of the length it would be many minutes.
            assert!(started.elapsed().as_secs() < 60, "{piece}");
        }
    }
}
