import { Type } from 'typebox'
import { isoTime, ModeSchema, oneOf } from '../../values/schema-fields.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE } from './event.ts'

/** The envelope of an event without its data, as webhooks, `/v1` and the dashboard show it. */
export const EnvelopeSchema = Type.Object({
  id: Type.String({
    description: '`evt_` and 26 characters that sort by time. All deliveries of an event have the same id.',
  }),
  type: oneOf([...EVENT_TYPES, TEST_EVENT_TYPE]),
  created_at: isoTime('When the event happened.'),
  mode: ModeSchema,
  account_slug: Type.String({ description: 'The slug of the workspace.' }),
})
