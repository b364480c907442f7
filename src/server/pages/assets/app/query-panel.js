import { html, nothing } from '../lit-html/lit-html.js';
import { count } from './format.js';

/** The query of a page, with its cost and a link to edit it in GraphiQL. */
export function queryPanel({ query, variables, measurements, subscription }) {
  return html`<aside class="query-panel" aria-label="The query behind this page">
    <details>
      <summary>
        <span class="title">One query</span>
        ${
          measurements
            ? html`<span class="measurements">
              <span title="Objects in the answer, and how many it could have had">cost <b>${count(measurements.cost.actual)}</b> of ${count(measurements.cost.requested)}</span>
              <span title="SQL statements: they depend on the depth of the query and not on its rows"><b>${count(measurements.statements)}</b> ${measurements.statements === 1 ? 'statement' : 'statements'}</span>
              <span title="From the request to the whole answer"><b>${Math.round(measurements.milliseconds)}</b> ms</span>
            </span>`
            : nothing
        }
      </summary>
      <p class="small">
        The cost is the number of objects in the answer, and how many there could have been. The number of statements
        depends on the depth of a query, never on its rows.
      </p>
      ${sourceBlock('Query', query)}
      ${sourceBlock('Variables', JSON.stringify(variables, null, 2))}
      <p><a class="button" href=${graphiqlPath(query, variables)}>Open in GraphiQL</a></p>
      ${subscription ? sourceBlock('Kept up to date by', subscription) : nothing}
    </details>
  </aside>`;
}

function sourceBlock(title, text) {
  return html`<h2>${title}</h2>
    <pre class="source" tabindex="0" aria-label=${title}><code>${highlighted(text)}</code></pre>`;
}

/** The address of GraphiQL with this query and its variables. */
export function graphiqlPath(query, variables = {}) {
  return `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables, null, 2) })}`;
}

const tokens =
  /(#[^\n]*)|("(?:[^"\\]|\\.)*")|(\$\w+)|\b(query|subscription|fragment|on|true|false|null)\b|\b([A-Z]\w*)\b/g;
const kinds = ['comment', 'text', 'variable', 'keyword', 'type'];

/** The text of a query with syntax highlighting. */
function highlighted(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(tokens)) {
    const kind = kinds[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(text.slice(last, match.index), html`<span class=${kind}>${match[0]}</span>`);
    last = match.index + match[0].length;
  }
  return [...parts, text.slice(last)];
}
