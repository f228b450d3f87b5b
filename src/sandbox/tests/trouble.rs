//! Machines that have less, and folders that are not as they seem.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use selkie_sandbox::Reach;

use crate::stand::{Outcome, Stand, reach};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Does something on a thread that may not make some system calls.
fn without(rules: Rules, error: i32, what: impl FnOnce() + Send + 'static) {
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(u32::try_from(error).unwrap()),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    let inside = std::thread::spawn(move || {
        seccompiler::apply_filter(&filter).unwrap();
        what();
    });
    inside.join().unwrap();
}

fn refused(ended: &Outcome) -> &str {
    match &ended.how {
        Some(Err(why)) if ended.text.is_empty() => why,
        _ => panic!("it ran: {ended:?}"),
    }
}

pub fn without_landlock_nothing_starts() {
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    for error in [libc::ENOSYS, libc::EOPNOTSUPP, libc::EPERM] {
        let asked = Stand::new(true);
        let rules = calls.iter().map(|call| (*call, Vec::new())).collect();
        without(rules, error, move || {
            assert_eq!(reach().landlock, 0);
            let mut stand = asked;
            stand.plan.least = Reach { landlock: 1, seccomp: true };
            let why = refused(&stand.run("echo ran")).to_owned();
            assert!(why.starts_with("the sandbox is not in force"), "{why}");
            stand.plan.boundary = None;
            stand.works("echo ran", "ran");
        });
    }
}

pub fn without_seccomp_nothing_starts() {
    if reach().landlock == 0 {
        return;
    }
    let sets = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::try_from(libc::PR_SET_SECCOMP).unwrap(),
    );
    let sets = SeccompRule::new(vec![sets.unwrap()]).unwrap();
    let asked = Stand::new(true);
    let rules = Rules::from([(libc::SYS_prctl, vec![sets]), (libc::SYS_seccomp, Vec::new())]);
    without(rules, libc::EPERM, move || {
        assert!(!reach().seccomp && !reach().holds());
        let why = refused(&asked.run("echo ran")).to_owned();
        assert!(why.contains("no seccomp"), "{why}");
    });
}

pub fn links_and_missing_folders() {
    let mut stand = Stand::new(false);
    symlink(stand.at("work"), stand.at("link")).unwrap();
    stand.open(false, &["link", "no-such-home"]);
    stand.works("echo x > new; cat new; (echo y > $HOME/a) 2>/dev/null || echo no", "x\nno");
}

pub fn sudo_excludes_it() {
    let mut stand = Stand::new(false);
    stand.plan.limits.sudo = true;
    let ended = stand.run("echo ran");
    assert_eq!(reach().holds(), matches!(ended.how, Some(Err(_))), "{ended:?}");
    stand.plan.boundary = None;
    stand.works("cat ../state/secret", "the secret");
}
