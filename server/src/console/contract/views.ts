import { Type } from 'typebox'
import { list } from '../../values/schema-fields.ts'
import { VIEW_QUERY_CHARS_MAX } from '../../values/view-query.ts'
import { Empty, mode, ModeQuery, name, SlugIdParams, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A saved view of the payments page. `query` is the query of its URL. */
const ViewSchema = Type.Object({ id: Type.String(), name: Type.String(), query: Type.String() })

export type SavedView = Shape<typeof ViewSchema>

export const VIEW_ROUTES = {
  /** Lists the saved views of a workspace and mode, ordered by name. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/views',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ views: list(ViewSchema) }) },
    },
  },
  /** Saves a view under a name, or replaces the view with this name. */
  save: {
    method: 'POST',
    url: '/console/workspaces/:slug/views',
    config: { needs: 'saveViews', proof: { notNeeded: 'only names filters of a list' }, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, name, query: Type.String({ maxLength: VIEW_QUERY_CHARS_MAX }) }),
      response: { 201: Type.Object({ view: ViewSchema }) },
    },
  },
  delete: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/views/:id',
    config: { needs: 'saveViews', proof: { notNeeded: 'only deletes the name of some filters' }, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
