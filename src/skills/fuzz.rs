//! What nobody would write into a skill, or pack into its archive.

use crate::check::check;
use crate::package::Package;
use crate::tree::{MAX_BYTES, SKILL_MD, Tree, TreeFile};
use crate::{archive, front};

#[test]
fn fuzz_skill() {
    selkie_fuzz::text("skill", |text| {
        if let Ok(front) = front::read(text) {
            assert!(text.ends_with(&front.body));
        }
        let mut tree = Tree { folder: "a".to_owned(), ..Tree::default() };
        let file = TreeFile { bytes: text.into(), is_program: false };
        tree.add(SKILL_MD, file).unwrap();
        let findings = check(&tree);
        match Package::of(tree, "") {
            Ok(words) => {
                let line = &words.description;
                assert!(!line.is_empty() && !line.chars().any(|c| c.is_control()));
                assert!(
                    words
                        .name
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                );
            }
            Err(_) => assert!(findings.iter().any(|finding| finding.is_error)),
        }
    });
}

#[test]
fn fuzz_skill_archive() {
    selkie_fuzz::bytes("skill_archive", |bytes| {
        if let Ok(tree) = archive::unpack(bytes) {
            assert!(tree.bytes() <= MAX_BYTES);
            assert!(
                tree.files
                    .keys()
                    .flat_map(|path| path.split('/'))
                    .all(|part| !matches!(part, "" | ".."))
            );
        }
    });
}
