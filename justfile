# The usual commands. Each is one line that works without just, too.

# lists these
_default:
    @just --list --unsorted

# format and lints
check:
    cargo fmt --all --check && cargo clippy --locked --workspace --all-targets -- -D warnings

# everything; installs what is missing
test:
    tests/run

# one crate of src/, such as memory
test-room ROOM:
    cargo test --locked -p selkie-{{ROOM}}

# the table of src/docs/performance.md (built as packages are)
bench:
    cargo bench --locked --bench table

# documentation of the code, without a warning
docs:
    RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps --document-private-items

# the whole daemon, with emulated platforms
demo:
    cargo run -- demo
