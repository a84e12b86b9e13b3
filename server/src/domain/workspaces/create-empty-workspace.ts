import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import { checkName } from '../../values/name.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { slugOf, type Workspace } from './workspace.ts'
import { insertWorkspace } from './workspaces-store.ts'

const SLUG_ATTEMPTS_MAX = 5
const SLUG_SUFFIX_BYTES = 3

export interface NewWorkspace {
  readonly name: string
  readonly plan: Plan
  readonly actor: Actor
}

/**
 * Creates a workspace, whose creator is the actor if that is a person. Its slug is made from its name. If another workspace has that slug, a random suffix is appended.
 */
export async function createEmptyWorkspace(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: NewWorkspace,
): Promise<Workspace> {
  const createdAt = ctx.clock.now()
  return await ctx.db.transaction((transaction) => createWorkspaceIn(transaction, { ...request, createdAt }))
}

/** Does the same as `createEmptyWorkspace`, but inside a transaction that the caller commits. */
export async function createWorkspaceIn(
  transaction: Transaction,
  { name: text, plan, actor, createdAt }: NewWorkspace & { readonly createdAt: Date },
): Promise<Workspace> {
  const name = checkName(text)
  for (let attempt = 1; attempt <= SLUG_ATTEMPTS_MAX; attempt += 1) {
    const suffix = attempt === 1 ? '' : `-${randomBytes(SLUG_SUFFIX_BYTES).toString('hex')}`
    const workspace = {
      id: createId('workspace', createdAt),
      slug: slugOf(name) + suffix,
      name,
      plan,
      createdAt,
      createdBy: actor.kind === 'user' ? actor.id : null,
      movingSince: null,
    }
    if (!(await transaction.run(insertWorkspace(workspace)))) continue
    const details = { slug: workspace.slug, name, plan }
    const entry = { logId: workspace.id, createdAt, actor, action: 'workspace.created', details } as const
    await transaction.run(insertAuditEntry({ ...entry, subject: workspace.id }))
    return workspace
  }
  throw new Error('no free slug was found')
}
