/** The id of the only workspace, the same as that of `bench.id('workspace', 0)`. */
export const workspaceId = (() => {
  const ms = Date.UTC(2023, 11, 1).toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7001-8000-000000000000`;
})();
