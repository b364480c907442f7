import { render } from '../lit-html/lit-html.js';

const main = document.querySelector('main');
let isFirst = true;

/** Shows this as the content of the page, in place of what the server has sent. */
export function show(content) {
  if (isFirst) main.replaceChildren();
  isFirst = false;
  render(content, main);
}
