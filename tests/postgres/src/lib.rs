//! A real PostgreSQL for tests and benchmarks: one server for the process, a fresh database for each test.
//!
//! It listens on a socket in a temporary folder, syncs as it does by default, and ends with this process, however
//! that ends: a shell holds it whose standard input we hold. As root it runs as the package's own user, for
//! PostgreSQL refuses root.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Makes, starts, stops: told so by lines, each answered by one. Ends, and leaves nothing, when its input ends.
const KEEPER: &str = r#"
trap '' INT HUP TERM
bin=$1; shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/selkie-pg.XXXXXX" 2>/dev/null || mktemp -d /tmp/selkie-pg.XXXXXX) || exit 1
cd "$dir" || exit 1
end() { "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1; cd /; rm -rf "$dir"; }
run() { "$bin/pg_ctl" -D "$dir/data" -w -t 60 -l "$dir/log" -o "$*" start </dev/null >/dev/null 2>&1; }
if ! "$bin/initdb" -D "$dir/data" -U selkie -A trust -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1; then
    tail -n 5 "$dir/log" >&2; end; exit 1
fi
given="-k $dir -c listen_addresses='' -c max_connections=300 $*"
if ! run "$given"; then tail -n 5 "$dir/log" >&2; end; exit 1; fi
echo "$dir"
while read -r what more; do
    case $what in
    stop) "$bin/pg_ctl" -D "$dir/data" -m fast -w stop >/dev/null 2>&1 ;;
    crash) "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 ;;
    start) run "$given $more" ;;
    replica) touch "$dir/data/standby.signal"; run "$given $more" ;;
    promote) "$bin/pg_ctl" -D "$dir/data" -w promote >/dev/null 2>&1 ;;
    esac
    echo "$?"
done
end
"#;

/// A server of our own.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    programs: PathBuf,
    port: String,
    keeper: Mutex<Keeper>,
    made: AtomicU64,
}

#[derive(Debug)]
struct Keeper {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Returns the server of this process, started when first asked for.
pub fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(""))
}

impl Server {
    /// Starts a server, with these options besides (`-c name=value`).
    ///
    /// # Panics
    /// When PostgreSQL is missing or does not start: it says what to do.
    pub fn start(options: &str) -> Self {
        let programs = programs();
        let mut command = as_its_user();
        command.args(["sh", "-c", KEEPER, "keeper"]).arg(&programs).arg(options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell for PostgreSQL");
        let orders = child.stdin.take();
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut folder = String::new();
        answers.read_line(&mut folder).expect("the folder of the server");
        assert!(!folder.is_empty(), "PostgreSQL could not be started: see above");
        let keeper = Mutex::new(Keeper { child, orders, answers });
        let port = options.split_once("port=").map_or("5432", |(_, port)| port);
        let port = port.split(' ').next().unwrap_or_default().to_owned();
        Self { folder: folder.trim().into(), programs, port, keeper, made: AtomicU64::new(0) }
    }

    /// Makes an empty database and returns its URL.
    pub fn database(&self) -> String {
        let name = format!("t{}", self.made.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"));
        self.url(&name)
    }

    /// Returns the URL of a database.
    pub fn url(&self, database: &str) -> String {
        self.url_for("selkie", database)
    }

    /// Returns the URL of a database for a role.
    pub fn url_for(&self, role: &str, database: &str) -> String {
        let mut folder = String::new();
        for byte in self.folder.to_str().expect("a plain path").bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                    folder.push(byte.into())
                }
                other => write!(folder, "%{other:02X}").expect("a string"),
            }
        }
        format!("postgres://{role}@{folder}/{database}")
    }

    /// Returns the folder of its socket.
    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of PostgreSQL's programs.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Runs SQL as the owner of everything, and returns what it says, a line a row.
    ///
    /// # Panics
    /// When it fails.
    pub fn psql(&self, database: &str, sql: &str) -> String {
        self.try_psql(database, sql).unwrap_or_else(|why| panic!("{sql}: {why}"))
    }

    /// The same, when it may fail: then what it says.
    ///
    /// # Errors
    /// What it says.
    pub fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-U", "selkie", "-d", database, "-c", sql]);
        psql.args(["-p", &self.port]).arg("-h").arg(&self.folder);
        let out = psql.output().expect("psql runs");
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
        }
    }

    /// Stops it as an administrator does: everybody is sent away.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Ends it as a crash does: what was not synced is lost.
    pub fn crash(&self) {
        self.order("crash");
    }

    /// Starts it again, with these options besides.
    pub fn start_again(&self, options: &str) {
        self.order(&format!("start {options}"));
    }

    /// Starts it again as a replica that waits for more from its primary: it answers, and takes no writes.
    pub fn start_as_replica(&self) {
        self.order("replica");
    }

    /// Makes a replica the primary: it takes writes.
    pub fn promote(&self) {
        self.order("promote");
    }

    /// Puts a file into the folder where it keeps its data, for its own user alone.
    ///
    /// # Panics
    /// When it cannot.
    pub fn keep(&self, name: &str, contents: &str) {
        let mut writer = as_its_user();
        writer.args(["sh", "-c", "umask 077; cat > \"$1\"", "writer"]);
        writer.arg(self.folder.join("data").join(name)).stdin(Stdio::piped());
        let mut writer = writer.spawn().expect("a shell");
        let mut input = writer.stdin.take().expect("a pipe");
        input.write_all(contents.as_bytes()).expect("it reads");
        drop(input);
        assert!(writer.wait().expect("it ends").success(), "{name} was not written");
    }

    fn order(&self, what: &str) {
        let mut keeper = self.keeper.lock().expect("no panic in between");
        let orders = keeper.orders.as_mut().expect("it runs");
        writeln!(orders, "{what}").and_then(|()| orders.flush()).expect("the keeper listens");
        let mut done = String::new();
        keeper.answers.read_line(&mut done).expect("the keeper answers");
        assert_eq!(done.trim(), "0", "PostgreSQL did not {what}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(keeper) = self.keeper.get_mut() {
            drop(keeper.orders.take());
            // It has nothing left to say.
            drop(keeper.child.wait());
        }
    }
}

/// Where PostgreSQL's programs are: on the path, or where the distributions put them; the newest.
fn programs() -> PathBuf {
    let on_path = Command::new("sh").args(["-c", "command -v initdb"]).output();
    let on_path =
        on_path.ok().map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
    // A link to one program is no folder of all.
    let real = on_path.and_then(|path| Path::new(&path).canonicalize().ok());
    if let Some(folder) = real.as_deref().and_then(Path::parent)
        && folder.join("psql").exists()
    {
        return folder.to_owned();
    }
    let mut found = Vec::new();
    for (root, prefix) in [
        ("/usr/lib/postgresql", ""),
        ("/opt/homebrew/opt", "postgresql"),
        ("/usr/local/opt", "postgresql"),
    ] {
        for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let bin = entry.path().join("bin");
            if let Some(version) = name.strip_prefix(prefix)
                && bin.join("initdb").exists()
            {
                found.push((version.trim_start_matches('@').parse().unwrap_or(0_u32), bin));
            }
        }
    }
    found.sort();
    let newest = found.pop().map(|(_, bin)| bin);
    newest.expect(
        "PostgreSQL is not installed: `tests/run` installs it (the package is called postgresql)",
    )
}

/// Begins a command that runs as somebody whom PostgreSQL takes.
fn as_its_user() -> Command {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return Command::new("env");
    }
    let there = Command::new("id").arg("postgres").output().expect("id runs");
    assert!(
        there.status.success(),
        "PostgreSQL refuses root, and its own user `postgres` is missing: install the distribution's package, or \
         run the tests as another user"
    );
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]);
    command
}
