//! Asks people in the middle of a call, whose process waits for the answer.

use std::sync::Arc;

use async_trait::async_trait;

use crate::halts::Halts;
use selkie_domain::approval::{Approvers, Request};

/// Asks whoever can approve, and waits for them. Dropped, the request is taken back.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Asks for what `request` shows, ten minutes at most.
    async fn ask(&self, request: Request) -> Permission;
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permission {
    /// It may be done, once.
    Granted,
    /// It may not, and why.
    Denied(String),
    /// Nobody can be asked, and why.
    Nobody(String),
}

/// How a call asks while it runs.
#[derive(Clone)]
pub struct Permissions {
    /// Who asks.
    pub asker: Arc<dyn Asker>,
    /// Whom a call of the same task would ask.
    pub of: Approvers,
    /// The task's clock, which stands meanwhile.
    pub halts: Arc<Halts>,
}

impl Permissions {
    /// Asks whoever would be asked about the call itself. The clocks of task and call stand meanwhile.
    pub async fn ask(&self, request: Request) -> Permission {
        let _halt = self.halts.begin();
        self.asker.ask(Request { of: self.of, ..request }).await
    }
}

/// Asks nobody, for this reason.
pub struct NoAsker(
    /// Why.
    pub &'static str,
);

#[async_trait]
impl Asker for NoAsker {
    async fn ask(&self, _: Request) -> Permission {
        Permission::Nobody(self.0.to_owned())
    }
}

impl NoAsker {
    /// Returns how a call asks where nobody can be asked.
    pub fn permissions(why: &'static str) -> Permissions {
        Permissions { asker: Arc::new(Self(why)), of: Approvers::Nobody, halts: Arc::default() }
    }
}
