/** Languages by file extension, with the names that syntax highlighters use. */
const byExtension: Readonly<Record<string, string>> = {
  bash: 'bash',
  c: 'c',
  cc: 'cpp',
  cjs: 'javascript',
  clj: 'clojure',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  cxx: 'cpp',
  dart: 'dart',
  diff: 'diff',
  ex: 'elixir',
  exs: 'elixir',
  erl: 'erlang',
  fs: 'fsharp',
  go: 'go',
  gql: 'graphql',
  gradle: 'groovy',
  graphql: 'graphql',
  groovy: 'groovy',
  h: 'c',
  hcl: 'hcl',
  hpp: 'cpp',
  hs: 'haskell',
  htm: 'html',
  html: 'html',
  ini: 'ini',
  java: 'java',
  jl: 'julia',
  js: 'javascript',
  json: 'json',
  jsonc: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  kts: 'kotlin',
  less: 'less',
  lua: 'lua',
  m: 'objectivec',
  mjs: 'javascript',
  ml: 'ocaml',
  ndjson: 'json',
  patch: 'diff',
  php: 'php',
  pl: 'perl',
  proto: 'protobuf',
  ps1: 'powershell',
  py: 'python',
  r: 'r',
  rb: 'ruby',
  rs: 'rust',
  scala: 'scala',
  scss: 'scss',
  sh: 'bash',
  sql: 'sql',
  svelte: 'html',
  svg: 'xml',
  swift: 'swift',
  tf: 'hcl',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'typescript',
  vue: 'html',
  xhtml: 'html',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
  zig: 'zig',
  zsh: 'bash',
};

/** Languages by whole file name. */
const byName: Readonly<Record<string, string>> = {
  '.bashrc': 'bash',
  '.gitconfig': 'ini',
  '.zshrc': 'bash',
  dockerfile: 'dockerfile',
  gemfile: 'ruby',
  jenkinsfile: 'groovy',
  makefile: 'makefile',
  rakefile: 'ruby',
};

/** Languages by media type, for files whose name does not determine the language. */
const byContentType: Readonly<Record<string, string>> = {
  'application/graphql': 'graphql',
  'application/javascript': 'javascript',
  'application/json': 'json',
  'application/sql': 'sql',
  'application/typescript': 'typescript',
  'application/xhtml+xml': 'html',
  'application/xml': 'xml',
  'application/yaml': 'yaml',
  'image/svg+xml': 'xml',
  'text/css': 'css',
  'text/html': 'html',
  'text/javascript': 'javascript',
  'text/x-python': 'python',
  'text/xml': 'xml',
};

/** The language of a file according to its name. */
export function languageOfName(fileName: string): string | undefined {
  const name = fileName.toLowerCase();
  return lookUp(byName, name) ?? lookUp(byExtension, extensionOf(name));
}

/** The language of a file according to its media type. */
export function languageOfType(contentType: string): string | undefined {
  return lookUp(byContentType, contentType);
}

/** The extension of a file name (the part after the last dot) in lower case; empty if there is none. */
export function extensionOf(fileName: string): string {
  return /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
}

/** Looks up only own properties, since a file may be called `constructor`. */
function lookUp(languages: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(languages, key) ? languages[key] : undefined;
}
