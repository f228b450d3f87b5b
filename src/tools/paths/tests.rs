//! Paths that must not lead outside, and those that must lead where they say.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Component;

use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testkit::Folders;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;

fn finder<'a>(roots: &'a Roots, deny: &'a [String]) -> Finder<'a> {
    Finder { tool: "read_file", roots, deny }
}

fn says(result: Result<Location, ToolError>) -> String {
    match result {
        Ok(located) => format!("{:?} {}", located.zone, located.shown()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_path_leads_where_it_says() {
    let folders = Folders::new();
    let inside = ["work/a.txt", "cache/bird/one/b.txt", "state/TODO.md", "state/skills/s/SKILL.md"];
    inside.iter().for_each(|p| drop(folders.put(p, "x")));
    symlink("a.txt", folders.at("work/link")).unwrap();
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    let said: Vec<String> = [
        "a.txt",
        "./x/../a.txt",
        "link",
        "file_cache_dir/b.txt",
        "file_cache_dir/bird/one/b.txt",
        "file_state_dir/TODO.md",
        "file_state_dir/skills/s/SKILL.md",
        "file_cache_dir",
        "file_state_dir/",
        "file_cache_directory",
        "",
        "a\0b",
        "a.txt/b",
    ]
    .iter()
    .map(|p| format!("{p:?}: {}", says(find.existing(p))))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    "a.txt": Workspace a.txt
    "./x/../a.txt": no such file: ./x/../a.txt
    "link": Workspace a.txt
    "file_cache_dir/b.txt": Own file_cache_dir/b.txt
    "file_cache_dir/bird/one/b.txt": Own file_cache_dir/b.txt
    "file_state_dir/TODO.md": State file_state_dir/TODO.md
    "file_state_dir/skills/s/SKILL.md": State file_state_dir/skills/s/SKILL.md
    "file_cache_dir": invalid path: alias requires a relative file path
    "file_state_dir/": invalid path: alias requires a relative file path
    "file_cache_directory": no such file: file_cache_directory
    "": path is required
    "a\0b": invalid path: it contains a NUL character
    "a.txt/b": a.txt/b cannot be reached: a part of it is a file, not a folder
    "#);
    let absolute = folders.at("work/a.txt");
    assert_eq!(says(find.existing(absolute.to_str().unwrap())), "Workspace a.txt");
}

/// 16.2 #23: any path was readable, the state folder writable, containment was only in the words.
#[test]
fn nothing_leads_outside() {
    let folders = Folders::new();
    folders.put("outside/secret", "x");
    folders.put("cache/bird/two/theirs", "x");
    folders.put("state/memory/owner.md", "x");
    symlink("../outside", folders.at("work/out")).unwrap();
    symlink(folders.at("outside/secret"), folders.at("cache/bird/one/leak")).unwrap();
    symlink("nowhere", folders.at("work/dangling")).unwrap();
    symlink("/proc/self/environ", folders.at("work/env")).unwrap();
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    let outside = folders.at("outside/secret");
    for path in [
        "../outside/secret",
        "out/secret",
        "env",
        outside.to_str().unwrap(),
        "file_cache_dir/leak",
        "file_cache_dir/../two/theirs",
        "file_cache_dir/../../../state/TODO.md",
        "../cache/bird/two/theirs",
        "/etc/passwd",
        "/proc/self/environ",
        "/etc/no-such-file",
    ] {
        for result in [find.existing(path), find.writable(path)] {
            let said = says(result);
            assert!(
                said.starts_with("refusing to ") || said == "no such file: env",
                "{path}: {said}"
            );
        }
    }
    // Other conversations' folders cannot even be named: an alias means the own folder.
    assert_eq!(
        says(find.existing("file_cache_dir/bird/two/theirs")),
        "no such file: file_cache_dir/bird/two/theirs"
    );
    assert_eq!(says(find.writable("dangling")), "dangling is a link that leads nowhere");
    assert_eq!(
        says(find.writable("new/../../../x")).split(':').next(),
        Some("refusing to write outside allowed base dirs")
    );
    let memory = says(find.existing("file_state_dir/memory/owner.md"));
    assert!(memory.contains("denied for path"), "{memory}");
}

#[test]
fn what_defines_the_bot_is_closed() {
    let folders = Folders::new();
    let files = [
        "state/heartbeat.md",
        "state/selkie.db",
        "state/selkie.db-wal",
        "state/selkie.lock",
        "state/selkie.sock",
        "state/approvals/1.json",
        "state/credentials/token",
        "state/.env",
        "state/channels/x/oauth2.json",
        "state/anything/else",
        "work/k8s/config.yaml",
        "work/env/x.py",
        "work/.env.local",
        "etc/bot.yaml",
        "state/policy.yaml",
        "state/persona/SOUL.md",
        "state/skills/a/SKILL.md",
        "state/contacts/ACTIVE.md",
    ];
    files.iter().for_each(|p| drop(folders.put(p, "x")));
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    let said: Vec<String> = files
        .iter()
        .map(|p| {
            let at = folders.at(p);
            let at = at.to_str().unwrap();
            let mark = |r: Result<Location, ToolError>| if r.is_ok() { "yes" } else { "no" };
            format!("{p}: read {}, write {}", mark(find.existing(at)), mark(find.writable(at)))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    state/heartbeat.md: read yes, write no
    state/selkie.db: read no, write no
    state/selkie.db-wal: read no, write no
    state/selkie.lock: read no, write no
    state/selkie.sock: read no, write no
    state/approvals/1.json: read no, write no
    state/credentials/token: read no, write no
    state/.env: read no, write no
    state/channels/x/oauth2.json: read no, write no
    state/anything/else: read no, write no
    work/k8s/config.yaml: read yes, write yes
    work/env/x.py: read yes, write yes
    work/.env.local: read yes, write yes
    etc/bot.yaml: read no, write no
    state/policy.yaml: read yes, write no
    state/persona/SOUL.md: read yes, write no
    state/skills/a/SKILL.md: read yes, write no
    state/contacts/ACTIVE.md: read yes, write yes
    ");
}

#[test]
fn owners_read_elsewhere_but_not_the_machine_and_not_what_is_denied() {
    let folders = Folders::new();
    folders.put("outside/notes", "x");
    folders.put("outside/private/diary", "x");
    folders.put("outside/config.yaml", "x");
    folders.put("etc/bot.yaml", "x");
    folders.put("cache/bird/two/theirs", "x");
    let roots = Roots { elsewhere: true, ..folders.roots() };
    let deny = vec!["diary".to_owned()];
    let find = finder(&roots, &deny);
    let absolute = |p: &str| folders.at(p).to_str().unwrap().to_owned();
    assert!(find.existing(&absolute("outside/notes")).is_ok());
    assert!(find.writable(&absolute("outside/notes")).is_err());
    assert!(find.existing(&absolute("outside/config.yaml")).is_ok(), "a name says nothing");
    for path in ["outside/private/diary", "etc/bot.yaml", "cache/bird/two/theirs"] {
        assert!(find.existing(&absolute(path)).is_err(), "{path}");
    }
    for path in ["/proc/self/environ", "/dev/null", "/sys/kernel"] {
        assert!(find.existing(path).is_err(), "{path}");
    }
}

#[test]
fn a_group_has_its_own_folder_alone() {
    let folders = Folders::new();
    folders.put("work/a", "x");
    folders.put("cache/bird/one/b", "x");
    let roots = Roots { state: None, workspace: None, ..folders.roots() };
    let find = finder(&roots, &[]);
    assert_eq!(says(find.existing("b")), "Own file_cache_dir/b");
    assert!(says(find.existing(folders.at("work/a").to_str().unwrap())).starts_with("refusing"));
    assert_eq!(
        says(find.existing("file_state_dir/TODO.md")),
        "file_state_dir is closed here: read_file takes paths in file_cache_dir/<path>"
    );
}

/// The bot's own files are closed by what they are: under every name, and however they are reached.
#[test]
fn what_is_the_bots_own_is_closed_under_every_name() {
    let folders = Folders::new();
    let secret = folders.put("etc/bot.yaml", "token");
    folders.put("state/selkie.db", "rows");
    folders.put("state/credentials/x/oauth2.json", "token");
    let twins = [
        (secret, "work/notes.txt"),
        (folders.at("state/selkie.db"), "cache/bird/one/db"),
        (folders.at("state/credentials/x/oauth2.json"), "work/deep.json"),
    ];
    for (file, twin) in &twins {
        std::fs::hard_link(file, folders.at(twin)).unwrap();
    }
    let roots = Roots { elsewhere: true, ..folders.roots() };
    let find = finder(&roots, &[]);
    for (file, twin) in &twins {
        for path in [file.clone(), folders.at(twin)] {
            let said = says(find.existing(path.to_str().unwrap()));
            assert!(said.contains("denied for path"), "{}: {said}", path.display());
            assert!(find.writable(path.to_str().unwrap()).is_err());
        }
    }
    // A folder that was listed before: what is opened is judged once more.
    let work = find.existing(".").unwrap();
    assert!(work.child("notes.txt".as_ref()).open().unwrap_err().to_string().contains("bot's own"));
    // Put there by another program after it was judged.
    let located = find.writable("later.txt").unwrap();
    std::fs::hard_link(folders.at("etc/bot.yaml"), folders.at("work/later.txt")).unwrap();
    assert!(located.open().is_err() && located.replace(b"x").is_err());
}

/// Whoever may not see the state folder does not see it through a root that holds it either.
#[test]
fn a_closed_state_folder_is_closed_inside_a_workspace_too() {
    let folders = Folders::new();
    folders.put("state/contacts/ACTIVE.md", "x");
    let roots = Roots { state: None, workspace: Some(folders.at("")), ..folders.roots() };
    let find = finder(&roots, &[]);
    for path in ["state/contacts/ACTIVE.md", "state/HEARTBEAT.md", "./state/new.md"] {
        assert!(find.existing(path).is_err() && find.writable(path).is_err(), "{path}");
    }
    assert!(find.writable("outside/fine").is_ok());
}

/// What others' words came into stays theirs, wherever it is moved, and what is written over it, too.
#[test]
fn a_file_keeps_whose_words_it_holds() {
    let folders = Folders::new();
    folders.put("work/mine.txt", "x");
    folders.put("cache/bird/one/attachment.txt", "x");
    let read = |path: &str| {
        let roots = folders.roots();
        finder(&roots, &[]).existing(path).unwrap().open().unwrap();
        roots.level.read()
    };
    let write = |path: &str, level| {
        let roots = Roots { level: Level::of_task(level, Trust::Owner), ..folders.roots() };
        finder(&roots, &[]).writable(path).unwrap().replace(b"y").unwrap();
    };
    assert_eq!(read("mine.txt"), Taint::Clean);
    assert_eq!(
        read("file_cache_dir/attachment.txt"),
        Taint::Raw,
        "what lies there came from others"
    );
    write("file_cache_dir/note.txt", Taint::Clean);
    assert_eq!(read("file_cache_dir/note.txt"), Taint::Clean, "the bot's own note did not");
    write("mine.txt", Taint::Derived);
    assert_eq!(read("mine.txt"), Taint::Derived);
    write("mine.txt", Taint::Clean);
    assert_eq!(read("mine.txt"), Taint::Derived, "it never falls");
    std::fs::rename(folders.at("work/mine.txt"), folders.at("work/moved.txt")).unwrap();
    assert_eq!(read("moved.txt"), Taint::Derived);
    let roots = folders.roots();
    let download = finder(&roots, &[]).writable("page.html").unwrap().foreign();
    let mut filling = download.begin(None).unwrap();
    filling.push(b"page").unwrap();
    filling.done().unwrap().commit().unwrap();
    assert_eq!(read("page.html"), Taint::Raw);
    let appending =
        Roots { level: Level::of_task(Taint::Derived, Trust::Owner), ..folders.roots() };
    finder(&appending, &[]).writable("log").unwrap().append(b"x", &stop(&folders)).unwrap();
    assert_eq!(read("log"), Taint::Derived);
}

/// The lists of the state folder hold the words of many, with a mark and without one.
#[test]
fn the_lists_of_all_are_nobodys_own() {
    let folders = Folders::new();
    for path in ["TODO.md", "TODO.DONE.md", "contacts/ACTIVE.md", "HEARTBEAT.md"] {
        folders.put(&format!("state/{path}"), "x");
        let roots = folders.roots();
        finder(&roots, &[]).existing(&format!("file_state_dir/{path}")).unwrap().open().unwrap();
        let all = if path == "HEARTBEAT.md" { Taint::Clean } else { Taint::Raw };
        assert_eq!(roots.level.read(), all, "{path}");
    }
    let (home, own, state) = (Path::new("/home/w"), Path::new("/s/cache/one"), Path::new("/s"));
    let roots = Roots {
        cache: "/s/cache".into(),
        own: own.into(),
        state: Some(state.into()),
        ..folders.roots()
    };
    for (cmd, all) in [
        ("cat /s/TODO.md", true),
        ("cd .. && cat Todo.md", true),
        ("cat /s/*", true),
        ("cat file_state_dir/contacts/ACTIVE.md", true),
        ("ls /s/cache/one", false),
        ("cargo test", false),
    ] {
        let level = of_command(cmd, home, &roots);
        assert_eq!(level == Taint::Raw, all, "{cmd}");
    }
    assert_eq!(of_command("cat x", state, &roots), Taint::Raw);
    assert_eq!(of_command("cat x", own, &roots), Taint::Clean);
    // What folders are called says nothing of what a command does.
    let named = Roots { own: "/s/urllib/one".into(), ..roots };
    for cmd in ["cat file_cache_dir/x", "cat /s/urllib/one/x"] {
        assert_eq!(of_command(cmd, home, &named), Taint::Clean, "{cmd}");
    }
}

#[test]
fn names_that_were_written_among_others_words_are_not_clean() {
    let folders = Folders::new();
    folders.put("work/mine.txt", "x");
    folders.put("cache/bird/one/attachment.txt", "x");
    for path in ["obey me/now.txt", "file_cache_dir/obey/now.txt"] {
        let roots =
            Roots { level: Level::of_task(Taint::Derived, Trust::Owner), ..folders.roots() };
        finder(&roots, &[]).writable(path).unwrap().replace(b"y").unwrap();
    }
    let name = |path: &str| {
        let roots = folders.roots();
        finder(&roots, &[]).existing(path).unwrap().saw_name();
        roots.level.read()
    };
    for path in ["obey me", "obey me/now.txt", "file_cache_dir/obey", "file_cache_dir/obey/now.txt"]
    {
        assert_eq!(name(path), Taint::Derived, "{path}");
    }
    assert_eq!(name("mine.txt"), Taint::Clean);
    assert_eq!(name("file_cache_dir/attachment.txt"), Taint::Raw, "its sender has called it so");
}

/// Words of somebody who is trusted less are others' to who reads them.
#[test]
fn what_somebody_less_trusted_wrote_is_others_words() {
    let folders = Folders::new();
    let of = |trust| Roots { level: Level::of_task(Taint::Clean, trust), ..folders.roots() };
    let read = |path: &str, reader| {
        let roots = of(reader);
        finder(&roots, &[]).existing(path).unwrap().open().unwrap();
        roots.level.read()
    };
    for path in ["sub/notes.txt", "file_cache_dir/notes.txt"] {
        finder(&of(Trust::Allowed), &[]).writable(path).unwrap().replace(b"x").unwrap();
        assert_eq!(read(path, Trust::Allowed), Taint::Clean, "{path}");
        assert_eq!(read(path, Trust::Owner), Taint::Raw, "{path}");
        finder(&of(Trust::Owner), &[]).writable(path).unwrap().replace(b"y").unwrap();
        assert_eq!(read(path, Trust::Owner), Taint::Raw, "{path}: it never falls");
    }
    for path in ["sub", "sub/notes.txt"] {
        let roots = of(Trust::Owner);
        finder(&roots, &[]).existing(path).unwrap().saw_name();
        assert_eq!(roots.level.read(), Taint::Raw, "{path}: its name, too");
    }
    let owner = of(Trust::Owner);
    let brings = |cmd| of_command(cmd, &folders.at("work/sub"), &owner);
    assert_eq!((brings("cat notes.txt"), brings("cat *")), (Taint::Raw, Taint::Raw));
    let old = std::fs::File::open(folders.put("work/old.txt", "x")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::fsetxattr(&old, "user.selkie.level", b"clean", flags).unwrap();
    assert_eq!(read("old.txt", Trust::Owner), Taint::Raw, "nobody can say for whom");
}

#[test]
fn deny_lists_name_files_folders_and_places() {
    let list: Vec<String> =
        ["diary.md", "notes/private", "/srv/x", "", "/"].map(str::to_owned).into();
    for (path, is) in [
        ("/a/diary.md", true),
        ("/a/diary.md/b", true),
        ("/a/my-diary.md", false),
        ("/a/notes/private/b", true),
        ("/a/notes/public", false),
        ("/srv/x/y", true),
        ("/srv/xy", false),
    ] {
        assert_eq!(denied(&list, Path::new(path)), is, "{path}");
    }
}

fn stop(folders: &Folders) -> Stop {
    Stop::of(&folders.scope(), CancellationToken::new())
}

#[test]
fn writing_is_whole_keeps_the_mode_and_spares_links() {
    let folders = Folders::new();
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    let mode = |p: &str| folders.at(p).metadata().unwrap().permissions().mode() & 0o777;

    find.writable("deep/er/new.txt").unwrap().replace(b"one").unwrap();
    find.writable("file_cache_dir/sub/new.txt").unwrap().append(b"two", &stop(&folders)).unwrap();
    find.writable("file_cache_dir/sub/new.txt").unwrap().append(b"!", &stop(&folders)).unwrap();
    assert_eq!(folders.get("work/deep/er/new.txt"), "one");
    assert_eq!(folders.get("cache/bird/one/sub/new.txt"), "two!");
    assert_eq!(mode("cache/bird/one/sub/new.txt"), 0o600);
    assert_eq!(mode("cache/bird/one/sub") & 0o007, 0);

    let script = folders.put("work/run.sh", "old");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o754)).unwrap();
    find.writable("run.sh").unwrap().replace(b"new").unwrap();
    assert_eq!((folders.get("work/run.sh").as_str(), mode("work/run.sh")), ("new", 0o754));

    std::fs::hard_link(&script, folders.at("outside/twin")).unwrap();
    for error in [
        find.writable("run.sh").unwrap().replace(b"bad").unwrap_err(),
        find.writable("run.sh").unwrap().append(b"bad", &stop(&folders)).unwrap_err(),
    ] {
        assert!(error.to_string().contains("hard links"), "{error}");
    }
    assert_eq!(folders.get("outside/twin"), "new");
    let left: Vec<_> = std::fs::read_dir(folders.at("work")).unwrap().flatten().collect();
    assert!(left.iter().all(|e| !e.file_name().to_string_lossy().ends_with(".tmp")));
}

/// A link put in place after the path was judged is not followed.
#[test]
fn a_swap_between_judging_and_opening_is_refused() {
    let folders = Folders::new();
    folders.put("outside/secret", "x");
    folders.put("work/d/file", "x");
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    let located = find.existing("d/file").unwrap();
    std::fs::rename(folders.at("work/d"), folders.at("work/e")).unwrap();
    symlink(folders.at("outside"), folders.at("work/d")).unwrap();
    symlink("secret", folders.at("outside/file")).unwrap();
    assert!(located.open().is_err());
    assert!(located.replace(b"bad").is_err());
    assert_eq!(folders.get("outside/secret"), "x");
}

/// A file of the bot that gets another name after the path was judged is not written either.
#[test]
fn what_is_closed_by_the_time_of_an_append_stays_as_it_is() {
    let folders = Folders::new();
    let config = folders.put("etc/bot.yaml", "llm: {}\n");
    folders.put("work/log", "x");
    let roots = folders.roots();
    let located = finder(&roots, &[]).writable("log").unwrap();
    std::fs::rename(config, folders.at("work/log")).unwrap();
    let error = located.append(b"bad", &stop(&folders)).unwrap_err();
    assert!(error.to_string().contains("the bot's own"), "{error}");
    assert_eq!(folders.get("work/log"), "llm: {}\n");
}

#[test]
fn a_pipe_is_refused_at_once() {
    let folders = Folders::new();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folders.at("work/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let roots = folders.roots();
    let located = finder(&roots, &[]).existing("pipe").unwrap();
    assert!(located.open().unwrap_err().to_string().contains("a pipe"));
    assert!(located.append(b"x", &stop(&folders)).is_err());
    assert!(located.replace(b"x").is_err());
}

proptest! {
    /// Whatever is written: what is found lies in a root, with no link or `..` left in it.
    #[test]
    fn what_is_found_lies_in_a_root(
        steps in prop::collection::vec(prop_oneof![
            Just("..".to_owned()), Just(".".to_owned()), Just("out".to_owned()),
            Just("in".to_owned()), Just("file_cache_dir".to_owned()),
            Just("file_state_dir".to_owned()), Just("bird".to_owned()), Just("two".to_owned()),
            Just("secret".to_owned()), Just(String::new()), "\\PC{1,6}",
        ], 1..7)
    ) {
        let folders = Folders::new();
        folders.put("outside/secret", "x");
        folders.put("cache/bird/two/secret", "x");
        symlink("../outside", folders.at("work/out")).unwrap();
        symlink(".", folders.at("work/in")).unwrap();
        let roots = folders.roots();
        let find = finder(&roots, &[]);
        let written = steps.join("/");
        for located in [find.existing(&written), find.writable(&written)].into_iter().flatten() {
            let real = located.real();
            let root = match located.zone {
                Zone::Own => folders.at("cache/bird/one"),
                Zone::Workspace => folders.at("work"),
                Zone::State => folders.at("state"),
                Zone::Elsewhere | Zone::Skills => unreachable!("nothing elsewhere is open"),
            };
            prop_assert!(real.starts_with(&root), "{written:?} → {real:?}");
            prop_assert!(real.components().all(|c| c != Component::ParentDir));
            prop_assert!(!real.is_symlink());
        }
    }
}

/// Whoever writes a repository's settings or hooks decides what git runs. Reading them is free.
#[test]
fn nothing_is_written_that_is_gits_own() {
    let folders = Folders::new();
    folders.put("work/.git/config", "x");
    folders.put("work/sub/.git/hooks/pre-commit", "x");
    symlink("sub/.git", folders.at("work/inner")).unwrap();
    symlink(".git/config", folders.at("work/settings")).unwrap();
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    for path in [
        ".git",
        ".git/config",
        ".git/hooks/new",
        ".GIT/config",
        "sub/.git/hooks/pre-commit",
        "sub/.Git/x",
        "new/.git",
        "./sub/../.git/config",
        "inner/hooks/pre-commit",
        "settings",
        ".g\u{200c}it/config",
        "git~1/config",
        ".git./config",
        ".git::$INDEX_ALLOCATION/config",
        "file_cache_dir/.git/config",
        "file_state_dir/.git/HEAD",
    ] {
        let said = says(find.writable(path));
        assert!(said.contains("denied for path") && said.contains("git's own"), "{path}: {said}");
    }
    for path in [".gitignore", ".github/x", "my.git/x", "git/config", "digit~1"] {
        assert!(find.writable(path).is_ok(), "{path}");
    }
    assert_eq!(says(find.existing(".git/config")), "Workspace .git/config");
}

/// A Mac writes `é` as two characters, and who types it elsewhere as one.
#[test]
fn a_name_is_found_in_whatever_form_its_letters_were_written() {
    let folders = Folders::new();
    folders.put("work/re\u{301}sume\u{301}/cafe\u{301}.txt", "x");
    folders.put("work/\u{e9}t\u{e9}.txt", "x");
    let roots = folders.roots();
    let find = finder(&roots, &[]);
    for (written, found) in [
        ("r\u{e9}sum\u{e9}/caf\u{e9}.txt", "Workspace re\u{301}sume\u{301}/cafe\u{301}.txt"),
        ("e\u{301}te\u{301}.txt", "Workspace \u{e9}t\u{e9}.txt"),
        ("\u{e9}t\u{e9}.txt", "Workspace \u{e9}t\u{e9}.txt"),
    ] {
        assert_eq!(says(find.existing(written)), found);
        assert_eq!(says(find.writable(written)), found, "a second one is not made beside it");
    }
    assert_eq!(says(find.writable("n\u{e9}.txt")), "Workspace n\u{e9}.txt");
    assert_eq!(says(find.existing("n\u{e9}.txt")), "no such file: n\u{e9}.txt");
}
