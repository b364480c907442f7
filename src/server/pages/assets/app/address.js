/** A part of an address as text. A part that is not encoded correctly is not changed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the page is about: the `WEB-1` of `/issues/WEB-1`. */
export function subjectInAddress() {
  return decoded(location.pathname.split('/')[2]);
}

/** The choices in the address of the page, under the names that they have there. */
export function choicesInAddress() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Returns the choices with one of them changed, or removed if the value is empty, and puts them into the address. */
export function changedChoices(choices, name, value) {
  const { [name]: _, ...others } = choices;
  const changed = value ? { ...others, [name]: value } : others;
  history.replaceState(null, '', `${location.pathname}${searchOf(changed)}`);
  return changed;
}

/** The choices as the end of an address. */
export function searchOf(choices) {
  const search = new URLSearchParams(choices).toString();
  return search && `?${search}`;
}
