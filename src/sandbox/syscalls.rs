//! Seccomp: which system calls the calling thread, and all that it starts, may make.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::{c_int, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use crate::reach::UNIX;

/// Calls that look into other processes, change the machine, or lead around everything that is held.
const NEVER: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    OPEN_TREE_ATTR,
];
/// Memory and queues that belong to no folder: other conversations could read them, and they outlive the command.
const SHARED: &[c_long] =
    &[libc::SYS_mq_open, libc::SYS_mq_unlink, libc::SYS_msgget, libc::SYS_semget, libc::SYS_shmget];
/// Calls that give a process less of the machine, each with the argument that says which process.
const SCHEDULING: &[(c_long, u8)] = &[
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_setpriority, 1),
];
/// What the first argument of these says where they mean all processes of a user.
const OF_USER: [(c_long, u64); 2] = [(libc::SYS_ioprio_set, 3), (libc::SYS_setpriority, 2)];
/// Marks of files say whose words they hold: nobody writes them but selkie.
const MARKS: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
];
/// Newer than libc's names; the same number everywhere.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
/// Every kind of namespace.
const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64
    | 0x80;
/// Requests that type into a terminal which others read: TIOCSTI and TIOCLINUX. libc's type of them differs by system.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];
/// Bits of a socket's type.
const TYPE: u64 = 0xf;
/// Where numbers of the second 64-bit interface of x86 begin.
const X32: u32 = 0x4000_0000;

/// What is filtered.
pub(crate) struct Calls {
    /// Connections may be opened.
    pub(crate) network: bool,
    /// The version of landlock that holds files.
    pub(crate) landlock: u32,
}

impl Calls {
    /// Makes the programs that the kernel filters by, in the order in which they are to be set.
    pub(crate) fn filters(&self) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        Ok(vec![
            filter(self.never()?, libc::EPERM)?,
            filter(self.sockets()?, libc::EACCES)?,
            filter(MARKS.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOTSUP)?,
            // What it asks for stands where no filter sees it; everybody goes on with clone.
            filter(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?,
        ])
    }

    fn never(&self) -> Result<Rules, seccompiler::BackendError> {
        let all = NEVER.iter().chain(SHARED);
        let mut rules: Rules = all.map(|call| (*call, Vec::new())).collect();
        for (call, whose) in SCHEDULING {
            rules.entry(*call).or_default().push(rule(vec![when(*whose, Op::Ne, 0)?])?);
        }
        for (call, user) in OF_USER {
            rules.entry(call).or_default().push(rule(vec![when(0, Op::Eq, user)?])?);
        }
        #[cfg(target_arch = "x86_64")]
        rules.extend(
            [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_kexec_file_load]
                .map(|call| (call, Vec::new())),
        );
        if self.landlock < crate::reach::TRUNCATE {
            rules.insert(libc::SYS_truncate, Vec::new());
        }
        for kind in (0..64).map(|bit| 1_u64 << bit).filter(|kind| NAMESPACES & kind != 0) {
            let asked = |arg| when(arg, Op::MaskedEq(kind), kind);
            rules.entry(libc::SYS_unshare).or_default().push(rule(vec![asked(0)?])?);
            // The bit of time namespaces is one of the signal's in clone.
            if kind != 0x80 {
                rules.entry(libc::SYS_clone).or_default().push(rule(vec![asked(0)?])?);
            }
        }
        let typed = TERMINAL.map(|request| when(1, Op::Eq, request).and_then(|is| rule(vec![is])));
        rules.insert(libc::SYS_ioctl, typed.into_iter().collect::<Result<_, _>>()?);
        let others = rule(vec![when(0, Op::Ne, 0)?])?;
        rules.insert(libc::SYS_prlimit64, vec![others]);
        Ok(rules)
    }

    /// Sockets of the families that are open, of the kinds that streams and datagrams are; pairs that have no address.
    fn sockets(&self) -> Result<Rules, seccompiler::BackendError> {
        let mut families = Vec::new();
        if self.network {
            families.extend([libc::AF_INET, libc::AF_INET6]);
        }
        if self.landlock >= UNIX {
            families.push(libc::AF_UNIX);
        }
        let other = families.iter().map(|family| when(0, Op::Ne, number(*family)));
        let other: Vec<SeccompCondition> = other.collect::<Result<_, _>>()?;
        let open = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET];
        let paired = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
        let sockets = match other.is_empty() {
            // No condition: always.
            true => Vec::new(),
            false => [vec![rule(other)?], kinds(&open)?].concat(),
        };
        let foreign = rule(vec![when(0, Op::Ne, number(libc::AF_UNIX))?])?;
        let pairs = [vec![foreign], kinds(&paired)?].concat();
        Ok(BTreeMap::from([(libc::SYS_socket, sockets), (libc::SYS_socketpair, pairs)]))
    }
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Refuses every kind of socket but these.
fn kinds(open: &[c_int]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let open: Vec<u64> = open.iter().map(|kind| number(*kind)).collect();
    let shut = (0..=TYPE).filter(|kind| !open.contains(kind));
    shut.map(|kind| rule(vec![when(1, Op::MaskedEq(TYPE), kind)?])).collect()
}

fn number(of: c_int) -> u64 {
    u64::try_from(of).unwrap_or_default()
}

fn when(argument: u8, op: Op, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Len::Dword, op, value)
}

fn rule(all: Vec<SeccompCondition>) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(all)
}

fn filter(rules: Rules, error: c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    let error = u32::try_from(error).unwrap_or_default();
    let refuse = SeccompAction::Errno(error);
    let made = SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCH.try_into()?)?;
    let made: BpfProgram = made.try_into()?;
    Ok(match cfg!(target_arch = "x86_64") {
        true => [without_x32(error).to_vec(), made].concat(),
        false => made,
    })
}

/// Refuses the other numbers under which x86 has the same calls.
fn without_x32(error: u32) -> [sock_filter; 3] {
    const LOAD: u16 = 0x20;
    const AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = 0x0005_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    // The number of the call is the first word that a filter sees.
    [step(LOAD, 0, 0, 0), step(AT_LEAST, 0, 1, X32), step(RETURN, 0, 0, ERRNO | error)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_compiles_for_every_kernel() {
        for landlock in 0..=10 {
            for network in [true, false] {
                let filters = Calls { network, landlock }.filters().unwrap();
                assert!(filters.iter().all(|filter| filter.len() > 3 && filter.len() < 4096));
            }
        }
    }
}
