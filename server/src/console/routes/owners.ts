import { getWalletRecord } from '../../domain/owners/get-wallet-record.ts'
import { openOwnerChange } from '../../domain/owners/open-owner-change.ts'
import { signWalletRecord } from '../../domain/owners/sign-wallet-record.ts'
import { submitOwnerSignature } from '../../domain/owners/submit-owner-signature.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { OWNER_ROUTES } from '../contract/owners.ts'
import { memberOf, currentMembership } from '../current-membership.ts'
import { formatSigningRequest } from '../format-signing-request.ts'
import { mapEnclaveErrors } from '../map-enclave-errors.ts'
import { parseAssertion } from '../parse-body.ts'
import { parseWalletAddress } from '../parse-wallet-address.ts'
import { showWallet } from '../show-wallet.ts'

/**
 * The owners of a workspace's wallets. Admins prepare changes, and a current owner signs them on the signer page; any
 * admin may submit the owner's signature.
 */
export function addOwnerRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...OWNER_ROUTES.getRecord,
    handler: async (request) => {
      const workspaceId = currentMembership(request).workspace.id
      const address = parseWalletAddress(request.params.address)
      const record = await getWalletRecord(ctx, { workspaceId, mode: request.query.mode, address })
      return {
        statement: Buffer.from(record.statement).toString('base64url'),
        assertions: record.assertions,
        public_keys: record.owners.map(({ credentialId, publicKey, name }) => ({
          credential_id: credentialId,
          public_key: publicKey,
          name,
        })),
      }
    },
  })

  http.route({
    ...OWNER_ROUTES.signRecord,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const place = { workspaceId, mode: request.body.mode, address: parseWalletAddress(request.params.address) }
      await signWalletRecord(ctx, { ...place, assertion: parseAssertion(request.body.assertion), actor })
      return { wallet: await showWallet(ctx, { ...place, userId }) }
    },
  })

  http.route({
    ...OWNER_ROUTES.openChange,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, change, credential_id: credentialId } = request.body
      const address = parseWalletAddress(request.params.address)
      const kind = change === 'add' ? 'add_owner' : 'remove_owner'
      const opened = await mapEnclaveErrors(
        openOwnerChange(ctx, { workspaceId, mode, address, kind, credentialId, actor }),
      )
      if (opened === null) return { request_id: null, request: null }
      return { request_id: opened.requestId, request: formatSigningRequest(opened.request) }
    },
  })

  http.route({
    ...OWNER_ROUTES.submitSignature,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const assertion = parseAssertion(request.body.assertion)
      const asked = { workspaceId, requestId: request.params.id, assertion, actor }
      const { mode, walletAddress: address } = await mapEnclaveErrors(submitOwnerSignature(ctx, asked))
      return { wallet: await showWallet(ctx, { workspaceId, mode, address, userId }) }
    },
  })
}
