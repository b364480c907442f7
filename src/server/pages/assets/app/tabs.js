// The tabs of a browser share the access token, so that a link can be opened in a new one: a tab without a token asks the
// others. Each tab keeps it in its `sessionStorage`, so it is gone when the last one is closed;
// in `localStorage` it would stay.

/** How long a tab waits, after the first offer, for those of tabs with another token. Browsers run hidden tabs late. */
const collectMs = 200;
/** For how long a tab accepts offers. Later its user may be typing a token. */
const requestMs = 2_000;

/**
 * Connects this tab with the others. `currentToken` returns what it has, `onToken` receives what another tab has, and `onSignOut` is called when
 * another tab has signed out of the same token.
 */
export function connectTabs({ currentToken, onToken, onSignOut }) {
  let channel;
  let offers;
  const send = (message) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel reaches no other origin.
    channel.postMessage(message);
  };
  const receive = ({ kind, token: other }) => {
    if (kind === 'request' && currentToken()) send({ kind: 'offer', token: currentToken() });
    if (kind === 'signed out' && other === currentToken()) onSignOut();
    if (kind !== 'offer' || !offers) return;
    if (offers.size === 0) setTimeout(useOffers, collectMs);
    offers.add(other);
  };
  // With tokens of several workspaces, only the user knows which one is meant.
  const useOffers = () => {
    if (offers?.size === 1 && !currentToken()) onToken([...offers][0]);
  };
  const open = () => {
    channel = new BroadcastChannel('workgraph.token');
    channel.addEventListener('message', ({ data }) => receive(data));
  };
  open();
  // Browsers keep no page for the Back button that has an open channel.
  addEventListener('pagehide', () => channel.close());
  addEventListener('pageshow', ({ persisted }) => persisted && open());
  return {
    requestToken() {
      offers = new Set();
      setTimeout(() => (offers = undefined), requestMs);
      send({ kind: 'request' });
    },
    announceSignOut: (token) => send({ kind: 'signed out', token }),
  };
}
