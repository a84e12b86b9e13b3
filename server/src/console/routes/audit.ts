import { actionsOf, type AuditEntry } from '../../domain/audit/audit-entry.ts'
import { listAudit, type AuditFilter } from '../../domain/audit/list-audit.ts'
import {
  actorReference,
  detailReferences,
  findAuditNames,
  subjectReference,
  type AuditName,
  type FindName,
} from '../../domain/reports/audit-names/find-audit-names.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { MODES } from '../../values/mode.ts'
import { isStorable } from '../../values/text.ts'
import type { ConsoleContext } from '../console-context.ts'
import { AUDIT_ROUTES, type AuditEntry as EntryView, type AuditFilter as FilterQuery } from '../contract/audit.ts'
import { currentMembership } from '../current-membership.ts'
import { parseTimeOf } from '../parse-body.ts'
import { parseNext } from '../parse-payment-filter.ts'

const PAGE_ENTRIES = 50

/** Adds the endpoint that lists the audit log (D48), the newest entry first. */
export function addAuditRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...AUDIT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { items, next } = await listAudit(ctx, {
        workspaceId: workspace.id,
        filter: parseAuditFilter(request.query),
        before: parseNext('auditEntry', request.query.before),
        limit: PAGE_ENTRIES,
      })
      const find = await findAuditNames(ctx, { workspaceId: workspace.id, entries: items })
      return { entries: items.map((entry) => formatEntry(entry, find)), next }
    },
  })
}

/** Parses the filter of the log. Throws 400 that names the invalid parameter. */
function parseAuditFilter({ actor, action, from, to }: FilterQuery): AuditFilter {
  if (actor !== undefined && !isStorable(actor))
    throw invalidMember('actor', 'must be the id of an actor, or a kind of actor')
  const actions = action === undefined ? undefined : actionsOf(action)
  if (actions?.length === 0) throw invalidMember('action', 'must be an action of the audit log, or its first part')
  return {
    by: actor,
    actions,
    from: from === undefined ? undefined : parseTimeOf('from', from),
    to: to === undefined ? undefined : parseTimeOf('to', to),
  }
}

function formatEntry(entry: AuditEntry, find: FindName): EntryView {
  const { id, createdAt, actor, action, subject, details } = entry
  const named = find(subjectReference(entry))
  return {
    id,
    at: createdAt.toISOString(),
    mode: MODES.find((mode) => mode === details['mode']) ?? named?.mode ?? null,
    actor: { kind: actor.kind, id: actor.id ?? null, known: formatName(find(actorReference(entry))) },
    action,
    subject,
    known_subject: formatName(named),
    details,
    known_details: Object.fromEntries(
      detailReferences(entry).flatMap(([detail, reference]) => {
        const known = formatName(find(reference))
        return known === null ? [] : [[detail, known]]
      }),
    ),
  }
}

function formatName(named: AuditName | null): { name: string; former: boolean } | null {
  return named === null ? null : { name: named.name, former: named.former }
}
