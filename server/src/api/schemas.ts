import { Type } from 'typebox'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../domain/events/event.ts'
import { PAYMENT_WAIT_SECONDS_MAX } from '../domain/reconciliation/wait-for-payment.ts'
import { isoTime, ModeSchema, orNull, usdc } from '../values/schema-fields.ts'

/** The schemas of `/v1`. They generate `openapi.json`, validate bodies and serialize responses. */

export const IdentitySchema = Type.Object(
  {
    auth_type: Type.String({ description: '`api_key` for API keys, `oauth` for OAuth access tokens.' }),
    account_slug: Type.String({ description: 'The slug of the workspace.' }),
    account_name: Type.String({ description: 'The name of the workspace.' }),
    mode: ModeSchema,
    scopes: Type.Array(Type.String(), { description: 'What the credential may do.' }),
    agent_id: orNull(
      Type.String({
        description:
          'The only agent as which the credential may pay: the agent of the connection, or the one to which the API key is bound.',
      }),
    ),
    expires_at: orNull(
      isoTime(
        'When the credential stops working: the end of the connection, or of the 24 hours after an API key was rotated.',
      ),
    ),
    server_time: isoTime(
      "The time by the service's clock, which decides about every limit and lifetime, and is the time of every record.",
    ),
    wallets: Type.Array(
      Type.Object({
        address: Type.String({ description: 'The EVM address of the wallet.' }),
        max_per_tx_usdc: usdc('The per-payment limit.'),
        daily_cap_usdc: usdc('The 24-hour limit: the most that the agent may spend in any 24 hours.'),
        agent_id: Type.Optional(
          Type.String({
            description: 'The agent of the grant. Only present for API keys that are not bound to one agent.',
          }),
        ),
      }),
      { description: 'The wallets from which the credential can pay now, one entry for each agent.' },
    ),
  },
  { $id: 'Identity', title: 'Identity' },
)

/** An event, exactly as webhooks deliver it (D42). `contract/events.ts` describes it. */
export const EventReference = Type.Unsafe({ $ref: '#/components/schemas/Event' })

export const EVENTS_LIMIT_MAX = 100
export const EVENTS_LIMIT_DEFAULT = 50

/** Only describes the query of `GET /v1/events` in `openapi.json`. `parseEventsQuery` parses the query. */
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
      description: `Event types, separated by commas: ${EVENT_TYPES.join(', ')}. The default is all of these types. \`${TEST_EVENT_TYPE}\` can be added.`,
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

/**
 * Rejects unknown members. For example, `dry_run` is not supported, and a caller that sends it must not move money
 * (D4).
 */
const NO_OTHER_MEMBERS = { additionalProperties: false } as const

/**
 * `parseAgentId` checks the maximum length and the characters, so that the rules for an agent's id are in one place
 * (D7).
 */
export const CreateAgentBody = Type.Object(
  { id: Type.String({ minLength: 1, description: '1 to 64 characters. Unique in the workspace and mode.' }) },
  NO_OTHER_MEMBERS,
)

export const CreatePaymentBody = Type.Object(
  {
    agent_id: Type.String({
      minLength: 1,
      description: '1 to 64 characters. The agent must have an active grant on the wallet.',
    }),
    wallet: Type.String({
      description: 'The EVM address of the wallet that pays. The wallet must belong to this workspace and mode.',
    }),
    to: Type.String({ description: 'The EVM address of the recipient.' }),
    amount_usdc: Type.String({ description: 'A positive decimal with at most 6 decimal places.', examples: ['1.25'] }),
    memo: Type.Optional(Type.String({ maxLength: 200, description: 'A note that is stored with the payment.' })),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'The same key never pays twice. A second request with the same key returns the first payment, and the rest of its body has no effect. Send the key in this member: a request with an Idempotency-Key header, but without the same key in this member, is rejected.',
      }),
    ),
  },
  NO_OTHER_MEMBERS,
)

/** Only describes the query of `GET /v1/payments/{id}` in `openapi.json`. `parsePaymentQuery` parses the query. */
export const PaymentQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: PAYMENT_WAIT_SECONDS_MAX,
      default: 0,
      description: 'How long to wait at most until the payment is confirmed or failed, in seconds.',
    }),
  ),
})

export const PathId = Type.Object({ id: Type.String({ description: 'URL-encoded.' }) })
