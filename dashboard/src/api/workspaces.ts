import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import type { KeysLeftBehind } from '@bursar/server/src/console/contract/members.ts'
import type { IssuedInvitation } from '@bursar/server/src/console/contract/invitations.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { request } from './request.ts'

export async function createWorkspace(name: string): Promise<Workspace> {
  return (await request('POST /console/workspaces', { body: { name } })).workspace
}

/** Changes a member's role. The keys with the ids in `keepKeys` keep working if the member becomes a viewer. */
export async function changeRole(
  slug: string,
  userId: string,
  { role, keepKeys = [] }: { readonly role: Role; readonly keepKeys?: readonly string[] },
): Promise<KeysLeftBehind> {
  const body = { role, ...(keepKeys.length === 0 ? {} : { keep_keys: [...keepKeys] }) }
  return await request('PATCH /console/workspaces/:slug/members/:user_id', { params: { slug, user_id: userId }, body })
}

/** Removes a member. The keys with the ids in `keepKeys` keep working. */
export async function removeMember(
  slug: string,
  userId: string,
  keepKeys: readonly string[] = [],
): Promise<KeysLeftBehind> {
  const query = keepKeys.length === 0 ? {} : { keep_keys: keepKeys.join(',') }
  return await request('DELETE /console/workspaces/:slug/members/:user_id', {
    params: { slug, user_id: userId },
    query,
  })
}

export async function createInvitation(slug: string, role: Role): Promise<IssuedInvitation> {
  const input = { params: { slug }, body: { role } }
  return (await request('POST /console/workspaces/:slug/invitations', input)).invitation
}

export async function revokeInvitation(slug: string, id: string): Promise<void> {
  await request('DELETE /console/workspaces/:slug/invitations/:id', { params: { slug, id } })
}

export async function acceptInvitation(token: string): Promise<Workspace> {
  return (await request('POST /console/invitations/accept', { body: { token } })).workspace
}
