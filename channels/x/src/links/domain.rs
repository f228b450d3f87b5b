//! The host of a link: labels and an ending that there is.

use std::ops::Range;

use super::tlds;

/// The longest label that DNS takes, written in its letters.
const MAX_LABEL: usize = 63;
/// More than any host that passes has, in bytes: nothing behind is looked at.
const FAR: usize = 4096;

/// A host at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// In bytes.
    pub length: usize,
}

/// Reads hosts of one text, and remembers what it has seen: a text is read once, whatever stands in it.
pub struct Hosts<'a> {
    text: &'a str,
    /// The run of a label that was read last.
    run: Range<usize>,
    /// Up to here no label that begins behind a dot has an ending behind it.
    barren: usize,
}

impl<'a> Hosts<'a> {
    /// Reads hosts of this text.
    pub fn of(text: &'a str) -> Self {
        Self { text, run: 0..0, barren: 0 }
    }

    /// Reads the longest host with an ending that there is: labels, the last of them without an
    /// underscore, and the ending, behind which no word goes on.
    pub fn read(&mut self, from: usize) -> Option<Domain> {
        let known = self.barren;
        let mut best = None;
        let mut at = from;
        while at < from + FAR
            && let Some(label) = self.label(at)
        {
            let dot = at + label.len();
            if !self.text[dot..].starts_with('.') {
                break;
            }
            if !label.contains('_')
                && let Some(ending) = tlds::ending(&self.text[dot + 1..])
            {
                best = Some(Domain { length: dot + 1 + ending - from });
            }
            at = dot + 1;
            if best.is_none() && at < known {
                return None;
            }
        }
        if best.is_none() {
            self.barren = self.barren.max(at);
        }
        best
    }

    /// Returns the label that begins here, which neither begins nor ends with a dash or an underscore.
    fn label(&mut self, at: usize) -> Option<&'a str> {
        if !self.run.contains(&at) {
            let rest = &self.text[at..];
            let length = rest.find(|c| !in_label(c) && c != '-' && c != '_');
            self.run = at..at + length.unwrap_or(rest.len());
        }
        let label = &self.text[at..self.run.end];
        let framed = label.starts_with(['-', '_']) || label.ends_with(['-', '_']);
        (!label.is_empty() && !framed).then_some(label)
    }
}

/// Whether DNS takes every label of a host.
pub fn is_sound(host: &str) -> bool {
    let fits = |label: &str| (1..=MAX_LABEL).contains(&ascii_length(label));
    // A host in DNS's letters has no others.
    (!host.starts_with("xn--") || latin(host).next().is_some()) && host.split('.').all(fits)
}

fn in_label(c: char) -> bool {
    let mark = c.is_ascii() && "!'#%&()*+,\\-./:;<=>?@[]^_{|}~$".contains(c);
    let space = matches!(c, '\t'..='\r' | ' ' | '\u{85}' | '\u{A0}' | '\u{1680}' | '\u{180E}'
        | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}');
    let none = matches!(c, '\u{FFFE}' | '\u{FEFF}' | '\u{FFFF}');
    let direction = matches!(c, '\u{202A}'..='\u{202E}' | '\u{61C}' | '\u{200E}' | '\u{200F}'
        | '\u{2066}'..='\u{2069}');
    !(mark || space || none || direction)
}

/// Finds the parts of a host that are written in Latin letters, each with an ending of its own.
pub fn latin(host: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < host.len() {
            if let Some(length) = latin_at(&host[at..]) {
                let found = at..at + length;
                at = found.end;
                return Some(found);
            }
            at += host[at..].chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

fn latin_at(text: &str) -> Option<usize> {
    let mut best = None;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let end = rest.find(|c: char| c != '-' && !is_latin(c)).unwrap_or(rest.len());
        if end == 0 || !rest[end..].starts_with('.') {
            return best;
        }
        at += end + 1;
        if let Some(ending) = tlds::ending(&text[at..]) {
            best = Some(at + ending);
        }
    }
}

/// Latin letters, plain and with accents, and digits.
pub fn is_latin(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{24F}'
            | '\u{253}' | '\u{254}' | '\u{256}' | '\u{257}' | '\u{259}' | '\u{25B}' | '\u{263}'
            | '\u{268}' | '\u{26F}' | '\u{272}' | '\u{289}' | '\u{28B}' | '\u{2BB}'
            | '\u{300}'..='\u{36F}' | '\u{1E00}'..='\u{1EFF}')
}

/// Returns how long a label is in DNS's letters: RFC 3492 for those that are not ASCII.
fn ascii_length(label: &str) -> usize {
    // Every character takes a letter at least: what is far too long need not be written.
    if label.is_ascii() || label.len() > 4 * MAX_LABEL {
        return label.len();
    }
    let points: Vec<u32> = label.chars().map(u32::from).collect();
    let plain = points.iter().filter(|p| **p < 128).count();
    let mut length = "xn--".len() + plain + usize::from(plain > 0);
    let mut n = 128u32;
    let mut delta = 0u32;
    let mut bias = 72u32;
    let mut done = plain as u32;
    while (done as usize) < points.len() {
        let Some(next) = points.iter().copied().filter(|p| *p >= n).min() else { break };
        delta = delta.saturating_add((next - n).saturating_mul(done + 1));
        n = next;
        for point in &points {
            match point.cmp(&n) {
                std::cmp::Ordering::Less => delta = delta.saturating_add(1),
                std::cmp::Ordering::Equal => {
                    length += digits(delta, bias);
                    if length > MAX_LABEL {
                        return length;
                    }
                    bias = adapt(delta, done + 1, done as usize == plain);
                    (delta, done) = (0, done + 1);
                }
                std::cmp::Ordering::Greater => {}
            }
        }
        delta = delta.saturating_add(1);
        n += 1;
    }
    length
}

/// How many digits a number takes as RFC 3492 writes it.
fn digits(number: u32, bias: u32) -> usize {
    let mut rest = number;
    let mut k = 36u32;
    let mut count = 1;
    loop {
        let threshold = k.saturating_sub(bias).clamp(1, 26);
        if rest < threshold {
            return count;
        }
        rest = (rest - threshold) / (36 - threshold);
        (k, count) = (k + 36, count + 1);
    }
}

fn adapt(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    k + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_as_long_as_dns_writes_it() {
        let rows = [
            ("example", 7),
            ("bücher", "xn--bcher-kva".len()),
            ("münchen", "xn--mnchen-3ya".len()),
            ("ほんとうに", "xn--p8j7ck5d9f".len()),
            ("みんな", "xn--q9jyb4c".len()),
            ("пример", "xn--e1afmkfd".len()),
        ];
        for (label, wanted) in rows {
            assert_eq!(ascii_length(label), wanted, "{label}");
        }
    }
}
