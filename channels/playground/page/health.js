// Whether the playground and the daemon answer, and the daemon can store what it hears.

import { $, quiet } from './dom.js';
import { state } from './state.js';

export function setPlayground(up) {
  if (up && !state.playground) quiet();
  state.playground = up;
  renderHealth();
}

export function renderHealth() {
  const daemonText = { up: 'connected', down: 'selkie offline', off: 'connected, no details', wait: 'connecting', stuck: 'no database' }[state.daemon];
  $('pulse').className = `pulse ${state.playground ? state.daemon : 'down'}`;
  $('pulse').lastElementChild.textContent = state.playground ? daemonText : 'playground offline';
  const trouble = !state.playground ? 'The playground does not answer. If you stopped the demo, start it again and open the address it prints.'
    : state.daemon === 'down' ? 'selkie does not answer. The emulated platform keeps what you write, and selkie answers when it is back.'
    : state.daemon === 'stuck' ? 'selkie cannot use its database. The emulated platform keeps what you write, and selkie answers when it is back.' : '';
  $('banner').textContent = trouble;
  $('banner').hidden = !trouble;
}
