import type { AuditEntry } from '../../domain/audit/audit-entry.ts'
import { listAudit } from '../../domain/people/list-audit.ts'
import { listMembers } from '../../domain/people/list-members.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { membershipOf, type Door } from '../door.ts'
import { invalid } from '../parse-body.ts'
import { BeforeQuery, SlugParams } from '../schemas.ts'

const PAGE_ENTRIES = 50

/** The audit log (D48), the newest first. */
export function addAuditRoute(http: HttpServer, door: Door): void {
  http.get(
    '/console/workspaces/:slug/audit',
    { schema: { params: SlugParams, querystring: BeforeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const before = request.query.before ?? null
      if (before !== null && !isId('auditEntry', before)) throw invalid('before', 'must be the id of an entry')
      const [entries, members] = await Promise.all([
        listAudit(door.ctx, { accountId: account.id, before, limit: PAGE_ENTRIES }),
        listMembers(door.ctx, { accountId: account.id }),
      ])
      const names = new Map(members.map(({ userId, name }) => [userId, name]))
      return {
        entries: entries.map((entry) => formatEntry(entry, names)),
        next: entries.length < PAGE_ENTRIES ? null : (entries.at(-1)?.id ?? null),
      }
    },
  )
}

function formatEntry(
  { id, createdAt, actor, action, subject, details }: AuditEntry,
  names: ReadonlyMap<string, string>,
) {
  const actorId = actor.id ?? null
  return {
    id,
    at: createdAt.toISOString(),
    actor: { kind: actor.kind, id: actorId, name: actorId === null ? null : (names.get(actorId) ?? null) },
    action,
    subject,
    details,
  }
}
