//! The cases as the Markdown parser's own package ships them for its tests: they are not copied here, their licence is
//! another.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Files of cases, and how the names of theirs begin.
const FILES: [(&str, &str); 4] = [
    ("spec.rs", "spec"),
    ("gfm_table.rs", "table"),
    ("gfm_strikethrough.rs", "strike"),
    ("gfm_tasklist.rs", "task"),
];

/// Where selkie reads otherwise than CommonMark, and what CommonMark has no cases of.
const OWN: [(&str, &str); 14] = [
    ("**「重要」**です", "<p><strong>「重要」</strong>です</p>"),
    ("これは**「重要」**です。", "<p>これは<strong>「重要」</strong>です。</p>"),
    ("**注意：**必ず", "<p><strong>注意：</strong>必ず</p>"),
    ("**Status:**OK", "<p><strong>Status:</strong>OK</p>"),
    ("~~「旧」~~です", "<p><del>「旧」</del>です</p>"),
    ("see __init__.py, __main__.py", "<p>see __init__.py, __main__.py</p>"),
    ("a.__class__ and __dict__()", "<p>a.__class__ and __dict__()</p>"),
    (r"so \(a_1 * b_2 * c\)", r"<p>so <code>\(a_1 * b_2 * c\)</code></p>"),
    (r"$$\frac{a}{b}$$ is", r"<p><code>$$\frac{a}{b}$$</code> is</p>"),
    (r"\[ x_1 < x_2 \]", r"<p><code>\[ x_1 &lt; x_2 \]</code></p>"),
    ("a<br>b", "<p>a<br />b</p>"),
    ("````\n```\nx\n```\n````", "<pre><code>```\nx\n```\n</code></pre>"),
    (
        "| a | b |\n|---|---|\n| x<br>y | `p \\| q` |",
        "<table><tr><td>a</td><td>b</td></tr><tr><td>x y</td><td>p | q</td></tr></table>",
    ),
    (
        "| a | b |\n|---|---|\n| x | a cell that is wider than the line of any phone is |",
        "<p><strong>a:</strong> x<br /><strong>b:</strong> a cell that is wider than the line of any phone is</p>",
    ),
];

/// A piece of Markdown and what it means.
pub struct Case {
    /// `spec-17`.
    pub name: String,
    pub markdown: String,
    pub html: String,
}

impl Case {
    /// No platform has tables: rows are lines, whether they are aligned as code or not.
    pub fn is_table(&self) -> bool {
        self.html.contains("<table>") && !self.markdown.contains("<table>")
    }
}

/// Reads all cases.
pub fn all() -> Vec<Case> {
    let folder = package().join("tests/suite");
    let of = |(file, prefix): (&str, &str)| {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let cases = text.split("let original = r##\"").skip(1).enumerate();
        cases.map(|(n, text)| case(&format!("{prefix}-{}", n + 1), text)).collect::<Vec<_>>()
    };
    let own = OWN.iter().enumerate().map(|(n, (markdown, html))| Case {
        name: format!("own-{}", n + 1),
        markdown: (*markdown).to_owned(),
        html: (*html).to_owned(),
    });
    FILES.into_iter().flat_map(of).chain(own).collect()
}

fn case(name: &str, text: &str) -> Case {
    let mut literals = text.split("\"##;");
    let markdown = literals.next().expect("Markdown").to_owned();
    let html = literals.next().and_then(|text| text.split_once("r##\""));
    let html = html.expect("HTML").1.to_owned();
    Case { name: name.to_owned(), markdown, html }
}

/// Where cargo has put the parser that the channels use.
fn package() -> PathBuf {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let told: Value = serde_json::from_slice(&told.stdout).expect("cargo's metadata");
    let all = told["packages"].as_array().expect("packages");
    let ours = all.iter().find(|package| {
        let version = package["version"].as_str().unwrap_or_default();
        package["name"] == "pulldown-cmark" && version.starts_with("0.13.")
    });
    let manifest = ours.and_then(|package| package["manifest_path"].as_str()).expect("the parser");
    Path::new(manifest).parent().expect("a folder").to_owned()
}
