// Text with entities, as safe elements: foreign text only ever becomes text nodes.

import { tell } from './bus.js';
import { h } from './dom.js';

/** Offsets are UTF-16 units, as JavaScript counts. Entities nest; a broken range is cut to fit. */
export function rich(text, entities = []) {
  const sorted = entities
    .map(e => ({ ...e, end: Math.min(e.offset + e.length, text.length) }))
    .filter(e => e.offset >= 0 && e.end > e.offset)
    .sort((a, b) => a.offset - b.offset || b.end - a.end);
  let next = 0;
  const build = (from, to) => {
    const out = [];
    let at = from;
    while (next < sorted.length && sorted[next].offset < to) {
      const entity = sorted[next++];
      const start = Math.max(entity.offset, at), end = Math.min(entity.end, to);
      if (end <= start) continue;
      if (start > at) out.push(text.slice(at, start));
      out.push(dress(entity, text.slice(start, end), build(start, end)));
      at = end;
    }
    if (at < to) out.push(text.slice(at, to));
    return out;
  };
  return build(0, text.length);
}

function dress(entity, text, inner) {
  const plain = { bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', code: 'code',
    blockquote: 'blockquote', expandable_blockquote: 'blockquote' }[entity.type];
  if (plain) return h(plain, {}, inner);
  switch (entity.type) {
    case 'pre': return h('pre', { tabindex: 0, 'data-lang': entity.language }, h('code', {}, inner));
    case 'spoiler': return h('button', { type: 'button', class: 'spoiler', 'aria-label': 'Hidden text, press to read',
      onclick: e => { e.currentTarget.classList.add('open'); e.currentTarget.removeAttribute('aria-label'); } }, inner);
    case 'text_link': return link(entity.url, inner);
    case 'url': return link(/^[a-z]+:/i.test(text) ? text : `https://${text}`, inner);
    case 'email': return link(`mailto:${text}`, inner);
    case 'bot_command': return h('button', { type: 'button', class: 'command', onclick: () => tell('draft', text) }, inner);
    case 'mention': case 'text_mention': case 'hashtag': case 'cashtag': return h('span', { class: 'mention' }, inner);
    default: return h('span', {}, inner);
  }
}

/** Only web and mail links are links; anything else (`javascript:`) stays text. */
function link(url, inner) {
  let parsed;
  try { parsed = new URL(url); } catch { return h('span', {}, inner); }
  if (!['http:', 'https:', 'mailto:'].includes(parsed.protocol)) return h('span', {}, inner);
  return h('a', { href: parsed.href, target: '_blank', rel: 'noopener noreferrer', title: parsed.href }, inner);
}
