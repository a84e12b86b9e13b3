import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAuthorization, checkExpiry, checkIdempotencyKey } from './check-authorization.ts'
import type { Authorizer, SignedRequest } from './check-authorization.ts'
import type { EnclaveContext } from './context.ts'
import { checkCredentials } from './credentials.ts'
import type { AppCredentials } from './credentials.ts'
import { ConnectionDropped } from './errors.ts'
import { createIdempotency } from './idempotency.ts'
import type { KeepAnswer } from './idempotency.ts'
import { createPolicy, getPolicy, updatePolicy } from './policies.ts'
import { createQuorum, deleteQuorum, getOwner, getQuorum, updateQuorum } from './quorums.ts'
import type { PolicyRecord, WalletRecord } from './records.ts'
import {
  createPolicySchema,
  createQuorumSchema,
  createWalletSchema,
  rpcSchema,
  updatePolicySchema,
  updateQuorumSchema,
  updateWalletSchema,
} from './schemas.ts'
import type {
  CreatePolicyBody,
  CreateQuorumBody,
  CreateWalletBody,
  RpcBody,
  UpdatePolicyBody,
  UpdateQuorumBody,
  UpdateWalletBody,
} from './schemas.ts'
import type { SendingParty } from './prepare-send.ts'
import { findTransactions, readPolicy, readQuorum, readTransaction, readWallet } from './read-resources.ts'
import { sendTransaction } from './send-transaction.ts'
import { signTypedData } from './sign-typed-data.ts'
import { signWithFaults } from './sign-with-faults.ts'
import { createWallet, getWallet, listSignerPolicies, updateWallet } from './wallets.ts'

export interface ApiOptions extends AppCredentials {
  /**
   * Returns the enclave's public address, which clients sign as part of a request. It is known once the server listens.
   */
  readonly publicUrl: () => string
}

type ById = { Params: { id: string } }

/**
 * Adds the part of the provider's API that the service uses. To create a resource, the app's credentials are enough. To
 * change a resource or sign with it, its owner or one of its signers must sign the request.
 */
export function registerApiRoutes(app: FastifyInstance, context: EnclaveContext, options: ApiOptions): void {
  const { store, clock } = context
  const runOnce = createIdempotency(store, clock)

  app.addHook('onRequest', async (request) => {
    checkCredentials(request, options)
    checkIdempotencyKey(readHeader(request, 'privy-idempotency-key'))
  })

  const once = async (request: FastifyRequest, reply: FastifyReply, execute: (keep: KeepAnswer) => unknown) => {
    const key = readHeader(request, 'privy-idempotency-key')
    const answer = await runOnce({ scope: `${request.method} ${request.url}`, key, body: request.body }, execute)
    return await reply.code(answer.status).send(answer.body)
  }
  /**
   * Creates a resource and stores the response in one transaction. If the process crashes, a retry finds either both or
   * neither.
   */
  const createOnce = async (request: FastifyRequest, reply: FastifyReply, create: () => unknown) =>
    await once(request, reply, (keep) =>
      store.inTransaction(() => {
        const created = create()
        keep(created)
        return created
      }),
    )
  const authorize = <T>(request: FastifyRequest, parties: readonly Authorizer<T>[]): T =>
    checkAuthorization(readSignedRequest(request, options), parties, clock.nowMs())
  const authorizeOwner = (request: FastifyRequest, { owner_id }: WalletRecord | PolicyRecord): void =>
    authorize(request, [{ quorum: getOwner(store, owner_id), granted: undefined }])

  app.post<{ Body: CreateQuorumBody }>('/key_quorums', { schema: { body: createQuorumSchema } }, (request) =>
    createQuorum(context, request.body),
  )
  app.get<ById>('/key_quorums/:id', (request) => readQuorum(context, request.params.id))
  app.patch<ById & { Body: UpdateQuorumBody }>(
    '/key_quorums/:id',
    { schema: { body: updateQuorumSchema } },
    (request) => {
      const quorum = getQuorum(store, request.params.id)
      authorize(request, [{ quorum, granted: undefined }])
      return updateQuorum(context, quorum, request.body)
    },
  )
  app.delete<ById>('/key_quorums/:id', (request) => {
    const quorum = getQuorum(store, request.params.id)
    authorize(request, [{ quorum, granted: undefined }])
    deleteQuorum(store, quorum)
    return { success: true }
  })

  app.post<{ Body: CreateWalletBody }>(
    '/wallets',
    { schema: { body: createWalletSchema } },
    async (request, reply) => await createOnce(request, reply, () => createWallet(context, request.body)),
  )
  app.get<ById>('/wallets/:id', (request) => readWallet(context, request.params.id))
  app.patch<ById & { Body: UpdateWalletBody }>('/wallets/:id', { schema: { body: updateWalletSchema } }, (request) => {
    const wallet = getWallet(store, request.params.id)
    authorizeOwner(request, wallet)
    return store.inTransaction(() => updateWallet(context, wallet, request.body))
  })

  app.post<{ Body: CreatePolicyBody }>(
    '/policies',
    { schema: { body: createPolicySchema } },
    async (request, reply) => await createOnce(request, reply, () => createPolicy(context, request.body)),
  )
  app.get<ById>('/policies/:id', (request) => readPolicy(context, request.params.id))
  app.patch<ById & { Body: UpdatePolicyBody }>('/policies/:id', { schema: { body: updatePolicySchema } }, (request) => {
    const policy = getPolicy(store, request.params.id)
    authorizeOwner(request, policy)
    return store.inTransaction(() => updatePolicy(context, policy, request.body))
  })
  app.delete<ById>('/policies/:id', (request) => {
    const policy = getPolicy(store, request.params.id)
    authorizeOwner(request, policy)
    store.deletePolicy(policy.id)
    return { success: true }
  })

  app.post<ById & { Body: RpcBody }>('/wallets/:id/rpc', { schema: { body: rpcSchema } }, async (request, reply) => {
    const wallet = getWallet(store, request.params.id)
    const party = authorize(request, listSendingParties(context, wallet))
    const hungUp = new AbortController()
    reply.raw.once('close', () => hungUp.abort())
    const { body } = request
    try {
      return await once(request, reply, (keep) =>
        signWithFaults(context, {
          isSponsored: body.method === 'eth_sendTransaction' && body.sponsor === true,
          keep,
          hungUp: hungUp.signal,
          sign: async (ordered) => {
            const order = {
              party,
              ...ordered,
              checkExpiry: () => checkExpiry(readHeader(request, 'privy-request-expiry'), clock.nowMs()),
            }
            return body.method === 'eth_sendTransaction'
              ? await sendTransaction(context, wallet, { ...order, body })
              : await signTypedData(context, wallet, { ...order, body })
          },
        }),
      )
    } catch (error) {
      if (!(error instanceof ConnectionDropped)) throw error
      reply.hijack()
      request.raw.socket.destroy()
      return reply
    }
  })

  app.get<ById>('/transactions/:id', (request) => readTransaction(context, request.params.id))
  app.get<{ Querystring: { reference_id: string } }>(
    '/transactions',
    {
      schema: {
        querystring: { type: 'object', required: ['reference_id'], properties: { reference_id: { type: 'string' } } },
      },
    },
    (request) => findTransactions(context, request.query.reference_id),
  )
}

/** Lists the parties that may send from a wallet. The owner is first. Each signer is bound by its own policies. */
function listSendingParties({ store }: EnclaveContext, wallet: WalletRecord): Authorizer<SendingParty>[] {
  return [
    { quorum: getOwner(store, wallet.owner_id), granted: { isSigner: false, policyIds: wallet.policy_ids } },
    ...wallet.additional_signers.map((signer) => ({
      quorum: getQuorum(store, signer.signer_id),
      granted: { isSigner: true, policyIds: listSignerPolicies(wallet, signer) },
    })),
  ]
}

function readSignedRequest(request: FastifyRequest, { appId, publicUrl }: ApiOptions): SignedRequest {
  return {
    method: request.method,
    url: originOf(request, publicUrl()) + request.url,
    body: request.body,
    appId,
    idempotencyKey: readHeader(request, 'privy-idempotency-key'),
    expiry: readHeader(request, 'privy-request-expiry'),
    signatures: readHeader(request, 'privy-authorization-signature') ?? '',
  }
}

/**
 * Returns the origin that the client has signed. If a TLS proxy forwarded the request, it is the proxy's: with production
 * settings, the service sends to https addresses only.
 */
function originOf(request: FastifyRequest, publicUrl: string): string {
  return readHeader(request, 'x-forwarded-proto') === 'https' ? `https://${request.headers.host}` : publicUrl
}

/** Reads a header. An empty header is treated as a missing one. */
function readHeader(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}
