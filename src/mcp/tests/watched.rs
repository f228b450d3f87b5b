//! What is kept of a server's list when it changes, and when it is again what was agreed to.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use super::desk::Desk;
use crate::ListWatcher as _;
use crate::pins::PinFolder;
use crate::servers::{ListNews, Servers};

const CHANGING: &str = r#"
modern
while next; do
    [ "$method" = tools/list ] || { refuse $id; continue; }
    result $id '{"tools":[{"name":"a","description":"'"$(cat words)"'","inputSchema":{"type":"object"}}]}'
done
"#;

#[tokio::test]
async fn what_was_seen_otherwise_is_over_when_the_server_reverts() {
    let desk = Desk::script(CHANGING).open();
    std::fs::create_dir_all(desk.file("")).unwrap();
    let says = |words: &str| std::fs::write(desk.file("words"), words).unwrap();
    says("does a");
    let pins = PinFolder::of(desk.dir.path());
    let list = desk.connections().list("robin").await.unwrap().offer;
    assert_eq!(list.protocol, "2026-07-28");
    let news = Arc::<ListNews>::default();
    let agreed = [("robin".to_owned(), Arc::new(list))].into();
    let servers = Servers::new(desk.connections().clone(), pins.clone(), agreed, Arc::clone(&news));
    for (words, is_seen) in [("does b", true), ("does a", false), ("does b", true)] {
        says(words);
        news.list_changed("robin");
        assert_eq!(servers.look("robin", "a").await.is_err(), is_seen, "{words}");
        assert_eq!(servers.is_changed("robin", "a"), is_seen, "{words}");
        assert_eq!(pins.seen("robin").unwrap().is_some(), is_seen, "{words}");
    }
    desk.connections().end().await;
}

#[tokio::test]
async fn the_folder_of_a_server_is_nobody_elses() {
    let desk = Desk::script("legacy; next; tools; cat > /dev/null").open();
    desk.connections().list("robin").await.unwrap();
    for folder in [desk.file(""), desk.dir.path().join("mcp")] {
        let mode = folder.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", folder.display());
    }
    desk.connections().end().await;
}
