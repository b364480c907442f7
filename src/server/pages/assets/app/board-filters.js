import { html, nothing } from '../lit-html/lit-html.js';
import { searchOf } from './address.js';
import { words } from './format.js';
import { choice, ranks } from './parts.js';

/**
 * The team that is highlighted in the list but not opened yet. A list reports each step of the arrow keys, so it does
 * not leave the page.
 */
let marked;

/** What a board can be filtered by, and the way to another one. */
export function filters({ data, chosen, issues, choose, reset, redraw }) {
  const { code } = data.team;
  const mark = (other) => {
    marked = other;
    redraw();
  };
  return html`<form class="filters" role="search" tabindex="-1" aria-label="Filter of the board" @submit=${(event) => event.preventDefault()}>
    ${choice({
      name: 'Team',
      value: marked ?? code,
      options: data.teams.nodes.map((each) => [each.code, each.name]),
      isChosen: false,
      choose: mark,
    })}
    ${marked && marked !== code ? html`<a class="button" href=${boardPath(marked, chosen)}>Go</a>` : nothing}
    <label class="field"><span class="unseen">Title</span>
      <input type="search" placeholder="Title contains …" .value=${chosen.q ?? ''} @input=${({ target }) => choose('q', target.value)} />
    </label>
    ${Object.entries(optionsOf(data)).map(([name, options]) =>
      choice({
        name: words(name),
        value: chosen[name] ?? '',
        options: [['', `Any ${name}`], ...withChosen(options, chosen[name], name, issues)],
        choose: (value) => choose(name, value),
      }),
    )}
    <label class="check"><input type="checkbox" .checked=${Boolean(chosen.canceled)} @change=${({ target }) => choose('canceled', target.checked && '1')} /> Canceled</label>
    ${Object.keys(chosen).length ? html`<button type="button" class="plain" @click=${reset}>Clear</button>` : nothing}
  </form>`;
}

/** Forgets the marked team, on a page to which the user has returned. */
export function forgetMarked() {
  marked = undefined;
}

/** The board of another team with the same choices, except those that only this team has. */
function boardPath(code, chosen) {
  const others = Object.entries(chosen).filter(([name]) => name !== 'project' && name !== 'label');
  return `/board/${encodeURIComponent(code)}${searchOf(others)}`;
}

function optionsOf({ byAssignee, byLabel, byProject }) {
  const numbered = (name, number) => `${name} (${number})`;
  return {
    assignee: byAssignee
      .filter(({ assignee }) => assignee)
      .map(({ assignee, count }) => [assignee.userAccountId, numbered(assignee.displayName, count)]),
    priority: ranks.map((rank) => [rank, words(rank)]),
    label: byLabel
      .filter(({ label }) => label)
      .map(({ label, count }) => [label.id, numbered(label.name, count)]),
    project: byProject
      .filter(({ project }) => project)
      .map(({ project, count }) => [project.id, numbered(project.name, count)]),
  };
}

/**
 * The options are those of open issues. The chosen option may occur only on closed issues; its name then comes from a
 * card that shows it, if there is one.
 */
function withChosen(options, value, name, issues) {
  if (!value || options.some(([each]) => each === value)) return options;
  const known = {
    assignee: issues
      .map(({ primaryAssignee }) => primaryAssignee)
      .find((each) => each?.userAccountId === value)?.displayName,
    label: issues.flatMap(({ labels }) => labels).find(({ id }) => id === value)?.name,
  };
  return [...options, [value, known[name] ?? `The chosen ${name}`]];
}
