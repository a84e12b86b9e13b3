import type { CheckGrant, CheckRun } from './check-run.ts'
import { describeResponse } from './outcome.ts'
import { poll } from './poll.ts'
import type { ProviderResponse } from './provider-wire.ts'

export interface CreatedWallet {
  /** The response to the creation of the wallet. It may be an error. */
  readonly response: ProviderResponse
  readonly slots: readonly CheckGrant[]
}

const NAME = 'provider check'
const TOO_MANY_REQUESTS = 429
/**
 * This many slots are created at once, with two requests each. The number is small, because the provider does not
 * publish its rate limit.
 */
const SLOTS_AT_ONCE = 5
const RETRY_MS = 2_000
const RETRY_MS_MAX = 60_000

/**
 * Creates a wallet with one slot for each public key: a signer with this key, under a policy without rules. The
 * requests that create them need no signature. If a slot could not be created, the first value of the result says why,
 * and the second value is null.
 */
export async function createCheckWallet(
  run: CheckRun,
  { label, ownerId, publicKeys }: { label: string; ownerId: string; publicKeys: readonly string[] },
): Promise<[failure: string, null] | [null, CreatedWallet]> {
  const slots: CheckGrant[] = []
  for (let start = 0; start < publicKeys.length; start += SLOTS_AT_ONCE) {
    const created = await Promise.all(
      publicKeys
        .slice(start, start + SLOTS_AT_ONCE)
        .map(
          async (publicKey, index) => await createSlot(run, { label: `${label}-${start + index}`, ownerId, publicKey }),
        ),
    )
    for (const slot of created) {
      if (typeof slot === 'string') return [slot, null]
      slots.push(slot)
    }
  }
  const additionalSigners = slots.map(({ signerId, policyId }) => ({
    signer_id: signerId,
    override_policy_ids: [policyId],
  }))
  const response = await create(run, {
    path: '/v1/wallets',
    body: { chain_type: 'ethereum', owner_id: ownerId, additional_signers: additionalSigners, display_name: NAME },
    key: `${label}-wallet`,
  })
  return [null, { response, slots }]
}

/** Creates a quorum with one member, to be used as an owner or as a signer. */
export async function createQuorum(
  run: CheckRun,
  { label, publicKey }: Omit<Slot, 'ownerId'>,
): Promise<ProviderResponse> {
  const body = { public_keys: [publicKey], authorization_threshold: 1, display_name: NAME }
  return await create(run, { path: '/v1/key_quorums', body, key: `${label}-quorum` })
}

interface Slot {
  readonly label: string
  readonly ownerId: string
  readonly publicKey: string
}

async function createSlot(run: CheckRun, { label, ownerId, publicKey }: Slot): Promise<CheckGrant | string> {
  const signer = await createQuorum(run, { label, publicKey })
  const signerId = signer.body['id']
  if (typeof signerId !== 'string') return `creating the signer: ${describeResponse(signer)}`
  const policy = await create(run, {
    path: '/v1/policies',
    body: { version: '1.0', name: NAME, chain_type: 'ethereum', owner_id: ownerId, rules: [] },
    key: `${label}-policy`,
  })
  const policyId = policy.body['id']
  if (typeof policyId !== 'string') return `creating the policy: ${describeResponse(policy)}`
  return { signerId, policyId }
}

/**
 * Creates a resource, and tries again while the provider's rate limit rejects the creation. Each try has its own
 * idempotency key, because the provider may store an error under the key.
 */
async function create(
  { wire, runId }: CheckRun,
  { path, body, key }: { path: string; body: Readonly<Record<string, unknown>>; key: string },
): Promise<ProviderResponse> {
  let tries = 0
  let response: ProviderResponse = { status: null, body: {} }
  await poll(
    async () => {
      tries += 1
      response = await wire.post(path, { body, idempotencyKey: `${runId}-${key}-${tries}` })
      return response.status === TOO_MANY_REQUESTS ? null : response
    },
    { intervalMs: RETRY_MS, timeoutMs: RETRY_MS_MAX },
  )
  return response
}
