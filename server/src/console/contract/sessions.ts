import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { Empty, IdParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A session of the person, that is, a browser in which they are signed in. */
const SessionEntrySchema = Type.Object({
  id: Type.String(),
  /** The name of the browser, from its `User-Agent` header. */
  device: Type.String(),
  created_at: isoTime(),
  last_seen_at: isoTime(),
  expires_at: isoTime(),
  /** Whether this session made the request. */
  current: Type.Boolean(),
})

export type SessionEntry = Shape<typeof SessionEntrySchema>

export const SESSION_LIST_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/sessions',
    config: { needs: 'session', proof: READS, bucket: 'dashboard' },
    schema: { response: { 200: Type.Object({ sessions: list(SessionEntrySchema) }) } },
  },
  end: {
    method: 'DELETE',
    url: '/console/sessions/:id',
    config: { needs: 'session', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: IdParams, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
