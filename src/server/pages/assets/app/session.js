// The access token of this tab. The server prints an address that ends in `#token=…`: a browser sends no fragment to
// any server, and here it is kept for the tab and removed from the address.

const kept = 'workgraph.token';

const given = /^#token=([^&]+)$/.exec(location.hash)?.[1];
if (given) {
  sessionStorage.setItem(kept, decodeURIComponent(given));
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** The token; undefined while nobody is signed in. */
export function currentToken() {
  return sessionStorage.getItem(kept) ?? undefined;
}

export function signIn(token) {
  sessionStorage.setItem(kept, token.trim());
  location.reload();
}

export function signOut() {
  // GraphiQL keeps what was typed into it, which may be a token, too.
  sessionStorage.clear();
  location.reload();
}

const button = document.querySelector('.sign-out');
if (button) {
  button.hidden = currentToken() === undefined;
  button.addEventListener('click', signOut);
}
