import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { Empty, IdParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A browser in which the person is signed in. */
const SessionEntrySchema = Type.Object({
  id: Type.String(),
  /** What the browser calls itself (its User-Agent). */
  device: Type.String(),
  created_at: isoTime(),
  last_seen_at: isoTime(),
  expires_at: isoTime(),
  /** Whether it is the browser that sent this request. */
  current: Type.Boolean(),
})

export type SessionEntry = Shape<typeof SessionEntrySchema>

export const SESSION_LIST_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/sessions',
    config: { role: 'session', proof: READS, bucket: 'dashboard' },
    schema: { response: { 200: Type.Object({ sessions: list(SessionEntrySchema) }) } },
  },
  end: {
    method: 'DELETE',
    url: '/console/sessions/:id',
    config: { role: 'session', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: IdParams, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
