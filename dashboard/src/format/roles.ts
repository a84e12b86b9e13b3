import { mayManage, ROLES } from '@bursar/server/src/values/role.ts'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'

export const ROLE_TEXTS: Readonly<Record<Role, { readonly title: string; readonly meaning: string }>> = {
  owner: { title: 'Owner', meaning: 'can manage everything, including who is an owner of the workspace' },
  admin: { title: 'Admin', meaning: 'can manage agents, wallets, keys, webhooks and members, but not owners' },
  viewer: { title: 'Viewer', meaning: 'can see everything but change nothing' },
}

/** The roles that a user with this role may assign and remove, the lowest first. */
export function assignableRoles(role: Role): readonly Role[] {
  return ROLES.filter((assigned) => mayManage(role, assigned)).toReversed()
}
