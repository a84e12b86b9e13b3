import { getGrantSummary } from '../../domain/grants/get-grant-summary.ts'
import { listPayments } from '../../domain/reports/listing/list-payments.ts'
import { walkPayments } from '../../domain/reports/listing/walk-payments.ts'
import { getPaymentRecord } from '../../domain/reports/timeline/get-payment-record.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatGrantDetail } from '../format-grant.ts'
import { formatPaymentRecord, formatPaymentRow } from '../format-payment.ts'
import { parseBefore, parsePaymentFilter } from '../parse-payment-filter.ts'
import { PaymentExports } from '../payment-exports.ts'
import { openCsv } from '../payments-csv.ts'
import { PaymentExportQuery, PaymentsQuery } from '../schemas-payments.ts'
import { ModeQuery, SlugIdParams, SlugParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

const PAGE_PAYMENTS = 50

/** What was paid, the newest first, and all that is known of one payment. */
export function addPaymentRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door
  const exports = new PaymentExports()
  http.addHook('preClose', async () => exports.close())

  http.get(
    '/console/workspaces/:slug/payments',
    { schema: { params: SlugParams, querystring: PaymentsQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { items, next } = await listPayments(ctx, {
        accountId: account.id,
        mode: request.query.mode,
        filter: parsePaymentFilter(request.query),
        before: parseBefore('payment', request.query.before),
        limit: PAGE_PAYMENTS,
      })
      return { payments: items.map(formatPaymentRow), next }
    },
  )

  http.get(
    '/console/workspaces/:slug/payments/export',
    // A HEAD would read as much as a GET.
    { exposeHeadRoute: false, schema: { params: SlugParams, querystring: PaymentExportQuery } },
    async (request, reply) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode } = request.query
      const filter = parsePaymentFilter(request.query)
      const source = await exports.open(getVisitor(request), async (signal) => {
        const walk = await walkPayments(ctx, { accountId: account.id, mode, filter, signal })
        // A fault of the first page is still an answer of its own.
        return openCsv(await walk.next(), walk)
      })
      const day = ctx.clock.now().toISOString().slice(0, 'YYYY-MM-DD'.length)
      return reply
        .headers({
          'Content-Type': 'text/csv; charset=utf-8; header=present',
          'Content-Disposition': `attachment; filename="payments-${account.slug}-${mode}-${day}.csv"`,
        })
        .send(source)
    },
  )

  http.get(
    '/console/workspaces/:slug/payments/:id',
    { schema: { params: SlugIdParams, querystring: ModeQuery } },
    async (request) => {
      const { account, userId } = await membershipOf(door, request, 'viewer')
      const accountId = account.id
      const record = await getPaymentRecord(ctx, { accountId, mode: request.query.mode, id: request.params.id })
      const grant = await getGrantSummary(ctx, { accountId, grantId: record.payment.grantId, userId })
      return { ...formatPaymentRecord(record), grant: formatGrantDetail(grant, ctx.clock.now()) }
    },
  )
}
