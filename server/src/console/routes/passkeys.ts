import { addPasskey } from '../../domain/passkeys/add-passkey.ts'
import { listPasskeys } from '../../domain/passkeys/list-passkeys.ts'
import { openPasskey } from '../../domain/passkeys/open-passkey.ts'
import type { Passkey } from '../../domain/passkeys/passkey.ts'
import { removePasskey } from '../../domain/passkeys/remove-passkey.ts'
import { countOwnedWallets } from '../../domain/wallets/count-owned-wallets.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { checkName } from '../../values/name.ts'
import { Problem } from '../../values/problem.ts'
import { formatCeremony, takeCeremony } from '../ceremony.ts'
import { createCeremonyLimit, type Door } from '../door.ts'
import { parseRegistration } from '../parse-body.ts'
import { EmptyBody, IdParams, PasskeyBody } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

/** base64url; anything else is not looked up. */
const CREDENTIAL_ID_PATTERN = /^[\w-]+$/

export function addPasskeyRoutes(http: HttpServer, door: Door): void {
  const onRequest = createCeremonyLimit(door)

  http.get('/console/passkeys', async (request) => {
    const { userId } = getVisitor(request)
    const [passkeys, owned] = await Promise.all([
      listPasskeys(door.ctx, { userId }),
      countOwnedWallets(door.ctx, { userId }),
    ])
    return { passkeys: passkeys.map((passkey) => formatPasskey(passkey, owned.get(passkey.credentialId) ?? 0)) }
  })

  http.post('/console/passkeys/options', { onRequest, schema: { body: EmptyBody } }, async (request, reply) => {
    const opened = await openPasskey(door.ctx, { session: getVisitor(request) })
    return formatCeremony(door, reply, opened)
  })

  http.post('/console/passkeys', { schema: { body: PasskeyBody } }, async (request, reply) => {
    const session = getVisitor(request)
    const name = checkName(request.body.name)
    const ceremony = takeCeremony(door, request, reply)
    const passkey = await addPasskey(door.ctx, { session, ceremony, response: parseRegistration(request.body), name })
    return reply.code(201).send({ passkey: formatPasskey(passkey, 0) })
  })

  http.delete('/console/passkeys/:id', { schema: { params: IdParams } }, async (request) => {
    const session = getVisitor(request)
    const { id } = request.params
    if (!CREDENTIAL_ID_PATTERN.test(id)) throw new Problem('not_found', 'You have no such passkey.')
    await removePasskey(door.ctx, { session, credentialId: id })
    return {}
  })
}

function formatPasskey(passkey: Passkey, wallets: number) {
  return {
    id: passkey.credentialId,
    name: passkey.name,
    wallets,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  }
}
