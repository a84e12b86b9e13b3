import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import type { KeysLeftBehind } from '@bursar/server/src/console/contract/members.ts'
import type { IssuedInvitation } from '@bursar/server/src/console/contract/invitations.ts'
import type { Workspace } from '@bursar/server/src/console/contract/workspaces.ts'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'

export async function createWorkspace(name: string): Promise<Workspace> {
  return (await request('POST /console/workspaces', { body: { name } })).workspace
}

const DETAIL_STALE_AFTER_MS = 5 * 60_000

/** A workspace with its plan, the address of its API, and its chains. These rarely change. */
export function workspaceQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'detail'],
    queryFn: async ({ signal }) =>
      (await request('GET /console/workspaces/:slug', { params: { slug }, signal })).workspace,
    staleTime: DETAIL_STALE_AFTER_MS,
  })
}

/**
 * How often a list of members or invitations is fetched again while it is shown. The stream of changes does not
 * announce changes to members and invitations.
 */
const PEOPLE_REFRESH_MS = 15_000

export function membersQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'members'],
    queryFn: async ({ signal }) =>
      (await request('GET /console/workspaces/:slug/members', { params: { slug }, signal })).members,
    refetchInterval: PEOPLE_REFRESH_MS,
  })
}

/** The API keys and connections that end when the member leaves or becomes a viewer. */
export function belongingsQuery(slug: string, userId: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'members', userId, 'belongings'],
    queryFn: async ({ signal }) => {
      const input = { params: { slug, user_id: userId }, signal }
      return await request('GET /console/workspaces/:slug/members/:user_id/belongings', input)
    },
    // The dialog must not offer to keep a key that was revoked since it was opened before.
    gcTime: 0,
  })
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

export function invitationsQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'invitations'],
    queryFn: async ({ signal }) =>
      (await request('GET /console/workspaces/:slug/invitations', { params: { slug }, signal })).invitations,
    refetchInterval: PEOPLE_REFRESH_MS,
  })
}

export async function createInvitation(slug: string, role: Role): Promise<IssuedInvitation> {
  const input = { params: { slug }, body: { role } }
  return (await request('POST /console/workspaces/:slug/invitations', input)).invitation
}

export async function revokeInvitation(slug: string, id: string): Promise<void> {
  await request('DELETE /console/workspaces/:slug/invitations/:id', { params: { slug, id } })
}

export function offeredInvitationQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    // This is a POST request, so that the link's secret is in no URL that a proxy could log.
    queryFn: async ({ signal }) =>
      (await request('POST /console/invitations/look-up', { body: { token }, signal })).invitation,
  })
}

export async function acceptInvitation(token: string): Promise<Workspace> {
  return (await request('POST /console/invitations/accept', { body: { token } })).workspace
}

export function auditQuery(slug: string) {
  return infiniteQueryOptions({
    queryKey: ['workspaces', slug, 'audit'],
    queryFn: ({ signal, pageParam }) => {
      const query = pageParam === null ? {} : { before: pageParam }
      return request('GET /console/workspaces/:slug/audit', { params: { slug }, query, signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}
