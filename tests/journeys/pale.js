// Every visible text whose contrast with what is behind it is below 4.5:1 (WCAG AA).
(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
  const part = v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = colour => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * part(colour[i]), 0);
  const chain = node => node ? [node, ...chain(node.parentElement)] : [];
  const behind = node => chain(node).reverse().map(n => rgba(getComputedStyle(n).backgroundColor))
    .reduce((below, colour) => over(colour, below), [255, 255, 255]);
  const pale = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), node = walk.currentNode.parentElement;
    if (!text || !node.checkVisibility() || node.closest('.sr, .skip, option')) continue;
    const [r, g, b, a] = rgba(getComputedStyle(node).color);
    const seen = chain(node).reduce((product, n) => product * getComputedStyle(n).opacity, a);
    const below = behind(node), lights = [over([r, g, b, seen], below), below].map(luminance);
    const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    if (ratio < 4.5) pale.add(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${text.slice(0, 40)}`);
  }
  return [...pale];
})()
