/** A statement that cannot be bound to one workspace. It was not sent. */
export class TenantError extends Error {
  override readonly name = 'TenantError';
}
