import { render } from '../lit-html/lit-html.js';

const main = document.querySelector('main');
let isFirst = true;

/** Renders the content of the page; the first call replaces the placeholder that the server has sent. */
export function show(content) {
  if (isFirst) main.replaceChildren();
  isFirst = false;
  render(content, main);
}
