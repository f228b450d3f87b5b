//! Sets a filter of system calls for the calling thread.

use std::io;

use seccompiler::BpfProgram;

/// Sets it, by the call that older service units let through, too.
#[expect(
    unsafe_code,
    reason = "the kernel takes a filter by its address, and there is no safe name for that"
)]
pub(crate) fn set(filter: &BpfProgram) -> io::Result<()> {
    let length =
        u16::try_from(filter.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // The same layout under another name; the kernel does not write there.
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut().cast() };
    let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: the program lives until the call returns, and its length is that of the list.
    match unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
