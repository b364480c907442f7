// The access token of this tab. The server prints an address that ends in `#token=…`: browsers do not send the fragment
// to a server, and this script stores the token for the tab and removes it from the address.

import { isSignedOut, recordSignIn, recordSignOut } from './signed-out.js';
import { connectTabs } from './tabs.js';

const storageKey = 'workgraph.token';
/** Stored in a tab whose user has signed out, which does not ask other tabs for their tokens. */
const signedOutKey = 'workgraph.signed-out';
const replaceQuestion =
  'This address signs in with another access token. Use it in place of the one that this tab has?';

/**
 * Stores the token of the address and removes it from there, with all that follows it. Says whether there was one. Somebody else may
 * have made the address, so it replaces the token of a tab that is signed in only if the user agrees.
 */
function storeTokenOfAddress() {
  const text = new URLSearchParams(location.hash.slice(1)).get('token');
  if (text === null) return false;
  const token = parseToken(text);
  const storedToken = sessionStorage.getItem(storageKey) ?? token;
  if (token && (token === storedToken || confirm(replaceQuestion))) {
    recordSignIn(token);
    sessionStorage.setItem(storageKey, token);
  }
  history.replaceState(history.state, '', location.pathname + location.search);
  return true;
}

storeTokenOfAddress();
// An address that is entered into an open tab and differs in its fragment alone does not load the page.
addEventListener('hashchange', () => {
  if (storeTokenOfAddress()) location.reload();
});

/** The token; undefined if the user is not signed in. The page of the REST reference stores what was typed as it is. */
export function currentToken() {
  return parseToken(sessionStorage.getItem(storageKey) ?? '');
}

if (isSignedOut(currentToken() ?? '')) clearTab();
const initialToken = currentToken();
// A page that the Back button brings out of the memory of the browser still shows what an earlier token could read.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && isSignedOut(currentToken() ?? '')) clearTab();
  if (!persisted || currentToken() === initialToken) return;
  document.body.replaceChildren();
  location.reload();
});

/**
 * The token in a text that was copied, perhaps with the word before it or with invisible characters. Undefined if there
 * are characters that a request cannot carry.
 */
export function parseToken(text) {
  const token = text
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/^Bearer\s+/i, '');
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

/** The token in a field; undefined if there is none, which the field then says. */
export function tokenFromField(field) {
  const token = parseToken(field.value);
  if (token) return token;
  field.setCustomValidity('This is not a token: it contains a space, or a character that tokens never have.');
  field.reportValidity();
}

export function signIn(token) {
  recordSignIn(token);
  sessionStorage.setItem(storageKey, token);
  location.reload();
}

/** Forgets the token in this tab alone, to use another one. */
export function forgetToken() {
  clearTab();
  location.reload();
}

function clearTab() {
  // GraphiQL stores the headers that were typed into it, which may contain a token as well.
  sessionStorage.clear();
  sessionStorage.setItem(signedOutKey, 'true');
}

const tabs = connectTabs({ currentToken, onToken: signIn, onSignOut: forgetToken });
if (!currentToken() && !sessionStorage.getItem(signedOutKey)) tabs.requestToken();

/** Signs out in all tabs that have the token. */
function signOut() {
  const token = currentToken();
  if (token) {
    recordSignOut(token);
    tabs.announceSignOut(token);
  }
  forgetToken();
}

// GraphiQL and the page of the REST reference have forms of their own.
addEventListener('tokenchange', () => recordSignIn(currentToken() ?? ''));

const button = document.querySelector('.sign-out');
if (button) {
  const show = () => (button.hidden = sessionStorage.getItem(storageKey) === null);
  show();
  addEventListener('tokenchange', show);
  button.addEventListener('click', signOut);
}
