//! What is found in files, wherever windows end, and what is let through.

use proptest::prelude::*;

use super::*;
use crate::hash;

const SECRET: &str = "Sw0rdf1sh-Pass:7/ü";
const PLAIN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";
const BY_ITS_FORM: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
/// Windows are small here: what is tested needs many.
const SHORT: usize = 1024;
const WINDOW: usize = SHORT * WIDE;
/// How a file's bytes come.
const PIECE: usize = 64 * 1024;

fn knowing() -> Redactor {
    let redactor = Redactor::default();
    [SECRET, PLAIN, "two words 4 one", "selkie"].iter().for_each(|secret| redactor.learn(secret));
    redactor
}

fn found_in_pieces(file: &[u8], piece: usize) -> bool {
    let mut search = Search { overlap: SHORT, ..knowing().search() };
    file.chunks(piece).any(|piece| search.finds(piece)) || search.finds_in_rest()
}

fn found(file: impl AsRef<[u8]>) -> bool {
    found_in_pieces(file.as_ref(), PIECE)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |n| byte >> n & 1)).collect();
    let value = |six: &[u8]| (0..6).fold(0, |sum, n| sum << 1 | six.get(n).copied().unwrap_or(0));
    bits.chunks(6).map(|six| char::from(LETTERS[usize::from(value(six))])).collect()
}

fn wide(text: &str, order: Order) -> Vec<u8> {
    let bytes = |unit: u16| match order {
        Order::Little => unit.to_le_bytes(),
        Order::Big => unit.to_be_bytes(),
    };
    text.encode_utf16().flat_map(bytes).collect()
}

/// Bytes as in a picture, the same in each run.
fn packed(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

/// Each way to write a secret that is read in a file.
fn written() -> Vec<String> {
    let mut all = vec![
        PLAIN.to_owned(),
        BY_ITS_FORM.to_owned(),
        format!("xoxb-1234567890-{}", "a1B2c3D4e5F6g7H8i9J0"),
        "password: selkie".to_owned(),
        "two words 4 one".to_owned(),
    ];
    for secret in [SECRET, PLAIN] {
        all.push(hex(secret.as_bytes()));
        all.push(hex(secret.as_bytes()).to_uppercase());
        let text = format!("{}{secret}{}", "x".repeat(50), "y".repeat(90));
        all.push(base64(text.as_bytes()));
    }
    all
}

#[test]
fn a_secret_is_found_as_it_is_encoded_and_at_the_border_of_a_window() {
    for secret in written() {
        assert!(found(&secret), "{secret:?}");
        for before in [WINDOW - secret.len() / 2, WINDOW - SHORT - 1, WINDOW - SHORT] {
            let lines = "a line of the file\n".repeat(before / 19 + 1);
            let mut file = lines[lines.len() - before + 1..].to_owned() + "\n";
            file += &format!("{secret}\n");
            file += &"more\n".repeat(SHORT);
            assert!(found(&file), "{before}: {secret:?}");
        }
    }
}

#[test]
fn letters_of_two_bytes_are_read() {
    let text = format!("a line\r\n{SECRET}\r\n");
    let form = format!("{}{BY_ITS_FORM}\n", "a line of the file\n".repeat(WINDOW / 38));
    for text in [text, form] {
        for order in [Order::Little, Order::Big] {
            let marked = wide(&format!("\u{feff}{text}"), order);
            assert!(found(&marked), "{text:.30}");
            assert!(found(&marked[2..]), "{text:.30}");
            // The last letter is cut.
            assert!(found(&marked[..marked.len() - 1]), "{text:.30}");
        }
    }
    for cut in 0..5 {
        assert!(!found(&wide("\u{feff}ab", Order::Little)[..cut]));
    }
    let foreign = wide(&format!("\u{feff}Съешь ещё {BY_ITS_FORM} булок"), Order::Big);
    assert!(found(foreign));
    // What only begins like it.
    assert!(found([&b"\xff\xfe"[..], BY_ITS_FORM.as_bytes()].concat()));
}

#[test]
fn a_known_secret_is_found_between_bytes_that_are_no_text() {
    let noise = packed(WINDOW * 2);
    let written = [PLAIN.to_owned(), hex(SECRET.as_bytes()), base64(PLAIN.as_bytes())];
    let written = written.iter().map(|secret| secret.clone().into_bytes());
    let wide = [Order::Little, Order::Big].map(|order| wide(PLAIN, order));
    for secret in written.chain(wide) {
        for at in [0, 1_001, WINDOW - secret.len() / 2, noise.len()] {
            assert!(found([&noise[..at], &secret, &noise[at..]].concat()), "{at}");
        }
    }
}

#[test]
fn older_letters_are_text() {
    let latin = [b"f\xfcr Gr\xf6\xdfe: ".repeat(20), BY_ITS_FORM.as_bytes().to_vec()].concat();
    assert!(found(latin));
    let cyrillic = [b"\xcf\xf0\xe8\xe2\xe5\xf2 ".repeat(20), BY_ITS_FORM.as_bytes().to_vec()];
    assert!(found(cyrillic.concat()));
}

#[test]
fn pictures_programs_and_other_texts_are_let_through() {
    assert!(!found(packed(5_000_000)));
    let mut program = packed(10_000);
    program.extend(b"postgres://\0postgresql://\0%s:%s@%s\0-----BEGIN PRIVATE KEY-----\0sk-\0");
    program.extend(packed(10_000));
    assert!(!found(&program));
    assert!(!found(base64(&packed(300_000))));
    assert!(!found(hex(&packed(300_000))));
    assert!(!found(vec![0; 300_000]));
    let text = "A risk-averse selkie asks at 10:30.\nlet key = &AKIA_PREFIX;\n";
    assert!(!found(text.repeat(10_000)));
    assert!(!found(""));
}

#[test]
fn the_beginning_of_a_window_is_no_beginning_of_a_word() {
    let word = "disk-0123456789abcdef0123456789abcdef\n";
    for cut in 0..word.len() {
        let before = WINDOW - SHORT - cut;
        let file = format!("{}\n{word}{}", "x".repeat(before - 1), " ".repeat(SHORT * 2));
        assert!(!found(&file), "{cut}");
    }
}

#[test]
fn a_long_secret_has_room() {
    let long: String = (0..110).map(|n| hash::fnv(&[n]).to_string()).collect();
    let redactor = Redactor::default();
    redactor.learn(&long);
    let mut search = redactor.search();
    let before = "x".repeat(search.overlap * WIDE - 9);
    let file = format!("{before}{}", hex(long.as_bytes()));
    assert!(search.finds(file.as_bytes()) || search.finds_in_rest());
}

/// Beginnings without ends: time grows with the length alone.
#[test]
fn a_file_full_of_beginnings_is_read_at_once() {
    for piece in ["](", "&", "%4", "%41", "AAAAAAAAAA", "\u{1b}]", "xoxb-", "postgres://a:"] {
        let started = std::time::Instant::now();
        assert!(!found(piece.repeat(200_000 / piece.len())));
        // Seconds on a busy machine; with the square of the length it would be many minutes.
        assert!(started.elapsed().as_secs() < 60, "{piece}");
    }
}

proptest! {
    #[test]
    fn a_secret_is_found_however_the_file_is_cut(before in ".{0,40}", after in ".{0,40}", step in 1usize..9) {
        let half = format!("{before}110201543:AAHdq {after}");
        prop_assert!(!found_in_pieces(half.as_bytes(), step));
        for secret in [SECRET, PLAIN] {
            let whole = format!("{before}{secret}{after}");
            prop_assert!(found_in_pieces(whole.as_bytes(), step));
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!found(bytes));
    }
}
