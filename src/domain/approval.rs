//! Approval of one tool call: who can give it, what exactly it covers, and where it stands.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::span::Span;

/// How long an approved call may wait until it is started.
pub const LAPSES_AFTER: TimeDelta = TimeDelta::minutes(10);
/// How long somebody is asked in the middle of a call, whose process waits.
pub const IN_CALL: Span = Span::seconds(600);
/// Requests of one person that may be open at once.
pub const MAX_OPEN: u32 = 3;
/// Requests of one person within [`WITHIN`] to which nobody has said yes.
pub const MAX_RECENT: u32 = 10;
/// Requests of others that one owner may have open at once, whoever makes them.
pub const MAX_OPEN_OF_ALL: u32 = 6;
/// Requests of others that one owner is sent within [`WITHIN`] and has not said yes to, whoever makes them.
pub const MAX_RECENT_OF_ALL: u32 = 20;
/// How long a mute holds.
pub const MUTED_FOR: TimeDelta = TimeDelta::hours(24);
/// The time in which requests are counted.
pub const WITHIN: TimeDelta = TimeDelta::hours(1);

/// Characters of a preview that a person is shown in a message.
pub const MAX_SHOWN: usize = 8_000;
/// Characters of a preview that goes along as a file: what takes more is asked of nobody.
pub const MAX_ATTACHED: usize = 200_000;

/// Who can approve a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvers {
    /// The owners, each in private.
    #[default]
    Owners,
    /// Whoever sits at the terminal.
    Terminal,
    /// Nobody is there to be asked.
    Nobody,
}

/// The most that a task gets of a tool, or of one call. Ordered by what it takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// It is called.
    #[default]
    Free,
    /// It is called when somebody approves it.
    Ask {
        /// Who can.
        of: Approvers,
        /// Every rule that asks, in words.
        reasons: Vec<String>,
    },
    /// It is not there.
    Hidden(
        /// Every rule that hides it, in words.
        Vec<String>,
    ),
}

impl Exposure {
    /// Returns the lesser of two, with the reasons of both when they are alike.
    #[must_use]
    pub fn lowered(self, other: Self) -> Self {
        match (self, other) {
            (Self::Hidden(mut reasons), Self::Hidden(more)) => {
                reasons.extend(
                    more.into_iter().filter(|reason| !reasons.contains(reason)).collect::<Vec<_>>(),
                );
                Self::Hidden(reasons)
            }
            (hidden @ Self::Hidden(_), _) | (_, hidden @ Self::Hidden(_)) => hidden,
            (Self::Ask { of, mut reasons }, Self::Ask { reasons: more, .. }) => {
                reasons.extend(
                    more.into_iter().filter(|reason| !reasons.contains(reason)).collect::<Vec<_>>(),
                );
                Self::Ask { of, reasons }
            }
            (ask @ Self::Ask { .. }, Self::Free) | (Self::Free, ask @ Self::Ask { .. }) => ask,
            (Self::Free, Self::Free) => Self::Free,
        }
    }

    /// Whether somebody has to approve it.
    pub fn asks(&self) -> bool {
        matches!(self, Self::Ask { .. })
    }
}

/// Says why what asks is hidden where nobody can be asked.
pub fn nobody(reason: &str) -> String {
    format!("hidden without a terminal, where nobody can be asked: it {reason}")
}

/// What approval is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Version of this layout; see [`Request::VERSION`].
    pub v: u16,
    /// The call's id, unique within its task.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the tool does, for people who are not to read what this call would do: `changing files`.
    #[serde(default)]
    pub words: String,
    /// What it would do, as its tool tells it: literal, with nothing cut away.
    pub preview: String,
    /// What the preview cannot show.
    #[serde(default)]
    pub unseen: Vec<String>,
    /// Where it was asked for, as people know it: `telegram:group “Team”`.
    #[serde(default)]
    pub place: String,
    /// Why it asks.
    pub reasons: Vec<String>,
    /// Who can approve it.
    pub of: Approvers,
    /// Covers all that the approval is for: task, call, tool, arguments, paths, folder, files.
    pub hash: String,
}

impl Request {
    /// The layout written today.
    pub const VERSION: u16 = 1;

    /// Whether it is too long for a message.
    pub fn is_long(&self) -> bool {
        self.preview.chars().count() > MAX_SHOWN
    }
}

/// Says why what is too long to be shown is asked of nobody.
pub fn too_long() -> String {
    format!("it takes more than {MAX_SHOWN} characters: do less at once")
}

named! {
    /// Where an approval stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ApprovalState {
        /// Waits for somebody who can approve it.
        Open = "open",
        /// The call may be made.
        Approved = "approved",
        /// The approved call was started.
        Consumed = "consumed",
        /// The call may not be made.
        Denied = "denied",
        /// Nobody decided in time.
        Expired = "expired",
        /// Approved, and not started in time.
        Lapsed = "lapsed",
        /// Taken back: its task has ended, or plan mode began.
        Withdrawn = "withdrawn",
        /// Nobody could be asked.
        NotAsked = "not_asked",
    }
}

named! {
    /// What words say of an approval.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        /// The call may be made.
        Approve = "approve",
        /// It may not.
        Deny = "deny",
        /// It may not, and no more requests of this person come for a day.
        Mute = "mute",
        /// It may not, and no more requests of this group come for a day.
        MuteGroup = "mutehere",
        /// What was muted with this request is heard again.
        Unmute = "unmute",
    }
}

impl Verdict {
    /// Reads the words of a reply to the request itself.
    pub fn of_reply(text: &str) -> Option<Self> {
        let word = text.trim().trim_end_matches(['.', '!']).to_lowercase();
        match word.as_str() {
            "approve" | "approved" | "yes" | "y" | "allow" => Some(Self::Approve),
            "deny" | "denied" | "no" | "n" | "refuse" => Some(Self::Deny),
            _ => None,
        }
    }

    /// Whom it mutes, if anybody.
    pub const fn mutes(self) -> Option<MuteOf> {
        match self {
            Self::Mute => Some(MuteOf::Person),
            Self::MuteGroup => Some(MuteOf::Group),
            Self::Approve | Self::Deny | Self::Unmute => None,
        }
    }

    /// Reads `approve CODE`, `deny CODE`, `mute CODE`, `mute group CODE` and `unmute CODE`, which stand for themselves.
    pub fn with_code(text: &str) -> Option<(Self, String)> {
        let mut words = text.split_whitespace().peekable();
        let mut verdict = Self::parse(&words.next()?.to_lowercase())?;
        if verdict == Self::Mute
            && words.next_if(|word| word.eq_ignore_ascii_case("group")).is_some()
        {
            verdict = Self::MuteGroup;
        }
        let code = words.next()?.to_lowercase();
        let is_code = code.len() == CODE && code.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_code && words.next().is_none()).then_some((verdict, code))
    }

    /// Whether words are a verdict with its code, or `approve` or `deny` with nothing behind it or with one word that looks
    /// like a code.
    pub fn is_all(text: &str) -> bool {
        let mut words = text.split_whitespace();
        let verdict = words.next().and_then(|word| Self::parse(&word.to_lowercase()));
        let code = words.next();
        if !matches!(verdict, Some(Self::Approve | Self::Deny)) {
            return Self::with_code(text).is_some();
        }
        code.is_none_or(looks_like_a_code) && words.next().is_none()
    }
}

named! {
    /// Of whom no more requests come.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum MuteOf {
        /// Whoever made the request.
        Person = "person",
        /// Everybody where it was made.
        Group = "group",
    }
}

/// No more requests of somebody reach who was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mute {
    /// Of whom.
    pub of: MuteOf,
    /// Until then.
    pub until: DateTime<Utc>,
}

/// Whether a word is a code, or one that was not copied right.
fn looks_like_a_code(word: &str) -> bool {
    let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let letters = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_near = word.len().abs_diff(CODE) <= 2;
    (word.len() == CODE && hex) || (is_near && letters && has_digit)
}

/// How many characters of its key name an approval in words.
const CODE: usize = 6;

/// Returns the code that names an approval in words.
pub fn code(key: &str) -> &str {
    key.get(..CODE).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_exposure_stays_with_every_reason() {
        let ask =
            |why: &str| Exposure::Ask { of: Approvers::Owners, reasons: vec![why.to_owned()] };
        let hidden = |why: &str| Exposure::Hidden(vec![why.to_owned()]);
        assert_eq!(Exposure::Free.lowered(ask("a")), ask("a"));
        assert_eq!(ask("a").lowered(Exposure::Free), ask("a"));
        assert_eq!(ask("a").lowered(hidden("b")), hidden("b"));
        let both = Exposure::Ask { of: Approvers::Owners, reasons: vec!["a".into(), "b".into()] };
        assert_eq!(ask("a").lowered(ask("b")).lowered(ask("a")), both);
        assert_eq!(
            hidden("a").lowered(hidden("b")),
            Exposure::Hidden(vec!["a".into(), "b".into()])
        );
    }

    #[test]
    fn states_have_names() {
        for state in ApprovalState::ALL {
            assert_eq!(ApprovalState::parse(state.name()), Some(state));
        }
    }

    #[test]
    fn words_decide_by_a_code_or_as_a_reply_alone() {
        let approve = |code: &str| Some((Verdict::Approve, code.to_owned()));
        assert_eq!(Verdict::with_code("approve 3fa9c1"), approve("3fa9c1"));
        assert_eq!(Verdict::with_code(" Approve  3FA9C1 "), approve("3fa9c1"));
        assert_eq!(Verdict::with_code("deny 3fa9c1"), Some((Verdict::Deny, "3fa9c1".to_owned())));
        for (words, verdict) in [
            ("mute 3fa9c1", Verdict::Mute),
            ("Mute group 3fa9c1", Verdict::MuteGroup),
            ("unmute 3fa9c1", Verdict::Unmute),
        ] {
            assert_eq!(Verdict::with_code(words), Some((verdict, "3fa9c1".to_owned())), "{words}");
            assert!(Verdict::is_all(words), "{words}");
        }
        assert!(!Verdict::is_all("mute") && !Verdict::is_all("mute the group"), "that is talk");
        for other in [
            "yes",
            "1",
            "approve",
            "approve it",
            "approve 3fa9c1 now",
            "yes 3fa9c1",
            "аpprove 3fa9c1",
        ] {
            assert_eq!(Verdict::with_code(other), None, "{other}");
        }
        assert_eq!(Verdict::of_reply("Yes!"), Some(Verdict::Approve));
        assert_eq!(Verdict::of_reply("no"), Some(Verdict::Deny));
        for other in ["1", "yes, but", "ok", ""] {
            assert_eq!(Verdict::of_reply(other), None, "{other}");
        }
    }
}
