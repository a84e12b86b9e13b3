/**
 * What a member may do in a workspace (D46): a viewer reads, an admin also makes changes, and an owner also decides who
 * is an owner. Each endpoint of the dashboard declares the role that it requires in `console/contract/`.
 */
export const ROLES = ['owner', 'admin', 'viewer'] as const

export type Role = (typeof ROLES)[number]

/** Returns whether a role is at least as high as the needed role. */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

/**
 * Returns whether a role gives power over other members or over money. Giving somebody such a role, or taking it away,
 * requires a recent proof of presence (D59).
 */
export function hasPower(role: Role): boolean {
  return mayAct(role, 'admin')
}

/**
 * Returns whether a member may invite somebody to a role. Only admins and owners may invite, to their own role or a
 * lower one.
 */
export function mayInvite(role: Role, invited: Role): boolean {
  return mayAct(role, 'admin') && mayAct(role, invited)
}

/** Parses a role from the database. */
export function toRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new Error(`unknown role ${text}`)
  return role
}
