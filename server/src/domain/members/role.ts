/** What a member may do in a workspace (D46): a viewer reads, an admin changes, an owner also decides who owns. */
export const ROLES = ['owner', 'admin', 'viewer'] as const

export type Role = (typeof ROLES)[number]

/** Whether a role is the needed one, or above it. */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

/** Whether a role gives power over others or over money. Giving or taking one needs a recent proof (D59). */
export function hasPower(role: Role): boolean {
  return mayAct(role, 'admin')
}

/** Whether a member may invite others to a role: who manages members, to their own role or a lower one. */
export function mayInvite(role: Role, invited: Role): boolean {
  return mayAct(role, 'admin') && mayAct(role, invited)
}

/** Reads a role that the database kept. */
export function toRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new Error(`unknown role ${text}`)
  return role
}
