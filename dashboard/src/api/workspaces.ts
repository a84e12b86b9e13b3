import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import type {
  AuditPage,
  IssuedInvitation,
  Invitation,
  Member,
  OfferedInvitation,
  Role,
  Workspace,
  WorkspaceDetail,
} from './wire.ts'

export async function createWorkspace(name: string): Promise<Workspace> {
  return (await request<{ workspace: Workspace }>('POST', '/console/workspaces', { body: { name } })).workspace
}

const DETAIL_STALE_AFTER_MS = 5 * 60_000

/** The whole of a workspace: its plan, and where its API and its chains are. It hardly ever changes. */
export function workspaceQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'detail'],
    queryFn: async ({ signal }) =>
      (await request<{ workspace: WorkspaceDetail }>('GET', workspacePath(slug), { signal })).workspace,
    staleTime: DETAIL_STALE_AFTER_MS,
  })
}

/** Who comes and goes is told by no event: while somebody looks at a list of people, it is read anew this often. */
const PEOPLE_REFRESH_MS = 15_000

export function membersQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'members'],
    queryFn: async ({ signal }) =>
      (await request<{ members: readonly Member[] }>('GET', workspacePath(slug, 'members'), { signal })).members,
    refetchInterval: PEOPLE_REFRESH_MS,
  })
}

export async function changeRole(slug: string, userId: string, role: Role): Promise<void> {
  await request('PATCH', workspacePath(slug, 'members', userId), { body: { role } })
}

export async function removeMember(slug: string, userId: string): Promise<void> {
  await request('DELETE', workspacePath(slug, 'members', userId))
}

export function invitationsQuery(slug: string) {
  return queryOptions({
    queryKey: ['workspaces', slug, 'invitations'],
    queryFn: async ({ signal }) =>
      (await request<{ invitations: readonly Invitation[] }>('GET', workspacePath(slug, 'invitations'), { signal }))
        .invitations,
    refetchInterval: PEOPLE_REFRESH_MS,
  })
}

export async function createInvitation(slug: string, role: Role): Promise<IssuedInvitation> {
  const path = workspacePath(slug, 'invitations')
  return (await request<{ invitation: IssuedInvitation }>('POST', path, { body: { role } })).invitation
}

export async function revokeInvitation(slug: string, id: string): Promise<void> {
  await request('DELETE', workspacePath(slug, 'invitations', id))
}

export function offeredInvitationQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    // A POST, so that the link's secret is in no address that a proxy could log.
    queryFn: async ({ signal }) =>
      (
        await request<{ invitation: OfferedInvitation }>('POST', '/console/invitations/look-up', {
          body: { token },
          signal,
        })
      ).invitation,
  })
}

export async function acceptInvitation(token: string): Promise<Workspace> {
  const answer = await request<{ workspace: Workspace }>('POST', '/console/invitations/accept', { body: { token } })
  return answer.workspace
}

export function auditQuery(slug: string) {
  return infiniteQueryOptions({
    queryKey: ['workspaces', slug, 'audit'],
    queryFn: ({ signal, pageParam }) => {
      const older = pageParam === null ? '' : `?before=${encodeURIComponent(pageParam)}`
      return request<AuditPage>('GET', `${workspacePath(slug, 'audit')}${older}`, { signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
}

/** The address of something of a workspace, each part of it escaped. */
export function workspacePath(slug: string, ...parts: readonly string[]): string {
  return ['/console/workspaces', ...[slug, ...parts].map(encodeURIComponent)].join('/')
}
