import type { AuditEntry } from '../../domain/audit/audit-entry.ts'
import { listAudit } from '../../domain/audit/list-audit.ts'
import { listKnownPeople } from '../../domain/members/queries.ts'
import type { KnownPerson } from '../../domain/members/member.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { AUDIT_ROUTES, type AuditEntry as EntryView } from '../contract/audit.ts'
import { currentMembership } from '../current-membership.ts'
import { parseBefore } from '../parse-body.ts'

const PAGE_ENTRIES = 50

/** Adds the endpoint that lists the audit log (D48), the newest entry first. */
export function addAuditRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...AUDIT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const before = parseBefore('auditEntry', request.query.before)
      const entries = await listAudit(ctx, { workspaceId: workspace.id, before, limit: PAGE_ENTRIES })
      const userIds = [...new Set(entries.flatMap(listUserIds))]
      const known = await listKnownPeople(ctx, { workspaceId: workspace.id, userIds })
      const people = new Map(known.map((person) => [person.userId, person]))
      return {
        entries: entries.map((entry) => formatEntry(entry, people)),
        next: entries.length < PAGE_ENTRIES ? null : (entries.at(-1)?.id ?? null),
      }
    },
  })
}

/** Returns the ids of the people who appear in an entry. */
function listUserIds(entry: AuditEntry): string[] {
  return [actingUserOf(entry), subjectUserOf(entry)].filter((id) => id !== null)
}

function actingUserOf({ actor }: AuditEntry): string | null {
  return actor.kind === 'user' ? actor.id : null
}

/**
 * Returns the user who is the subject of the entry, or null. We look at the action and not at the form of the id,
 * because an agent's id can look like a user's id.
 */
function subjectUserOf({ action, subject }: AuditEntry): string | null {
  return action.startsWith('member.') ? subject : null
}

function formatEntry(entry: AuditEntry, people: ReadonlyMap<string, KnownPerson>): EntryView {
  const { id, createdAt, actor, action, subject, details } = entry
  const acting = people.get(actingUserOf(entry) ?? '')
  const subjectUser = people.get(subjectUserOf(entry) ?? '')
  return {
    id,
    at: createdAt.toISOString(),
    actor: { kind: actor.kind, id: actor.id ?? null, name: acting?.name ?? null, former: acting?.isMember === false },
    action,
    subject,
    subject_user: subjectUser === undefined ? null : { name: subjectUser.name, former: !subjectUser.isMember },
    details,
  }
}
