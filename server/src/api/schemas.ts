import { Type, type TSchema } from 'typebox'
import { PROBLEM_CODES, PROBLEM_STATUS } from '../values/problem.ts'

/** The wire of `/v1`: what makes `openapi.json`, checks bodies and writes answers (specification, parts 2 and 7). */

const isoTime = (description: string) => Type.String({ format: 'date-time', description })
const usdc = (description: string) => Type.String({ description, examples: ['12.5'] })
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const modeSchema = Type.Union([Type.Literal('test'), Type.Literal('live')], {
  description: 'Derived from the API key, or chosen at consent.',
})

export const ErrorSchema = Type.Object(
  {
    error: Type.Object({
      type: Type.Union(
        Object.keys(PROBLEM_STATUS).map((type) => Type.Literal(type)),
        { description: 'Coarse category; determines the HTTP status.' },
      ),
      message: Type.String({ description: 'Human-readable; contains no personal data.' }),
      code: Type.Optional(
        Type.String({
          description: `Specific failure within the type: ${Object.keys(PROBLEM_CODES).join(', ')}.`,
        }),
      ),
      details: Type.Optional(
        Type.Unknown({ description: 'Structured context: validation issues, or the limit that was met.' }),
      ),
    }),
  },
  { $id: 'Error', title: 'Error' },
)

const SpendableWalletSchema = Type.Object({
  address: Type.String({ description: 'EVM address.' }),
  max_per_tx_usdc: usdc('Per-transaction maximum.'),
  daily_cap_usdc: usdc('Cap over any 24 hours.'),
  spent_24h_usdc: usdc('Spent by this agent from this wallet in the last 24 hours.'),
  remaining_24h_usdc: usdc('Left of the cap now.'),
  expires_at: nullable(isoTime('When the grant ends.')),
})

export const AgentSchema = Type.Object(
  {
    id: Type.String({ description: 'Your identifier, 1 to 64 characters; unique within (account, mode).' }),
    status: Type.Union([Type.Literal('no_permissions'), Type.Literal('active')], {
      description: '`active` once at least one wallet has authorized the agent.',
    }),
    mode: modeSchema,
    created_at: isoTime('Registration time.'),
    active_signers: Type.Integer({ description: 'Activated, non-revoked signers across all wallets.' }),
    pending_signers: Type.Integer({ description: "Signers awaiting the wallet owner's passkey signature." }),
    account_slug: Type.String({ description: 'Slug of the owning account.' }),
    wallets: Type.Array(SpendableWalletSchema, { description: 'One entry for each grant that can be spent from now.' }),
  },
  { $id: 'Agent', title: 'Agent' },
)

export const PaymentSchema = Type.Object(
  {
    id: Type.String({ description: '`pay_` and 26 characters that sort by time of creation.' }),
    status: Type.Union([Type.Literal('pending'), Type.Literal('confirmed'), Type.Literal('failed')], {
      description: '`pending` until the chain confirms.',
    }),
    tx_hash: nullable(Type.String({ description: 'On-chain transaction hash.' })),
    amount_usdc: usdc('As it was requested.'),
    to: Type.String({ description: 'Recipient, with its EIP-55 checksum.' }),
    from: Type.String({ description: 'Sender wallet, with its EIP-55 checksum.' }),
    memo: nullable(Type.String()),
    idempotency_key: nullable(Type.String()),
    created_at: isoTime('Record creation time.'),
  },
  { $id: 'Payment', title: 'Payment' },
)

export const IdentitySchema = Type.Object(
  {
    auth_type: Type.String({ description: '`api_key` for API keys, `oauth` for OAuth access tokens.' }),
    account_slug: Type.String(),
    account_name: Type.String(),
    mode: modeSchema,
    scopes: Type.Array(Type.String()),
    agent_id: nullable(Type.String({ description: 'The agent that the connection is for.' })),
    expires_at: nullable(isoTime('When the connection ends; for a rotated API key the end of its grace.')),
    wallets: Type.Array(
      Type.Object({
        address: Type.String(),
        max_per_tx_usdc: usdc('Per-transaction maximum.'),
        daily_cap_usdc: usdc('Cap over any 24 hours.'),
        agent_id: Type.Optional(
          Type.String({ description: 'The agent that holds the grant; for API keys, which see all agents.' }),
        ),
      }),
    ),
  },
  { $id: 'Identity', title: 'Identity' },
)

/** Bounds on text are checked by the values themselves (code points, NFC, D7), so that each has one place. */
export const CreateAgentBody = Type.Object({
  id: Type.String({ minLength: 1, description: '1 to 64 characters; unique within (account, mode).' }),
})

export const CreatePaymentBody = Type.Object({
  agent_id: Type.String({
    minLength: 1,
    description: '1 to 64 characters. The agent needs an active grant on the wallet.',
  }),
  wallet: Type.String({ description: 'Sender wallet, an EVM address of this account and mode.' }),
  to: Type.String({ description: 'Recipient, an EVM address.' }),
  amount_usdc: Type.String({ description: 'Positive decimal, at most 6 decimal places.', examples: ['1.25'] }),
  memo: Type.Optional(Type.String({ maxLength: 200, description: 'Stored with the transaction.' })),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The same key never pays twice: the first record is returned, and the body is not looked at again.',
    }),
  ),
})

export const IdParams = Type.Object({ id: Type.String({ description: 'URL-encoded.' }) })

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The API key or token is missing, not valid, or no longer valid.',
  403: "The credential may not do this, or a limit of the grant, the plan or the wallet's balance refuses the payment; `details` tells what would be possible.",
  404: 'Not found in this account and mode.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests; `Retry-After` tells when to come back.',
  500: 'Something went wrong on our side.',
  503: 'Out of reach for a moment; nothing was recorded.',
}

/** The error answers of a route, by status. */
export function errorResponses(...statuses: (keyof typeof DESCRIPTIONS)[]) {
  const reference = Type.Ref('Error')
  return Object.fromEntries(statuses.map((status) => [status, { ...reference, description: DESCRIPTIONS[status] }]))
}
