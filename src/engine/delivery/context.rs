//! What all of the engine shares.

use std::sync::Arc;

use crate::delivery::accounts::Accounts;
use crate::delivery::runtime::Runtime;
use crate::delivery::storage::Storage;
use selkie_domain::owners::Owners;

/// This run of the daemon, its ledger, its accounts and its owners. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// This run of the daemon.
    pub runtime: Arc<Runtime>,
    /// Where it is stored.
    pub storage: Arc<Storage>,
    /// The accounts that are served.
    pub accounts: Arc<Accounts>,
    /// Who gets notices.
    pub owners: Owners,
}
