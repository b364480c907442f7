import { html, nothing } from '../lit-html/lit-html.js';
import { words } from './format.js';
import { avatar, time } from './elements.js';
import { plainText } from './text.js';

/** The conversation with an agent about an issue. */
export function agentThread({ agent, status, messageCount, messages }) {
  const hidden = messageCount - messages.nodes.length;
  return html`<section aria-labelledby="thread">
    <h2 id="thread">Agent <span class="badge" data-status=${status}>${words(status)}</span></h2>
    <p class="small">A conversation with ${agent.displayName}.${hidden > 0 ? ` The first ${hidden} messages are not shown.` : nothing}</p>
    <ol class="thread">${messages.nodes.map(message)}</ol>
  </section>`;
}

function message({ messageType, author, body, createdUtc, followUpActions }) {
  return html`<li data-type=${messageType}>
    <p class="byline">${avatar(author, { named: true })} <span class="kind">${kinds[messageType]}</span> ${time(createdUtc)}</p>
    <div class="body">${plainText(body)}</div>
    ${followUpActions.length ? html`<p class="chips">${followUpActions.map(({ name }) => html`<span class="chip">${name}</span>`)}</p>` : nothing}
  </li>`;
}

const kinds = {
  PROMPT: 'asked',
  THOUGHT: 'thought',
  ACTION: 'did',
  ELICITATION: 'wants to know',
  RESPONSE: 'answered',
  ERROR: 'failed',
};
