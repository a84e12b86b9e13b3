import { OPERATOR } from '../../../../server/src/domain/audit/audit-entry.ts'
import { revokeKey } from '../../../../server/src/domain/keys/revoke-key.ts'
import { rotateKey } from '../../../../server/src/domain/keys/rotate-key.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

/** Adds the routes that rotate and revoke a key. The caller proves the right to do so with the key's secret. */
export function addKeyRoutes(http: HttpServer, { context }: ControlContext): void {
  http.post('/keys/rotate', async (request, reply) => {
    const { key, secret, graceUntil } = await rotateKey(context, {
      secret: new Fields(request.body).text('key'),
      actor: OPERATOR,
    })
    const answer = { key: { id: key.id, mode: key.mode, secret }, grace_until: graceUntil.toISOString() }
    return reply.code(201).send(answer)
  })

  http.post('/keys/revoke', async (request) => {
    await revokeKey(context, { secret: new Fields(request.body).text('key'), actor: OPERATOR })
    return {}
  })
}
