// Rows of buttons with one tab stop: the arrow keys, Home and End go from button to button (the WAI-ARIA pattern of a toolbar).

const buttonsOf = bar => [...bar.querySelectorAll('button')];

/** Leaves one tab stop: this button, else the one that had it, else the first. */
export function rove(bar, to) {
  const buttons = buttonsOf(bar);
  bar.stop = [to, bar.stop].find(button => buttons.includes(button)) ?? buttons[0];
  for (const button of buttons) button.tabIndex = button === bar.stop ? 0 : -1;
  return bar;
}

function move(e) {
  const bar = e.target.closest('[role=toolbar]');
  if (!bar || e.altKey || e.ctrlKey || e.metaKey) return;
  const buttons = buttonsOf(bar), at = buttons.indexOf(e.target), last = buttons.length - 1;
  const to = { ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[e.key];
  if (to === undefined || at < 0) return;
  e.preventDefault();
  buttons[to].focus();
}

export function wireToolbars() {
  document.addEventListener('keydown', move);
  document.addEventListener('focusin', e => { const bar = e.target.closest('[role=toolbar]'); if (bar) rove(bar, e.target); });
}
