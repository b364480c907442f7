import { html, nothing, render } from '../lit-html/lit-html.js';
import { count } from './format.js';
import { avatar, time } from './parts.js';

/** The files of an issue, with previews of those that have one. */
export function attachmentList(attachments) {
  return html`<ul class="attachments">${attachments.map(attachment)}</ul>`;
}

function attachment({
  fileName,
  contentType,
  sizeBytes,
  previewKind,
  signedPreviewUrl,
  signedDownloadUrl,
  uploadedBy,
  uploadedUtc,
}) {
  const preview = signedPreviewUrl ? previews[previewKind] : undefined;
  return html`<li class="sheet">
    ${preview?.(signedPreviewUrl, fileName) ?? nothing}
    <p class="file">
      ${signedDownloadUrl ? html`<a href=${signedDownloadUrl} download>${fileName}</a>` : fileName}
      <span class="small">${size(sizeBytes)}, ${contentType}</span>
      <span class="small">${avatar(uploadedBy)} ${uploadedUtc ? time(uploadedUtc) : nothing}</span>
    </p>
  </li>`;
}

const previews = {
  IMAGE: (url, name) =>
    html`<a class="picture" href=${url}><img src=${url} alt="Preview of ${name}" loading="lazy" /></a>`,
  PDF: (url, name) =>
    html`<p class="preview"><a href=${url}>Look at the PDF<span class="unseen"> ${name}</span></a></p>`,
  TEXT: textPreview,
  CODE: textPreview,
};

/** The text is read only when the user opens the preview. */
function textPreview(url, name) {
  const open = async ({ target }) => {
    if (!target.open || target.dataset.read) return;
    target.dataset.read = 'true';
    const pre = target.querySelector('code');
    const response = await fetch(url).catch(() => undefined);
    render(
      response?.ok
        ? await response.text()
        : 'The preview could not be read. Reload the page for a new address.',
      pre,
    );
  };
  return html`<details class="preview" @toggle=${open}>
    <summary>Preview<span class="unseen"> of ${name}</span></summary>
    <pre class="source" tabindex="0" aria-label=${name}><code></code></pre>
  </details>`;
}

const units = ['bytes', 'KB', 'MB', 'GB'];

function size(bytes) {
  const step = Math.min(units.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1_000)));
  return `${count(Math.round((bytes / 1_000 ** step) * 10) / 10)} ${units[step]}`;
}
