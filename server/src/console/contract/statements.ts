import { Type } from 'typebox'
import { BALANCE_SOURCES, MOVEMENT_TYPES, STATEMENT_STATES } from '../../domain/reports/statements/statement.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { mode, ModeQuery, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const POSITION_CHARS_MAX = 160
const MONTH_CHARS_MAX = 7

const StatementParams = Type.Object({ slug: Type.String(), address: Type.String(), month: Type.String() })

/** The statement of a wallet in the list. A balance is null if it was not recorded: the statement computes it. */
const ListedStatementSchema = Type.Object({
  wallet: Type.String(),
  wallet_name: Type.String(),
  opening_usdc: orNull(Type.String()),
  closing_usdc: orNull(Type.String()),
  is_over: Type.Boolean(),
})

const BalanceSchema = Type.Object({
  usdc: Type.String(),
  source: Type.Enum([...BALANCE_SOURCES]),
  /** The block after which the wallet has this balance. */
  block_number: orNull(Type.Integer()),
})

const StatementSchema = Type.Object({
  wallet: Type.String(),
  wallet_name: Type.String(),
  month: Type.String(),
  state: Type.Enum([...STATEMENT_STATES]),
  opening: BalanceSchema,
  closing: BalanceSchema,
  in_usdc: Type.String(),
  out_usdc: Type.String(),
  /** Null if one of the balances was computed. */
  difference_usdc: orNull(Type.String()),
  /** Null if the wallet paid no gas. */
  gas: orNull(Type.Object({ amount: Type.String(), currency: Type.String() })),
  movements: Type.Integer(),
  sums: list(
    Type.Object({ type: Type.Enum([...MOVEMENT_TYPES]), movements: Type.Integer(), amount_usdc: Type.String() }),
  ),
  /** The payments of the month that are still pending, at most 1,000. */
  pending: Type.Integer(),
})

const MovementSchema = Type.Object({
  id: Type.String(),
  type: Type.Enum([...MOVEMENT_TYPES]),
  block_number: Type.Integer(),
  confirmed_at: isoTime(),
  in_usdc: Type.String(),
  out_usdc: Type.String(),
  gas: orNull(Type.String()),
  counterparty: Type.String(),
  payment_id: orNull(Type.String()),
  agent_id: orNull(Type.String()),
  memo: orNull(Type.String()),
  resource: orNull(Type.String()),
  tx_hash: orNull(Type.String()),
})

export type ListedStatement = Shape<typeof ListedStatementSchema>
export type Statement = Shape<typeof StatementSchema>
export type Movement = Shape<typeof MovementSchema>

export const STATEMENT_ROUTES = {
  /** Lists the wallets of a month, by default of the last month that is over, and the months that can be chosen. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/statements',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, month: Type.Optional(Type.String({ maxLength: MONTH_CHARS_MAX })) }),
      response: {
        200: Type.Object({
          months: list(Type.String()),
          month: orNull(Type.String()),
          statements: list(ListedStatementSchema),
        }),
      },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/statements/:address/:month',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: StatementParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ statement: StatementSchema }) },
    },
  },
  /** Lists the movements in the order of the chain. `next` is where the following page begins. */
  movements: {
    method: 'GET',
    url: '/console/workspaces/:slug/statements/:address/:month/movements',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: StatementParams,
      querystring: Type.Object({ mode, after: Type.Optional(Type.String({ maxLength: POSITION_CHARS_MAX })) }),
      response: { 200: Type.Object({ movements: list(MovementSchema), next: orNull(Type.String()) }) },
    },
  },
  /** Returns the statement with all movements as a stream of CSV. */
  export: {
    method: 'GET',
    url: '/console/workspaces/:slug/statements/:address/:month/export',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: StatementParams, querystring: ModeQuery },
  },
} as const satisfies ConsoleRoutes
