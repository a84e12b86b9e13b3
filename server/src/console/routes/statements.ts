import { parseMonth, type Month } from '../../domain/months/month.ts'
import { getStatement, getWalletMonth, type StatementRequest } from '../../domain/reports/statements/get-statement.ts'
import {
  listMovements,
  PAGE_MOVEMENTS,
  walkMovements,
  type ListedMovement,
} from '../../domain/reports/statements/list-movements.ts'
import { listStatements } from '../../domain/reports/statements/list-statements.ts'
import {
  MOVEMENTS_MAX,
  type MovementPosition,
  type Statement,
  type StatementBalance,
} from '../../domain/reports/statements/statement.ts'
import { checkStillHere } from '../../domain/workspaces/check-still-here.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { coinOf, formatCoin } from '../../values/gas.ts'
import { cutText } from '../../lib/cut-text.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import type { Mode } from '../../values/mode.ts'
import { formatAmount } from '../../values/money.ts'
import type { ConsoleContext } from '../console-context.ts'
import { STATEMENT_ROUTES, type Movement, type Statement as StatementView } from '../contract/statements.ts'
import { csvHeaders, openCsv } from '../csv.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { listNames } from '../list-names.ts'
import { parseTimeZoneOf } from '../parse-body.ts'
import { parseWalletAddress } from '../parse-wallet-address.ts'
import { createStatementRows, STATEMENT_COLUMNS } from '../statement-csv.ts'

const SHORT_ADDRESS_CHARS = 6
const POSITION_PATTERN = /^(\d{1,18})-([A-Za-z0-9_]{1,140})$/

/** Adds the endpoints for the statements of wallets and months (D90): the list, one of them, and its movements. */
export function addStatementRoutes(http: HttpServer, { ctx, exports }: ConsoleContext): void {
  http.route({
    ...STATEMENT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, month: wanted } = request.query
      const month = wanted === undefined ? null : parseMonthOf(wanted)
      const found = await listStatements(ctx, { workspaceId: workspace.id, mode, month })
      return {
        months: found.months,
        month: found.month,
        statements: found.statements.map(({ wallet, walletName, openingMicro, closingMicro, isOver }) => ({
          ...{ wallet, wallet_name: walletName, is_over: isOver },
          opening_usdc: openingMicro === null ? null : formatAmount(openingMicro),
          closing_usdc: closingMicro === null ? null : formatAmount(closingMicro),
        })),
      }
    },
  })

  http.route({
    ...STATEMENT_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      const statement = await getStatement(ctx, parseRequest(workspace.id, mode, request.params))
      return { statement: formatStatement(statement, coinOf(ctx.chains[mode].chainId)) }
    },
  })

  http.route({
    ...STATEMENT_ROUTES.movements,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, after } = request.query
      const place = parseRequest(workspace.id, mode, request.params)
      const position = after === undefined ? null : parsePosition(after)
      const { range } = await getWalletMonth(ctx, place)
      const movements = await listMovements(ctx, { place, range, after: position })
      const last = movements.length < PAGE_MOVEMENTS ? undefined : movements.at(-1)
      return { movements: movements.map(formatMovement), next: last === undefined ? null : formatPosition(last) }
    },
  })

  http.route({
    ...STATEMENT_ROUTES.export,
    // There is no HEAD route, because it would read as much as GET.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      const place = parseRequest(workspace.id, mode, request.params)
      const exporter = { session: getCurrentSession(request), workspaceId: workspace.id }
      let walletName = ''
      const source = await exports.open(exporter, async () => {
        const [statement, names] = await Promise.all([
          getStatement(ctx, place),
          listNames(ctx, { workspaceId: workspace.id, mode }),
        ])
        walletName = statement.walletName
        if (statement.totals.movements > MOVEMENTS_MAX)
          throw invalidMember('month', `has more than ${MOVEMENTS_MAX.toLocaleString('en')} movements`)
        const next = createStatementRows({
          statement,
          utc: parseTimeZoneOf(),
          coin: coinOf(ctx.chains[mode].chainId),
          // A counterparty may be another wallet of the workspace.
          names: new Map([...names.wallets, ...names.recipients]),
          next: walkMovements(ctx, { place, range: statement.range }),
        })
        return await openCsv({
          columns: STATEMENT_COLUMNS,
          next,
          checkEnd: () => checkStillHere(ctx, workspace.id),
        })
      })
      // Two wallets may have the same name.
      const parts = [
        workspace.slug,
        mode,
        'statement',
        walletName,
        cutText(place.wallet, SHORT_ADDRESS_CHARS),
        place.month,
      ]
      return reply.headers(csvHeaders(...parts)).send(source)
    },
  })
}

function parseRequest(
  workspaceId: string,
  mode: Mode,
  { address, month }: { readonly address: string; readonly month: string },
): StatementRequest {
  return { workspaceId, mode, wallet: parseWalletAddress(address), month: parseMonthOf(month) }
}

function parseMonthOf(text: string): Month {
  const month = parseMonth(text)
  if (month === null) throw invalidMember('month', 'must be a month such as "2026-10"')
  return month
}

function formatPosition({ blockNumber, id }: MovementPosition): string {
  return `${blockNumber}-${id}`
}

function parsePosition(text: string): MovementPosition {
  const [, block, id] = POSITION_PATTERN.exec(text) ?? []
  if (block === undefined || id === undefined)
    throw invalidMember('after', 'must be the value of next from the previous page')
  return { blockNumber: BigInt(block), id }
}

function formatStatement(statement: Statement, coin: string): StatementView {
  const { wallet, walletName, month, state, opening, closing, totals, differenceMicro, sums, pending } = statement
  return {
    ...{ wallet, wallet_name: walletName, month, state, pending },
    ...{ opening: formatBalance(opening), closing: formatBalance(closing) },
    ...{ in_usdc: formatAmount(totals.inMicro), out_usdc: formatAmount(totals.outMicro) },
    difference_usdc: differenceMicro === null ? null : formatAmount(differenceMicro),
    gas: totals.gasWei === 0n ? null : { amount: formatCoin(totals.gasWei), currency: coin },
    movements: totals.movements,
    sums: sums.map(({ type, movements, amountMicro }) => ({ type, movements, amount_usdc: formatAmount(amountMicro) })),
  }
}

function formatBalance({ micro, source, block }: StatementBalance): StatementView['opening'] {
  return { usdc: formatAmount(micro), source, block_number: block === null ? null : Number(block) }
}

function formatMovement(movement: ListedMovement): Movement {
  const { id, type, blockNumber, confirmedAt, inMicro, outMicro, gasWei, counterparty } = movement
  return {
    ...{ id, type, block_number: Number(blockNumber), confirmed_at: confirmedAt.toISOString(), counterparty },
    ...{ in_usdc: formatAmount(inMicro), out_usdc: formatAmount(outMicro) },
    gas: gasWei === null ? null : formatCoin(gasWei),
    ...{ payment_id: movement.paymentId, agent_id: movement.agentId, memo: movement.memo },
    ...{ resource: movement.purchase?.resourceUrl ?? null, tx_hash: movement.txHash },
  }
}
