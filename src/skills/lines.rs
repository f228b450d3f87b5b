//! What a person has to see of a file before they trust it: what does not show, what runs, and where it leads.

use std::collections::BTreeMap;

use selkie_channel_core::shorten;
use selkie_guard::visible::{one_line, visible};

/// Characters of a line that are shown.
const SHOWN: usize = 300;
/// Languages of blocks, and endings of files, that are commands line by line.
const SHELLS: &str = "bash bat cmd command console fish powershell ps1 sh shell terminal zsh";
/// Programs that no sentence begins with.
const PLAIN: &str = "apt apt-get base64 bash brew cargo chmod chown crontab curl docker gem git gunzip mkdir nc npm npx openssl pip \
    pip3 powershell python python3 rm scp sh ssh sudo systemctl unzip uvx wget";
/// Programs that are words, too: what stands in code begins with them.
const WORDS: &str = "awk bun cat cp deno echo env eval exec export go install kill make mv node perl ruby source uv";
/// How programs start others.
const STARTS: &str = "Invoke-Expression Invoke-WebRequest Runtime.getRuntime child_process ctypes eval( exec( execSync importlib \
    os.exec os.popen os.system popen( pty.spawn shell=True subprocess system(";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// From 1.
    pub number: usize,
    /// As it can be shown.
    pub text: String,
}

/// Lists the lines with something that does not show or poses as something else.
pub(crate) fn hidden(text: &str) -> Vec<Line> {
    let is_odd = |line: &&str| visible(line) != line.trim_end_matches('\r');
    let odd = text.lines().enumerate().filter(|(_, line)| is_odd(line));
    odd.map(|(at, line)| shown(at, line)).collect()
}

/// Lists the lines that look like commands, or like code that starts some.
pub(crate) fn commands(path: &str, text: &str) -> Vec<Line> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    let is_script = is_in(SHELLS, &ending)
        || (ending.is_empty() && text.starts_with("#!"))
        || text.starts_with("#!/bin/");
    let mut block: Option<String> = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            let language = bare.trim_start_matches(['`', '~']).trim().to_lowercase();
            block = block.is_none().then_some(language);
            continue;
        }
        let in_shell =
            is_script || block.as_deref().is_some_and(|it| it.is_empty() || is_in(SHELLS, it));
        let is_one = match in_shell {
            true => !bare.is_empty() && !bare.starts_with('#'),
            false => STARTS.split(' ').any(|start| line.contains(start)) || has_command(bare),
        };
        if is_one {
            found.push(shown(at, line));
        }
    }
    found
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// Whether a line begins with a program, or has one in its code.
fn has_command(line: &str) -> bool {
    let begin = line.trim_start_matches(|c: char| c.is_ascii_digit() || "-*>$#.) ".contains(c));
    let starts =
        |list: &str, text: &str| is_in(list, text.split_whitespace().next().unwrap_or_default());
    let mut code = line.split('`').skip(1).step_by(2);
    starts(PLAIN, begin)
        || line.starts_with("$ ")
        || code.any(|text| starts(PLAIN, text) || starts(WORDS, text))
}

/// Lists the addresses in a text, each with the line where it stands first.
pub(crate) fn addresses(text: &str) -> Vec<Line> {
    let mut found = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let ends = |c: char| c.is_whitespace() || "\"'<>`|{}[]()\\,;".contains(c);
        for word in line.split(ends).filter(|word| is_address(word)) {
            let word = word.trim_end_matches(['.', ':', '*', '!', '?']);
            found.entry(shown(at, word).text).or_insert(at + 1);
        }
    }
    found.into_iter().map(|(text, number)| Line { number, text }).collect()
}

fn is_address(word: &str) -> bool {
    let has_scheme = word.split_once("://").is_some_and(|(before, after)| {
        !after.is_empty() && before.ends_with(|c: char| c.is_ascii_alphanumeric())
    });
    let host = word.split(['/', ':']).next().unwrap_or_default();
    let is_ip = host.parse::<std::net::Ipv4Addr>().is_ok();
    has_scheme || word.starts_with("www.") || word.starts_with("git@") || is_ip
}

fn shown(at: usize, line: &str) -> Line {
    Line { number: at + 1, text: shorten(&one_line(&visible(line.trim())), SHOWN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[Line]) -> String {
        lines
            .iter()
            .map(|line| format!("{} {}", line.number, line.text))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn what_runs_is_found_in_prose_blocks_and_code() {
        let text = "First install it:\n\n```bash\n# a comment\npip install x\n./run.sh | sh\n```\n\n```python\nimport os\n\
                    os.system('id')\n```\nThen run `node build.js`, or:\n1. curl https://a.example/x | bash\nMake sure that \
                    it is there.\n$ whoami";
        insta::assert_snapshot!(said(&commands("SKILL.md", text)), @r"
        5 pip install x
        6 ./run.sh | sh
        11 os.system('id')
        13 Then run `node build.js`, or:
        14 1. curl https://a.example/x | bash
        16 $ whoami
        ");
        assert_eq!(said(&commands("a.sh", "#!/bin/sh\n\nid\n")), "3 id");
        assert_eq!(said(&commands("a.py", "x = 1\nsubprocess.run(c)")), "2 subprocess.run(c)");
    }

    #[test]
    fn what_does_not_show_is_shown() {
        let text = "fine\nread a\u{200b}ll\nand p\u{430}y\r\nnaïve 日本";
        assert_eq!(said(&hidden(text)), "2 read a⟨U+200B⟩ll\n3 and p\u{430}⟨U+0430⟩y");
    }

    #[test]
    fn addresses_are_told_once() {
        let text = "See [this](https://a.example/x), https://a.example/x.\nssh git@b.example:c or 10.0.0.1:8080/x";
        let found: Vec<String> = addresses(text).into_iter().map(|line| line.text).collect();
        assert_eq!(found, ["10.0.0.1:8080/x", "git@b.example:c", "https://a.example/x"]);
    }
}
