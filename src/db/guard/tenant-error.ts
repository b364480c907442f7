/** A statement cannot be bound to one workspace, so it is not sent. */
export class TenantError extends Error {
  override readonly name = 'TenantError';
}
