// The tabs of a browser share the access token, so that links can be opened in a new tab: a tab without a token requests one
// from the others. Each tab stores it in its `sessionStorage`, so it is gone when the last tab is closed; `localStorage` would
// keep it.

/** How long a tab waits for further offers after the first: hidden tabs answer late, and may have other tokens. */
const collectMs = 200;
/** How long a tab accepts offers. After that, its user may be typing a token. */
const requestMs = 2_000;

/**
 * Connects this tab with the others. `currentToken` returns the token of this tab, `onOffer` is called with the token that other
 * tabs offer, and `onSignOut` when another tab has signed out of the token of this one.
 */
export function connectTabs({ currentToken, onOffer, onSignOut }) {
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
  // If several tokens were offered, only the user knows which one to use.
  const useOffers = () => {
    if (offers?.size === 1 && !currentToken()) onOffer([...offers][0]);
  };
  const open = () => {
    channel = new BroadcastChannel('workgraph.token');
    channel.addEventListener('message', ({ data }) => receive(data));
  };
  open();
  // A page with an open channel would not get into the back/forward cache.
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
