import { SCAN_ROWS_MAX, toPage, type Page } from '../../db/bounded-scan.ts'
import { idBoundary } from '../../values/ids.ts'
import type { Context } from '../context.ts'
import type { AuditAction, AuditEntry } from './audit-entry.ts'
import { listAuditEntries } from './audit-store.ts'

const OLDEST = 'aud_'
/**
 * A text that sorts after every id of an entry. In an id, `aud_` is followed by the time of creation, whose first
 * character will be a digit for thousands of years.
 */
const NEWEST = 'aud_Z'

/** The conditions for the entries in a list. A missing field sets no condition. */
export interface AuditFilter {
  /** The id of a user, an API key or a client, or a kind of actor. */
  readonly by?: string | undefined
  readonly actions?: readonly AuditAction[] | undefined
  /** Only entries that were made at this time or later. */
  readonly from?: Date | undefined
  /** Only entries that were made before this time. */
  readonly to?: Date | undefined
}

/**
 * Lists the entries of a workspace's audit log that match a filter, newest first, and at most `limit` of them. If
 * `before` is given, lists only entries older than the entry with that id. Includes what users did with their sign-ins,
 * passkeys and recovery codes while they were members (D48). Reads at most `SCAN_ROWS_MAX` rows, so a page can be short
 * although older entries match. The `next` of the result is the `before` of the following page.
 */
export async function listAudit(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly workspaceId: string
    readonly filter: AuditFilter
    readonly before: string | null
    readonly limit: number
  },
): Promise<Page<AuditEntry>> {
  const { workspaceId, filter, before, limit } = request
  const to = filter.to === undefined ? NEWEST : idBoundary('auditEntry', filter.to)
  const scan = {
    logId: workspaceId,
    from: filter.from === undefined ? OLDEST : idBoundary('auditEntry', filter.from),
    below: before !== null && before < to ? before : to,
    actor: filter.by ?? null,
    actions: filter.actions ?? null,
    limit: limit + 1,
    scanRowsMax: SCAN_ROWS_MAX,
  }
  return toPage(await ctx.db.readSlow(listAuditEntries(scan), workspaceId), limit)
}
