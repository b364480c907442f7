import { render } from '../lit-html/lit-html.js';

const main = document.querySelector('main');
let isFirst = true;

/**
 * Renders the content of the page; the first call replaces the placeholder that the server has sent. An element with `data-key`
 * keeps the focus when it moves to another parent, such as a card that moves to another column.
 */
export function show(content) {
  const { key } = document.activeElement?.dataset ?? {};
  if (isFirst) main.replaceChildren();
  isFirst = false;
  render(content, main);
  if (key && !main.contains(document.activeElement)) focusOn(key);
}

/** Gives the focus to the element with this `data-key`, if there is one. */
export function focusOn(key) {
  main.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}
