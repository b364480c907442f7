import { html, nothing, render } from '../lit-html/lit-html.js';
import { repeat } from '../lit-html/directives/repeat.js';
import { count } from './format.js';
import { runQuery } from './graph.js';
import { addressesQuery } from './issue-queries.js';
import { avatar, time } from './elements.js';
import { withoutBidiControls } from './text.js';

// The server signs the addresses of files for a few minutes, and each read of the page returns different ones. So the page
// requests an address when the user opens a file, and keeps the address of a picture that is already shown: with a new one,
// the browser would load the picture again.

/** The addresses of the pictures, by the versions of their attachments. */
const pictures = new Map();

/** Another upload to the same attachment replaces its content, so its id alone does not identify a version. */
const versionOf = ({ id, uploadedUtc }) => `${id} ${uploadedUtc}`;

/** The files of an issue, with previews of those that have one. */
export function attachmentList(attachments) {
  const shown = attachments.map((file) => ({
    ...file,
    fileName: withoutBidiControls(file.fileName),
  }));
  return html`<ul class="attachments">${repeat(shown, versionOf, attachment)}</ul>`;
}

function attachment(file) {
  const { id, fileName, contentType, sizeBytes, previewKind, uploadedBy, uploadedUtc } = file;
  const { signedPreviewUrl, signedDownloadUrl } = file;
  const preview = signedPreviewUrl ? previews[previewKind] : undefined;
  return html`<li class="sheet">
    ${preview?.(file) ?? nothing}
    <p class="file">
      ${signedDownloadUrl ? link({ id, kind: 'signedDownloadUrl', url: signedDownloadUrl }, fileName) : fileName}
      <span class="small">${formatSize(sizeBytes)}, ${contentType}</span>
      <span class="small">${avatar(uploadedBy)} ${uploadedUtc ? time(uploadedUtc) : nothing}</span>
      <span class="small failure" role="alert"></span>
    </p>
  </li>`;
}

const previews = {
  IMAGE: (file) => {
    const { id, fileName, signedPreviewUrl } = file;
    const version = versionOf(file);
    if (!pictures.has(version)) pictures.set(version, signedPreviewUrl);
    const url = pictures.get(version);
    const picture = html`<img src=${url} alt="Preview of ${fileName}" loading="lazy" @error=${renewAddress(file)} />`;
    return link({ id, kind: 'signedPreviewUrl', url, style: 'picture' }, picture);
  },
  PDF: ({ id, fileName, signedPreviewUrl: url }) =>
    html`<p class="preview">${link({ id, kind: 'signedPreviewUrl', url }, html`Look at the PDF<span class="visually-hidden"> ${fileName}</span>`)}</p>`,
  TEXT: textPreview,
  CODE: textPreview,
};

/** A link to a file. Its address is read when the user follows it, because an earlier one may have expired. */
function link({ id, kind, url, style }, content) {
  const open = async (event) => {
    const isMenu = event.button === 2;
    if (isMenu) return;
    event.preventDefault();
    const { button, ctrlKey, metaKey, shiftKey, currentTarget } = event;
    const sheet = currentTarget.closest('li');
    try {
      const address = await addressOf(id, kind);
      render(nothing, sheet.querySelector('.failure'));
      const freshLink = currentTarget.cloneNode();
      freshLink.href = address;
      if (button === 1 || ctrlKey || metaKey || shiftKey) freshLink.target = '_blank';
      freshLink.click();
    } catch ({ message }) {
      render(`It could not be opened: ${message}`, sheet.querySelector('.failure'));
    }
  };
  return html`<a class=${style ?? nothing} href=${url} rel="noreferrer" ?download=${kind === 'signedDownloadUrl'} @click=${open} @auxclick=${open}>${content}</a>`;
}

/** Reads a newly signed address of a file. */
async function addressOf(id, kind) {
  const { data } = await runQuery(addressesQuery, { id });
  const address = data.node?.[kind];
  if (!address) throw new Error('The file no longer exists.');
  return address;
}

/**
 * Returns a handler that gives a picture a new address, once. Pictures are loaded when they are scrolled into view, and the
 * first address may have expired by then.
 */
function renewAddress(file) {
  return async ({ target }) => {
    if (target.dataset.isRenewed) return;
    target.dataset.isRenewed = 'true';
    const address = await addressOf(file.id, 'signedPreviewUrl').catch(() => undefined);
    if (!address) return;
    pictures.set(versionOf(file), address);
    target.src = address;
  };
}

/** A preview of a text, which is read only when the user opens it. */
function textPreview({ id, fileName }) {
  const open = async ({ target }) => {
    if (!target.open || target.dataset.isRead) return;
    target.dataset.isRead = 'true';
    const code = target.querySelector('code');
    try {
      const response = await fetch(await addressOf(id, 'signedPreviewUrl'));
      if (!response.ok) throw new Error(`The answer is ${response.status}.`);
      render(await response.text(), code);
    } catch ({ message }) {
      delete target.dataset.isRead;
      render(`The preview could not be read: ${message} Close it and open it to try again.`, code);
    }
  };
  return html`<details class="preview" @toggle=${open}>
    <summary>Preview<span class="visually-hidden"> of ${fileName}</span></summary>
    <pre class="source" tabindex="0" aria-label=${fileName}><code></code></pre>
  </details>`;
}

const units = ['bytes', 'KB', 'MB', 'GB'];

function formatSize(bytes) {
  const step = Math.min(units.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1_000)));
  return `${count(Math.round((bytes / 1_000 ** step) * 10) / 10)} ${units[step]}`;
}
