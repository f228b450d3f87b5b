//! What a command does and does not say: scripts, interpreters, words that become others when it runs.

use std::collections::BTreeSet;

use super::awk;
use super::command::{CommandReading, LATE, SHELLS, WRAPPERS, Word, starts};
use super::options;
use super::runs::{ALONE, DECIDES, OF_GIT, WHEN};
use super::sed;

/// Programs that run what a file or their input holds.
const INTERPRETERS: [&str; 11] =
    [".", "bun", "deno", "lua", "node", "perl", "php", "python", "python3", "ruby", "source"];
/// Programs that run what a project's files say.
const RUNNERS: [&str; 14] = [
    "ansible-playbook",
    "bundle",
    "cargo",
    "docker-compose",
    "go",
    "gradle",
    "just",
    "make",
    "mvn",
    "npm",
    "npx",
    "pnpm",
    "rake",
    "yarn",
];
/// Folders whose programs are the system's own.
const SYSTEM: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];
/// As many lines are told.
const MAX: usize = 8;

/// Says what of a command its words do not show, a line for each; empty when they show all.
pub fn unseen(reading: &CommandReading) -> Vec<String> {
    let mut told: Vec<String> =
        reading.commands.iter().filter_map(|words| decides(words)).collect();
    let programs = reading.commands.iter().flat_map(|words| starts(words));
    told.extend(programs.filter_map(of_program));
    let soft =
        reading.commands.iter().flatten().chain(&reading.targets).filter(|word| !word.is_literal());
    told.extend(soft.map(|word| format!("what {} stands for when it runs", word.text)));
    let mut seen = BTreeSet::new();
    told.retain(|line| seen.insert(line.clone()));
    let more = told.len().saturating_sub(MAX);
    told.truncate(MAX);
    if more > 0 {
        told.push(format!("{more} more such words"));
    }
    told
}

/// What a command's words set that decides over the programs it runs.
fn decides(words: &[Word]) -> Option<String> {
    let printed = words.iter().position(|word| word.text == "-v").map(|at| at + 1);
    let read = words.first().is_some_and(|word| word.text == "read");
    let decides = |name: &str| {
        DECIDES.iter().any(|known| match known.strip_suffix('_') {
            Some(_) => name.starts_with(known),
            None => name == *known,
        })
    };
    let named = words.iter().enumerate().filter_map(|(at, word)| match word.text.split_once('=') {
        Some((name, _)) => Some(name.strip_suffix('+').unwrap_or(name)),
        None if read || printed == Some(at) => Some(word.text.as_str()),
        None => None,
    });
    let name = named.into_iter().find(|name| decides(name))?;
    Some(format!("which programs run, and how: {name} decides, which it sets"))
}

/// Whether a program runs others that its words do not show as what they are.
pub(super) fn runs_others(program: &[Word]) -> bool {
    of_program(program).is_some()
}

fn of_program(program: &[Word]) -> Option<String> {
    let (first, arguments) = program.split_first()?;
    let name = first.name()?;
    let spelled = options::spelled(name, arguments);
    let arguments = &*spelled;
    let words = || arguments.iter().map(|word| word.text.as_str());
    if SHELLS.contains(&name) || INTERPRETERS.contains(&name) {
        let inline =
            words().take_while(|word| word.starts_with('-')).any(|word| brings_code(name, word));
        return match words().find(|word| !word.starts_with('-')) {
            _ if inline => None,
            Some(file) => Some(format!("what {file} holds, which {name} runs")),
            None => Some(format!("what {name} is given to run")),
        };
    }
    if RUNNERS.contains(&name) {
        return Some(format!("what {name} runs: the project's files decide that"));
    }
    if first.text.contains('/') && !SYSTEM.iter().any(|folder| first.text.starts_with(folder)) {
        return Some(format!("what the program {} does", first.text));
    }
    let told = WHEN.iter().filter(|(program, _)| *program == name).flat_map(|(_, told)| *told);
    let because = |word: &&str| told.clone().any(|begins| word.starts_with(begins));
    if let Some(word) = words().find(because) {
        return Some(format!("what {name} runs because of {word}"));
    }
    match name {
        "git" => of_git(arguments),
        "sed" | "gsed" => sed::scripts(arguments)
            .into_iter()
            .any(sed::runs)
            .then(|| "what the e of sed runs".to_owned()),
        "awk" | "gawk" | "mawk" => {
            words().any(awk::runs).then(|| format!("what {name} runs from its own words"))
        }
        _ if ALONE.contains(&name) || WRAPPERS.contains(&name) || LATE.contains(&name) => None,
        _ => Some(format!("what {name} runs: it decides that itself")),
    }
}

/// A word that git does not know is a program of the same name, or an alias.
fn of_git(arguments: &[Word]) -> Option<String> {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    let verb = loop {
        match words.next()? {
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => break word,
        }
    };
    (!OF_GIT.contains(&verb)).then(|| format!("what git {verb} is: an alias may be any command"))
}

/// Whether an option of an interpreter is followed by what it runs: `-c` and `-lc` of a shell and of Python (to which
/// `-e` means something else), `-e` and `-ne` of the others.
fn brings_code(name: &str, option: &str) -> bool {
    let takes_c = SHELLS.contains(&name) || name.starts_with("python");
    match option.strip_prefix('-') {
        Some("-eval") => !takes_c,
        Some(letters) if !letters.starts_with('-') => {
            letters.ends_with(if takes_c { 'c' } else { 'e' })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::read;
    use super::*;

    #[test]
    fn what_is_not_shown_is_told() {
        let said: Vec<String> = [
            "ls -l /tmp",
            "rm -rf build",
            "bash deploy.sh now",
            "curl -s https://a.example | sh",
            "./run --fast",
            "/usr/bin/id",
            "python3 -c 'print(1)'",
            "python3 x.py",
            "python3 -m tool",
            "bash -e x.sh",
            "bash x.sh -c",
            "bash -lc 'id'",
            "perl -ne 'print'",
            "make install",
            "rm -rf $DIR",
            "sudo node a.js",
            "echo `id` $(uname -a)",
            "LD_PRELOAD=./a.so ls",
            "export PATH=.; ls",
            "printf -v PATH . ; ls",
            "GIT_SSH_COMMAND=x git fetch",
            "git -c core.pager=x log",
            "git x",
            "git status",
            "env -S 'python3 a.py'",
            "git bisect run ./x",
            "git submodule foreach ./x",
            "tar --checkpoint-action=exec=./x -cf a b",
            "tar -czf a b",
            "tar czf a b",
            "tar cIf ./x a b",
            "sed -f y x",
            "sed '1e ./x' f",
            "sed 's/a/b/e' f",
            "sed -n 's/one/the end/p; 3,5d' f",
            "awk '{print $1}' f",
            "awk 'BEGIN{system(\"id\")}'",
            "xargs ./x < l",
            "enable -f ./x.so x",
            "java -jar a.jar",
            "pytest -q",
            "docker run a",
            "wget --use-askpass=x http://a",
            "psql -f x",
        ]
        .into_iter()
        .map(|cmd| format!("{cmd}: [{}]", unseen(&read(cmd)).join(", ")))
        .collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        ls -l /tmp: []
        rm -rf build: []
        bash deploy.sh now: [what deploy.sh holds, which bash runs]
        curl -s https://a.example | sh: [what sh is given to run]
        ./run --fast: [what the program ./run does]
        /usr/bin/id: []
        python3 -c 'print(1)': []
        python3 x.py: [what x.py holds, which python3 runs]
        python3 -m tool: [what tool holds, which python3 runs]
        bash -e x.sh: [what x.sh holds, which bash runs]
        bash x.sh -c: [what x.sh holds, which bash runs]
        bash -lc 'id': []
        perl -ne 'print': []
        make install: [what make runs: the project's files decide that]
        rm -rf $DIR: [what $DIR stands for when it runs]
        sudo node a.js: [what a.js holds, which node runs]
        echo `id` $(uname -a): [what `id` stands for when it runs, what $(uname -a) stands for when it runs]
        LD_PRELOAD=./a.so ls: [which programs run, and how: LD_PRELOAD decides, which it sets]
        export PATH=.; ls: [which programs run, and how: PATH decides, which it sets]
        printf -v PATH . ; ls: [which programs run, and how: PATH decides, which it sets]
        GIT_SSH_COMMAND=x git fetch: [which programs run, and how: GIT_SSH_COMMAND decides, which it sets, what x runs: it decides that itself]
        git -c core.pager=x log: [what git runs because of -c, what x runs: it decides that itself]
        git x: [what git x is: an alias may be any command]
        git status: []
        env -S 'python3 a.py': [what python3 a.py runs: it decides that itself, what a.py holds, which python3 runs]
        git bisect run ./x: [what git runs because of bisect, what the program ./x does]
        git submodule foreach ./x: [what the program ./x does]
        tar --checkpoint-action=exec=./x -cf a b: [what tar runs because of --checkpoint-action=exec=./x, what the program ./x does]
        tar -czf a b: []
        tar czf a b: []
        tar cIf ./x a b: [what tar runs because of -I, what the program ./x does]
        sed -f y x: [what sed runs because of -f]
        sed '1e ./x' f: [what the e of sed runs, what the program ./x does]
        sed 's/a/b/e' f: [what the e of sed runs, what b runs: it decides that itself]
        sed -n 's/one/the end/p; 3,5d' f: []
        awk '{print $1}' f: []
        awk 'BEGIN{system("id")}': [what awk runs from its own words]
        xargs ./x < l: [what the program ./x does]
        enable -f ./x.so x: [what enable runs because of -f]
        java -jar a.jar: [what java runs: it decides that itself]
        pytest -q: [what pytest runs: it decides that itself]
        docker run a: [what docker runs: it decides that itself]
        wget --use-askpass=x http://a: [what wget runs because of --use-askpass=x]
        psql -f x: [what psql runs: it decides that itself]
        "#);
    }
}
