//! What tools know of people: the files of contacts and todos behind their ports.

use std::sync::Arc;

use crate::work::records::Records;
use selkie_agent::ContextSource;
use selkie_domain::clock::SharedClock;
use selkie_people::addressees::AddressBook;
use selkie_people::directory::Directory;
use selkie_people::forms::Forms;
use selkie_people::named::NamedContacts;
use selkie_people::update::{OpenTodos, ReminderStore, TodoBook};
use selkie_tools::ports::{Addressees, TodoFile};

/// The ports.
#[derive(Clone)]
pub struct People {
    pub todo_file: Arc<dyn TodoFile>,
    pub addressees: Arc<dyn Addressees>,
    /// What tasks read of them unasked.
    pub contexts: Vec<Arc<dyn ContextSource>>,
}

impl People {
    pub(super) fn of(
        directory: Directory,
        forms: Forms,
        records: Arc<Records>,
        reminding: Arc<dyn ReminderStore>,
        clock: SharedClock,
    ) -> Self {
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
