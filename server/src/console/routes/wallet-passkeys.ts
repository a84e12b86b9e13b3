import { openWalletPasskeyRegistration } from '../../domain/wallets/open-wallet-passkey-registration.ts'
import { registerWalletPasskey } from '../../domain/wallets/register-wallet-passkey.ts'
import { removeUnusedWalletPasskey } from '../../domain/wallets/remove-unused-wallet-passkey.ts'
import { renameWalletPasskey } from '../../domain/wallets/rename-wallet-passkey.ts'
import { listWalletPasskeys } from '../../domain/wallets/queries.ts'
import type { WalletPasskey } from '../../domain/wallets/wallet.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { formatCeremony, takeCeremonyCookie } from '../ceremony.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WALLET_PASSKEY_ROUTES, type WalletPasskey as WalletPasskeyView } from '../contract/wallet-passkeys.ts'
import { getCurrentSession } from '../current-session.ts'
import { parseRegistration } from '../parse-body.ts'

/** The ids of passkeys are base64url. */
const CREDENTIAL_ID_PATTERN = /^[\w-]+$/

export function addWalletPasskeyRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...WALLET_PASSKEY_ROUTES.list,
    handler: async (request) => {
      const owned = await listWalletPasskeys(ctx, { userId: getCurrentSession(request).userId })
      return { passkeys: owned.map(({ passkey, wallets }) => formatWalletPasskey(passkey, wallets)) }
    },
  })

  http.route({
    ...WALLET_PASSKEY_ROUTES.open,
    handler: async (request, reply) => {
      const opened = await openWalletPasskeyRegistration(ctx, { session: getCurrentSession(request) })
      return formatCeremony(consoleContext, reply, opened)
    },
  })

  http.route({
    ...WALLET_PASSKEY_ROUTES.add,
    handler: async (request, reply) => {
      const session = getCurrentSession(request)
      const name = checkName(request.body.name)
      const ceremony = takeCeremonyCookie(consoleContext, request, reply)
      const response = parseRegistration(request.body)
      const passkey = await registerWalletPasskey(ctx, { session, ceremony, response, name })
      return reply.code(201).send({ passkey: formatWalletPasskey(passkey, 0) })
    },
  })

  http.route({
    ...WALLET_PASSKEY_ROUTES.rename,
    handler: async (request) => {
      const { userId } = getCurrentSession(request)
      const credentialId = parseCredentialId(request.params.credential_id)
      await renameWalletPasskey(ctx, { userId, credentialId, name: request.body.name })
      return {}
    },
  })

  http.route({
    ...WALLET_PASSKEY_ROUTES.remove,
    handler: async (request) => {
      const session = getCurrentSession(request)
      await removeUnusedWalletPasskey(ctx, { session, credentialId: parseCredentialId(request.params.credential_id) })
      return {}
    },
  })
}

function parseCredentialId(text: string): string {
  if (!CREDENTIAL_ID_PATTERN.test(text)) throw problem('passkey_not_found')
  return text
}

function formatWalletPasskey(passkey: WalletPasskey, wallets: number): WalletPasskeyView {
  return {
    credential_id: passkey.credentialId,
    name: passkey.name,
    created_at: passkey.createdAt.toISOString(),
    wallets,
  }
}
