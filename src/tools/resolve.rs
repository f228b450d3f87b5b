//! One call as it will be made: its tool, its arguments in one form, the files it changes, what it needs.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use selkie_channel_core::Redactor;
use selkie_channel_core::hash::in_hex;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::aliases::{absent, clash};
use crate::args::{ValidArgs, accept, accept_as_written};
use crate::basis::{Basis, Reach, Target, WorkFolder};
use crate::paths::{Finder, Location, Zone};
use crate::refusals::{refusal, unknown};
use crate::registry::{NameLookup, Registry};
use crate::scope::{ApprovedBasis, Outward, Scope};
use crate::{Tool, ToolError, preview};
use selkie_domain::approval::{Approvers, Exposure, Request, nobody};
use selkie_domain::facts::Trust;
use selkie_domain::tool::{Class, ToolSpec};
use selkie_domain::transcript::Call;
use selkie_guard::outward;

/// Why files outside of the conversation's own folder ask.
const OTHERS_FILES: &str = "asks first: allowed people change files outside this conversation's own folder only with an owner's approval";
/// Why words of others ask.
const TAINTED: &str =
    "asks first while the task holds other people's words: they may have asked for it";
/// Why a request of the network asks.
const CARRIES_OUT: &str = "asks first while the task holds other people's words: a request to the network could \
    carry something out. Free are only addresses and search words that a person typed in this conversation, letter \
    for letter";
/// Why what speaks to people elsewhere asks where allowed people want it.
pub const SENDING: &str = "asks first: allowed people speak to others outside this conversation with an owner's approval; free is \
    only somebody who shares a conversation with them";
/// Files up to this size count by what they hold, larger ones by their size and last change.
const MAX_READ: u64 = 64 * 1024 * 1024;

/// A call whose tool is found, whose arguments are checked and whose files are known.
pub struct ResolvedCall {
    /// Its tool.
    pub tool: Arc<Tool>,
    /// Its arguments: checked, converted, with their keys in order.
    pub args: Value,
    /// What was changed of them that the model should know of.
    pub notes: Vec<String>,
    /// The files that it would change.
    pub changes: Vec<Location>,
    /// What it needs before it is made.
    pub exposure: Exposure,
    /// Where it puts text that somebody will read.
    pub target: Target,
}

/// Resolves a call, once. It is in our words already ([`Registry::canonical`]).
///
/// # Errors
/// Why it cannot be made, for the model; [`ToolError::Abort`] when the daemon stops.
pub async fn resolve(
    registry: &Registry,
    call: &Call,
    scope: &Scope,
) -> Result<ResolvedCall, ToolError> {
    let tool = look_up(registry, &call.name).map_err(ToolError::Tell)?;
    let ValidArgs { args, notes } = check(&tool, call)?;
    let args = sorted(args);
    let changes = changes(&tool, &args, scope).await?;
    let target = target(&tool, scope, &args).await?;
    let mut exposure = exposure(registry, &tool, &args, &changes, scope);
    if let Some(class) = target.reach.class() {
        exposure = exposure.lowered(registry.exposure_as(tool.spec(), class));
    }
    if let Exposure::Ask { reasons, .. } = &exposure
        && target.is_excused
        && *reasons == [SENDING]
    {
        exposure = Exposure::Free;
    }
    Ok(ResolvedCall { tool, args, notes, changes, exposure, target })
}

/// Finds a tool of this task.
///
/// # Errors
/// Why there is none, for the model.
pub fn look_up(registry: &Registry, name: &str) -> Result<Arc<Tool>, String> {
    match registry.find(name) {
        NameLookup::Tool(tool) => Ok(tool),
        NameLookup::Hidden(reasons) => Err(refusal(name, &reasons)),
        NameLookup::Unknown(near) => Err(unknown(name, &near)),
    }
}

/// Checks a call's arguments before its tool sees them.
///
/// # Errors
/// Why it cannot be made, for the model.
pub fn check(tool: &Arc<Tool>, call: &Call) -> Result<ValidArgs, ToolError> {
    if call.is_altered() {
        return Err(ToolError::tell(
            "not made: a secret of this machine stood in the arguments and was taken out, so the call would do something \
             else than was meant. Do it without the secret, or tell the person that they have to",
        ));
    }
    if let Some(why) = clash(call, tool.spec()) {
        return Err(ToolError::Tell(why));
    }
    if let Some(why) = absent(call, tool.spec()) {
        return Err(ToolError::tell(why));
    }
    let accept = match tool.spec().foreign {
        Some(_) => accept_as_written,
        None => accept,
    };
    accept(&tool.spec().parameters, &call.arguments).map_err(ToolError::Tell)
}

impl ResolvedCall {
    /// Says what approval is asked for. Reads the files that would change or be sent, so it may wait for the disk.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn request(&self, scope: &Scope, redactor: &Redactor) -> io::Result<Request> {
        let (of, reasons) = match &self.exposure {
            Exposure::Ask { of, reasons } => (*of, reasons.clone()),
            Exposure::Free | Exposure::Hidden(_) => (Approvers::Nobody, Vec::new()),
        };
        let spec = self.tool.spec();
        let basis = self.basis(scope);
        let named = self
            .target
            .names
            .iter()
            .chain(&basis.names)
            .map(|named| (named.name.clone(), named.is.clone()));
        let works_in_a_folder =
            matches!(spec.class, Class::Write | Class::Exec) || !basis.reads.is_empty();
        let folder = || ("folder".to_owned(), home(scope).to_string_lossy().into_owned());
        let named: Vec<(String, String)> = named.chain(works_in_a_folder.then(folder)).collect();
        let shown = preview::whole(&self.tool, &scope.roots, &self.args, &named, redactor);
        let mut unseen = self.tool.handler.unseen(&self.args);
        if self.reads_files() {
            unseen.extend(basis.reads.iter().map(|file| format!("what {} holds", file.shown())));
        }
        Ok(Request {
            v: Request::VERSION,
            call: scope.call.clone(),
            tool: spec.name.to_owned(),
            words: spec.words(),
            preview: shown,
            unseen,
            place: String::new(),
            reasons,
            of,
            hash: self.looked_at(scope, &basis)?,
        })
    }

    /// Says why the call would be refused whoever allowed it, if so.
    pub fn refusal(&self, scope: &Scope) -> Option<String> {
        self.tool.handler.refuses(scope, &self.args)
    }

    /// Looks again at all that approval is given for.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn look_again(&self, scope: &Scope) -> io::Result<LookedAt> {
        let basis = self.basis(scope);
        let folder = basis.folder.as_ref().and_then(WorkFolder::identity);
        Ok(LookedAt { hash: self.looked_at(scope, &basis)?, approved: ApprovedBasis { folder } })
    }

    /// Returns a digest of all that approval is given for: task, call, tool, arguments, working folder, what names
    /// stand for, and the files to be changed, read or sent as they are now. Reads them.
    fn looked_at(&self, scope: &Scope, basis: &Basis) -> io::Result<String> {
        let states = |files: &[Location]| {
            files.iter().map(|file| state_of(&file.real())).collect::<io::Result<Vec<Value>>>()
        };
        let home = home(scope);
        let works_in = basis.folder.as_ref().map(|folder| {
            let which = folder.identity().map(|which| [which.device, which.number]);
            json!([folder.path.to_string_lossy(), which])
        });
        let all = json!({
            "v": 3,
            "task": scope.task.0,
            "call": scope.call,
            "tool": self.tool.spec().name,
            "foreign": self.tool.spec().foreign.as_ref().map(|foreign| &foreign.identity),
            "arguments": self.args,
            "folder": [home.to_string_lossy(), identity(home)],
            "works_in": works_in,
            "names": basis.names.as_ref().map(|named| [&named.name, &named.is, &named.identity]),
            "target": self.target.names.iter().map(|named| [&named.name, &named.identity]).collect::<Vec<_>>(),
            "reads": states(&basis.reads)?,
            "files": states(&self.changes)?,
        });
        Ok(in_hex(&Sha256::digest(all.to_string())))
    }

    /// What it works with: what its tool says, and the file of a tool that reads files.
    fn basis(&self, scope: &Scope) -> Basis {
        let mut basis = self.tool.handler.basis(scope, &self.args);
        if self.reads_files() {
            let finder = Finder { tool: self.tool.spec().name, roots: &scope.roots, deny: &[] };
            let path = self.args.get("path").and_then(Value::as_str);
            basis.reads.extend(path.and_then(|path| finder.existing(path).ok()));
        }
        basis
    }

    fn reads_files(&self) -> bool {
        let spec = self.tool.spec();
        spec.group == "files" && spec.class == Class::Read
    }
}

/// All that approval is given for, as it is now.
#[derive(Debug)]
pub struct LookedAt {
    /// A digest of it.
    pub hash: String,
    /// What the call itself compares once more when it starts.
    pub approved: ApprovedBasis,
}

/// The folder that relative paths start from.
fn home(scope: &Scope) -> &Path {
    scope.roots.workspace.as_deref().unwrap_or(&scope.roots.own)
}

async fn changes(
    tool: &Arc<Tool>,
    args: &Value,
    scope: &Scope,
) -> Result<Vec<Location>, ToolError> {
    if tool.spec().class != Class::Write {
        return Ok(Vec::new());
    }
    let tool = Arc::clone(tool);
    let roots = scope.roots.clone();
    let args = args.clone();
    let found = tokio::task::spawn_blocking(move || tool.handler.changes(&roots, &args)).await;
    found.unwrap_or_else(|_| Err(ToolError::Abort("the daemon is stopping".to_owned())))
}

/// Where a call puts text: what it names, and what its tool's class says.
async fn target(tool: &Tool, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
    let found = tool.handler.target(scope, args).await?;
    let by_class = Target::of(tool.spec().class).reach;
    Ok(match found.reach {
        Reach::Here => Target { reach: by_class, ..found },
        Reach::Elsewhere | Reach::Public => found,
    })
}

/// What a call needs: what its tool does here, and what its own arguments add to that.
fn exposure(
    registry: &Registry,
    tool: &Tool,
    args: &Value,
    changes: &[Location],
    scope: &Scope,
) -> Exposure {
    let of = registry.approvers();
    let spec = tool.spec();
    let ask = |reason: &str| match of {
        Approvers::Nobody => Exposure::Hidden(vec![nobody(reason)]),
        _ => Exposure::Ask { of, reasons: vec![reason.to_owned()] },
    };
    let mut least = registry.exposure(spec.name).unwrap_or_default();
    if let Some(reason) = tool.handler.asks(&scope.roots, args) {
        least = least.lowered(ask(&reason));
    }
    let outside = changes.iter().any(|file| file.zone != Zone::Own);
    if outside && scope.trust < Trust::Owner && !registry.is_freed(spec.name) {
        least = least.lowered(ask(OTHERS_FILES));
    }
    let is_state = |file: &Location| file.zone == Zone::State;
    if scope.taint.is_any()
        && (changes.iter().any(is_state) || tool.handler.changes_the_owners(scope, args))
    {
        least = least.lowered(ask(TAINTED));
    }
    if carries_out(spec, args, scope) {
        least = least.lowered(ask(CARRIES_OUT));
    }
    least
}

/// While words of others are in play nothing goes out unasked that a person did not type: an address can
/// carry what the model knows.
fn carries_out(spec: &ToolSpec, args: &Value, scope: &Scope) -> bool {
    let Outward::Only(typed) = &scope.outward else { return false };
    if spec.class != Class::Network {
        return false;
    }
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let is_get = text("method").is_none_or(|method| method.eq_ignore_ascii_case("get"))
        && ["body", "headers", "auth_profile"]
            .iter()
            .all(|key| args.get(key).is_none_or(Value::is_null));
    let free = match (text("url"), text("q")) {
        (Some(url), _) => is_get && outward::is_typed_address(url, typed),
        (None, Some(words)) => outward::are_typed_words(words, typed),
        (None, None) => false,
    };
    !free
}

/// Puts the keys of objects in order, all the way down.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(String, Value)> = map.into_iter().collect();
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(
                pairs.into_iter().map(|(key, value)| (key, sorted(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// What a file is now: which one, and what it holds.
fn state_of(path: &Path) -> io::Result<Value> {
    // Looked at before it is opened: to open a pipe is to wait for its other end.
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(json!([path.to_string_lossy(), "absent"]));
        }
        Err(error) => return Err(error),
    };
    let holds = match found.is_file() && found.len() <= MAX_READ {
        true => {
            let mut file = File::open(path)?;
            let mut digest = Sha256::new();
            let mut buffer = vec![0; 64 * 1024];
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    read => digest.update(&buffer[..read]),
                }
            }
            in_hex(&digest.finalize())
        }
        false => format!("{} {}", found.mtime(), found.mtime_nsec()),
    };
    Ok(json!([path.to_string_lossy(), found.dev(), found.ino(), found.len(), holds]))
}

fn identity(folder: &Path) -> Value {
    folder.metadata().map_or(Value::Null, |found| json!([found.dev(), found.ino()]))
}

#[cfg(test)]
mod targets;
#[cfg(test)]
mod tests;
