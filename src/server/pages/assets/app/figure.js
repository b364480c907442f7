import { html, nothing } from '../lit-html/lit-html.js';
import { csvOf, download } from './csv.js';
import './plot.js';

/** A chart with its title and an explanation, and its values as a table and as a CSV file. */
export function figure({ title, about, table, chart, content, file, wide = false }) {
  return html`<section class="sheet figure" data-wide=${wide} aria-label=${title}>
    <header>
      <h2>${title}</h2>
      ${table ? html`<button type="button" class="text-button" @click=${() => download(`${file}.csv`, csvOf(table))} aria-label="${title} as CSV">CSV</button>` : nothing}
    </header>
    <p class="about">${about}</p>
    ${chart ? html`<day-plot .chart=${chart}></day-plot>` : content}
    ${chart && table ? html`<details class="as-table"><summary>As a table</summary><div tabindex="0" role="region" aria-label="${title}, numbers">${dataTable(table)}</div></details>` : nothing}
  </section>`;
}

/** The values of a chart as a table. */
export function dataTable({ columns, rows }) {
  return html`<table>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...others]) => html`<tr><th scope="row">${first}</th>${others.map((value) => html`<td>${value ?? '–'}</td>`)}</tr>`)}</tbody>
  </table>`;
}
