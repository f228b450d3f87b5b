//! `read_file`: a page of a text file or a notebook, its lines numbered; pages of a document; of an image, what it is.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use selkie_documents::{MAX_FILE, encoding, may_be_document};

use super::blocking::{on_disk, refused};
use super::document_page::{self, DocumentRange};
use super::documents::{DocumentFile, DocumentReader};
use super::page::{MAX_COUNTED, Page, PageRange, read};
use super::whole::{self, MAX_WHOLE};
use super::{image, notebook, picture, sniff};
use crate::args::typed;
use crate::isolate::Isolate;
use crate::paths::{Finder, Kind, Location, Stop};
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};
use selkie_domain::transcript::Picture;

const NAME: &str = "read_file";
/// Room for the trailer and notes beside the page.
const TRAILER: usize = 1024;

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("file_read"), OtherName::plain("read")];

/// `tools.read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ReadFile")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// Bytes of one page.
    #[schemars(range(min = 1024, max = 524_288))]
    pub max_page_bytes: usize,
    /// Names (`secrets.txt`) and paths (`/srv/private`, `notes/private`) that it never opens.
    pub deny_paths: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, max_page_bytes: 50 * 1024, deny_paths: Vec::new() }
    }
}

/// The tool.
pub(crate) struct ReadFile {
    settings: Settings,
    documents: DocumentReader,
    /// One picture at a time is in memory.
    pictures: Semaphore,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Absolute, relative to the workspace, `file_cache_dir/…` or `file_state_dir/…`.
    path: String,
    /// Line.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// Lines.
    #[schemars(range(min = 1, max = 100_000))]
    limit: Option<u64>,
    /// Of a document: `3`, `3-5`, a sheet's name.
    page: Option<String>,
}

impl ReadFile {
    pub(crate) fn new(settings: &Settings, isolate: &Arc<dyn Isolate>) -> Self {
        Self {
            settings: settings.clone(),
            documents: DocumentReader { isolate: Arc::clone(isolate) },
            pictures: Semaphore::new(1),
        }
    }
}

#[async_trait]
impl Handler for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Read a text file, lines numbered, or a document by pages; the last line says how to go on. \
                          Notebooks come as cells, images as pictures. For folders use list_files."
                .to_owned(),
            group: "files",
            sources: &["S3", "S0", "S1", "S2", "S4"],
            doing: "reading a file",
            also: Also::called(ALSO),
            max_output: self.settings.max_page_bytes + TRAILER,
            ..spec::<Args>(NAME, Class::Read, Recovery::NotTwice)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { path, offset, limit, page } = typed(args)?;
        let offset = offset.unwrap_or(1);
        let limit = limit.unwrap_or(2_000);
        let max_bytes = self.settings.max_page_bytes;
        let wanted = PageRange { offset, limit, max_bytes, max_counted: MAX_COUNTED };
        let is_document = page.is_some();
        let roots = scope.roots.clone();
        let deny = self.settings.deny_paths.clone();
        let content = on_disk(scope, move |stop| {
            let located = Finder { tool: NAME, roots: &roots, deny: &deny }.existing(&path)?;
            if is_document { document(&located) } else { open(&located, wanted, stop) }
        })
        .await?;
        match content {
            Content::Page(page) => Ok(Output::outside(with_trailer(page, wanted)?)),
            Content::Drawing(what, page) => {
                let source = with_trailer(page, wanted)?;
                Ok(Output::outside(format!("{what} This is its source:\n{source}")))
            }
            Content::Document(name, bytes) => {
                let file = DocumentFile { bytes, name: &name, own: &scope.roots.own };
                let told = |error: ToolError| match error {
                    ToolError::Tell(why) => ToolError::Tell(format!("{name}: {why}")),
                    other => other,
                };
                let pdf = file.bytes.starts_with(b"%PDF").then(|| file.bytes.clone());
                let document = self.documents.read(file).await.map_err(told)?;
                let wanted = DocumentRange { page, offset, limit, max_bytes };
                let mut scanned = Vec::new();
                let mut text = document_page::shown(&document, &wanted, &mut scanned)?;
                let mut pictures = Vec::new();
                if let Some(pdf) = pdf.filter(|_| !scanned.is_empty()) {
                    let _one = self.pictures.acquire().await;
                    let own = &scope.roots.own;
                    pictures = self.documents.scans(&pdf, &scanned, own, &mut text).await;
                }
                Ok(Output { pictures, ..Output::outside(text) })
            }
            Content::Image(what, file) => match self.picture(scope, file).await {
                Ok(picture) => Ok(Output { pictures: vec![picture], ..Output::outside(what) }),
                Err(why) => Ok(Output::outside(format!("{what} It cannot be shown: {why}."))),
            },
        }
    }
}

impl ReadFile {
    /// Keeps a picture for the model. A picture that cannot be shown is still described.
    async fn picture(&self, scope: &Scope, file: File) -> Result<Picture, ToolError> {
        let _one = self.pictures.acquire().await;
        let bytes = on_disk(scope, move |_| {
            let mut bytes = Vec::new();
            match file.take(picture::LARGEST + 1).read_to_end(&mut bytes) {
                Ok(_) if bytes.len() as u64 <= picture::LARGEST => Ok(bytes),
                Ok(_) => Err(ToolError::tell("it is larger than 64 MiB")),
                Err(e) => Err(ToolError::tell(e.to_string())),
            }
        });
        picture::kept(bytes.await?, &scope.roots.own, &*self.documents.isolate).await
    }
}

/// What a file shows.
enum Content {
    Page(Page),
    /// What it is, in words, and its source.
    Drawing(String, Page),
    /// What it is, in words, and the file.
    Image(String, File),
    /// Its path, and its bytes.
    Document(String, Vec<u8>),
}

/// Reads a file that is wanted as a document.
fn document(located: &Location) -> Result<Content, ToolError> {
    let shown = located.shown();
    let fault = |e: io::Error| refused(&shown, &e);
    let size = located.kind().map_err(fault)?.1;
    if size > MAX_FILE {
        let most = MAX_FILE / 1024 / 1024;
        return Err(ToolError::tell(format!(
            "{shown} is too large to be read as a document ({size} bytes > {most} MiB max)"
        )));
    }
    let mut bytes = Vec::new();
    located.open().map_err(fault)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fault)?;
    Ok(Content::Document(shown, bytes))
}

fn open(located: &Location, wanted: PageRange, stop: &Stop) -> Result<Content, ToolError> {
    let shown = located.shown();
    let fault = |e: io::Error| refused(&shown, &e);
    let (kind, size) = located.kind().map_err(fault)?;
    if kind == Kind::Folder {
        return Err(ToolError::tell(format!("{shown} is a directory: use list_files")));
    }
    if shown.ends_with(".ipynb") && size <= MAX_WHOLE {
        let bytes = whole::content(located)?.unwrap_or_default();
        // A file that only calls itself a notebook is shown as it is.
        if let Ok(cells) = notebook::shown(&bytes) {
            return read(cells.as_bytes(), wanted, || stop.check())
                .map_err(fault)
                .map(Content::Page);
        }
    }
    let mut file = located.open().map_err(fault)?;
    let mut head = Vec::new();
    file.by_ref().take(sniff::HEAD as u64).read_to_end(&mut head).map_err(fault)?;
    if let Some(what) = image::described(&head, |at, len| piece(&file, at, len)) {
        file.rewind().map_err(fault)?;
        return Ok(Content::Image(format!("{shown} is a {what}, {size} bytes."), file));
    }
    if may_be_document(&head, &shown) {
        return document(located);
    }
    if let Some(what) = sniff::binary(&head) {
        if what == sniff::UNKNOWN && encoding::is_wide(&head) {
            return decoded(located, wanted, stop);
        }
        return Err(ToolError::tell(format!(
            "{shown} is {what} ({size} bytes), not text: it cannot be read here"
        )));
    }
    file.rewind().map_err(fault)?;
    let stream = BufReader::with_capacity(64 * 1024, file);
    let page = read(stream, wanted, || stop.check()).map_err(fault)?;
    if page.broken && size <= MAX_WHOLE {
        return decoded(located, wanted, stop);
    }
    Ok(match image::drawing(&head).filter(|_| wanted.offset == 1) {
        Some(what) => Content::Drawing(format!("{shown} is an {what}, {size} bytes."), page),
        None => Content::Page(page),
    })
}

/// Reads a page of text that is not UTF-8.
fn decoded(located: &Location, wanted: PageRange, stop: &Stop) -> Result<Content, ToolError> {
    let bytes = whole::content(located)?.unwrap_or_default();
    let decoded = encoding::decode(&bytes);
    let text = decoded.text.trim_start_matches('\u{feff}');
    let mut page = read(text.as_bytes(), wanted, || stop.check())
        .map_err(|e| refused(&located.shown(), &e))?;
    page.broken = decoded.is_broken;
    page.encoding = decoded.foreign();
    Ok(Content::Page(page))
}

/// Reads bytes at a place, as many as there are.
fn piece(file: &File, at: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    let read = file.read_at(&mut bytes, at).ok()?;
    bytes.truncate(read);
    Some(bytes)
}

fn with_trailer(page: Page, wanted: PageRange) -> Result<String, ToolError> {
    if page.lines == 0 {
        return Ok("(the file is empty)".to_owned());
    }
    if page.last < wanted.offset {
        return Err(ToolError::tell(format!(
            "offset {} is behind the end: the file has {} lines",
            wanted.offset, page.lines
        )));
    }
    let mut text = page.text;
    let rest = !page.whole || page.last < page.lines;
    if rest || wanted.offset > 1 {
        let first = wanted.offset;
        let last = page.last;
        let all = if page.whole { page.lines.to_string() } else { "more".to_owned() };
        let next =
            if rest { format!(" Use offset={} to continue.", last + 1) } else { String::new() };
        text.push_str(&format!("[Showing lines {first}-{last} of {all}.{next}]\n"));
    }
    if let Some(encoding) = page.encoding {
        text.push_str(&format!("[It was decoded from {encoding}.]\n"));
    }
    if page.broken {
        let encoding = page.encoding.unwrap_or("UTF-8");
        text.push_str(&format!(
            "[Not all of it is {encoding}: broken bytes are shown as \u{fffd}.]\n"
        ));
    }
    text.pop();
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::isolate::InProcess;
    use crate::testkit::Folders;

    fn tool(settings: &Settings) -> ReadFile {
        let isolate: Arc<dyn Isolate> = Arc::new(InProcess);
        ReadFile::new(settings, &isolate)
    }

    async fn call(folders: &Folders, args: Value) -> String {
        let settings = Settings {
            deny_paths: vec!["diary".to_owned()],
            max_page_bytes: 1024,
            ..Default::default()
        };
        match tool(&settings).call(&folders.scope(), args).await {
            Ok(output) => {
                assert!(output.untrusted, "a file holds other people's words");
                output.text
            }
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn a_scanned_page_comes_as_its_picture() {
        let folders = Folders::new();
        let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/office/scanned.pdf");
        folders.put("work/scanned.pdf", std::fs::read(seed).unwrap());
        let tool = tool(&Settings::default());
        let answer = tool.call(&folders.scope(), json!({"path": "scanned.pdf"})).await.unwrap();
        assert!(
            answer.text.ends_with("[A picture of page 2 comes with this answer.]"),
            "{}",
            answer.text
        );
        let [picture] = &answer.pictures[..] else { panic!("{:?}", answer.pictures) };
        assert_eq!(picture.mime, "image/png");
        assert!(std::fs::read(&picture.path).unwrap().starts_with(b"\x89PNG"));
    }

    #[tokio::test]
    async fn it_shows_lines_and_says_what_it_does_not_show() {
        let folders = Folders::new();
        folders.put("work/three", "one\ntwo\r\nthree");
        folders.put("work/empty", "");
        folders.put("work/latin", b"caf\xe9\n");
        folders.put("work/image.png", b"\x89PNG\r\n\x1a\n0000");
        folders.put("work/icon.svg", "<svg width='8' height='9'>\n</svg>\n");
        folders.put("work/diary", "x");
        folders.put("work/sub/x", "x");
        let mut said = Vec::new();
        for args in [
            json!({"path": "three"}),
            json!({"path": "three", "offset": 2, "limit": 1}),
            json!({"path": "three", "offset": 3}),
            json!({"path": "three", "offset": 9}),
            json!({"path": "empty"}),
            json!({"path": "latin"}),
            json!({"path": "image.png"}),
            json!({"path": "icon.svg"}),
            json!({"path": "icon.svg", "offset": 2}),
            json!({"path": "diary"}),
            json!({"path": "sub"}),
            json!({"path": "none"}),
            json!({"path": "/etc/passwd"}),
            json!({"path": "nul\0"}),
            json!({"path": "n".repeat(300)}),
        ] {
            said.push(call(&folders, args).await);
        }
        insta::assert_snapshot!(said.join("\n--\n"), @r"
           1 | one
           2 | two
           3 | three
        --
           2 | two
        [Showing lines 2-2 of 3. Use offset=3 to continue.]
        --
           3 | three
        [Showing lines 3-3 of 3.]
        --
        offset 9 is behind the end: the file has 3 lines
        --
        (the file is empty)
        --
           1 | café
        [It was decoded from windows-1252.]
        --
        image.png is a PNG image, 12 bytes. It cannot be shown: it is damaged or too large (unexpected end of file).
        --
        icon.svg is an SVG image, 8×9 pixels, 34 bytes. This is its source:
           1 | <svg width='8' height='9'>
           2 | </svg>
        --
           2 | </svg>
        [Showing lines 2-2 of 2.]
        --
        read_file denied for path: diary (tools.read_file.deny_paths)
        --
        sub is a directory: use list_files
        --
        no such file: none
        --
        refusing to read outside allowed base dir: /etc/passwd (open here: file_cache_dir/<path>, the workspace, file_state_dir/<path>)
        --
        invalid path: it contains a NUL character
        --
        invalid path: too long (a name takes 255 bytes, a path 4095)
        ");
    }

    #[tokio::test]
    async fn a_page_is_bounded_and_leads_to_the_next() {
        let folders = Folders::new();
        folders.put("work/long", "0123456789\n".repeat(500));
        let first = call(&folders, json!({"path": "long"})).await;
        assert!(
            first.ends_with("[Showing lines 1-56 of 500. Use offset=57 to continue.]"),
            "{first}"
        );
        assert!(first.len() < 1024 + TRAILER);
        let second = call(&folders, json!({"path": "long", "offset": 57})).await;
        assert!(second.starts_with("  57 | 0123456789\n"));
    }

    #[tokio::test]
    async fn a_stopped_call_ends() {
        let folders = Folders::new();
        folders.put("work/long", "0123456789\n".repeat(500));
        let scope = folders.scope();
        scope.cancel.cancel();
        let tool = tool(&Settings::default());
        let error = tool.call(&scope, json!({"path": "long"})).await.unwrap_err();
        assert_eq!(error.to_string(), "long: stopped before it was done");
    }
}
