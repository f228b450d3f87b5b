//! The views tasks share: one per combination of rules, opened names and runtime tools, made when it is
//! first wanted and then handed out.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use selkie_channel_core::Features;

use selkie_domain::facts::{Facts, Trust, Where};
use selkie_domain::narrowing::Narrowing;
use selkie_sandbox::Confinement;
use selkie_tools::registry::Registry;

/// A daemon has some dozens; the bound is against a flood of made-up ones.
const MAX: usize = 512;

/// Everything a view depends on, borrowed from the facts.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    /// Rules at work.
    pub(super) mask: u32,
    /// Names and classes that the place opens; empty where no rule can be opened.
    pub(super) opened: &'a [String],
    /// Tools that the owner's words name; empty where no rule yields.
    pub(super) summoned: &'a [String],
    /// The names give nothing: words of others are in play, which may have led to them.
    pub(super) unheeded: bool,
    /// Who leaves fewer tools.
    pub(super) narrowed: &'a [Narrowing],
    /// The place's channel data; `None` for the command line.
    pub(super) features: Option<&'a Features>,
    /// Rows of the policy that hold, one bit each.
    pub(super) policy: u64,
    /// How commands run.
    pub(super) confinement: Confinement,
    /// Credentials that requests may carry, one bit each.
    pub(super) profiles: u64,
}

/// Whether any rule at work gives way, and to what.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// To what the place opens.
    pub(super) opens: bool,
    /// To what the owner's words name.
    pub(super) yields: bool,
}

impl<'a> Key<'a> {
    pub(super) fn of(facts: &'a Facts, mask: u32, way: Way) -> Self {
        let features = match &facts.place {
            Where::CommandLine { .. } => None,
            Where::Channel(features) => Some(features),
        };
        let opened = if way.opens { facts.opened.as_slice() } else { &[] };
        let yields = way.yields && facts.trust == Trust::Owner;
        let summoned = if yields { facts.summoned.as_slice() } else { &[] };
        let unheeded = !summoned.is_empty() && facts.taint.is_any();
        let confinement = Confinement::default();
        let narrowed = facts.narrowed.as_slice();
        Self {
            mask,
            opened,
            summoned,
            unheeded,
            narrowed,
            features,
            policy: 0,
            confinement,
            profiles: 0,
        }
    }

    /// Returns the tools that the owner's words give.
    pub(super) fn heeded(&self) -> &'a [String] {
        if self.unheeded { &[] } else { self.summoned }
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let summoned = (self.summoned, self.unheeded);
        (self.mask, self.policy, self.confinement, self.opened, summoned, self.narrowed)
            .hash(&mut hasher);
        self.profiles.hash(&mut hasher);
        self.words().hash(&mut hasher);
        hasher.finish()
    }

    fn words(&self) -> Option<(&'a str, &'a str, &'a [String])> {
        self.features.map(|f| (f.channel.as_str(), f.kind.as_str(), f.speaking.as_slice()))
    }
}

/// A key that owns its words.
struct OwnedKey {
    mask: u32,
    policy: u64,
    confinement: Confinement,
    opened: Vec<String>,
    summoned: Vec<String>,
    unheeded: bool,
    narrowed: Vec<Narrowing>,
    profiles: u64,
    features: Option<(String, String, Vec<String>)>,
}

impl OwnedKey {
    fn of(key: &Key<'_>) -> Self {
        let features = key.words().map(|(c, k, s)| (c.to_owned(), k.to_owned(), s.to_vec()));
        let (opened, summoned) = (key.opened.to_vec(), key.summoned.to_vec());
        let narrowed = key.narrowed.to_vec();
        let Key { mask, policy, confinement, unheeded, profiles, .. } = *key;
        Self { mask, policy, confinement, opened, summoned, unheeded, narrowed, profiles, features }
    }

    fn is(&self, key: &Key<'_>) -> bool {
        let features = self.features.as_ref().map(|(c, k, s)| (c.as_str(), k.as_str(), &**s));
        self.mask == key.mask
            && self.policy == key.policy
            && self.confinement == key.confinement
            && features == key.words()
            && self.opened == key.opened
            && self.summoned == key.summoned
            && self.unheeded == key.unheeded
            && self.narrowed == key.narrowed
            && self.profiles == key.profiles
    }
}

/// The bounded store of views.
#[derive(Default)]
pub(super) struct Views(RwLock<HashMap<u64, Vec<(OwnedKey, Registry)>>>);

impl Views {
    /// Returns the view of a key; makes it when there is none yet.
    pub(super) fn get(&self, key: &Key<'_>, make: impl FnOnce() -> Registry) -> Registry {
        let hash = key.hash();
        let views = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&views, hash, key) {
            return found;
        }
        drop(views);
        let mut views = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another task may have been quicker: all of them get the same one.
        if let Some(found) = find(&views, hash, key) {
            return found;
        }
        if views.len() >= MAX {
            // Tasks keep what they hold; what is wanted again is made again, with the same bytes.
            views.clear();
        }
        let made = make();
        views.entry(hash).or_default().push((OwnedKey::of(key), made.clone()));
        made
    }
}

fn find(
    views: &HashMap<u64, Vec<(OwnedKey, Registry)>>,
    hash: u64,
    key: &Key<'_>,
) -> Option<Registry> {
    views.get(&hash)?.iter().find(|(kept, _)| kept.is(key)).map(|(_, view)| view.clone())
}
