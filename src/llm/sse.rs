//! Reads server-sent events from bytes that arrive in any pieces. Tolerant: any line end, no space after
//! the colon, comments, a last event without its blank line.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The `event:` field; empty when there was none.
    pub name: String,
    /// The `data:` lines, joined by line feeds.
    pub data: String,
}

/// Puts lines and events together across the borders of pieces.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    after_return: bool,
    begun: bool,
    event: Event,
    has_data: bool,
}

impl Parser {
    /// Takes a piece and returns the events it completes.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in piece {
            // CR LF is one line end, also when a border lies between the two.
            let swallowed = byte == b'\n' && std::mem::take(&mut self.after_return);
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if swallowed => {}
                b'\n' | b'\r' => events.extend(self.end_of_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// Bytes of an event that is not whole yet.
    pub fn held(&self) -> usize {
        self.line.len() + self.event.data.len() + self.event.name.len()
    }

    /// Takes the end of the stream: an event whose blank line never came still counts.
    pub fn finish(&mut self) -> Option<Event> {
        let last = (!self.line.is_empty()).then(|| self.end_of_line()).flatten();
        last.or_else(|| self.dispatch())
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.trim_start_matches('\u{feff}') } else { &line };
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => self.data(value),
            // `id`, `retry`, comments (an empty field name) and what nobody knows.
            _ => {}
        }
        None
    }

    fn data(&mut self, value: &str) {
        if std::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::default();
        let mut events: Vec<Event> = pieces.iter().flat_map(|p| parser.push(p)).collect();
        events.extend(parser.finish());
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn sloppy_servers_are_understood() {
        let text = "\u{feff}: ping\r\n\r\nevent: a\r\ndata:one\r\ndata: two\r\n\r\nid: 7\nretry\n\ndata: last";
        assert_eq!(read(&[text.as_bytes()]), [event("a", "one\ntwo"), event("", "last")]);
    }

    #[test]
    fn an_empty_data_line_is_an_event_and_no_data_is_none() {
        assert_eq!(read(&[b"event: x\n\ndata:\n\n"]), [event("", "")]);
    }

    proptest! {
        #[test]
        fn borders_change_nothing(
            said in proptest::collection::vec(("[a-z]{0,5}", "[^\r\n]{1,20}(\n[^\r\n]{0,8})?"), 0..6),
            end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
            cuts in proptest::collection::vec(0usize..400, 0..12),
        ) {
            let mut text = String::from(":begin\n\n");
            for (name, data) in &said {
                text += &format!("event: {name}{end}");
                for line in data.split('\n') {
                    text += &format!("data: {line}{end}");
                }
                text += end;
            }
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            let expected: Vec<Event> = said.iter().map(|(n, d)| event(n, d)).collect();
            prop_assert_eq!(read(&pieces), expected);
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let whole = read(&[&bytes]);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(&single), whole);
        }
    }

    #[test]
    fn fuzz_streams() {
        selkie_fuzz::bytes("stream", |bytes| drop(read(&[bytes])));
    }
}
