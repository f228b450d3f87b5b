//! The credentials of a config: who uses which, for which requests, and the headers that carry them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, Url};
use secrecy::ExposeSecret as _;
use selkie_channel_core::Redactor;
use selkie_domain::facts::{Facts, Trust, Where};
use tokio::sync::Mutex;

use super::bound_header::BoundHeader;
use super::error::AuthError;
use super::prefix::Prefix;
use super::settings::{AllowSettings, ProfileSettings, Settings};
use crate::foreign::Who;
use crate::shell::{OwnProgram, OwnPrograms};

/// As many are taken: one bit each.
pub const MAX_PROFILES: usize = 64;
/// How long a program may take to print a credential.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_CREDENTIAL: usize = 64 * 1024;
/// What the word for a profile begins with among those that a place opens.
const OPENS: &str = "auth_profile:";

/// The credentials of a config, in the order of their names.
#[derive(Default)]
pub struct AuthProfiles(Vec<Arc<AuthProfile>>);

/// A credential, and what it is for.
pub struct AuthProfile {
    /// Its name.
    pub id: String,
    /// Whether a reviewed skill has to name it.
    pub needs_skill: bool,
    allow: Vec<AllowRule>,
    settings: ProfileSettings,
    deps: CredentialDeps,
    bound: Mutex<Option<BoundHeader>>,
}

/// What credentials are loaded with.
#[derive(Clone)]
pub struct CredentialDeps {
    /// Learns them.
    pub redactor: Redactor,
    /// Runs the programs that print them.
    pub programs: OwnPrograms,
    /// The environment of these.
    pub env: Arc<std::collections::BTreeMap<String, String>>,
}

struct AllowRule {
    prefix: Prefix,
    methods: Vec<Method>,
    redirects: bool,
}

/// Returns the word by which a place opens a profile that is only in some places.
pub fn word_of(id: &str) -> String {
    format!("{OPENS}{id}")
}

impl AuthProfiles {
    /// Makes them ready. No program is run.
    pub fn new(settings: &Settings, deps: &CredentialDeps) -> Self {
        let needs_skill = settings.require_skill_profiles;
        let all = settings.auth_profiles.iter().take(MAX_PROFILES);
        Self(all.map(|(id, of)| Arc::new(AuthProfile::new(id, of, needs_skill, deps))).collect())
    }

    /// Returns all.
    pub fn all(&self) -> &[Arc<AuthProfile>] {
        &self.0
    }

    /// Returns the one of this name.
    pub fn get(&self, id: &str) -> Option<&Arc<AuthProfile>> {
        self.0.iter().find(|profile| profile.id == id)
    }

    /// Returns which a task may use, one bit each.
    pub fn usable(&self, facts: &Facts) -> u64 {
        let bits = self.0.iter().enumerate();
        bits.fold(0, |mask, (at, profile)| mask | u64::from(profile.is_for(facts)) << at)
    }

    /// Returns those of a mask.
    pub fn of(&self, mask: u64) -> Vec<Arc<AuthProfile>> {
        let all = self.0.iter().enumerate();
        all.filter(|(at, _)| mask & (1 << at) != 0).map(|(_, one)| Arc::clone(one)).collect()
    }
}

impl AuthProfile {
    fn new(id: &str, of: &ProfileSettings, needs_skill: bool, deps: &CredentialDeps) -> Self {
        // What the config's check refuses covers nothing.
        let rule = |allow: &AllowSettings| {
            Some(AllowRule {
                prefix: Prefix::parse(&allow.prefix).ok()?,
                methods: allow.methods.iter().map(|verb| verb.method()).collect(),
                redirects: allow.redirects,
            })
        };
        if let Some(text) = &of.credential {
            // Its forms are known from now on; what is wrong with it is said where it is used.
            BoundHeader::of(&of.bind, text.expose_secret(), &deps.redactor).ok();
        }
        Self {
            id: id.to_owned(),
            needs_skill,
            allow: of.allow.iter().filter_map(rule).collect(),
            settings: of.clone(),
            deps: deps.clone(),
            bound: Mutex::default(),
        }
    }

    fn is_for(&self, facts: &Facts) -> bool {
        let is_trusted = match self.settings.who {
            Who::Owners => facts.trust == Trust::Owner,
            Who::Allowed => facts.trust >= Trust::Allowed,
        };
        let is_by_hand = matches!(facts.place, Where::CommandLine { .. });
        let is_here = || facts.opened.iter().any(|word| word.strip_prefix(OPENS) == Some(&self.id));
        is_trusted && (self.settings.places.is_empty() || is_by_hand || is_here())
    }

    /// Judges a request.
    ///
    /// # Errors
    /// What it is for, where that is something else.
    pub fn judge(&self, method: &Method, url: &Url) -> Result<(), AuthError> {
        if self.rule(method, url).is_some() {
            return Ok(());
        }
        let Self { id, .. } = self;
        let reaches = self.reaches();
        Err(AuthError::NotAllowed(format!(
            "auth_profile {id} is not for {method} {}: it is for {reaches}",
            url.origin().ascii_serialization() + url.path()
        )))
    }

    /// Whether a redirect is followed: from where that is allowed, to what is allowed, too.
    pub fn follows(&self, from: &Url, method: &Method, to: &Url) -> bool {
        let leaves = self.allow.iter().any(|rule| rule.redirects && rule.prefix.covers(from));
        leaves && self.rule(method, to).is_some()
    }

    /// Says what it is for.
    pub fn reaches(&self) -> String {
        let rules = self.allow.iter().map(|rule| {
            let methods: Vec<&str> = rule.methods.iter().map(Method::as_str).collect();
            format!("{} {}", methods.join("/"), rule.prefix)
        });
        rules.collect::<Vec<_>>().join(", ")
    }

    /// Returns the header that carries it. The first time it is loaded, and the redactor learns it.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn header(&self) -> Result<BoundHeader, AuthError> {
        let mut bound = self.bound.lock().await;
        if let Some(bound) = &*bound {
            return Ok(bound.clone());
        }
        let printed;
        let credential = match &self.settings.credential {
            Some(text) => text.expose_secret(),
            None => {
                printed = self.printed().await?;
                &printed
            }
        };
        let made = BoundHeader::of(&self.settings.bind, credential, &self.deps.redactor)?;
        Ok(bound.insert(made).clone())
    }

    /// Has it loaded anew the next time: a server has refused it, and it may be another one by now.
    pub async fn forget(&self) {
        *self.bound.lock().await = None;
    }

    /// Returns what knows the credential.
    pub fn redactor(&self) -> &Redactor {
        &self.deps.redactor
    }

    async fn printed(&self) -> Result<String, AuthError> {
        let program = OwnProgram {
            argv: &self.settings.credential_command,
            input: None,
            folder: Path::new("/"),
            env: &self.deps.env,
            limit: LIMIT,
            most: MAX_CREDENTIAL,
        };
        let printed = self.deps.programs.output(program).await?;
        String::from_utf8(printed).map_err(|_| AuthError::NoText)
    }

    fn rule(&self, method: &Method, url: &Url) -> Option<&AllowRule> {
        self.allow.iter().find(|rule| rule.methods.contains(method) && rule.prefix.covers(url))
    }
}
