//! `selkie logs`: shows the installed service's log, or says where it goes.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context as _, anyhow};

use super::outcome::Outcome;
use super::service_args::Logs;
use selkie_app::Binary;
use selkie_ops::service::{Kind, Lines, Machine, ServiceTarget, journal};

/// Becomes `journalctl`.
pub fn logs(binary: &Binary, wanted: Logs) -> Outcome {
    let Logs { follow, lines, since, user, name, json } = wanted;
    let kind = if user { Kind::User } else { Kind::System };
    let asked = ServiceTarget { kind, name, root: None };
    let Some(machine) = Machine::installed(&asked, &binary.env) else {
        let why = anyhow!(
            "{}.service is not installed, so no journal has its log: read it where you started `selkie run` (in a container: \
             docker logs). selkie service install installs a service",
            asked.name
        );
        return Err(why.into());
    };
    if !machine.runs {
        let why = anyhow!(
            "{} is installed, but systemd cannot be reached from here: call it where it runs, as the user whose service it \
             is",
            machine.unit_name()
        );
        return Err(why.into());
    }
    let mut command = journal(&machine, &Lines { follow, count: lines, since, json });
    // Only comes back when it does not work.
    let error = command.exec();
    Err(error).context("journalctl cannot be started: it comes with systemd").map_err(Into::into)
}
