// The access token of this tab. The server prints an address that ends in `#token=…`: browsers do not send the fragment to a
// server, and this script stores the token for the tab and removes it from the address.

const storageKey = 'workgraph.token';

const fragmentToken = /^#token=([^&]+)$/.exec(location.hash)?.[1];
if (fragmentToken) {
  sessionStorage.setItem(storageKey, decodeURIComponent(fragmentToken));
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** The token; undefined if the user is not signed in. */
export function currentToken() {
  return sessionStorage.getItem(storageKey) ?? undefined;
}

export function signIn(token) {
  sessionStorage.setItem(storageKey, token.trim());
  location.reload();
}

export function signOut() {
  // GraphiQL stores the headers that were typed into it, which may contain a token as well.
  sessionStorage.clear();
  location.reload();
}

const button = document.querySelector('.sign-out');
if (button) {
  button.hidden = currentToken() === undefined;
  button.addEventListener('click', signOut);
}
