//! Webhooks of other services: who may send them, what they bring, and the listener that takes them. What becomes of one
//! is decided elsewhere ([`Deliveries`]).

mod body;
mod delivery;
mod form;
mod header;
mod listen;
mod rate;
mod receive;
mod sample;
mod settings;
mod template;

pub use body::MAX_PAYLOAD;
pub use delivery::{Content, Deliveries, Delivery, Receipt, Refusal};
pub use form::{Form, SignatureFault};
pub use listen::listen;
pub use receive::Door;
pub use sample::{Sample, sample};
pub use settings::{Action, Endpoint, Fault, Hook, Settings};
pub use template::Template;
