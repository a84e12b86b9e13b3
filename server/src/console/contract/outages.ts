import { Type } from 'typebox'
import { list } from '../../values/schema-fields.ts'
import { ModeQuery, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** What a mode depends on: the enclave, which both modes share, and the mode's chain. */
const OutageSchema = Type.Enum(['enclave', 'chain'])

export type Outage = Shape<typeof OutageSchema>

export const OUTAGE_ROUTES = {
  /** Lists what cannot be reached at the moment. Empty while everything works. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/outages',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ outages: list(OutageSchema) }) },
    },
  },
} as const satisfies ConsoleRoutes
