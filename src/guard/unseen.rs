//! What a command does that its words do not show: scripts, and words that become others when it runs.

use std::collections::BTreeSet;

use super::plain::{PlainLine, PlainWord};

/// Programs that run what a file holds.
const INTERPRETERS: [&str; 12] = [
    ".", "bash", "bun", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "source",
];
/// As many lines are told.
const MAX: usize = 8;

/// Says what of a command its words do not show, a line for each; empty when they show all.
pub fn unseen(line: &PlainLine) -> Vec<String> {
    let shows = |c: char| c.is_alphanumeric() || "$`*?".contains(c);
    let soft = line.words().filter(|word| !word.is_plain && word.text.contains(shows));
    let soft = soft.map(|word| format!("what {} stands for when it runs", word.text));
    let mut seen = BTreeSet::new();
    let mut told: Vec<String> = line.programs().filter_map(of_script).chain(soft).collect();
    told.retain(|line| seen.insert(line.clone()));
    let more = told.len().saturating_sub(MAX);
    told.truncate(MAX);
    if more > 0 {
        told.push(format!("{more} more such words"));
    }
    told
}

fn of_script(words: &[PlainWord]) -> Option<String> {
    let [program, file, ..] = words else { return None };
    let runs = program.is_one_of(&INTERPRETERS) && !file.text.starts_with('-');
    runs.then(|| format!("what {} holds, which {} runs", file.text, program.text))
}

#[cfg(test)]
mod tests {
    use super::super::plain::read;
    use super::*;

    #[test]
    fn what_is_not_shown_is_told() {
        let said: Vec<String> = [
            "rm -rf build",
            "bash deploy.sh now",
            "python3 -c 'print(1)'",
            "sudo node a.js | wc",
            "for f in *; do [[ -f $f ]] && rm -rf \"$DIR/$f\"; done",
            "echo `id` $(uname -a)",
        ]
        .into_iter()
        .map(|cmd| format!("{cmd}: [{}]", unseen(&read(cmd)).join(", ")))
        .collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        rm -rf build: []
        bash deploy.sh now: [what deploy.sh holds, which bash runs]
        python3 -c 'print(1)': []
        sudo node a.js | wc: [what a.js holds, which node runs]
        for f in *; do [[ -f $f ]] && rm -rf "$DIR/$f"; done: [what * stands for when it runs, what $f stands for when it runs, what $DIR/$f stands for when it runs]
        echo `id` $(uname -a): [what $(…) stands for when it runs]
        "#);
        assert_eq!(unseen(&read(&(0..20).map(|n| format!("$x{n} ")).collect::<String>())).len(), 9);
    }
}
