//! The last stage before a program: holds the thread that starts it, and starts it only when that came about.

use std::process::{Child, Command};

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set, set_no_new_privs};

use crate::boundary::Boundary;
use crate::error::SandboxError;
use crate::plan::Plan;
use crate::reach::Reach;
use crate::syscalls::Calls;
use crate::{files, kernel};

/// The rights over files that root's commands keep in the sandbox: a workspace may be somebody else's.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);
/// Rights by which root's commands could look into the daemon.
const LOOKING: CapabilitySet =
    CapabilitySet::SYS_PTRACE.union(CapabilitySet::PERFMON).union(CapabilitySet::SYS_ADMIN);

/// Starts a program from the calling thread, which is of no other use afterwards.
pub(crate) fn start(plan: &Plan, mut command: Command) -> Result<Child, SandboxError> {
    let reached = hold(plan)?;
    if plan.boundary.is_some() && !reached.is_at_least(&plan.least) {
        return Err(SandboxError::NotInForce(format!("{} was asked for, {reached}", plan.least)));
    }
    plan.limits.apply()?;
    Ok(command.spawn()?)
}

/// Holds the calling thread as far as this machine can.
pub(crate) fn hold(plan: &Plan) -> Result<Reach, SandboxError> {
    let Plan { limits, boundary, .. } = plan;
    if limits.sudo {
        return Ok(Reach::default());
    }
    // Nobody but root has these rights, nor may give them up.
    let given_up = if boundary.is_some() { KEPT.complement() } else { LOOKING };
    for right in given_up.iter() {
        remove_capability_from_bounding_set(right).ok();
    }
    set_no_new_privs(true).map_err(std::io::Error::from)?;
    boundary.as_ref().map_or(Ok(Reach::default()), restrict)
}

fn restrict(boundary: &Boundary) -> Result<Reach, SandboxError> {
    let not = |why: String| SandboxError::NotInForce(why);
    let landlock = files::restrict(boundary).map_err(|error| not(format!("landlock: {error}")))?;
    let calls = Calls { network: boundary.network, landlock };
    let filters = calls.filters().map_err(|error| not(format!("seccomp: {error}")))?;
    let seccomp = filters.iter().try_for_each(kernel::set_filter);
    Ok(Reach { landlock, seccomp: seccomp.is_ok() })
}
