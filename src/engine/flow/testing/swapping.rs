//! A file that is swapped behind the back of who sends it.

use selkie_channel_core::Body;

use crate::work::runner::Job;
use selkie_tools::ports::SayOutcome;

/// Sends a file in whose place another one is put after it was opened.
pub(crate) async fn swapped(job: &Job<'_>) -> SayOutcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::fs::write(&path, "judged").unwrap();
    let opened = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "swapped").unwrap();
    let body = Body::File {
        path: path.to_str().unwrap().to_owned(),
        name: "a.txt".to_owned(),
        caption: None,
    };
    job.ports.reply.send("c1.0", body, opened).await.unwrap()
}
