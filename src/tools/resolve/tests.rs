use proptest::prelude::*;

use super::*;
use crate::registry::{AskRules, Base, Hide, Overlay, Selection};
use crate::testkit::{Act, Acting, Folders};
use crate::{Settings, base};

/// Nothing goes out that others may have chosen.
#[test]
fn words_of_others_hold_the_network_back() {
    let folders = Folders::new();
    let mut scope = folders.scope();
    scope.outward = Outward::Only(vec!["look at a.example/x".to_owned()].into());
    let goes = |spec: &ToolSpec, args: Value| !carries_out(spec, &args, &scope);
    let network = Acting::tool("fetch", Class::Network, Act::Echo);
    let read = Acting::tool("read", Class::Read, Act::Echo);
    for (args, free) in [
        (json!({"url": "https://a.example/x"}), true),
        (json!({"url": "https://a.example/x", "method": "get"}), true),
        (json!({"url": "https://a.example/x", "method": "POST"}), false),
        (json!({"url": "https://a.example/x", "body": "secret"}), false),
        (json!({"url": "https://a.example/x", "headers": {"x": "secret"}}), false),
        (json!({"url": "https://b.example/x"}), false),
        (json!({"q": "look at"}), true),
        (json!({"q": "secret"}), false),
        (json!({}), false),
    ] {
        assert_eq!(goes(network.spec(), args.clone()), free, "{args}");
    }
    assert!(goes(read.spec(), json!({"path": "a"})));
}

fn registry(of: Approvers) -> Registry {
    let base = base::build(&Settings::default(), &base::ToolDeps::default()).unwrap();
    Registry::view_asking(
        Arc::new(base),
        Vec::new(),
        AskRules { of, ..AskRules::default() },
        Overlay::default(),
    )
}

async fn resolved(registry: &Registry, scope: &Scope, name: &str, args: Value) -> ResolvedCall {
    let call = Call { id: "c1.0".into(), name: name.into(), arguments: args };
    resolve(registry, &call, scope).await.unwrap_or_else(|why| panic!("{name}: {why}"))
}

#[tokio::test]
async fn a_calls_own_arguments_ask() {
    let (folders, registry) = (Folders::new(), registry(Approvers::Owners));
    let owner = folders.scope();
    let allowed = Scope { trust: Trust::Allowed, ..folders.scope() };
    let tainted = Scope { taint: selkie_domain::taint::Taint::Raw, ..folders.scope() };
    let mut said = Vec::new();
    for (who, scope) in [("owner", &owner), ("allowed", &allowed), ("tainted", &tainted)] {
        for (name, args) in [
            ("write_file", json!({"path": "a.txt", "content": "x"})),
            ("write_file", json!({"path": "file_cache_dir/a.txt", "content": "x"})),
            ("write_file", json!({"path": "file_state_dir/TODO.md", "content": "x"})),
            ("bash", json!({"cmd": "ls"})),
            ("bash", json!({"cmd": "cd x && sudo rm -r y"})),
        ] {
            let exposure = resolved(&registry, scope, name, args.clone()).await.exposure;
            let what =
                args.get("path").or(args.get("cmd")).and_then(Value::as_str).unwrap_or_default();
            said.push(format!(
                "{who} {name} {what}: {}",
                if exposure.asks() { "asks" } else { "free" }
            ));
        }
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    owner write_file a.txt: free
    owner write_file file_cache_dir/a.txt: free
    owner write_file file_state_dir/TODO.md: free
    owner bash ls: free
    owner bash cd x && sudo rm -r y: asks
    allowed write_file a.txt: asks
    allowed write_file file_cache_dir/a.txt: free
    allowed write_file file_state_dir/TODO.md: asks
    allowed bash ls: free
    allowed bash cd x && sudo rm -r y: asks
    tainted write_file a.txt: free
    tainted write_file file_cache_dir/a.txt: free
    tainted write_file file_state_dir/TODO.md: asks
    tainted bash ls: free
    tainted bash cd x && sudo rm -r y: asks
    ");
}

#[tokio::test]
async fn where_nobody_can_be_asked_it_is_hidden() {
    let (folders, registry) = (Folders::new(), registry(Approvers::Nobody));
    let call = resolved(&registry, &folders.scope(), "bash", json!({"cmd": "rm x"})).await;
    assert!(
        matches!(call.exposure, Exposure::Hidden(why) if why[0].contains("nobody can be asked"))
    );
}

#[tokio::test]
async fn the_hash_holds_all_that_approval_is_for() {
    let (folders, registry) = (Folders::new(), registry(Approvers::Owners));
    folders.put("work/a.txt", "before");
    let scope = folders.scope();
    let args = json!({"path": "a.txt", "content": "x"});
    let hash = async |scope: &Scope, args: &Value| {
        resolved(&registry, scope, "write_file", args.clone()).await.look_again(scope).unwrap().hash
    };
    let first = hash(&scope, &args).await;
    assert_eq!(
        first,
        hash(&scope, &json!({"content": "x", "path": "a.txt"})).await,
        "in any order"
    );
    assert_ne!(first, hash(&scope, &json!({"path": "a.txt", "content": "y"})).await);
    assert_ne!(first, hash(&scope, &json!({"path": "b.txt", "content": "x"})).await);
    let other = Scope { call: "c1.1".into(), ..scope.clone() };
    assert_ne!(first, hash(&other, &args).await, "another call");
    let other = Scope { task: selkie_domain::ids::TaskId(2), ..scope.clone() };
    assert_ne!(first, hash(&other, &args).await, "another task");
    folders.put("work/a.txt", "meanwhile");
    let changed = hash(&scope, &args).await;
    assert_ne!(first, changed, "the file holds something else");
    std::fs::rename(folders.at("work/a.txt"), folders.at("work/old.txt")).unwrap();
    folders.put("work/a.txt", "meanwhile");
    assert_ne!(changed, hash(&scope, &args).await, "it is another file with the same words");
    std::fs::remove_file(folders.at("work/a.txt")).unwrap();
    folders.put("work/linked.txt", "meanwhile");
    std::os::unix::fs::symlink("linked.txt", folders.at("work/a.txt")).unwrap();
    assert_ne!(changed, hash(&scope, &args).await, "its name leads elsewhere");
}

#[tokio::test]
async fn the_hash_holds_where_a_command_runs_and_what_is_read() {
    let (folders, registry) = (Folders::new(), registry(Approvers::Owners));
    let scope = folders.scope();
    let look = async |name: &str, args: &Value| {
        resolved(&registry, &scope, name, args.clone()).await.look_again(&scope).unwrap()
    };
    for (folder, other) in [("sub", "other"), ("linked", "other")] {
        folders.put("work/sub/a", "x");
        folders.put("work/other/a", "x");
        std::os::unix::fs::symlink("sub", folders.at("work/linked")).ok();
        let args = json!({"cmd": "rm a", "cwd": folder});
        let first = look("bash", &args).await;
        assert!(first.approved.folder.is_some());
        assert_eq!(first.hash, look("bash", &args).await.hash);
        std::fs::rename(folders.at("work").join(folder), folders.at("work/gone")).unwrap();
        std::os::unix::fs::symlink(other, folders.at("work").join(folder)).unwrap();
        assert_ne!(first.hash, look("bash", &args).await.hash, "{folder} leads elsewhere");
        std::fs::remove_file(folders.at("work").join(folder)).unwrap();
        std::fs::rename(folders.at("work/gone"), folders.at("work").join(folder)).unwrap();
        assert_eq!(first.hash, look("bash", &args).await.hash, "{folder} is back");
    }
    folders.put("work/a.txt", "before");
    let args = json!({"path": "a.txt"});
    let first = look("read_file", &args).await.hash;
    folders.put("work/a.txt", "behind");
    assert_ne!(first, look("read_file", &args).await.hash, "it holds something else");
}

#[tokio::test]
async fn a_rule_that_asks_asks() {
    let folders = Folders::new();
    let base = Arc::new(Base::build(vec![Acting::tool("shout", Class::Exec, Act::Echo)]).unwrap());
    let what = Arc::new(Selection::over(&base, &[Class::Exec], &[]));
    let rule = Hide { reason: "asks first: it is loud".into(), what, except: None };
    let asks = AskRules { rules: vec![rule], ..AskRules::default() };
    let registry = Registry::view_asking(base, Vec::new(), asks, Overlay::default());
    let call = resolved(&registry, &folders.scope(), "shout", json!({"text": "a"})).await;
    let request = call.request(&folders.scope(), &Redactor::default()).unwrap();
    assert_eq!(request.reasons, ["asks first: it is loud"]);
    let shown = &request.preview;
    assert!(shown.starts_with("use shout\n· folder: /"), "{shown}");
    assert!(shown.ends_with("/work\n· text: a"), "what has no words of its own is listed: {shown}");
}

proptest! {
    #[test]
    fn keys_are_in_order_whatever_order_they_came_in(keys in prop::collection::vec("[a-c]{1,3}", 0..6)) {
        let object = |keys: &mut dyn Iterator<Item = &String>| {
            Value::Object(keys.map(|key| (key.clone(), json!([{"b": key, "a": 1}]))).collect())
        };
        let (there, back) = (object(&mut keys.iter()), object(&mut keys.iter().rev()));
        prop_assert_eq!(sorted(there).to_string(), sorted(back).to_string());
    }
}
