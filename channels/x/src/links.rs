//! Finds the links of a text as X finds them, by its public rules for what a link is.

mod domain;
mod path;
mod tlds;

use std::ops::Range;

use domain::Hosts;

/// The most that a link may have, in UTF-16 units, its host written as DNS has it.
const MAX_LENGTH: usize = 4096;
/// The most that X's own short links have behind their host.
const MAX_SLUG: usize = 40;

/// The links of a text, in order: ranges in bytes.
pub struct Links<'a> {
    text: &'a str,
    hosts: Hosts<'a>,
    /// Where the next search begins.
    at: usize,
    /// The next dot, once it was looked for: a link has one ahead.
    dot: usize,
    /// Found by one search: a host without `https://` may hold several.
    found: std::vec::IntoIter<Range<usize>>,
}

impl<'a> Links<'a> {
    /// Looks through a text, which should be in normal form C.
    pub fn of(text: &'a str) -> Self {
        Self { text, hosts: Hosts::of(text), at: 0, dot: 0, found: Vec::new().into_iter() }
    }

    /// Looks at one place; gives where the search goes on when something like a link stands there.
    fn look(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let scheme = path::scheme(rest);
        let with = scheme.and_then(|scheme| Some((scheme, self.hosts.read(at + scheme)?)));
        let (scheme, host) = match with {
            Some(found) => found,
            None => (0, self.hosts.read(at)?),
        };
        let tail = path::tail(&rest[scheme + host.length..]);
        let end = at + scheme + host.length + tail.length;
        let host_at = at + scheme;
        let units = self.text[at..end].encode_utf16().count();
        let host = host_at..host_at + host.length;
        if domain::is_sound(&self.text[host.clone()]) && units + 8 <= MAX_LENGTH {
            let found = match scheme {
                0 => self.bare(host, tail.has_path.then_some(end)),
                _ => schemed(self.text, at..end).into_iter().collect(),
            };
            self.found = found.into_iter();
        }
        Some(end)
    }

    /// The links of a host without `https://`: those of its parts that are written in Latin letters.
    /// The last of them takes the path along, where one follows and ends at `path_end`.
    fn bare(&self, host: Range<usize>, path_end: Option<usize>) -> Vec<Range<usize>> {
        if self.text[..host.start].ends_with(['-', '_', '.', '/']) {
            return Vec::new();
        }
        let shift = |range: Range<usize>| host.start + range.start..host.start + range.end;
        let mut found: Vec<_> = domain::latin(&self.text[host.clone()]).map(shift).collect();
        if let (Some(last), Some(end)) = (found.last_mut(), path_end) {
            last.end = end;
        }
        found
    }
}

impl Links<'_> {
    /// Returns the next link, as far as it is found by looking at places up to this one: whoever wants the first
    /// few characters of a long text has no more of it looked at.
    pub fn until(&mut self, last: usize) -> Option<Range<usize>> {
        loop {
            if let Some(link) = self.found.next() {
                return Some(link);
            }
            if self.at > last {
                return None;
            }
            if self.dot <= self.at {
                self.dot = self.at + self.text[self.at..].find('.')?;
            }
            let here = self.text[self.at..].chars().next()?;
            let next = match self.text[..self.at].chars().next_back() {
                Some(before) if may_precede(before) => self.look(self.at),
                Some(_) => None,
                // At the very beginning the first character may itself stand before the link.
                None => {
                    let behind = Some(here.len_utf8()).filter(|_| may_precede(here));
                    behind.and_then(|at| self.look(at)).or_else(|| self.look(0))
                }
            };
            self.at = match next {
                // One character stands between two links.
                Some(end) => end + self.text[end..].chars().next().map_or(0, char::len_utf8),
                None => self.at + here.len_utf8(),
            };
        }
    }
}

impl Iterator for Links<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        self.until(usize::MAX)
    }
}

/// X's own short links end with their letters, and are none when these are too many.
fn schemed(text: &str, link: Range<usize>) -> Option<Range<usize>> {
    let written = &text[link.clone()];
    let bare = path::scheme(written).map(|scheme| &written[scheme..])?;
    let short = bare.get(..5).filter(|host| host.eq_ignore_ascii_case("t.co/"));
    let slug = short.map(|_| bare[5..].bytes().take_while(u8::is_ascii_alphanumeric).count());
    match slug {
        None | Some(0) => Some(link),
        Some(slug) if slug > MAX_SLUG => None,
        Some(slug) => {
            let end = written.len() - bare.len() + 5 + slug;
            Some(link.start..link.start + end + path::query(&written[end..]))
        }
    }
}

/// Whether a link may begin behind this character.
fn may_precede(c: char) -> bool {
    !c.is_ascii_alphanumeric() && !"@＠$#＃\u{FFFE}\u{FEFF}\u{FFFF}".contains(c)
}

#[cfg(test)]
mod tests;
