//! Names that others give, as they are looked up by: never longer than an index takes.

use selkie_channel_core::{Inbound, MessageRef};
use sha2::{Digest as _, Sha256};

use crate::arrival::{Arrival, Disposition};
use selkie_domain::cause::Cause;

/// Longer names, in bytes, are stored as their hash; no platform gives such names.
const MAX_LENGTH: usize = 512;

/// Shortens every name of an arrival by which it is found again: the same name becomes the same one.
pub fn shorten(arrival: &mut Arrival) {
    let Arrival { inbound, disposition, belongs } = arrival;
    let Inbound { key, message, quote, thread, album, .. } = inbound;
    name(key);
    album.iter_mut().for_each(name);
    message.iter_mut().chain(thread).for_each(reference);
    quote.iter_mut().for_each(|quote| reference(&mut quote.message));
    let task = match disposition {
        Disposition::Task(task) | Disposition::MeantNow(task) => Some(task),
        _ => belongs.as_mut(),
    };
    if let Some(task) = task {
        if let Cause::Message { key, .. } = &mut task.cause {
            name(key);
        }
        task.gathers.iter_mut().for_each(|gathers| name(&mut gathers.word));
    }
}

fn reference(message: &mut MessageRef) {
    if message.as_str().len() > MAX_LENGTH {
        let mut short = message.as_str().to_owned();
        name(&mut short);
        *message = MessageRef::new(short);
    }
}

fn name(name: &mut String) {
    if name.len() > MAX_LENGTH {
        let digest = Sha256::digest(name.as_bytes());
        *name =
            digest.iter().fold("sha256:".to_owned(), |hash, byte| hash + &format!("{byte:02x}"));
    }
}
