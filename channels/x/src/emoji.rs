//! Finds an emoji made of several characters, which X counts as one: only those that there are. Whatever
//! else is joined counts by its characters, as it does there.

use icu_properties::CodePointSetData;
use icu_properties::props::{EmojiModifierBase, EmojiPresentation, ExtendedPictographic};

const JOINER: char = '\u{200D}';
/// Asks for the picture where a character is a letter or a sign too.
const AS_PICTURE: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

/// Pictures that are pictures of their own and take the sign all the same.
const TAKE_SIGN: [(u32, u32); 21] = [
    (0x231A, 0x231B),
    (0x25FD, 0x25FE),
    (0x2614, 0x2615),
    (0x2648, 0x2653),
    (0x267F, 0x267F),
    (0x2693, 0x2693),
    (0x26A1, 0x26A1),
    (0x26AA, 0x26AB),
    (0x26BD, 0x26BE),
    (0x26C4, 0x26C5),
    (0x26D4, 0x26D4),
    (0x26EA, 0x26EA),
    (0x26F2, 0x26F3),
    (0x26F5, 0x26F5),
    (0x26FA, 0x26FA),
    (0x26FD, 0x26FD),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x1F004, 0x1F004),
    (0x1F21A, 0x1F21A),
];
/// Who is joined with anything though no skin tone suits them.
const PEOPLE: [char; 4] = ['👯', '🤼', '🧞', '🧟'];
/// What else is joined, and with what.
const JOINED: [(char, &str); 16] = [
    ('🏳', "🌈⚧"),
    ('🏴', "☠"),
    ('🐕', "🦺"),
    ('🐈', "⬛"),
    ('🐻', "❄"),
    ('🐦', "⬛🔥"),
    ('❤', "🔥🩹"),
    ('😮', "💨"),
    ('😵', "💫"),
    ('😶', "🌫"),
    ('🙂', "↔↕"),
    ('👁', "🗨"),
    ('⛓', "💥"),
    ('🍋', "🟩"),
    ('🍄', "🟫"),
    ('👪', ""),
];
/// The letters of the regions that have a flag.
const FLAGS: &str = "\
    AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT \
    BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CP CQ CR CU CV CW CX CY CZ DE DG DJ DK DM DO DZ EA EC \
    EE EG EH ER ES ET EU FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM \
    HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI \
    LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF \
    NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE \
    SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA \
    UG UM UN US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";
/// The parts of a country that have a flag, as tags spell them.
const PARTS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Returns the length in bytes of an emoji of several characters at the beginning of a text.
pub fn length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let whole = match first {
        '\u{1F1E6}'..='\u{1F1FF}' => return flag(text),
        '0'..='9' | '#' | '*' => return keycap(text),
        '🏴' => part(text).or_else(|| joined(text))?,
        _ => joined(text)?,
    };
    (whole > first.len_utf8()).then_some(whole)
}

fn flag(text: &str) -> Option<usize> {
    let letter = |c: char| char::from_u32(u32::from(c).checked_sub(0x1F1E6)? + u32::from('A'));
    let mut letters = text.chars().map(letter);
    let code: String = [letters.next()??, letters.next()??].iter().collect();
    FLAGS.split(' ').any(|flag| flag == code).then_some(8)
}

fn keycap(text: &str) -> Option<usize> {
    let sign = text[1..].strip_prefix(AS_PICTURE).unwrap_or(&text[1..]);
    let rest = sign.strip_prefix(KEYCAP)?;
    Some(text.len() - rest.len())
}

/// A flag by tags.
fn part(text: &str) -> Option<usize> {
    let tag = |c: char| char::from_u32(u32::from(c).checked_sub(0xE0000)?);
    let tags: Option<String> = text.chars().skip(1).take(6).map(tag).collect();
    let spelled = tags?;
    let name = spelled.strip_suffix('\u{7F}')?;
    PARTS.contains(&name).then_some(7 * 4)
}

/// Pictures that are joined, as far as that makes one.
fn joined(text: &str) -> Option<usize> {
    let (first, mut end) = picture(text)?;
    let person = is(EMOJI_MODIFIER_BASE, first) || PEOPLE.contains(&first);
    let partners = JOINED.iter().find(|(one, _)| *one == first).map_or("", |(_, others)| *others);
    while let Some(rest) = text[end..].strip_prefix(JOINER)
        && let Some((next, length)) = picture(rest)
    {
        let whole = is(EMOJI_PRESENTATION, next) || rest[..length].ends_with(AS_PICTURE);
        let speech = next == '🗨';
        if !(person && whole || partners.contains(next) && (whole || speech)) {
            break;
        }
        end += JOINER.len_utf8() + length;
    }
    Some(end)
}

/// One picture with its sign or its skin tone: the character and the length of all.
fn picture(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next().filter(|c| is(EXTENDED_PICTOGRAPHIC, *c))?;
    let mut end = first.len_utf8();
    let listed = || TAKE_SIGN.iter().any(|(from, to)| (*from..=*to).contains(&u32::from(first)));
    let takes_sign = !is(EMOJI_PRESENTATION, first) || listed();
    if takes_sign && text[end..].starts_with(AS_PICTURE) {
        end += AS_PICTURE.len_utf8();
    }
    let tone = |c: char| ('\u{1F3FB}'..='\u{1F3FF}').contains(&c);
    if is(EMOJI_MODIFIER_BASE, first) && text[end..].starts_with(tone) {
        end += 4;
    }
    Some((first, end))
}

type EmojiSet = fn() -> icu_properties::CodePointSetDataBorrowed<'static>;

const EMOJI_MODIFIER_BASE: EmojiSet = CodePointSetData::new::<EmojiModifierBase>;
const EMOJI_PRESENTATION: EmojiSet = CodePointSetData::new::<EmojiPresentation>;
const EXTENDED_PICTOGRAPHIC: EmojiSet = CodePointSetData::new::<ExtendedPictographic>;

fn is(set: EmojiSet, c: char) -> bool {
    set().contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_is_one_however_it_is_made() {
        for one in [
            "👨\u{200D}👩\u{200D}👧\u{200D}👦",
            "👩\u{200D}❤\u{FE0F}\u{200D}💋\u{200D}👨",
            "🧑🏽\u{200D}🤝\u{200D}🧑🏿",
            "🏃🏽\u{200D}♀\u{FE0F}",
            "👍🏿",
            "🇩🇪",
            "1\u{FE0F}\u{20E3}",
            "1\u{20E3}",
            "❤\u{FE0F}",
            "❤\u{FE0F}\u{200D}🔥",
            "🏳\u{FE0F}\u{200D}🌈",
            "🏴\u{200D}☠\u{FE0F}",
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "©\u{FE0F}",
            "⌚\u{FE0F}",
        ] {
            assert_eq!(length(one), Some(one.len()), "{one}");
        }
    }

    #[test]
    fn what_is_no_emoji_is_none() {
        for none in [
            "12",
            "1\u{FE0F}",
            "x",
            "©",
            "😀",
            "😀\u{FE0F}",
            "😀\u{200D}x",
            "😀\u{200D}😀",
            "😀🏽",
            "🇽🇽",
            "🇩",
            "🏴\u{E0067}\u{E007F}",
        ] {
            assert_eq!(length(none), None, "{none}");
        }
    }
}
