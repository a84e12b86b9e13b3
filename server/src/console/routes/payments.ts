import { getEvidence } from '../../domain/evidence/get-evidence.ts'
import { listEvidence } from '../../domain/evidence/list-evidence.ts'
import { getGrantSummary } from '../../domain/grants/queries.ts'
import { resolvePurchase } from '../../domain/purchases/resolve-purchase.ts'
import { listNotesOf } from '../../domain/payment-notes/payment-notes-store.ts'
import { changePaymentNote } from '../../domain/payment-notes/change-payment-note.ts'
import { listPayments } from '../../domain/reports/listing/list-payments.ts'
import { countPayments } from '../../domain/reports/listing/count-payments.ts'
import { walkPayments } from '../../domain/reports/listing/walk-payments.ts'
import { getPaymentRecord } from '../../domain/reports/timeline/get-payment-record.ts'
import { checkStillHere } from '../../domain/workspaces/check-still-here.ts'
import { evidenceHeaders } from '../../http/evidence-headers.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { PAYMENT_ROUTES } from '../contract/payments.ts'
import { csvHeaders, formatPeriod, linesHeaders, openCsv, openStream } from '../csv.ts'
import { currentMembership, memberOf } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { formatGrantDetail } from '../format-grant.ts'
import { formatListedPayment, formatListSums, formatPaymentRecord } from '../format-payment.ts'
import { listNames } from '../list-names.ts'
import { parseTimeZoneOf } from '../parse-body.ts'
import { parseNote } from '../parse-note.ts'
import { parsePaymentBefore, parsePaymentFilter } from '../parse-payment-filter.ts'
import { PAYMENT_FILE_COLUMNS, toPaymentRow } from '../payments-csv.ts'

const PAGE_PAYMENTS = 50

/**
 * Adds the endpoints for payments: the list, the newest first, its export, and everything that we have stored about one
 * payment.
 */
export function addConsolePaymentRoutes(http: HttpServer, { ctx, exports }: ConsoleContext): void {
  http.route({
    ...PAYMENT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, sort = 'newest', before } = request.query
      const { items, next, further } = await listPayments(ctx, {
        workspaceId: workspace.id,
        mode,
        filter: parsePaymentFilter(request.query),
        sort,
        before: parsePaymentBefore(before, sort),
        limit: PAGE_PAYMENTS,
      })
      return { payments: items.map(formatListedPayment), further: further.map(formatListedPayment), next }
    },
  })

  http.route({
    ...PAYMENT_ROUTES.sums,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const filter = parsePaymentFilter(request.query)
      const sums = await countPayments(ctx, { workspaceId: workspace.id, mode: request.query.mode, filter })
      return { sums: formatListSums(sums) }
    },
  })

  http.route({
    ...PAYMENT_ROUTES.export,
    // There is no HEAD route, because it would read as much as GET.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      const filter = parsePaymentFilter(request.query)
      const zone = parseTimeZoneOf(request.query.time_zone)
      const exporter = { session: getCurrentSession(request), workspaceId: workspace.id }
      const source = await exports.open(exporter, async (signal) => {
        const walk = await walkPayments(ctx, { workspaceId: workspace.id, mode, filter, signal })
        const names = await listNames(ctx, { workspaceId: workspace.id, mode })
        const facts = { zone, chainId: ctx.chains[mode].chainId, ...names }
        return await openCsv({
          columns: PAYMENT_FILE_COLUMNS,
          next: async () => {
            const payments = await walk.next()
            if (payments === null) return null
            const ids = payments.map(({ id }) => id)
            const notes = await ctx.db.readSlow(listNotesOf(workspace.id, ids), workspace.id)
            return payments.map((payment) => toPaymentRow(payment, { ...facts, note: notes.get(payment.id) }))
          },
          checkEnd: () => checkStillHere(ctx, workspace.id),
        })
      })
      const period = formatPeriod(zone, { from: filter.from, to: filter.to, now: ctx.clock.now() })
      return reply.headers(csvHeaders(workspace.slug, mode, 'payments', ...period)).send(source)
    },
  })

  http.route({
    ...PAYMENT_ROUTES.exportEvidence,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      const filter = parsePaymentFilter(request.query)
      const zone = parseTimeZoneOf(request.query.time_zone)
      const exporter = { session: getCurrentSession(request), workspaceId: workspace.id }
      const source = await exports.open(exporter, async (signal) => {
        const walk = await walkPayments(ctx, { workspaceId: workspace.id, mode, filter, signal })
        const list = await listEvidence(ctx, {
          ...{ workspaceId: workspace.id, mode },
          // The pages after the rows have left for another cell are empty, so a list that ends then is not whole.
          payments: async () => (await walk.next()) ?? (await checkStillHere(ctx, workspace.id), null),
        })
        return openStream((await list.next()) ?? '', () => list.next())
      })
      const period = formatPeriod(zone, { from: filter.from, to: filter.to, now: ctx.clock.now() })
      return reply.headers(linesHeaders(workspace.slug, mode, 'evidence', ...period)).send(source)
    },
  })

  http.route({
    ...PAYMENT_ROUTES.evidence,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { id } = request.params
      const place = { workspaceId: workspace.id, mode: request.query.mode }
      const file = await getEvidence(ctx, { ...place, id, boundAgentId: null })
      return reply.headers(evidenceHeaders(id)).send(Buffer.from(file))
    },
  })

  http.route({
    ...PAYMENT_ROUTES.annotate,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode } = request.body
      const note = parseNote(request.body)
      return { note: await changePaymentNote(ctx, { workspaceId, mode, paymentId: request.params.id, note, actor }) }
    },
  })

  http.route({
    ...PAYMENT_ROUTES.resolve,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, note } = request.body
      await resolvePurchase(ctx, { workspaceId, mode, paymentId: request.params.id, note, actor })
      return {}
    },
  })

  http.route({
    ...PAYMENT_ROUTES.get,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const workspaceId = workspace.id
      const record = await getPaymentRecord(ctx, { workspaceId, mode: request.query.mode, id: request.params.id })
      const { grantId } = record.payment
      const grant = grantId === null ? null : await getGrantSummary(ctx, { workspaceId, grantId, userId })
      return {
        ...formatPaymentRecord(record),
        grant: grant === null ? null : formatGrantDetail(grant, ctx.clock.now()),
      }
    },
  })
}
