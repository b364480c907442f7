/** The choices in the address of the page, under the names that they have there. */
export function choicesInAddress() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Returns the choices with one of them changed, or removed if the value is empty, and puts them into the address. */
export function changedChoices(choices, name, value) {
  const { [name]: _, ...others } = choices;
  const changed = value ? { ...others, [name]: value } : others;
  const search = new URLSearchParams(changed).toString();
  history.replaceState(null, '', search ? `?${search}` : location.pathname);
  return changed;
}
