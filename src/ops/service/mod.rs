//! selkie as a service of systemd: where its unit lies, what is written there, whose it is, and how it stands.

mod logs;
mod machine;
mod own;
mod standing;
mod systemd;
mod text;
mod wanted;
mod work;

pub use logs::{Lines, journal};
pub use machine::{Kind, Machine, ServiceTarget};
pub use own::is_this_selkies;
pub use standing::{ServiceState, standing};
pub use wanted::ServiceSpec;
pub use work::{Ready, Removal, Unable, keep_running};
