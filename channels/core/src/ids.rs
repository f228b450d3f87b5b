//! The ids that cross the seam between channels and the daemon.
//!
//! An id is opaque above the channel that minted it: the text may be compared, stored and shown, never
//! taken apart. Every conversation and place carries its account, so that two bots never share a lane.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Debug)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a text the platform's channel minted.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id_type! {
    /// One bot on one platform, e.g. `tg:8123456` (the bot's own user id).
    AccountId
}
id_type! {
    /// The platform's id of one message inside its conversation, e.g. `4711` or a Slack `ts`.
    MessageRef
}
id_type! {
    /// A person on a platform, e.g. `tg:4711`.
    PersonId
}

macro_rules! account_key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name {
            account: AccountId,
            key: Arc<str>,
        }

        impl $name {
            /// Joins an account and the channel's own key.
            pub fn new(account: AccountId, key: impl Into<Arc<str>>) -> Self {
                Self { account, key: key.into() }
            }

            /// Returns the account whose bot takes part.
            pub fn account(&self) -> &AccountId {
                &self.account
            }

            /// Returns the channel's own key: what people see and write.
            pub fn key(&self) -> &str {
                &self.key
            }

            /// Returns the stored form, `<account>|<key>`.
            pub fn full(&self) -> String {
                format!("{}|{}", self.account, self.key)
            }

            /// Reads the stored form back; `None` when there is no `|`.
            pub fn from_full(text: &str) -> Option<Self> {
                let (account, key) = text.split_once('|')?;
                Some(Self::new(AccountId::new(account), key))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.key)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.full())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::from_full(&text).ok_or_else(|| {
                    serde::de::Error::custom(format!("{text:?} is not <account>|<key>"))
                })
            }
        }
    };
}

account_key! {
    /// One lane of talk: `tg:-100123`, a topic `tg:-100123:7`, `cli:/home/me/project`. Owns history.
    ConversationId
}
account_key! {
    /// A chat, channel or group: owns memory, workspace, policy and its place on the allow list.
    PlaceId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_survives_storing_and_shows_only_its_key() {
        let id = ConversationId::new(AccountId::new("tg:8"), "tg:-100:7");
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, r#""tg:8|tg:-100:7""#);
        assert_eq!(serde_json::from_str::<ConversationId>(&json).unwrap(), id);
        assert_eq!(id.to_string(), "tg:-100:7");
        assert!(serde_json::from_str::<ConversationId>(r#""tg:-100""#).is_err());
    }
}
