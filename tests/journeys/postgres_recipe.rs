//! The book's recipe for PostgreSQL, run as it is printed: by a shell, against a server of its own that asks for the
//! password. Only the port is another one, and `sudo` changes nobody.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use selkie_test_postgres::Server;

use crate::support::world::World;

const PAGE: &str = include_str!("../../src/docs/postgresql.md");

#[tokio::test(flavor = "multi_thread")]
async fn the_recipe_for_postgresql_moves_a_life() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("the first words").await;
    assert!(daemon.stop().await.success());

    let server = Cluster::start();
    as_yaml(&world.home.config_file());
    let said = server.run(&recipe(), world.home.folder());
    assert!(said.contains(" rows of ") && said.contains(" tables are in "), "{said}");
    let ran = world.home.folder().join("ran");
    assert!(ran.exists(), "its last command is selkie run: {said}");

    let daemon = world.daemon();
    world.ask("more words").await;
    assert!(daemon.stop().await.success());
    let requests = world.playground.model().requests();
    let last = requests.last().expect("a request").body.to_string();
    assert!(last.contains("the first words"), "it is not remembered");
    assert_eq!(server.psql("selkie", "SELECT COUNT(*) FROM task WHERE state = 'done'"), "2");
}

/// The commands of the page's first block.
fn recipe() -> String {
    let (_, block) = PAGE.split_once("```sh\n").expect("its commands");
    block.split_once("```").expect("their end").0.to_owned()
}

/// Writes the config as a person does, a section a line: JSON cannot be added to.
fn as_yaml(config: &Path) {
    let text = fs::read_to_string(config).expect("a config");
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let lines =
        all.as_object().expect("sections").iter().map(|(key, value)| format!("{key}: {value}\n"));
    fs::write(config, lines.collect::<String>()).expect("a config");
}

/// A server as a distribution sets it up: its first role is `postgres`, and whoever comes over the network has a
/// password.
struct Cluster {
    server: Server,
    port: String,
}

impl Cluster {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("an address").port().to_string();
        drop(free);
        let server = Server::start(&format!("-c listen_addresses=localhost -c port={port}"));
        let cluster = Self { server, port };
        cluster.psql_as("selkie", "postgres", "CREATE ROLE other LOGIN SUPERUSER");
        cluster.psql_as("other", "postgres", "ALTER ROLE selkie RENAME TO postgres");
        cluster.psql("postgres", "DROP ROLE other");
        let rules = "local all all trust\nhost all all all scram-sha-256\n";
        let file = cluster.psql("postgres", "SHOW hba_file");
        fs::write(file, rules).expect("the server's rules");
        cluster.psql("postgres", "SELECT pg_reload_conf()");
        cluster
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        self.psql_as("postgres", database, sql)
    }

    fn psql_as(&self, role: &str, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.server.programs().join("psql"));
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database, "-c", sql]);
        let psql = psql.arg("-p").arg(&self.port).arg("-h").arg(self.server.socket_folder());
        let out = psql.output().expect("psql runs");
        assert!(out.status.success(), "{sql}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
    }

    /// Runs commands in a folder and returns what they print; the first one that fails ends it.
    fn run(&self, commands: &str, folder: &Path) -> String {
        let programs = folder.join("bin");
        fs::create_dir(&programs).expect("a folder");
        let selkie = env!("CARGO_BIN_EXE_selkie");
        let run =
            format!("#!/bin/sh\n[ \"$1\" = run ] && exec touch ran\nexec '{selkie}' \"$@\"\n");
        program(&programs.join("selkie"), &run);
        program(&programs.join("sudo"), "#!/bin/sh\nshift 2\nexec \"$@\"\n");
        let here = commands.replace("@localhost/", &format!("@localhost:{}/", self.port));
        assert_ne!(here, commands, "the recipe names no server");
        let path =
            format!("{}:{}:/usr/bin:/bin", programs.display(), self.server.programs().display());
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", &here]).current_dir(folder).env_clear();
        shell
            .env("PATH", path)
            .env("HOME", folder)
            .env("PGUSER", "postgres")
            .env("PGPORT", &self.port);
        let out = shell.env("PGHOST", self.server.socket_folder()).output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
        text(&out.stdout)
    }
}

fn program(file: &Path, text: &str) {
    fs::write(file, text).expect("a program");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("its rights");
}
