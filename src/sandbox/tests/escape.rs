//! Ways out, tried from inside: each is refused, or what the kernel reaches names it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::attempts::{CALLS, CONNECT, LOOKS, READS, WRITES};
use crate::stand::{Stand, copied, reach};

pub fn nothing_gets_out() {
    if !reach().holds() {
        return println!("no sandbox on this machine: {}", reach());
    }
    for network in [true, false] {
        let stand = Stand::new(network);
        symlink(stand.at("state/secret"), stand.at("work/link")).unwrap();
        symlink(stand.at("state"), stand.at("work/dir")).unwrap();
        for script in READS {
            let ended = stand.run(script);
            assert!(!ended.text.contains("the secret"), "{script}: {ended:?}");
        }
        for script in LOOKS {
            let ended =
                stand.run(&format!("{script} > out 2>/dev/null && test -s out && echo seen"));
            assert!(!ended.text.contains("seen"), "{script}: {ended:?}");
        }
        for script in WRITES {
            let ended = stand.run(&format!("{script} 2>/dev/null && echo done"));
            assert!(!ended.text.contains("done"), "{script}: {ended:?}");
        }
        assert_eq!(fs::read_to_string(stand.at("state/secret")).unwrap(), "the secret\n");
        assert_eq!(fs::read_dir(stand.at("state")).unwrap().count(), 1);
        calls(&stand);
        signals(&stand);
    }
}

fn calls(stand: &Stand) {
    for (name, number, arguments) in CALLS {
        let attempt = |number: i64| {
            let script = format!(
                "perl -e 'my $done = syscall({number}, {arguments}); print $done == -1 ? \"no\" : \"yes\"'"
            );
            let ended = stand.run(&script);
            assert_eq!(ended.text, "no", "{name} ({number}): {ended:?}");
        };
        attempt(*number);
        if cfg!(target_arch = "x86_64") {
            attempt(*number | 0x4000_0000);
        }
    }
    // Set-user-id programs get no other rights.
    stand.works("perl -e 'print syscall(157, 39, 0, 0, 0, 0)'", "1");
}

fn signals(stand: &Stand) {
    let gap = reach().gaps().iter().any(|gap| gap.contains("signals"));
    for to in ["$OUT", "$PPID"] {
        let ended = stand.run(&format!("kill -CONT {to} 2>/dev/null && echo sent"));
        assert_eq!(ended.text.contains("sent"), gap, "{to}: {ended:?}");
    }
    stand.works("sleep 9 & kill $! && echo ours", "ours");
}

pub fn the_network_is_what_was_asked_for() {
    if !reach().holds() {
        return;
    }
    for (network, reached) in [(true, "tcp udp"), (false, "")] {
        let stand = Stand::new(network);
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _path = UnixListener::bind(stand.at("state/socket")).unwrap();
        let name = format!("selkie-{}-{network}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _abstract = UnixListener::bind_addr(&address).unwrap();
        fs::write(stand.at("work/connect.pl"), CONNECT).unwrap();
        let ports = [tcp.local_addr(), udp.local_addr()].map(|at| at.unwrap().port());
        let script = format!("TCP={} UDP={} ABSTRACT={name} perl connect.pl", ports[0], ports[1]);
        stand.works(&script, reached);
    }
}

/// Outside of the sandbox the same attempts succeed: what is refused above is refused by it.
pub fn the_attempts_work_outside() {
    let outside = || {
        let mut stand = Stand::new(true);
        stand.plan.boundary = None;
        symlink(stand.at("state/secret"), stand.at("work/link")).unwrap();
        symlink(stand.at("state"), stand.at("work/dir")).unwrap();
        stand
    };
    let reads = READS.iter().filter(|script| outside().run(script).text.contains("the secret"));
    assert!(reads.count() > 15, "too few of the attempts to read mean anything");
    let does = |script: &&&str| {
        let script = format!("({script}) 2>/dev/null && echo done");
        !script.contains(" /") && outside().run(&script).text.contains("done")
    };
    assert!(WRITES.iter().filter(does).count() > 12, "too few of the attempts to write");
}

/// Once more as a user without any rights, where we are root.
pub fn nothing_gets_out_as_nobody() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = copied(dir.path());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy);
    command.args(["what_is", "ends_with", "gets_out", "network", "limits"]);
    let ended = command.current_dir("/").env("TMPDIR", "/tmp").output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
}

/// Once more with the system calls alone that the unit leaves to the daemon.
pub fn nothing_gets_out_under_the_units_filter() {
    let Some(numbers) = numbers() else { return println!("the system calls have no names here") };
    let Some(allowed) = of_the_unit() else { return println!("there is no systemd-analyze here") };
    let rules: BTreeMap<i64, Vec<_>> =
        allowed.iter().filter_map(|name| Some((*numbers.get(name)?, Vec::new()))).collect();
    assert!(rules.len() > 250, "{}", rules.len());
    let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap());
    let filter = SeccompFilter::new(
        rules,
        refuse,
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    let before = reach();
    let inside = std::thread::spawn(move || {
        seccompiler::apply_filter(&filter).unwrap();
        assert_eq!(reach(), before, "the unit leaves the sandbox as it is");
        let stand = Stand::new(false);
        stand.works("echo hi", "hi");
        calls(&stand);
    });
    inside.join().unwrap();
}

/// The names that the unit's lines of `SystemCallFilter` leave.
fn of_the_unit() -> Option<Vec<String>> {
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systemd/selkie.service");
    let text = fs::read_to_string(unit).unwrap();
    let mut allowed = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")) {
        let (words, taken) = match line.strip_prefix('~') {
            Some(words) => (words, true),
            None => (line, false),
        };
        for word in words.split_whitespace() {
            let names = expanded(word)?;
            match taken {
                true => allowed.retain(|name| !names.contains(name)),
                false => allowed.extend(names),
            }
        }
    }
    Some(allowed)
}

fn expanded(word: &str) -> Option<Vec<String>> {
    if !word.starts_with('@') {
        return Some(vec![word.to_owned()]);
    }
    let shown = Command::new("systemd-analyze").args(["syscall-filter", word]).output().ok()?;
    let text = String::from_utf8(shown.stdout).ok()?;
    let names = text.lines().skip(1).map(str::trim).filter(|name| !name.starts_with('#'));
    let names: Option<Vec<Vec<String>>> =
        names.filter(|name| !name.is_empty()).map(expanded).collect();
    Some(names?.concat())
}

/// The numbers of system calls, as the kernel's header has them.
fn numbers() -> Option<BTreeMap<String, i64>> {
    let file = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"];
    let mut text = String::new();
    file.iter().find_map(|file| fs::File::open(file).ok())?.read_to_string(&mut text).ok()?;
    let defined = text.lines().filter_map(|line| line.strip_prefix("#define __NR_"));
    let named = defined.filter_map(|line| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    });
    Some(named.collect())
}
