//! Proves to X who posts: a signature, a user's token, or a token that is renewed when it ends.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::TimeDelta;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::http::Fault;
use selkie_channel_core::{AccountId, Now, Redactor};
use tokio::sync::Mutex;

use crate::sign::{Keys, Stamp};
use crate::tokens::{TokenFile, Tokens, short_digest};
use crate::wire::Wire;

/// The account behind a bearer: its secret is renewed and tells nothing, and a config has one account.
const OF_BEARER: &str = "x:bearer";
/// A token that ends so soon is renewed before it is used.
const NEARLY_OVER: TimeDelta = TimeDelta::seconds(60);

/// How it is proven who posts, as the config says it.
#[derive(Clone, Debug)]
pub enum Login {
    /// OAuth 1.0a.
    One(Keys),
    /// OAuth 2.0 with refresh tokens.
    Two {
        /// The app.
        id: SecretString,
        /// Its secret, when it has one.
        secret: Option<SecretString>,
        /// The first refresh token.
        refresh: SecretString,
    },
    /// A user's access token.
    Bearer(SecretString),
}

impl Login {
    /// Returns the account, known before X is asked: the user's id where the token tells it, else
    /// a hash of what stays when tokens are renewed; for a bearer, of which nothing stays, always the same.
    pub fn account(&self) -> AccountId {
        let (told, secret) = match self {
            Self::One(keys) => {
                let token = keys.token().expose_secret();
                let id = token.split_once('-').map(|(id, _)| id);
                (id.filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())), token)
            }
            Self::Two { id, .. } => (None, id.expose_secret()),
            Self::Bearer(_) => return AccountId::new(OF_BEARER),
        };
        match told {
            Some(id) => AccountId::new(format!("x:{id}")),
            None => AccountId::new(format!("x:h{}", short_digest(secret))),
        }
    }

    /// Returns the user's id, where the token tells it.
    pub fn id(&self) -> Option<String> {
        let account = self.account();
        let id = account.as_str().strip_prefix("x:")?;
        id.bytes().all(|b| b.is_ascii_digit()).then(|| id.to_owned())
    }

    /// Returns a name of it that tells nothing of it: another login, another name.
    pub fn name(&self) -> String {
        short_digest(&self.secrets().collect::<Vec<_>>().join("\n"))
    }

    /// Returns every secret in it.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let all: Vec<&str> = match self {
            Self::One(keys) => keys.secrets().into(),
            Self::Two { id, secret, refresh } => {
                let all = [Some(id), secret.as_ref(), Some(refresh)];
                all.into_iter().flatten().map(ExposeSecret::expose_secret).collect()
            }
            Self::Bearer(token) => vec![token.expose_secret()],
        };
        all.into_iter()
    }
}

/// Proves it for each request.
pub enum Credential {
    /// By signatures.
    Signing {
        /// With these keys.
        keys: Keys,
        /// Numbers for nonces, and where they begin.
        nonces: (RandomState, AtomicU64),
        /// The time.
        now: Now,
    },
    /// By a token that is renewed.
    Renewing(Box<TokenRenewal>),
    /// By one token.
    Fixed(SecretString),
}

/// A token that is renewed: one at a time, and kept before it is used.
pub struct TokenRenewal {
    id: SecretString,
    secret: Option<SecretString>,
    first: SecretString,
    file: TokenFile,
    redactor: Redactor,
    now: Now,
    /// Held while X is asked, so that no two refreshes race.
    held: Mutex<HeldToken>,
}

enum HeldToken {
    /// Nothing was read yet.
    Unread,
    /// Nothing was kept yet: the configured token is the next.
    First,
    /// In use, and in the file.
    Kept(Tokens),
    /// X gave it and the file does not have it: not to be used.
    Unkept(Tokens),
}

impl Credential {
    /// Makes it of what the config says; `file` keeps what is renewed.
    pub fn new(login: Login, folder: std::path::PathBuf, redactor: Redactor, now: Now) -> Self {
        match login {
            Login::One(keys) => {
                let nonces = (RandomState::new(), AtomicU64::new(0));
                Self::Signing { keys, nonces, now }
            }
            Login::Bearer(token) => Self::Fixed(token),
            Login::Two { id, secret, refresh } => {
                let file = TokenFile::new(folder, &refresh);
                let held = Mutex::new(HeldToken::Unread);
                let first = refresh;
                Self::Renewing(Box::new(TokenRenewal {
                    id,
                    secret,
                    first,
                    file,
                    redactor,
                    now,
                    held,
                }))
            }
        }
    }

    /// Returns the `Authorization` of a request; renews the token first when it is over.
    ///
    /// # Errors
    /// When it could not be renewed: nothing of the request was sent.
    pub async fn header(&self, wire: &Wire, method: &str, url: &Url) -> Result<String, Fault> {
        match self {
            Self::Signing { keys, nonces: (state, count), now } => {
                // The process's own hash seed and a counter: never twice the same, which is all it is for.
                let n = count.fetch_add(1, Ordering::Relaxed);
                let nonce = format!("{:016x}{:016x}", state.hash_one(n), state.hash_one(!n));
                let stamp = Stamp { nonce, seconds: now().timestamp() };
                Ok(keys.header(method, url, &stamp))
            }
            Self::Renewing(renewing) => renewing.bearer(wire).await,
            Self::Fixed(token) => Ok(bearer(token)),
        }
    }

    /// Notes that X refuses this `Authorization`; whether another may be had.
    pub async fn refused(&self, header: &str) -> bool {
        let Self::Renewing(renewing) = self else { return false };
        renewing.refused(header).await
    }

    /// Returns the keys of the config that make it.
    pub fn keys(&self) -> &'static str {
        match self {
            Self::Signing { .. } => {
                "x.consumer_key, x.consumer_secret, x.access_token and x.access_token_secret"
            }
            Self::Renewing(_) => "x.client_id and x.refresh_token",
            Self::Fixed(_) => "x.bearer_token",
        }
    }
}

impl TokenRenewal {
    async fn bearer(&self, wire: &Wire) -> Result<String, Fault> {
        let mut held = self.held.lock().await;
        if matches!(*held, HeldToken::Unread) {
            *held = self.load()?;
        }
        if let HeldToken::Kept(tokens) = &*held
            && tokens.until > (self.now)() + NEARLY_OVER
        {
            return Ok(bearer(&tokens.access));
        }
        if !matches!(*held, HeldToken::Unkept(_)) {
            let refresh = match &*held {
                HeldToken::Kept(tokens) => &tokens.refresh,
                _ => &self.first,
            };
            *held = HeldToken::Unkept(self.renew(wire, refresh).await?);
        }
        // Kept first, used then: a crash between the two must find the successor.
        if let HeldToken::Unkept(tokens) = &*held {
            self.file.store(tokens).map_err(|error| self.unkept(&error))?;
            *held = HeldToken::Kept(tokens.clone());
        }
        match &*held {
            HeldToken::Kept(tokens) => Ok(bearer(&tokens.access)),
            _ => Err(Fault::NotSent("no access token".to_owned())),
        }
    }

    async fn refused(&self, header: &str) -> bool {
        let mut held = self.held.lock().await;
        let HeldToken::Kept(tokens) = &mut *held else { return false };
        if bearer(&tokens.access) == header {
            // It is over, whatever was said of its end.
            tokens.until = (self.now)();
        }
        true
    }

    fn load(&self) -> Result<HeldToken, Fault> {
        let kept = self.file.load().map_err(|error| {
            let path = self.file.path();
            Fault::NotSent(format!(
                "{} cannot be read ({error}): repair it, or remove it and put a new x.refresh_token into the config",
                path.display()
            ))
        })?;
        if let Some(tokens) = &kept {
            self.learn(tokens);
        }
        Ok(kept.map_or(HeldToken::First, HeldToken::Kept))
    }

    async fn renew(&self, wire: &Wire, refresh: &SecretString) -> Result<Tokens, Fault> {
        let id = self.id.expose_secret();
        let secret = self.secret.as_ref().map(ExposeSecret::expose_secret);
        let renewed = wire.renew(id, secret, refresh.expose_secret()).await?;
        let until = (self.now)() + TimeDelta::seconds(renewed.seconds);
        let tokens = Tokens { access: renewed.access, refresh: renewed.refresh, until };
        self.learn(&tokens);
        tracing::info!(%until, "X's access token was renewed");
        Ok(tokens)
    }

    fn learn(&self, tokens: &Tokens) {
        self.redactor.learn(tokens.access.expose_secret());
        self.redactor.learn(tokens.refresh.expose_secret());
    }

    fn unkept(&self, error: &std::io::Error) -> Fault {
        let path = self.file.path();
        tracing::error!(path = %path.display(), %error, "X's new refresh token cannot be saved: nothing is posted until it is");
        Fault::NotSent(format!("{} cannot be written ({error})", path.display()))
    }
}

fn bearer(token: &SecretString) -> String {
    format!("Bearer {}", token.expose_secret())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    #[test]
    fn an_account_is_the_user_where_the_token_tells_and_never_a_secret() {
        let keys = Keys::new(["a", "b", "370773112-GmHxMAgY", "d"].map(secret));
        assert_eq!(Login::One(keys).account().as_str(), "x:370773112");
        let of_app = |id: &str, refresh: &str| {
            Login::Two { id: secret(id), secret: None, refresh: secret(refresh) }.account()
        };
        insta::assert_snapshot!(of_app("hunter2", "a"), @"x:hf52fbd32b2b3b86f");
        assert_eq!(of_app("hunter2", "a"), of_app("hunter2", "b"));
    }

    #[test]
    fn a_bearer_that_was_renewed_is_the_same_account() {
        let of = |token: &str| Login::Bearer(secret(token)).account();
        assert_eq!((of("hunter2").as_str(), of("hunter2")), ("x:bearer", of("hunter3")));
    }
}
