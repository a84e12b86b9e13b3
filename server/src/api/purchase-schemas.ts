import { URL_CHARS_MAX } from '../values/limits.ts'
import { Type } from 'typebox'
import { RESOURCE_METHODS } from '../domain/purchases/purchase-request.ts'
import { oneOf } from '../values/schema-fields.ts'

/** The bodies of the operations at `/v1/x402` (D64). `parse-purchase.ts` parses their members. */

const NO_OTHER_MEMBERS = { additionalProperties: false } as const

const RESOURCE = {
  url: Type.String({ minLength: 1, maxLength: URL_CHARS_MAX, description: 'The https URL of the resource.' }),
  method: Type.Optional(oneOf(RESOURCE_METHODS, { description: 'The default is GET.' })),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'The headers of the request: at most 50, with at most 8 KiB together. Cookies, and headers of the connection, of proxies and of payments, are dropped.',
    }),
  ),
  body: Type.Optional(Type.String({ description: 'The body of the request, as text.' })),
  body_base64: Type.Optional(Type.String({ description: 'The body of the request in base64, instead of `body`.' })),
}

const AGENT_ID = Type.String({
  minLength: 1,
  description: '1 to 64 characters. The agent must have an active grant on the wallet that allows purchases.',
})
const WALLET = Type.String({
  description: 'The EVM address of the wallet that pays. The wallet must belong to this workspace and mode.',
})

const TERMS = {
  agent_id: AGENT_ID,
  wallet: WALLET,
  max_amount_usdc: Type.String({
    description: 'The most that you pay for this purchase: a positive decimal with at most 6 decimal places.',
    examples: ['0.10'],
  }),
  memo: Type.Optional(Type.String({ maxLength: 200, description: 'A note that is stored with the payment.' })),
  idempotency_key: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'One key is one purchase. The same key never pays twice, so send it again if you retry.',
  }),
}

export const PayResourceBody = Type.Object({ ...RESOURCE, ...TERMS }, NO_OTHER_MEMBERS)

export const SignResourceBody = Type.Object(
  {
    payment_required: Type.Union([Type.String({ minLength: 1 }), Type.Object({}, { additionalProperties: true })], {
      description:
        'What the resource asked for: the value of its header PAYMENT-REQUIRED or WWW-Authenticate, or the decoded object.',
    }),
    resource_url: Type.String({
      minLength: 1,
      maxLength: URL_CHARS_MAX,
      description: 'The URL that asked for the payment. The service sends nothing to it.',
    }),
    ...TERMS,
  },
  NO_OTHER_MEMBERS,
)

export const CheckResourceBody = Type.Object(
  { ...RESOURCE, agent_id: Type.Optional(AGENT_ID), wallet: Type.Optional(WALLET) },
  NO_OTHER_MEMBERS,
)
