/** The roles of a workspace's members (D46), the highest first. */
export const ROLES = ['owner', 'admin', 'viewer'] as const

export type Role = (typeof ROLES)[number]

/**
 * What a member may do in a workspace (D46), each right with the lowest role that has it. Every endpoint of the
 * dashboard names the right that it needs (`console/contract/`), and the dashboard's pages read the same table.
 */
export const RIGHTS = {
  /** See everything in the workspace. */
  read: 'viewer',
  leave: 'viewer',
  /** Rename the workspace. */
  manageWorkspace: 'owner',
  /** Create and delete agents. */
  manageAgents: 'admin',
  /** Prepare grants, and suspend them. What a grant allows takes effect only when the wallet's owner has signed it. */
  manageGrants: 'admin',
  /** Create wallets, bring test money in, and ask the wallet's owners to change the owners. */
  manageWallets: 'admin',
  /** Prepare withdrawals, which the wallet's owner signs. */
  withdraw: 'admin',
  /** Mark purchases that were paid and not delivered as resolved. */
  resolvePurchases: 'admin',
  /** Create, rename, rotate and revoke API keys. */
  manageKeys: 'admin',
  /** Approve applications, and disconnect them. */
  manageConnections: 'admin',
  manageWebhooks: 'admin',
  labelRecipients: 'admin',
  /** Save and delete views of the payments, which all members see. */
  saveViews: 'admin',
  /** Write notes about payments, for the books. */
  annotatePayments: 'admin',
  /** Invite, change and remove members who are not owners. */
  manageMembers: 'admin',
  /** The same for owners. */
  manageOwners: 'owner',
  /** Choose the API keys that work again after a restore. */
  confirmHeldKeys: 'owner',
} as const satisfies Readonly<Record<string, Role>>

export type Right = keyof typeof RIGHTS

/** Returns whether a role is at least as high as another one. */
export function isAtLeast(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(other)
}

/** Returns whether a role has a right. */
export function may(role: Role, right: Right): boolean {
  return isAtLeast(role, RIGHTS[right])
}

/** The roles that have a right, the highest first. */
export function rolesWith(right: Right): Role[] {
  return ROLES.filter((role) => may(role, right))
}

/** Returns whether a role may invite, change and remove members with another role. */
export function mayManage(role: Role, other: Role): boolean {
  return may(role, other === 'owner' ? 'manageOwners' : 'manageMembers')
}

/**
 * Returns whether a role gives power over other members or over money. Giving somebody such a role, or taking it away,
 * requires a recent proof of presence (D59).
 */
export function hasPower(role: Role): boolean {
  return may(role, 'manageMembers')
}

/** Parses a role from the database. */
export function toRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new Error(`unknown role ${text}`)
  return role
}
