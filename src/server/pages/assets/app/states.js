import { html, nothing } from '../lit-html/lit-html.js';
import { forgetToken, signIn, tokenFromField } from './session.js';

/**
 * The content of a page after an error, with what the user can do about it: use the remedy, if there is one, or try again. An
 * explanation replaces the title and the body.
 */
export function problem(error, retry, remedy, explanation) {
  const known = problems[error.code] ?? unexpected;
  const { title, body } = explanation ?? known(error, retry, remedy);
  return html`<section class="problem" role="alert" aria-labelledby="problem">
    <h1 id="problem">${title}</h1>
    ${body}
    ${error.requestId ? html`<p class="small">Request <code>${error.requestId}</code></p>` : nothing}
  </section>`;
}

const retryButton = (retry) => html`<button type="button" class="button" @click=${retry}>Try again</button>`;

const problems = {
  NO_TOKEN: () => ({
    title: 'Sign in with an access token',
    body: html`<p>Every page shows what an access token may read. The tabs of this browser keep it until the last one is closed.</p>
      ${tokenForm()}`,
  }),
  UNAUTHENTICATED: () => ({
    title: 'This token does not work',
    body: html`<p>It is unknown to this server, has expired or was revoked. Use another one.</p>
      ${tokenForm()}`,
  }),
  FORBIDDEN: ({ missingScopes, message }) => ({
    title: 'The token may not read this page',
    body: html`${
      missingScopes.length
        ? html`<p>It lacks ${scopeList(missingScopes)}. Create one that has ${missingScopes.length > 1 ? 'them' : 'it'}:</p>
            <div class="code"><pre tabindex="0"><code>npx workgraph token create --scopes issues:read,teams:read,projects:read,members:read</code></pre></div>`
        : html`<p>${message}</p>`
    }
      <p><button type="button" class="button" @click=${forgetToken}>Sign in with another token</button></p>`,
  }),
  RATE_LIMITED: ({ retryAfter }, retry) => ({
    title: 'Too many requests',
    body: html`<p>The quota of this token is used up${retryAfter ? `; there is more in ${retryAfter} seconds` : nothing}.</p>
      ${retryButton(retry)}`,
  }),
  OFFLINE: (_, retry) => ({
    title: 'The server does not answer',
    body: html`<p>Either it is not running, or this computer is not connected.</p>
      ${retryButton(retry)}`,
  }),
  UNAVAILABLE: ({ message }, retry, remedy) => ({
    title: 'The server is busy',
    body: html`<p>${message}</p>
      ${retryButton(retry)} ${remedy ?? nothing}`,
  }),
  PERSISTED_QUERY_NOT_FOUND: () => outdated,
  GRAPHQL_VALIDATION_FAILED: () => outdated,
};

const outdated = {
  title: 'This page is out of date',
  body: html`<p>The server has another version now, which does not know what this page asks.</p>
    <button type="button" class="button" @click=${() => location.reload()}>Reload the page</button>`,
};

const unexpected = ({ message }, retry, remedy) => ({
  title: 'This page could not be read',
  body: html`<p>${message}</p>
    ${remedy ?? retryButton(retry)}`,
});

function scopeList(scopes) {
  return scopes.map((scope, index) => html`${index ? ', ' : nothing}<code>${scope}</code>`);
}

function tokenForm() {
  const submit = (event) => {
    event.preventDefault();
    const token = tokenFromField(event.target.elements.token);
    if (token) signIn(token);
  };
  const edit = ({ target }) => target.setCustomValidity('');
  return html`<form class="token-form" @submit=${submit}>
      <label for="token">Access token</label>
      <div>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" placeholder="wg_…" required @input=${edit} />
        <button class="button primary">Sign in</button>
      </div>
    </form>
    <p class="small">
      <code>npm start</code> prints an address that signs in to the demo. On a server of your own, run
      <code>npx workgraph token create</code>.
    </p>`;
}

/** The content of a page whose object does not exist, with a link to another page. */
export function notFound(title, text, link) {
  document.title = `${title} – workgraph`;
  return html`<section class="problem">
    <h1>${title}</h1>
    <p>${text}</p>
    <p>${link}</p>
  </section>`;
}

/** The text in place of an empty list. */
export function emptyText(text) {
  return html`<p class="empty">${text}</p>`;
}

/** The content of a page of a workspace without active teams. */
export function noTeamsYet() {
  return emptyText(
    html`There are no active teams yet. <code>npx workgraph directory apply FILE</code> adds those of a file, and
      <code>npx workgraph import</code> brings issues from elsewhere.`,
  );
}

/** Shows whether the page, or only its `liveContent`, is kept up to date. */
export function liveness(state, { failure, liveContent }) {
  const text = {
    connecting: 'Connecting',
    live: liveContent ? `${liveContent} live` : 'Live',
    paused: 'Paused',
    offline: 'Reconnecting',
    failed: `Not up to date: ${failure?.message}`,
    refused: 'Not live',
  };
  return html`<span class="liveness" data-state=${state} role="status" title=${tooltips[state]}>${text[state]}</span>`;
}

const tooltips = {
  connecting: 'Changes will be shown as they are made.',
  live: 'Changes are shown as they are made.',
  paused: 'Updates pause while the tab is hidden.',
  offline: 'The connection was lost. Nothing is missed: the page continues from where it stopped.',
  failed: 'The page shows older data. It keeps trying to read newer data until the server answers.',
  refused: 'The server refused the stream. Reload the page to see changes.',
};
