//! Calls of the kernel that have no safe name: a filter for the calling thread, and what a program does not inherit.

use std::io;

use seccompiler::BpfProgram;

/// Sets it, by the call that older service units let through, too.
#[expect(
    unsafe_code,
    reason = "the kernel takes a filter by its address, and there is no safe name for that"
)]
pub(crate) fn set_filter(filter: &BpfProgram) -> io::Result<()> {
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

/// Keeps all but the standard streams from programs that are started: whoever started the daemon may have left something open.
#[expect(unsafe_code, reason = "there is no safe name for it")]
pub(crate) fn close_on_exec() {
    const CLOSE_ON_EXEC: libc::c_uint = 4;
    // SAFETY: nothing is closed now, and no program that is started counts on more than the standard streams. Kernels that do
    // not know the flag have no sandbox either.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_ON_EXEC) };
}
