import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { formatLedgerEntry } from '../../domain/reports/ledger/format-ledger-entry.ts'
import { LedgerEntrySchema } from '../../domain/reports/ledger/ledger-schema.ts'
import { listLedger } from '../../domain/reports/ledger/list-ledger.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { callerOf } from '../caller.ts'
import { LedgerQuery, parseLedgerQuery } from '../parse-ledger-query.ts'
import type { Authenticate } from './agents.ts'

/** Adds the route that lists what moved into and out of the wallets of the caller (D53). */
export function addLedgerRoute(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(LedgerEntrySchema)
  http.get(
    '/v1/ledger',
    {
      onRequest: authenticate({ bucket: 'default' }),
      config: { load: 'database' },
      // `parseLedgerQuery` parses the query. Its errors name what each parameter must be.
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'listLedger',
        summary: 'List payments, deposits and withdrawals',
        description:
          'Returns what moved into and out of the wallets of this workspace and mode, newest first. Payments and ' +
          'withdrawals that are pending or have failed are listed too. Pages have no gaps and no duplicates, even while ' +
          'new entries arrive. To read the next page, send the id of the last entry as starting_after. A credential that ' +
          'is bound to an agent lists the payments of this agent, and the deposits to the wallets on which this agent ' +
          'has a signed grant that is not revoked.',
        tags: ['Ledger'],
        querystring: LedgerQuery,
        response: {
          200: Type.Object(
            {
              entries: Type.Array(Type.Ref('LedgerEntry')),
              has_more: Type.Boolean({ description: 'Whether there are entries after the last one of this page.' }),
            },
            { description: 'A page of the ledger.' },
          ),
        },
        errors: ['agent_not_authorized'],
      },
    },
    async (request) => {
      const { workspaceId, mode, agentId: boundAgentId } = callerOf(request)
      const page = await listLedger(ctx, { workspaceId, mode, boundAgentId, ...parseLedgerQuery(request.query) })
      return { entries: page.entries.map(formatLedgerEntry), has_more: page.hasMore }
    },
  )
}
