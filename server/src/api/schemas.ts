import { Type } from 'typebox'
import { DepositSchema } from '../domain/deposits/deposit-schema.ts'
import { EnvelopeSchema } from '../domain/events/event-schema.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../domain/events/event.ts'
import { GrantSchema } from '../domain/grants/grant-schema.ts'
import { PROBLEM_CODES, PROBLEM_STATUS } from '../values/problem.ts'
import { isoTime, ModeSchema, nullable, usdc } from '../values/schema-fields.ts'

/** The schemas of `/v1`. They generate `openapi.json`, validate bodies and serialize responses. */

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

export const IdentitySchema = Type.Object(
  {
    auth_type: Type.String({ description: '`api_key` for API keys, `oauth` for OAuth access tokens.' }),
    account_slug: Type.String(),
    account_name: Type.String(),
    mode: ModeSchema,
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

/** What webhooks deliver, byte for byte (D42). */
export const EventSchema = Type.Object(
  {
    ...EnvelopeSchema.properties,
    data: Type.Object(
      {
        payment: Type.Optional({
          ...Type.Ref('Payment'),
          description: 'With `payment.created`, `payment.confirmed` and `payment.failed`: the payment as it then was.',
        }),
        deposit: Type.Optional(DepositSchema),
        grant: Type.Optional(GrantSchema),
        webhook: Type.Optional(Type.Object({ id: Type.String() }, { description: 'With `webhook.test`.' })),
      },
      { description: 'What it happened to, under its name.' },
    ),
  },
  { $id: 'Event', title: 'Event' },
)

export const EVENTS_LIMIT_MAX = 100
export const EVENTS_LIMIT_DEFAULT = 50

/** For the contract only: `parseEventsQuery` parses the query. */
export const EventsQuery = Type.Object({
  cursor: Type.Optional(
    Type.String({
      description: 'The `next_cursor` of the previous page, or the id of an event. The page starts after that event.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EVENTS_LIMIT_MAX,
      default: EVENTS_LIMIT_DEFAULT,
      description: 'Events per page.',
    }),
  ),
  type: Type.Optional(
    Type.String({
      description: `Event types, separated by commas: ${EVENT_TYPES.join(', ')}. By default all of these. \`${TEST_EVENT_TYPE}\` can be added.`,
      examples: ['payment.confirmed,payment.failed'],
    }),
  ),
  created_after: Type.Optional(isoTime('Events at or after this time, which must have a UTC offset.')),
  created_before: Type.Optional(isoTime('Events before this time, which must have a UTC offset.')),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      default: 'desc',
      description: 'Oldest or newest first.',
    }),
  ),
})

/** Rejects unknown members, because a caller that sends `dry_run` must not move money (D4). */
const NO_OTHER_MEMBERS = { additionalProperties: false } as const

/** The parsers in `values/` check the length of texts (code points, NFC), so that each rule is in one place (D7). */
export const CreateAgentBody = Type.Object(
  { id: Type.String({ minLength: 1, description: '1 to 64 characters; unique within (account, mode).' }) },
  NO_OTHER_MEMBERS,
)

export const CreatePaymentBody = Type.Object(
  {
    agent_id: Type.String({
      minLength: 1,
      description: '1 to 64 characters. The agent must have an active grant on the wallet.',
    }),
    wallet: Type.String({ description: 'Sender wallet, an EVM address of this account and mode.' }),
    to: Type.String({ description: 'Recipient, an EVM address.' }),
    amount_usdc: Type.String({ description: 'Positive decimal, at most 6 decimal places.', examples: ['1.25'] }),
    memo: Type.Optional(Type.String({ maxLength: 200, description: 'Stored with the transaction.' })),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The same key never pays twice: the first payment is returned, and the rest of the body is ignored. Send the key here: a request with an Idempotency-Key header, but without the same key here, is rejected.',
      }),
    ),
  },
  NO_OTHER_MEMBERS,
)

export const IdParams = Type.Object({ id: Type.String({ description: 'URL-encoded.' }) })

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The API key or access token is missing, malformed, expired or revoked.',
  403: "The credential may not do this, or a limit of the grant, the plan or the wallet's balance refuses the payment. `details` shows the limit and what is left.",
  404: 'Not found in this account and mode.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not JSON.',
  429: 'Too many requests. Retry after the time in the `Retry-After` header.',
  500: 'The service failed unexpectedly.',
  503: 'The service is temporarily unavailable. Nothing was recorded.',
}

/** Returns the error responses of a route, by status. */
export function errorResponses(...statuses: (keyof typeof DESCRIPTIONS)[]) {
  const reference = Type.Ref('Error')
  return Object.fromEntries(statuses.map((status) => [status, { ...reference, description: DESCRIPTIONS[status] }]))
}
