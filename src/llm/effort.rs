//! Which levels of effort a server takes: the nearest of them stands in for one that it refuses.

use crate::refusal::ProviderRefusal;
use selkie_domain::effort::Effort;

/// What a server names when it refuses a level, or all of them.
const NAMES: [&str; 5] = ["effort", "reasoning_effort", "reasoning", "thinking", "output_config"];

/// What is known of the levels a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Efforts {
    /// One bit for each level that is refused.
    refused: u8,
    /// The server knows such levels at all.
    known: bool,
}

impl Efforts {
    /// Every level.
    pub const ALL: Self = Self { refused: 0, known: true };
    /// Those of an API that has no word for the least thinking.
    pub const NO_MINIMAL: Self = Self { refused: bit(Effort::Minimal), known: true };

    /// Returns what is sent for a level: itself, the nearest that is taken (rather toward medium), or nothing.
    pub fn sent(self, wanted: Option<Effort>) -> Option<Effort> {
        let wanted = wanted.filter(|_| self.known)? as u8;
        let medium = Effort::Medium as u8;
        let taken = Effort::ALL.into_iter().filter(|level| self.takes(*level));
        taken.min_by_key(|&level| {
            let away = (level as u8).abs_diff(medium) > wanted.abs_diff(medium);
            (away, (level as u8).abs_diff(wanted))
        })
    }

    /// Whether a level is not refused.
    pub fn takes(self, level: Effort) -> bool {
        self.refused & bit(level) == 0
    }

    /// What is left when the level that was sent is refused: those that the server lists, or all but this one. A
    /// refusal that speaks of no level is about levels as such.
    pub fn without(self, sent: Effort, refused: &ProviderRefusal) -> Option<Self> {
        if !self.known || !NAMES.iter().any(|name| refused.names(name)) {
            return None;
        }
        let listed = || Effort::ALL.into_iter().filter(|level| refused.names(level.as_str()));
        let others = listed().filter(|level| *level != sent).fold(0, |all, level| all | bit(level));
        let speaks = listed().next().is_some() || sent == Effort::None;
        let unlisted = if others == 0 { 0 } else { !others };
        let left = Self { refused: self.refused | bit(sent) | unlisted, known: speaks };
        let any = Effort::ALL.into_iter().any(|level| left.takes(level));
        Some(Self { known: left.known && any, ..left })
    }
}

const fn bit(level: Effort) -> u8 {
    1 << level as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::What;
    use selkie_domain::usage::Usage;

    fn left(efforts: Efforts, sent: Effort, message: &str) -> Option<Efforts> {
        let (what, message) = (What::Status(400), message.to_owned());
        efforts.without(
            sent,
            &ProviderRefusal { what, message, retry_after: None, usage: Usage::default() },
        )
    }

    #[test]
    fn the_nearest_of_the_listed_levels_stands_in() {
        let message = "Unsupported value: 'reasoning_effort' does not support 'max'. \
                    Supported values are: 'low', 'medium', and 'high'.";
        let listed = left(Efforts::ALL, Effort::Max, message).unwrap();
        let sent = |level| listed.sent(Some(level));
        assert_eq!(sent(Effort::Max), Some(Effort::High));
        assert_eq!(sent(Effort::None), Some(Effort::Low));
        assert_eq!(sent(Effort::Medium), Some(Effort::Medium));
        assert_eq!(listed.sent(None), None);
    }

    #[test]
    fn without_a_list_each_refusal_leads_toward_medium() {
        let mut efforts = Efforts::ALL;
        let mut tried = vec![];
        while let Some(sent) = efforts.sent(Some(Effort::Xhigh)).filter(|_| tried.len() < 3) {
            tried.push(sent);
            efforts = left(efforts, sent, &format!("{sent} is no effort of this model")).unwrap();
        }
        assert_eq!(tried, [Effort::Xhigh, Effort::High, Effort::Medium]);
        assert_eq!(Efforts::NO_MINIMAL.sent(Some(Effort::Minimal)), Some(Effort::Low));
    }

    #[test]
    fn a_server_that_knows_no_levels_gets_none() {
        let unknown = "Unrecognized request argument supplied: reasoning_effort";
        let left_over = left(Efforts::ALL, Effort::High, unknown).unwrap();
        assert_eq!(left_over.sent(Some(Effort::High)), None);
        assert_eq!(left(left_over, Effort::High, unknown), None);
        assert_eq!(left(Efforts::ALL, Effort::High, "the tools are too many"), None);
    }
}
