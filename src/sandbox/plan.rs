//! What the daemon tells a supervisor over the control line, before anything runs.

use std::io::{self, IoSlice, IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::boundary::Boundary;
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::reach::Reach;
use crate::streams::Streams;

/// Bytes of a plan: a socket takes as many at once, so that nobody waits for a supervisor to read.
const MAX_BYTES: usize = 64 * 1024;
/// Standard input, output and error of the program.
const STREAMS: usize = 3;

/// How a program is to be held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What it may use.
    pub limits: Limits,
    /// What it may reach; `None`: it runs with the rights of the daemon's user.
    pub boundary: Option<Boundary>,
    /// The program is not started where less than this is in force.
    pub least: Reach,
}

impl Plan {
    /// Writes the plan and the program's streams into a line that nobody reads yet.
    pub(crate) fn send(&self, line: &UnixStream, streams: &Streams) -> Result<(), SandboxError> {
        let text =
            serde_json::to_vec(self).map_err(|error| SandboxError::Plan(error.to_string()))?;
        if text.len() > MAX_BYTES {
            return Err(SandboxError::Plan("it names too many folders".to_owned()));
        }
        let length = u32::try_from(text.len()).unwrap_or_default().to_be_bytes();
        let fds = [&streams.input, &streams.output, &streams.errors].map(|fd| fd.as_fd());
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
        let mut with = SendAncillaryBuffer::new(&mut space);
        with.push(SendAncillaryMessage::ScmRights(&fds));
        let pieces = [IoSlice::new(&length), IoSlice::new(&text)];
        let sent =
            sendmsg(line, &pieces, &mut with, SendFlags::NOSIGNAL).map_err(io::Error::from)?;
        match sent == length.len() + text.len() {
            true => Ok(()),
            false => Err(SandboxError::Plan("the line took only a part of it".to_owned())),
        }
    }

    /// Reads the plan and the program's streams, waiting for them.
    pub(crate) fn receive(mut line: &UnixStream) -> Result<(Self, Streams), SandboxError> {
        let (length, fds) = first(line.as_fd())?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > MAX_BYTES {
            return Err(SandboxError::Plan(format!("it has {length} bytes")));
        }
        let mut text = vec![0; length];
        line.read_exact(&mut text)?;
        let plan =
            serde_json::from_slice(&text).map_err(|error| SandboxError::Plan(error.to_string()))?;
        match <[OwnedFd; STREAMS]>::try_from(fds) {
            Ok([input, output, errors]) => Ok((plan, Streams { input, output, errors })),
            Err(_) => Err(SandboxError::Plan("it came without the program's streams".to_owned())),
        }
    }
}

/// The length of what follows, and the descriptors that come with it.
fn first(line: BorrowedFd<'_>) -> Result<([u8; 4], Vec<OwnedFd>), SandboxError> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let read = loop {
        let mut piece = [IoSliceMut::new(&mut length)];
        match recvmsg(line, &mut piece, &mut with, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other.map_err(io::Error::from)?,
        }
    };
    if read.bytes != length.len() {
        return Err(SandboxError::Plan("the line ended".to_owned()));
    }
    let mut fds = Vec::new();
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            fds.extend(some);
        }
    }
    Ok((length, fds))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn streams() -> Streams {
        Streams::null().unwrap()
    }

    #[test]
    fn a_plan_arrives_with_the_streams_and_a_broken_one_does_not() {
        let boundary = Boundary { writes: vec!["/w".into()], network: true, ..Boundary::default() };
        let plan = Plan { boundary: Some(boundary), ..Plan::default() };
        let (ours, theirs) = UnixStream::pair().unwrap();
        plan.send(&ours, &streams()).unwrap();
        let received = Plan::receive(&theirs).unwrap();
        assert_eq!(received.0, plan);
        (&ours).write_all(&[0, 0, 0, 2, b'{', b'}']).unwrap();
        assert!(Plan::receive(&theirs).unwrap_err().to_string().contains("did not arrive"));
        (&ours).write_all(&[255, 0, 0, 2]).unwrap();
        assert!(Plan::receive(&theirs).is_err());
        drop(ours);
        assert!(Plan::receive(&theirs).is_err());
    }

    #[test]
    fn a_plan_that_no_line_takes_at_once_is_refused() {
        let writes = (0..9_000).map(|n| format!("/folder/{n}").into()).collect();
        let boundary = Boundary { writes, ..Boundary::default() };
        let plan = Plan { boundary: Some(boundary), ..Plan::default() };
        let (ours, _theirs) = UnixStream::pair().unwrap();
        assert!(plan.send(&ours, &streams()).is_err());
    }
}
