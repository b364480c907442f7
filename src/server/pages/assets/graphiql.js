// Runs before GraphiQL: it passes the token of the tab to GraphiQL, and records a history of queries.
{
  // GraphiQL stores everything in `localStorage`, where later users of the browser could find it. Here it uses the storage of
  // the tab instead, and the items that earlier versions of this page have stored are removed.
  for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key);
  Object.defineProperty(window, 'localStorage', { value: sessionStorage });

  // GraphiQL reads the query from the address, but the variables only from its storage.
  const search = new URLSearchParams(location.search);
  if (search.has('query')) sessionStorage.setItem('graphiql:variables', search.get('variables') ?? '');

  const historyKey = 'workgraph.history';
  const maxEntries = 50;

  const readHistory = () => JSON.parse(sessionStorage.getItem(historyKey) ?? '[]');

  /** The storage of a tab is limited. Older entries are dropped if they do not fit, because a full storage must not stop a query. */
  const storeHistory = (entries) => {
    try {
      sessionStorage.setItem(historyKey, JSON.stringify(entries));
    } catch {
      if (entries.length > 0) storeHistory(entries.slice(0, entries.length >> 1));
    }
  };

  const withoutLayout = (text) => text.replace(/#[^\n]*/g, '').replace(/[\s,]+/g, '');

  /** GraphiQL sends a query without its layout. The address and the storage of GraphiQL have the text that the user typed. */
  const asTyped = (sent) => {
    const { tabs = [] } = JSON.parse(sessionStorage.getItem('graphiql:tabState') ?? '{}');
    const typed = [new URLSearchParams(location.search).get('query'), ...tabs.map(({ query }) => query)];
    return typed.find((query) => query && withoutLayout(query) === withoutLayout(sent)) ?? sent;
  };

  /** What a request asks for. GraphiQL sends queries and mutations by POST, and subscriptions by GET. */
  const sentBy = ({ searchParams }, { body }) =>
    typeof body === 'string'
      ? JSON.parse(body)
      : {
          query: searchParams.get('query'),
          variables: JSON.parse(searchParams.get('variables') ?? '{}'),
        };

  const recordQuery = ({ query: sent, variables }) => {
    if (!sent || sent.includes('__schema')) return;
    const query = asTyped(sent);
    const isSameQuery = (other) =>
      other.query === query && JSON.stringify(other.variables) === JSON.stringify(variables);
    const entry = { query, variables, at: new Date().toISOString() };
    storeHistory([entry, ...readHistory().filter((other) => !isSameQuery(other))].slice(0, maxEntries));
  };

  /** A typed header whose token the server has refused: later requests use the token of the tab instead. */
  let refusedHeader;
  /** Whether the server has refused to show its schema. */
  let lacksSchema = false;

  const errorReply = (status, message, extensions) =>
    Response.json({ errors: [{ message, extensions }] }, { status });

  /** The reply that GraphiQL shows if there was no answer. If the user has stopped the query, the error is thrown again. */
  const replyForFailure = (error) => {
    if (error.name === 'AbortError') throw error;
    const causes = 'Either it is not running, or this computer is not connected.';
    return errorReply(
      503,
      `The server does not answer. ${causes} Run the query again when that has changed.`,
    );
  };

  /**
   * Turns other answers into GraphQL errors, because GraphiQL cannot show them: the server refuses some requests with a problem
   * document as in REST, and a proxy may answer with an HTML page.
   */
  const withGraphQLErrors = async (response) => {
    if (response.ok) return response;
    const answer = await response
      .clone()
      .json()
      .catch(() => ({}));
    if (answer.errors?.[0]?.extensions || answer.data) return response;
    const { status } = response;
    // A proxy may send a date instead of seconds.
    const [seconds] = /^\d+$/.exec(response.headers.get('Retry-After') ?? '') ?? [];
    const reason = answer.detail ?? `Something other than workgraph has answered, with status ${status}.`;
    const isTransient = status === 429 || status >= 500;
    const advice = isTransient ? ` Run the query again ${seconds ? `in ${seconds} s` : 'in a moment'}.` : '';
    const { code, requestId } = answer;
    return errorReply(status, `${reason}${advice}`, { code, requestId });
  };

  const originalFetch = window.fetch;
  window.fetch = async (address, init = {}) => {
    const url = new URL(address, location.href);
    if (url.pathname !== '/graphql') return originalFetch(address, init);
    const sent = sentBy(url, init);
    recordQuery(sent);
    const headers = new Headers(init.headers);
    const token = sessionStorage.getItem('workgraph.token');
    // A token that was typed under "Headers" takes precedence over that of the tab.
    const typed = headers.get('Authorization') ?? '';
    const hasTypedToken = /^Bearer wg_[0-9a-f]/.test(typed) && typed !== refusedHeader;
    if (token && !hasTypedToken) headers.set('Authorization', `Bearer ${token}`);
    const response = await originalFetch(address, { ...init, headers }).then(
      withGraphQLErrors,
      replyForFailure,
    );
    const isRefused = response.status === 401;
    if (isRefused && hasTypedToken) refusedHeader = typed;
    lacksSchema ||= isRefused && Boolean(sent.query?.includes('__schema'));
    document.querySelector('.sign-in').hidden = !isRefused;
    return response;
  };

  /** Signs the tab in. A reload would clear the editors, so the page is reloaded only if it has no schema. */
  const signIn = async (event) => {
    event.preventDefault();
    const form = event.target;
    const { tokenFromField } = await import('/assets/app/session.js');
    const token = tokenFromField(form.elements.token);
    if (!token) return;
    sessionStorage.setItem('workgraph.token', token);
    dispatchEvent(new Event('tokenchange'));
    form.hidden = true;
    form.reset();
    if (lacksSchema) location.reload();
    else document.querySelector('.graphiql-execute-button')?.focus();
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
    const form = document.querySelector('.sign-in');
    form.addEventListener('submit', (event) => void signIn(event));
    form.addEventListener('input', ({ target }) => target.setCustomValidity(''));
    const history = document.querySelector('.history');
    history.addEventListener('toggle', () => {
      const entries = readHistory().map(entryOf);
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
