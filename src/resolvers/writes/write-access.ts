import { memberRole } from '../../model/codes.ts';
import { isManager } from '../access/managers.ts';
import { type Context, type Principal, type SignedIn, requireSignedIn } from '../context.ts';
import { raise } from '../errors.ts';

/** The context of a principal who may change issues. Guests may only read, comment and subscribe. */
export function requireContributor(ctx: Context): SignedIn {
  const context = requireSignedIn(ctx);
  if (context.principal.role === memberRole.guest)
    raise('forbidden', 'Guests may only read, comment and subscribe.');
  return context;
}

/** Whether the principal may change or delete what this author wrote. The author, owners and admins may. */
export function mayManage(principal: Principal, authorUserAccountId: string): boolean {
  return principal.userAccountId === authorUserAccountId || isManager(principal);
}
