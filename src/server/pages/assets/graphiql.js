// Runs before GraphiQL, which knows nothing of the other pages: it gives it the token of the tab, and keeps a history.
{
  // GraphiQL stores everything in `localStorage`, where later users of the browser find it. Here it stores it for the tab
  // only, and what earlier versions of the page have stored is removed.
  for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key);
  Object.defineProperty(window, 'localStorage', { value: sessionStorage });

  // It takes the query of an address, but its variables from where it has stored those that were typed last.
  const search = new URLSearchParams(location.search);
  if (search.has('query')) sessionStorage.setItem('graphiql:variables', search.get('variables') ?? '');

  const historyKey = 'workgraph.history';
  const longest = 50;

  const read = () => JSON.parse(sessionStorage.getItem(historyKey) ?? '[]');

  const withoutLayout = (text) => text.replace(/#[^\n]*/g, '').replace(/[\s,]+/g, '');

  /** GraphiQL sends a query without its layout. The address and what it has stored have it as it was typed. */
  const asTyped = (sent) => {
    const { tabs = [] } = JSON.parse(sessionStorage.getItem('graphiql:tabState') ?? '{}');
    const typed = [new URLSearchParams(location.search).get('query'), ...tabs.map(({ query }) => query)];
    return typed.find((query) => query && withoutLayout(query) === withoutLayout(sent)) ?? sent;
  };

  const remember = (body) => {
    const { query: sent, variables } = JSON.parse(body);
    if (!sent || sent.includes('__schema')) return;
    const query = asTyped(sent);
    const same = (other) =>
      other.query === query && JSON.stringify(other.variables) === JSON.stringify(variables);
    const entry = { query, variables, at: new Date().toISOString() };
    const entries = [entry, ...read().filter((other) => !same(other))].slice(0, longest);
    sessionStorage.setItem(historyKey, JSON.stringify(entries));
  };

  const send = window.fetch;
  window.fetch = (address, init = {}) => {
    if (new URL(address, location.href).pathname !== '/graphql') return send(address, init);
    if (typeof init.body === 'string') remember(init.body);
    const headers = new Headers(init.headers);
    const token = sessionStorage.getItem('workgraph.token');
    // A token that was typed under "Headers" goes before that of the tab.
    const isGiven = /^Bearer wg_[0-9a-f]/.test(headers.get('Authorization') ?? '');
    if (token && !isGiven) headers.set('Authorization', `Bearer ${token}`);
    return send(address, { ...init, headers });
  };

  const nameOf = (query) =>
    /\b(?:query|mutation|subscription)\s+(\w+)/.exec(query)?.[1] ?? query.replace(/\s+/g, ' ').slice(0, 60);

  const entryOf = ({ query, variables, at }) => {
    const link = document.createElement('a');
    link.href = `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables ?? {}, null, 2) })}`;
    link.textContent = nameOf(query);
    const time = document.createElement('time');
    time.dateTime = at;
    time.textContent = new Date(at).toLocaleTimeString('en-GB', { timeStyle: 'short' });
    const item = document.createElement('li');
    item.append(link, ' ', time);
    return item;
  };

  addEventListener('DOMContentLoaded', () => {
    const history = document.querySelector('.history');
    history.addEventListener('toggle', () => {
      const entries = read().map(entryOf);
      history.querySelector('ol').replaceChildren(...entries);
      history.querySelector('p').hidden = entries.length > 0;
    });
    history.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      history.open = false;
      history.querySelector('summary').focus();
    });
  });
}
