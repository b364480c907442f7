/* global SwaggerUIBundle */

// The token is stored for the tab, so that it survives a reload, but not the last tab. `session.js` shares it with new tabs.
const storageKey = 'workgraph.token';
/** The same key as in `session.js`, from which this script cannot import it, because it is not a module. */
const signedOutKey = 'workgraph.signed-out';

/** Stores the token that was typed under "Authorize". */
const tokenPlugin = {
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (authorizations) => {
          if (authorizations.token?.value) sessionStorage.setItem(storageKey, authorizations.token.value);
          dispatchEvent(new Event('tokenchange'));
          return authorize(authorizations);
        },
        logout: (logout) => (names) => {
          sessionStorage.removeItem(storageKey);
          // Otherwise the tab would request the token of another one when the page is loaded again.
          sessionStorage.setItem(signedOutKey, 'true');
          dispatchEvent(new Event('tokenchange'));
          return logout(names);
        },
      },
    },
  },
};

/** Shows the GraphQL operation that an endpoint runs, instead of a table of OpenAPI extensions. */
const operationPlugin = ({ React }) => ({
  wrapComponents: {
    OperationExt:
      () =>
      ({ extensions }) => {
        const source = extensions.get('x-graphql-document');
        if (!source) return null;
        const element = React.createElement;
        return element(
          'details',
          { className: 'operation-document' },
          element('summary', null, 'The GraphQL operation that it runs'),
          element('pre', { tabIndex: 0 }, element('code', null, source)),
          element(
            'p',
            null,
            element('a', { href: `/graphql?query=${encodeURIComponent(source)}` }, 'Open it in GraphiQL'),
          ),
        );
      },
  },
});

/** Makes the popup for the token an accessible dialog: it has the role, and Escape closes it. */
const dialogPlugin = ({ React }) => ({
  wrapComponents: {
    authorizationPopup:
      (Original, { authActions }) =>
      (props) =>
        React.createElement(
          'div',
          {
            role: 'dialog',
            'aria-modal': 'true',
            'aria-label': 'Available authorizations',
            onKeyDown: ({ key }) => key === 'Escape' && authActions.showDefinitions(false),
          },
          React.createElement(Original, props),
        ),
    CloseIcon: (Original) => (props) =>
      React.createElement(
        React.Fragment,
        null,
        React.createElement(Original, props),
        React.createElement('span', { className: 'visually-hidden' }, 'Close the dialog'),
      ),
  },
});

/** Shows the path of an endpoint as text, because it is inside a button, which must not contain a link. */
const namePlugin = ({ React }) => ({
  wrapComponents: {
    DeepLink:
      () =>
      ({ text }) =>
        React.createElement('span', null, text),
  },
});

/** Adds labels, roles and tab stops that Swagger UI lacks, for keyboards and screen readers. */
const addAccessibility = (root) => {
  for (const select of root.querySelectorAll('select:not([aria-label]):not([id])'))
    select.setAttribute('aria-label', select.closest('.examples-select') ? 'Example' : 'Choice');
  for (const block of root.querySelectorAll('.microlight:not([tabindex])')) block.tabIndex = 0;
  for (const heading of root.querySelectorAll(
    'h3.opblock-tag:not([aria-level]), .models > h4:not([aria-level])',
  ))
    heading.setAttribute('aria-level', '2');
  for (const heading of root.querySelectorAll('.opblock-body h4:not([aria-level])'))
    heading.setAttribute('aria-level', '3');
  for (const container of root.querySelectorAll('.information-container:not([role])')) {
    container.setAttribute('role', 'region');
    container.setAttribute('aria-label', 'About the API');
  }
};
const root = document.getElementById('reference');
new MutationObserver(() => addAccessibility(root)).observe(root, { childList: true, subtree: true });

/** The colors of code, as our own CSS variables, which follow the color scheme. */
const codeStyle = {
  hljs: { display: 'block', overflowX: 'auto', color: 'var(--ink)' },
  'hljs-attr': { color: 'var(--code-name)' },
  'hljs-string': { color: 'var(--code-text)' },
  'hljs-number': { color: 'var(--code-value)' },
  'hljs-literal': { color: 'var(--code-value)' },
};

const codePlugin = ({ React }) => ({
  wrapComponents: {
    SyntaxHighlighter: (Original) => (props) =>
      React.createElement(Original, {
        ...props,
        syntaxHighlighting: { styles: {}, defaultStyle: codeStyle },
      }),
  },
});

/** The value at a path of the description. */
const valueAt = (description, path) => path.reduce((value, key) => value?.[key], description);

/** The path that a reference names, such as `#/components/schemas/Issue`. Our description refers only to itself. */
const pathOf = (reference) =>
  reference
    .slice('#/'.length)
    .split('/')
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'));

/**
 * Copies a part of the description and replaces each reference by what it refers to. A reference inside of what it refers to stays,
 * because replacing it would never end.
 */
const withoutReferences = (value, description, outer = []) => {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, description, outer));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref: reference, ...rest } = value;
  if (typeof reference !== 'string') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withoutReferences(item, description, outer)]),
    );
  }
  if (outer.includes(reference)) return value;
  const target = withoutReferences(valueAt(description, pathOf(reference)), description, [
    ...outer,
    reference,
  ]);
  return { ...target, ...rest, $$ref: reference };
};

/**
 * Replaces how Swagger UI follows references. It reads the whole description again for each endpoint that is opened, which
 * takes seconds for one as large as ours.
 */
const referencePlugin = () => ({
  fn: {
    resolveSubtree: (description, path) => ({
      spec: withoutReferences(valueAt(description, path), description) ?? null,
      errors: [],
    }),
  },
});

/** Sends requests to the origin of the page: behind a proxy, the server may describe itself with another origin. */
const toPageOrigin = (request) => {
  const { pathname, search } = new URL(request.url, location.href);
  request.url = `${location.origin}${pathname}${search}`;
  return request;
};

const ui = SwaggerUIBundle({
  url: '/v1/openapi.json',
  domNode: root,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  showExtensions: true,
  // The description is validated in our tests, so no external validator is called.
  validatorUrl: null,
  requestInterceptor: toPageOrigin,
  plugins: [tokenPlugin, dialogPlugin, namePlugin, operationPlugin, codePlugin, referencePlugin],
  onComplete: () => {
    const token = sessionStorage.getItem(storageKey);
    if (token) ui.preauthorizeApiKey('token', token);
  },
});
