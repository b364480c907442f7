// The access token of this tab. The server prints an address that ends in `#token=…`: browsers do not send the fragment
// to a server, and this script stores the token for the tab and removes it from the address.

import { isSignedOut, recordSignIn, recordSignOut } from './signed-out.js';
import { connectTabs } from './tabs.js';

const storageKey = 'workgraph.token';
/** Stored in a tab whose user has signed out, so that it does not request the token of another tab. */
const signedOutKey = 'workgraph.signed-out';
const replaceQuestion =
  'This address signs in with another access token. Use it in place of the one that this tab has?';

/**
 * Moves the token of the address to the storage of the tab, and removes the fragment. Returns whether there was a token. Somebody
 * else may have written the address, so it replaces the token of a tab that is signed in only if the user agrees.
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
// A browser does not load the page again if an address that the user enters differs only in its fragment.
addEventListener('hashchange', () => {
  if (storeTokenOfAddress()) location.reload();
});

/** The token; undefined if the user is not signed in. It is parsed because the REST reference stores the text that the user typed. */
export function currentToken() {
  return parseToken(sessionStorage.getItem(storageKey) ?? '');
}

if (isSignedOut(currentToken() ?? '')) clearTab();
let pageToken = currentToken();
/** Whether the page may show what an earlier token could read. */
let hadOtherToken = false;
// GraphiQL and the REST reference have their own forms for a token, and dispatch this event.
addEventListener('tokenchange', () => {
  hadOtherToken ||= pageToken !== undefined && pageToken !== currentToken();
  pageToken = currentToken();
});
// A page that the browser restores from its back/forward cache still shows what an earlier token could read.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && isSignedOut(currentToken() ?? '')) clearTab();
  if (!persisted || (currentToken() === pageToken && !hadOtherToken)) return;
  document.body.replaceChildren();
  location.reload();
});

/**
 * Parses a token that was copied, perhaps with the word `Bearer` or with invisible characters. Returns undefined if it contains
 * characters that a header cannot have.
 */
export function parseToken(text) {
  const token = text
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/^Bearer\s+/i, '');
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

/** Returns the token in a field. If there is none, returns undefined and lets the field report it. */
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

/** Signs in with a token that another tab has offered, unless a tab has signed out of it since. */
function acceptOffer(token) {
  if (!isSignedOut(token)) signIn(token);
}

/** Removes the token from this tab only, so that the user can enter another one. */
export function forgetToken() {
  clearTab();
  location.reload();
}

function clearTab() {
  // Headers that were typed into GraphiQL, which it stores, may contain a token as well.
  sessionStorage.clear();
  sessionStorage.setItem(signedOutKey, 'true');
}

const tabs = connectTabs({ currentToken, onOffer: acceptOffer, onSignOut: forgetToken });
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

addEventListener('tokenchange', () => recordSignIn(currentToken() ?? ''));

const button = document.querySelector('.sign-out');
if (button) {
  const show = () => (button.hidden = sessionStorage.getItem(storageKey) === null);
  show();
  addEventListener('tokenchange', show);
  button.addEventListener('click', signOut);
}
