//! What tools know of people: the files of contacts and todos behind their ports.

use std::sync::Arc;

use selkie_agent::ContextSource;
use selkie_domain::clock::SharedClock;
use selkie_people::addressees::AddressBook;
use selkie_people::directory::Directory;
use selkie_people::forms::Forms;
use selkie_people::named::NamedContacts;
use selkie_people::update::{OpenTodos, Reminding, TodoBook};
use selkie_tools::ports::{Addressees, TodoFile};
use crate::work::records::Records;

/// The ports.
#[derive(Clone)]
pub(super) struct People {
    pub(super) todo_file: Arc<dyn TodoFile>,
    pub(super) addressees: Arc<dyn Addressees>,
    /// What tasks read of them unasked.
    pub(super) contexts: Vec<Arc<dyn ContextSource>>,
}

/// What they stand on.
pub(super) struct PeopleParts {
    pub(super) directory: Directory,
    pub(super) forms: Forms,
    pub(super) records: Arc<Records>,
    pub(super) reminding: Arc<dyn Reminding>,
    pub(super) clock: SharedClock,
}

impl People {
    pub(super) fn of(parts: PeopleParts) -> Self {
        let PeopleParts { directory, forms, records, reminding, clock } = parts;
        let addressees = AddressBook {
            directory: directory.clone(),
            forms: forms.clone(),
            conversations: Arc::clone(&records) as _,
            reached: Arc::clone(&records) as _,
            clock,
        };
        let todos = OpenTodos::new(Arc::clone(&directory.files), Arc::clone(&records) as _);
        let named = NamedContacts::new(directory.clone(), forms.clone());
        let todo_file = TodoBook { directory, forms, conversations: records as _, reminding };
        Self {
            todo_file: Arc::new(todo_file),
            addressees: Arc::new(addressees),
            contexts: vec![Arc::new(todos), Arc::new(named)],
        }
    }
}
