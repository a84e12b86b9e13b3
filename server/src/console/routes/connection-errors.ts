import { listConnectionErrors } from '../../domain/connection-errors/list-connection-errors.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ERROR_ROUTES } from '../contract/connection-errors.ts'
import { currentMembership } from '../current-membership.ts'
import { formatConnectionError } from '../format-connection-error.ts'

/** Adds the endpoint that lists why connections failed (D73a). */
export function addConnectionErrorRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ERROR_ROUTES.list,
    handler: async (request) => {
      const { account } = currentMembership(request)
      const errors = await listConnectionErrors(ctx, { accountId: account.id, mode: request.query.mode })
      return { errors: errors.map(formatConnectionError) }
    },
  })
}
