import { html, nothing } from '../lit-html/lit-html.js';

// Texts are plain text. Some conventions of plain text are rendered: lists, code, and links.

/** A text of several lines. */
export function plainText(text) {
  return blocksOf(text.split(/\r\n|\r|\n/)).map(block);
}

/** A text that the API returns as a document of paragraphs. Nodes of unknown types are omitted. */
export function richText({ content }) {
  const lines = (content.content ?? []).map(({ content = [] }) =>
    content.map(({ text = '' }) => text).join(''),
  );
  return blocksOf(lines).map(block);
}

/** Groups the lines into blocks: paragraphs, lists and code. */
function blocksOf(lines) {
  const blocks = [];
  let open;
  for (const line of lines) {
    const isFence = line.trimStart().startsWith('```');
    if (open?.kind === 'code') {
      if (isFence) open = undefined;
      else open.lines.push(line);
      continue;
    }
    // A line may contain U+2028 and U+2029, which `.` matches only with the flag `s`.
    const item = /^\s*[-*•] (.*)/s.exec(line)?.[1];
    const kind = isFence ? 'code' : item === undefined ? 'paragraph' : 'list';
    if (line.trim() === '') open = undefined;
    else if (open?.kind === kind) open.lines.push(item ?? line);
    else {
      open = { kind, lines: isFence ? [] : [item ?? line] };
      blocks.push(open);
    }
  }
  return blocks;
}

function block({ kind, lines }) {
  if (kind === 'code') return html`<pre class="source" tabindex="0"><code>${lines.join('\n')}</code></pre>`;
  if (kind === 'list') return html`<ul>${lines.map((line) => html`<li>${inline(line)}</li>`)}</ul>`;
  return html`<p>${lines.map((line, at) => html`${at ? html`<br />` : ''}${inline(line)}`)}</p>`;
}

// A URL may contain pairs of parentheses; a closing one without its pair belongs to the sentence around the URL.
const tokens =
  /`([^`]+)`|(https?:\/\/(?:[^\s<>"'()]|\([^\s<>"'()]*\))*(?:[^\s<>"'.,;:!?()]|\([^\s<>"'()]*\)))/g;

function inline(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(tokens)) {
    const [all, code, url] = match;
    parts.push(text.slice(last, match.index), code === undefined ? link(url) : html`<code>${code}</code>`);
    last = match.index + all.length;
  }
  return [...parts, text.slice(last)];
}

/**
 * A link to another site. `noreferrer` keeps the address of this page from it. Characters of its text that change the direction of text
 * affect nothing else, and a URL is shown without them: either could show another host than that of the link.
 */
export function link(url, text = withoutBidiControls(url)) {
  const isolated = html`<bdi>${text}</bdi>`;
  return /^https?:\/\//i.test(url) ? html`<a href=${url} rel="noreferrer">${isolated}</a>` : isolated;
}

/** The links of an issue or a project, with the hosts that they point to. */
export function links({ links: { nodes } }) {
  if (!nodes.length) return nothing;
  return html`<section aria-labelledby="links">
    <h2 id="links">Links</h2>
    <ul class="links">${nodes.map(({ title, url }) => html`<li>${link(url, title)} <span class="small">${URL.canParse(url) ? new URL(url).host : nothing}</span></li>`)}</ul>
  </section>`;
}

/** Replaces characters that control the direction of text: with them, a file name could seem to have another extension. */
export function withoutBidiControls(text) {
  return text.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '\uFFFD');
}
