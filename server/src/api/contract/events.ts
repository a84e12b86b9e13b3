import { DepositSchema } from '../../domain/deposits/deposit-schema.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE, type EventType } from '../../domain/events/event.ts'
import { EnvelopeSchema } from '../../domain/events/event-schema.ts'
import { GrantSchema } from '../../domain/grants/grant-schema.ts'

const TYPES: readonly EventType[] = [...EVENT_TYPES, TEST_EVENT_TYPE]

interface Meaning {
  readonly description: string
  /** The member of `data` that contains the subject, and the name of the subject's schema. */
  readonly subject: readonly [member: string, schema: string]
}

const PAYMENT = ['payment', 'Payment'] as const
const GRANT = ['grant', 'Grant'] as const

const MEANINGS: Readonly<Record<EventType, Meaning>> = {
  'payment.created': { description: 'A payment was recorded.', subject: PAYMENT },
  'payment.confirmed': { description: 'The chain has proved the transfer of a payment.', subject: PAYMENT },
  'payment.failed': { description: 'A payment has failed.', subject: PAYMENT },
  'inbound.received': { description: 'USDC has arrived in a wallet.', subject: ['deposit', 'Deposit'] },
  'permission.granted': { description: 'A grant became active.', subject: GRANT },
  'permission.revoked': { description: 'A grant was revoked.', subject: GRANT },
  'permission.suspended': { description: 'A grant was suspended: the agent cannot pay with it.', subject: GRANT },
  'permission.resumed': { description: 'A suspended grant allows payments again.', subject: GRANT },
  'webhook.test': {
    description: 'A person tested one webhook endpoint. Only this endpoint receives the event.',
    subject: ['webhook', 'TestedWebhook'],
  },
}

/** The schemas of all events and of their subjects, except `Payment`, which routes use too. */
export function describeEvents(): Readonly<Record<string, object>> {
  const { type: _type, ...envelope } = EnvelopeSchema.properties
  const events = TYPES.map((type) => {
    const { description, subject } = MEANINGS[type]
    const [member, schema] = subject
    const event = {
      type: 'object',
      title: schemaNameOf(type),
      description,
      required: [...EnvelopeSchema.required, 'data'],
      properties: {
        ...envelope,
        type: { type: 'string', const: type, description: 'What has happened.' },
        data: {
          type: 'object',
          description: 'The subject of the event, as it was at that time.',
          required: [member],
          properties: { [member]: { $ref: `#/components/schemas/${schema}` } },
        },
      },
    }
    return [schemaNameOf(type), event] as const
  })
  return {
    Deposit: { title: 'Deposit', ...DepositSchema, description: 'USDC that arrived in a wallet.' },
    Grant: { title: 'Grant', ...GrantSchema, description: 'What an agent may spend from a wallet.' },
    TestedWebhook: {
      type: 'object',
      title: 'TestedWebhook',
      description: 'The webhook endpoint that was tested.',
      required: ['id'],
      properties: { id: { type: 'string', description: 'The id of the endpoint: `whk_` and 26 characters.' } },
    },
    Event: {
      title: 'Event',
      description:
        'A change, exactly as webhooks deliver it. `type` says which members `data` has. Events are kept for 30 days and ' +
        'never changed.',
      oneOf: TYPES.map((type) => ({ $ref: referenceOf(type) })),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(TYPES.map((type) => [type, referenceOf(type)])),
      },
    },
    ...Object.fromEntries(events),
  }
}

/** Returns the webhook requests that the service sends, one for each event type (D42, D44, D45). */
export function describeWebhooks(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    TYPES.map((type) => {
      const post = {
        operationId: `on${schemaNameOf(type).replace(/Event$/, '')}`,
        summary: MEANINGS[type].description,
        description:
          'Verify `Service-Signature` before you trust the body, and respond with 2xx within 10 seconds. Deliveries arrive at least once and in any order: handle each `id` once.',
        tags: ['Webhooks'],
        security: [],
        parameters: Object.keys(WEBHOOK_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: referenceOf(type) } } },
        },
        responses: {
          '2XX': { description: 'The delivery has succeeded.' },
          '410': { description: 'The service disables the endpoint, and sends it nothing more.' },
          default: { description: 'The delivery has failed. The service sends the event again later.' },
        },
      }
      return [type, { post }]
    }),
  )
}

const WEBHOOK_HEADERS = {
  'Service-Signature': {
    description:
      '`t=<Unix time in seconds>,v1=<hexadecimal>`. The second part is the HMAC-SHA256 of `<t>.<raw body>` with the whole secret of the endpoint (`whsec_…`) as the key. For 24 hours after a rotation of the secret there are two `v1` parts; one of them matches.',
    schema: {
      type: 'string',
      examples: ['t=1782000000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd'],
    },
  },
  'Service-Event-Id': {
    description: "The event's `id`, which is the same in all deliveries of the event.",
    schema: { type: 'string' },
  },
  'Service-Event-Type': { description: "The event's `type`.", schema: { type: 'string' } },
  'Service-Delivery-Attempt': {
    description: 'The number of this attempt to deliver the event, from 1.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const

/** Returns the headers of a webhook request. */
export function describeWebhookHeaders(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(WEBHOOK_HEADERS).map(([name, header]) => [name, { name, in: 'header', required: true, ...header }]),
  )
}

/** `payment.created` becomes `PaymentCreatedEvent`. */
function schemaNameOf(type: EventType): string {
  const words = type.split('.').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
  return `${words.join('')}Event`
}

function referenceOf(type: EventType): string {
  return `#/components/schemas/${schemaNameOf(type)}`
}
