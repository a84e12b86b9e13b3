import type { Page } from '../../db/bounded-scan.ts'
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
import { checkStillHere } from '../../domain/workspaces/check-still-here.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { MODES } from '../../values/mode.ts'
import { isStorable } from '../../values/text.ts'
import type { ConsoleContext } from '../console-context.ts'
import { AUDIT_COLUMNS, toAuditRow } from '../audit-csv.ts'
import { AUDIT_ROUTES, type AuditEntry as EntryView, type AuditFilter as FilterQuery } from '../contract/audit.ts'
import { csvHeaders, formatPeriod, openCsv } from '../csv.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { parseTimeOf, parseTimeZoneOf } from '../parse-body.ts'
import { parseNext } from '../parse-payment-filter.ts'

const PAGE_ENTRIES = 50

/** How many entries an export reads at a time, and in all. An export of more is rejected at its end. */
const EXPORT_PAGE_ENTRIES = 500
const EXPORTED_ENTRIES_MAX = 1_000_000

/** Adds the endpoints that list and export the audit log (D48), the newest entry first. */
export function addAuditRoute(http: HttpServer, { ctx, exports }: ConsoleContext): void {
  const formatEntries = async (workspaceId: string, entries: readonly AuditEntry[]): Promise<EntryView[]> => {
    const find = await findAuditNames(ctx, { workspaceId, entries })
    return entries.map((entry) => formatEntry(entry, find))
  }

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
      return { entries: await formatEntries(workspace.id, items), next }
    },
  })

  http.route({
    ...AUDIT_ROUTES.export,
    // There is no HEAD route, because it would read as much as GET.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const zone = parseTimeZoneOf(request.query.time_zone)
      const filter = parseAuditFilter(request.query)
      const exporter = { session: getCurrentSession(request), workspaceId: workspace.id }
      let before: string | null = null
      let [isOver, count] = [false, 0]
      const next = async () => {
        if (isOver) return null
        const page: Page<AuditEntry> = await listAudit(ctx, {
          ...{ workspaceId: workspace.id, filter, before, limit: EXPORT_PAGE_ENTRIES },
        })
        before = page.next
        isOver = before === null
        count += page.items.length
        if (count > EXPORTED_ENTRIES_MAX) throw new Error('the audit log has too many entries for one export')
        return (await formatEntries(workspace.id, page.items)).map((entry) => toAuditRow(entry, zone))
      }
      const checkEnd = () => checkStillHere(ctx, workspace.id)
      const source = await exports.open(exporter, async () => await openCsv({ columns: AUDIT_COLUMNS, next, checkEnd }))
      const period = formatPeriod(zone, { from: filter.from, to: filter.to, now: ctx.clock.now() })
      return reply.headers(csvHeaders(workspace.slug, 'audit-log', ...period)).send(source)
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
