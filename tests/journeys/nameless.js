// Every visible control or picture that has no name to be read aloud, and every id that is there twice.
(() => {
  const named = e => e.getAttribute('aria-label') || document.getElementById(e.getAttribute('aria-labelledby'))?.textContent
    || e.labels?.[0]?.textContent || e.alt || e.textContent.trim();
  const controls = [...document.querySelectorAll('button, input, select, textarea, a[href], img, [role]')];
  const nameless = controls.filter(e => e.checkVisibility() && !named(e)).map(e => e.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  return [...nameless, ...ids.filter((id, i) => ids.indexOf(id) !== i)];
})()
