//! What programs try from inside.

/// What reads the secret when it works; each prints it then.
pub const READS: &[&str] = &[
    "cat $TOP/state/secret",
    "cat ../state/secret",
    "cat link",
    "cat dir/secret",
    "cat /proc/self/root$TOP/state/secret",
    "cat /proc/self/cwd/../state/secret",
    "cat /proc/$OUT/root$TOP/state/secret",
    "cat /proc/$PPID/root$TOP/state/secret",
    "cat /proc/$PPID/cwd/../state/secret",
    "cat $TOP/beside/file",
    "ln ../state/secret mine && cat mine",
    "mv ../state/secret mine && cat mine",
    "cp -r ../state mine && cat mine/secret",
    "mv ../state mine && cat mine/secret",
    "mv ../work/dir . ; cd dir && cat secret",
    "tar -c ../state 2>/dev/null | tar -xO 2>/dev/null",
    "perl -e 'open(F,\"<../state/secret\"); print <F>'",
    "perl -e 'opendir(D,\"..\"); chdir(D); open(F,\"<state/secret\"); print <F>'",
    "bash -c 'exec 9< ../state/secret; cat <&9'",
    "sh -c 'cd ../state && cat secret'",
    "python3 -c 'print(open(\"../state/secret\").read())'",
    "setsid sh -c 'cat ../state/secret'",
    "sleep 0; (exec cat ../state/secret)",
];
/// What changes something outside when it works.
pub const WRITES: &[&str] = &[
    "echo x > ../state/secret",
    "echo x >> ../state/secret",
    "echo x > link",
    "echo x > ../state/new",
    "echo x > ../beside/new",
    "echo x > ../new",
    "mkdir ../state/new",
    "rm ../state/secret",
    "rm -r ../beside",
    "mv ../beside ../other",
    "ln -s x ../state/new",
    "mkfifo ../state/new",
    "mv work ../state/",
    "truncate -s 0 ../state/secret",
    "perl -e 'truncate(\"../state/secret\", 0) or exit 1'",
    "mknod dev c 1 3",
    "mknod dev b 7 0",
    "touch /tmp/selkie-escape",
    "touch /usr/selkie-escape",
    "touch /dev/shm/selkie-escape",
    "echo 1 > /proc/self/oom_score_adj",
    "echo 1 > /proc/sys/kernel/core_pattern",
    "touch file && setfattr -n user.selkie.level -v clean file",
];
/// What looks into other processes or at them.
pub const LOOKS: &[&str] = &[
    "cat /proc/$OUT/environ",
    "cat /proc/$PPID/environ",
    "cat /proc/1/environ",
    "cat /proc/$OUT/mem",
    "cat /proc/$OUT/maps",
    "cat /proc/$OUT/cmdline",
    "ls /proc/$OUT/fd",
    "ls /proc",
    "cat /proc/self/mounts",
    "cat /proc/kcore | head -c 1",
    "cat /dev/mem | head -c 1",
    "ls $TOP",
    "ls ../state",
    "ls /root",
    "ls /var",
    "ls /run",
    "ls /tmp",
    "ls /sys",
    "cat /etc/shadow",
];
/// System calls by number and arguments. Success is a number that is not -1.
pub const CALLS: &[(&str, i64, &str)] = &[
    ("io_uring_setup", libc::SYS_io_uring_setup, "8, my $p = \"\\0\" x 120"),
    ("ptrace a parent", libc::SYS_ptrace, "16, $ENV{OUT}+0, 0, 0"),
    ("ptrace traceme", libc::SYS_ptrace, "0, 0, 0, 0"),
    ("process_vm_readv", libc::SYS_process_vm_readv, "$ENV{OUT}+0, 0, 0, 0, 0, 0"),
    ("process_vm_writev", libc::SYS_process_vm_writev, "$ENV{OUT}+0, 0, 0, 0, 0, 0"),
    ("kcmp", libc::SYS_kcmp, "$$, $$, 0, 0, 0"),
    ("keyctl", libc::SYS_keyctl, "0, -3, 1"),
    ("add_key", libc::SYS_add_key, "my $a = q(user), my $b = q(x), my $c = q(y), 1, -3"),
    ("unshare a user", libc::SYS_unshare, "0x10000000"),
    ("unshare a network", libc::SYS_unshare, "0x40000000"),
    ("unshare mounts", libc::SYS_unshare, "0x20000"),
    ("clone with a user", libc::SYS_clone, "0x10000000 | 17, 0, 0, 0, 0"),
    ("clone3", libc::SYS_clone3, "0, 0"),
    ("setns", libc::SYS_setns, "0, 0"),
    ("mount", libc::SYS_mount, "my $a = q(none), my $b = q(.), my $c = q(tmpfs), 0, 0"),
    ("umount", libc::SYS_umount2, "my $a = q(/proc), 2"),
    ("fsopen", libc::SYS_fsopen, "my $a = q(tmpfs), 0"),
    ("open_tree", libc::SYS_open_tree, "-100, my $a = q(.), 1"),
    ("pivot_root", libc::SYS_pivot_root, "my $a = q(.), my $b = q(.)"),
    ("chroot", libc::SYS_chroot, "my $a = q(.)"),
    ("bpf", libc::SYS_bpf, "0, 0, 0"),
    ("perf_event_open", libc::SYS_perf_event_open, "0, 0, 0, 0, 0"),
    ("userfaultfd", libc::SYS_userfaultfd, "1"),
    ("open_by_handle_at", libc::SYS_open_by_handle_at, "-100, 0, 0"),
    ("sethostname", libc::SYS_sethostname, "my $a = q(x), 1"),
    ("prlimit of another", libc::SYS_prlimit64, "$ENV{OUT}+0, 7, 0, my $a = \"\\0\" x 16"),
    ("setpriority of another", libc::SYS_setpriority, "0, $ENV{OUT}+0, 19"),
    ("setpriority of a user", libc::SYS_setpriority, "2, 0, 19"),
    (
        "sched_setaffinity of another",
        libc::SYS_sched_setaffinity,
        "$ENV{OUT}+0, 8, my $a = chr(1) . \"\\0\" x 7",
    ),
    ("ioprio_set of another", libc::SYS_ioprio_set, "1, $ENV{OUT}+0, 0x4007"),
    ("shmget", libc::SYS_shmget, "0, 4096, 01600"),
    ("msgget", libc::SYS_msgget, "0, 01600"),
    ("mq_open", libc::SYS_mq_open, "my $a = q(selkie), 0102, 0600, 0"),
    ("syslog", libc::SYS_syslog, "10, 0, 0"),
    ("a raw socket", libc::SYS_socket, "2, 3, 1"),
    ("a netlink socket", libc::SYS_socket, "16, 3, 0"),
    ("a packet socket", libc::SYS_socket, "17, 3, 0"),
    ("a vsock", libc::SYS_socket, "40, 1, 0"),
    ("a pair with addresses", libc::SYS_socketpair, "1, 2, 0, my $a = \"\\0\" x 8"),
];

/// Connects to what listens at a port, a path and an abstract name, and says which of them it reached.
pub const CONNECT: &str = "
use Socket;
my %reached;
$reached{tcp} = socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in($ENV{TCP}, INADDR_LOOPBACK));
$reached{udp} = socket(S, AF_INET, SOCK_DGRAM, 0) && send(S, \"out\", 0, sockaddr_in($ENV{UDP}, INADDR_LOOPBACK));
$reached{path} = socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(\"$ENV{TOP}state/socket\"));
$reached{abstract} = socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un(\"\\0$ENV{ABSTRACT}\"));
$reached{pair} = socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) && send(A, \"x\", 0, sockaddr_un(\"$ENV{TOP}state/socket\"));
print join(\" \", sort grep { $reached{$_} } keys %reached);
";
