// Small parts every view is made of: elements, icons, lists that change, words for numbers.

export const $ = id => document.getElementById(id);

/** Makes an element; `on…` keys listen, `null` and `false` children vanish. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter(c => c != null && c !== false));
  return node;
}

export function icon(name) {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(ns, 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Brings `parent` to hold one child per item; nodes whose item did not change stay as they are. */
export function reconcile(parent, items, key, render) {
  const old = new Map([...parent.children].map(node => [node.dataset.key, node]));
  let before = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item)), mark = JSON.stringify(item);
    let node = old.get(name);
    old.delete(name);
    if (!node || node.mark !== mark) {
      const fresh = render(item);
      fresh.dataset.key = name;
      fresh.mark = mark;
      if (node) { if (before === node) before = fresh; node.replaceWith(fresh); }
      node = fresh;
    }
    if (before === node) before = node.nextElementSibling;
    else parent.insertBefore(node, before);
  }
  for (const node of old.values()) node.remove();
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
export const time = at => { const d = new Date(typeof at === 'number' ? at * 1000 : at); return isNaN(d) ? '' : clock.format(d); };
const days = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
/** The day of a message, in words. */
export const day = at => { const d = new Date(typeof at === 'number' ? at * 1000 : at); return isNaN(d) ? '' : days.format(d); };
export const number = n => Number(n ?? 0).toLocaleString();
export const plural = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;
export const clip = (text, n) => text.length > n ? `${text.slice(0, n - 1)}…` : text;
export const money = micro => micro ? `$${(micro / 1e6).toFixed(micro < 10000 ? 5 : 3)}` : 'no price';

export function size(bytes) {
  if (bytes == null) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let n = bytes, i = 0;
  while (n >= 1024 && i < 3) { n /= 1024; i += 1; }
  return `${i ? n.toFixed(1) : n} ${units[i]}`;
}

let toastTimer;

/** Where a dialog is open all else is behind it, and nobody is told of it. */
export function toast(text) {
  (document.querySelector('dialog[open]') ?? document.body).append($('toast'));
  $('toast').textContent = text;
  $('toast').hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(quiet, 6000);
}

/** What was told is over: it goes with the next thing that somebody does, or when its cause is gone. */
export function quiet() {
  clearTimeout(toastTimer);
  $('toast').hidden = true;
}
