import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { ClientSchema } from './connections.ts'
import { mode, SlugParams } from './fields.ts'
import { CONNECTION_ERROR_CODES } from '../../domain/connection-errors/connection-error.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const ConnectionErrorSchema = Type.Object({
  connection_id: Type.String(),
  client: ClientSchema,
  agent_id: Type.String(),
  /** The person who approved the application. */
  user_name: Type.String(),
  code: Type.Enum([...CONNECTION_ERROR_CODES]),
  /** When the error last happened. */
  happened_at: isoTime(),
})

export type ConnectionError = Shape<typeof ConnectionErrorSchema>

export const CONNECTION_ERROR_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/connection-errors',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode }),
      response: { 200: Type.Object({ errors: list(ConnectionErrorSchema) }) },
    },
  },
} as const satisfies ConsoleRoutes
