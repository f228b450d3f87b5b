//! What a command does and does not say: scripts, interpreters, words that become others when it runs.

use super::command::{Reading, SHELLS, starts};

/// Programs that run what a file or their input holds.
const INTERPRETERS: [&str; 13] = [
    ".", "awk", "bun", "deno", "gawk", "lua", "node", "perl", "php", "python", "python3", "ruby",
    "source",
];
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
const MOST: usize = 8;

/// Says what of a command its words do not show, a line for each; empty when they show all.
pub fn unseen(reading: &Reading) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for program in reading.commands.iter().flat_map(|words| starts(words)) {
        let Some((first, arguments)) = program.split_first() else { continue };
        let Some(name) = first.name() else { continue };
        let words = || arguments.iter().map(|word| word.text.as_str());
        let file = || words().find(|word| !word.starts_with('-'));
        let inline =
            words().take_while(|word| word.starts_with('-')).any(|word| brings_code(name, word));
        if SHELLS.contains(&name) || INTERPRETERS.contains(&name) {
            match file() {
                _ if inline => {}
                Some(file) => told.push(format!("what {file} holds, which {name} runs")),
                None => told.push(format!("what {name} is given to run")),
            }
        } else if RUNNERS.contains(&name) {
            told.push(format!("what {name} runs: it stands in the project's files"));
        } else if first.text.contains('/')
            && !SYSTEM.iter().any(|folder| first.text.starts_with(folder))
        {
            told.push(format!("what the program {} does", first.text));
        }
    }
    let soft =
        reading.commands.iter().flatten().chain(&reading.targets).filter(|word| !word.is_literal());
    told.extend(soft.map(|word| format!("what {} stands for when it runs", word.text)));
    told.dedup();
    let more = told.len().saturating_sub(MOST);
    told.truncate(MOST);
    if more > 0 {
        told.push(format!("{more} more such words"));
    }
    told
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
        ]
        .into_iter()
        .map(|cmd| format!("{cmd}: [{}]", unseen(&read(cmd)).join(", ")))
        .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
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
        make install: [what make runs: it stands in the project's files]
        rm -rf $DIR: [what $DIR stands for when it runs]
        sudo node a.js: [what a.js holds, which node runs]
        ");
    }
}
