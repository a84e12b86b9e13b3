import type { Role } from '@bursar/server/src/console/contract/fields.ts'

export const ROLE_TEXTS: Readonly<Record<Role, { readonly title: string; readonly meaning: string }>> = {
  owner: { title: 'Owner', meaning: 'everything, other owners included' },
  admin: { title: 'Admin', meaning: 'everything but owners: agents, wallets, keys, webhooks, people' },
  viewer: { title: 'Viewer', meaning: 'sees everything, changes nothing' },
}

/** True for those who may approve applications, make agents and manage people. The server decides; this only shows. */
export function isAdmin(role: Role): boolean {
  return role !== 'viewer'
}

/** The roles that a person may give, and take from others. */
export function rolesToGive(role: Role): readonly Role[] {
  if (role === 'owner') return ['viewer', 'admin', 'owner']
  return role === 'admin' ? ['viewer', 'admin'] : []
}
