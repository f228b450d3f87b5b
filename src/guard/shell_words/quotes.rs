//! What stands in quotes, behind a `$`, and in redirections and here-documents.

use super::{DEEPEST, Document, Splitter, is_operator, split};

impl Splitter<'_, '_> {
    pub(super) fn odd(&mut self) -> bool {
        self.reading.unclear("arithmetic with quotes or commands in it is not understood");
        true
    }

    pub(super) fn single(&mut self) {
        self.quoted();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return self.reading.unclear("a quote is not closed"),
            }
        }
    }

    pub(super) fn double(&mut self) {
        self.quoted();
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => ['\\', c].into_iter().for_each(|c| self.push(c)),
                    None => return self.reading.unclear("a quote is not closed"),
                },
                Some('`') => self.backticks(),
                Some('$') => self.expansion_in_quotes(),
                Some(c) => self.push(c),
                None => return self.reading.unclear("a quote is not closed"),
            }
            if self.reading.unclear.is_some() {
                return;
            }
        }
    }

    pub(super) fn backticks(&mut self) {
        self.push_soft('`');
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some('`') => break,
                Some('\\') => match self.rest.next() {
                    Some(c @ ('$' | '`' | '\\')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => {}
                },
                Some(c) => text.push(c),
                None => return self.reading.unclear("a ` is not closed"),
            }
        }
        split(&text, self.depth + 1, self.reading);
        // As it was written: people read of it.
        text.chars().chain(['`']).for_each(|c| self.push_soft(c));
    }

    /// A `$` outside of quotes.
    pub(super) fn dollar(&mut self) {
        match self.rest.peek() {
            Some('\'') => {
                self.rest.next();
                self.escapes();
            }
            Some('"') => {}
            _ => {
                let before = self.word.as_ref().map_or(0, |word| word.soft);
                self.expansion();
                if self.word.as_ref().is_some_and(|word| word.soft > before) {
                    self.splits();
                }
            }
        }
    }

    /// `$'…'`: with an escape in it, it can be any text.
    pub(super) fn escapes(&mut self) {
        self.quoted();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some('\\') => {
                    self.push_soft('\\');
                    self.rest.next().into_iter().for_each(|c| self.push_soft(c));
                }
                Some(c) => self.push(c),
                None => return self.reading.unclear("a quote is not closed"),
            }
        }
    }

    /// A `$` in quotes: one word, but for all arguments (`"$@"`), the values of a list, and what another variable
    /// names, which may be those.
    fn expansion_in_quotes(&mut self) {
        let before = self.word.as_ref().map_or(0, |word| word.text.len());
        self.expansion();
        let Some(word) = &mut self.word else { return };
        let written = word.text.get(before..).unwrap_or_default();
        let several = ["$@", "{@", "[@]", "${!"].iter().any(|all| written.contains(all));
        word.splits |= several && !written.starts_with("$(");
    }

    /// What follows a `$` that expands.
    pub(super) fn expansion(&mut self) {
        match self.rest.peek().copied() {
            Some('(') => {
                self.push_soft('$');
                let before = self.rest.clone();
                self.rest.next();
                if !self.arithmetic() {
                    self.inside();
                }
                // As it was written: people read of it.
                let taken = before.clone().count() - self.rest.clone().count();
                before.take(taken).for_each(|c| self.push_soft(c));
            }
            Some('{') => self.parameter(),
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?$!-".contains(c) => {
                self.push_soft('$');
                self.rest.next();
                self.push_soft(c);
                while c.is_ascii_alphabetic() || c == '_' {
                    let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
                    else {
                        break;
                    };
                    self.push_soft(c);
                }
            }
            Some('[') => self.reading.unclear("$[…] is not understood"),
            _ => self.push('$'),
        }
    }

    /// `${…}`: words with quotes and substitutions of their own.
    pub(super) fn parameter(&mut self) {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.reading.unclear("it is nested too deeply");
        }
        self.push_soft('$');
        self.braces();
        self.depth -= 1;
    }

    pub(super) fn braces(&mut self) {
        let mut depth = 0_u32;
        loop {
            let Some(c) = self.rest.next() else {
                return self.reading.unclear("a ${ is not closed");
            };
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                // Quotes in here count differently in and out of quotes, and nobody needs them.
                '\'' | '"' | '\\' | '`' => {
                    return self.reading.unclear("quotes inside of ${…} are not understood");
                }
                '$' if matches!(self.rest.peek(), Some('(' | '{')) => self.expansion(),
                _ => {}
            }
            self.push_soft(c);
            if depth == 0 || self.reading.unclear.is_some() {
                return;
            }
        }
    }

    /// `<` and `>` in all their forms.
    pub(super) fn redirect(&mut self, c: char) {
        // A number before it is a file's, no word.
        if self.word.as_ref().is_some_and(|word| word.text.bytes().all(|b| b.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.rest.next_if_eq(&'(').is_some() {
            self.push_soft(c);
            return self.inside();
        }
        if c == '<' && self.rest.next_if_eq(&'<').is_some() && self.rest.next_if_eq(&'<').is_none()
        {
            return self.document();
        }
        while self.rest.next_if(|c| matches!(c, '&' | '>' | '|')).is_some() {}
        self.target = true;
    }

    pub(super) fn document(&mut self) {
        let dashed = self.rest.next_if_eq(&'-').is_some();
        while self.rest.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
        let (mut delimiter, mut quoted) = (String::new(), false);
        let mut open = None;
        while let Some(c) =
            self.rest.next_if(|c| *c != '\n' && (open.is_some() || !is_operator(*c)))
        {
            match c {
                '\'' | '"' if open == Some(c) => open = None,
                '\'' | '"' if open.is_none() => (open, quoted) = (Some(c), true),
                '\\' if open.is_none() => {
                    quoted = true;
                    delimiter.extend(self.rest.next());
                }
                '$' | '`' | '\\' => open = Some('\0'),
                c => delimiter.push(c),
            }
        }
        if open.is_some() || delimiter.contains('\n') {
            self.reading.unclear("the end of a here-document is not plain");
        }
        self.documents.push(Document { delimiter, quoted, dashed });
    }

    /// The end of a line: here-documents begin.
    pub(super) fn end_line(&mut self) {
        self.end_command();
        for document in std::mem::take(&mut self.documents) {
            let mut runs = false;
            loop {
                let mut line = String::new();
                let more = loop {
                    match self.rest.next() {
                        Some('\n') => break true,
                        Some(c) => line.push(c),
                        None => break false,
                    }
                };
                let bare = if document.dashed { line.trim_start_matches('\t') } else { &line };
                if bare == document.delimiter || !more {
                    break;
                }
                // A line that goes on in the next one may hide the end.
                runs |= line.contains("$(") || line.contains('`') || line.ends_with('\\');
            }
            if runs && !document.quoted {
                self.reading.unclear("a here-document that runs commands is not understood");
            }
        }
    }
}
