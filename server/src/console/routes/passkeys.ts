import { addPasskey } from '../../domain/passkeys/add-passkey.ts'
import { listPasskeys } from '../../domain/passkeys/queries.ts'
import { openPasskeyRegistration } from '../../domain/passkeys/open-passkey-registration.ts'
import type { Passkey } from '../../domain/passkeys/passkey.ts'
import { removePasskey } from '../../domain/passkeys/remove-passkey.ts'
import { renamePasskey } from '../../domain/passkeys/rename-passkey.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { checkName } from '../../values/name.ts'
import { Problem } from '../../values/problem.ts'
import { formatCeremony, takeCeremonyCookie } from '../ceremony.ts'
import type { ConsoleContext } from '../console-context.ts'
import { PASSKEY_ROUTES, type Passkey as PasskeyView } from '../contract/passkeys.ts'
import { getCurrentSession } from '../current-session.ts'
import { parseRegistration } from '../parse-body.ts'

/** The ids of passkeys are base64url. */
const CREDENTIAL_ID_PATTERN = /^[\w-]+$/

export function addPasskeyRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...PASSKEY_ROUTES.list,
    handler: async (request) => {
      const { userId } = getCurrentSession(request)
      return { passkeys: (await listPasskeys(ctx, { userId })).map(formatPasskey) }
    },
  })

  http.route({
    ...PASSKEY_ROUTES.open,
    handler: async (request, reply) => {
      const opened = await openPasskeyRegistration(ctx, { session: getCurrentSession(request) })
      return formatCeremony(consoleContext, reply, opened)
    },
  })

  http.route({
    ...PASSKEY_ROUTES.add,
    handler: async (request, reply) => {
      const session = getCurrentSession(request)
      const name = checkName(request.body.name)
      const ceremony = takeCeremonyCookie(consoleContext, request, reply)
      const passkey = await addPasskey(ctx, {
        session,
        ceremony,
        response: parseRegistration(request.body),
        name,
      })
      return reply.code(201).send({ passkey: formatPasskey(passkey) })
    },
  })

  http.route({
    ...PASSKEY_ROUTES.rename,
    handler: async (request) => {
      const { userId } = getCurrentSession(request)
      const credentialId = parseCredentialId(request.params.id)
      await renamePasskey(ctx, { userId, credentialId, name: request.body.name })
      return {}
    },
  })

  http.route({
    ...PASSKEY_ROUTES.remove,
    handler: async (request) => {
      const session = getCurrentSession(request)
      await removePasskey(ctx, { session, credentialId: parseCredentialId(request.params.id) })
      return {}
    },
  })
}

function parseCredentialId(text: string): string {
  if (!CREDENTIAL_ID_PATTERN.test(text)) throw new Problem('not_found', 'You do not have this passkey.')
  return text
}

function formatPasskey(passkey: Passkey): PasskeyView {
  return {
    id: passkey.credentialId,
    name: passkey.name,
    created_at: passkey.createdAt.toISOString(),
    last_used_at: passkey.lastUsedAt?.toISOString() ?? null,
  }
}
