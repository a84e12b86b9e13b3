import { randomUUID } from 'node:crypto'
import type { FairPlaces } from '../../lib/fair-places.ts'
import type { NewSlot, NewWallet, PublicKey, WalletIds } from '../enclave.ts'
import { createPatiently } from './create-patiently.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { areSlots, parseId, parseWallet } from './read-record.ts'
import { checkId } from './request-to-sign.ts'
import { generateSignerKey } from './signer-key.ts'

/** The enclave's limit for names of policies and signers. Wallets may have longer names, but we use the same limit. */
const NAME_CHARS_MAX = 50
/**
 * The creation of a slot takes two requests. This many slots are created at the same time, so that the creation of a
 * wallet takes a second or two and not twenty.
 */
const SLOTS_AT_ONCE_MAX = 10

/**
 * What the creation of a wallet needs: the client, the places in which all creations of the process take turns, and the
 * workspace to which the wallet will belong.
 */
export interface Creator {
  readonly client: EnclaveClient
  readonly places: FairPlaces
  readonly workspaceId: string
}

/**
 * Creates the quorum of owners, the slots, and at last the wallet with all the signers that it will ever have. A slot is
 * a policy that the owners own and that denies everything, and a signer of its own. Nobody has to sign any of this.
 * Nobody can sign with a slot before its signer is added to the wallet. If one creation fails, what was created before
 * is never used.
 */
export async function createWithSlots(
  creator: Creator,
  { name, owners, slots: count }: Omit<NewWallet, 'workspaceId'>,
): Promise<WalletIds & { readonly slots: readonly NewSlot[] }> {
  const enclaveOwnersId = await createQuorum(creator, { publicKeys: owners, name: 'Wallet owners' })
  const slots: NewSlot[] = []
  for (let first = 1; first <= count; first += SLOTS_AT_ONCE_MAX) {
    const numbers = Array.from({ length: Math.min(SLOTS_AT_ONCE_MAX, count - first + 1) }, (_, index) => first + index)
    slots.push(...(await Promise.all(numbers.map((slot) => createSlot(creator, { slot, enclaveOwnersId })))))
  }
  const operation = 'creating a wallet'
  const additional_signers = slots.map(({ signerId, enclaveRulesId }) => ({
    signer_id: checkId(signerId),
    override_policy_ids: [checkId(enclaveRulesId)],
  }))
  const wallet = await create(creator, operation, async (idempotency_key) =>
    creator.client.sdk.wallets().create({
      chain_type: 'ethereum',
      owner_id: enclaveOwnersId,
      additional_signers,
      display_name: cutName(name),
      idempotency_key,
    }),
  )
  const { address, ownersId, signers } = parseWallet(creator.client, operation, wallet)
  // Without this check, money could be sent to an address that somebody else controls.
  if (ownersId !== enclaveOwnersId) throw new Error('the enclave created a wallet with another owner')
  // A signer under another policy, or a signer of somebody else, could spend the money without an owner's signature.
  if (!areSlots(signers, slots)) throw new Error('the enclave created a wallet with other signers')
  return { address, enclaveWalletId: wallet.id, enclaveOwnersId, slots }
}

async function createSlot(
  creator: Creator,
  { slot, enclaveOwnersId }: { slot: number; enclaveOwnersId: string },
): Promise<NewSlot> {
  const name = `Slot ${slot}`
  const { publicKey, privateKey } = generateSignerKey()
  const [enclaveRulesId, signerId] = await Promise.all([
    createPolicy(creator, { name, enclaveOwnersId }),
    createQuorum(creator, { publicKeys: [publicKey], name }),
  ])
  return { slot, enclaveRulesId, signerId, privateKey }
}

/** Creates a quorum of keys, any one of which may sign: the owners of a wallet, or the one key of a signer. */
async function createQuorum(
  creator: Creator,
  { publicKeys, name }: { publicKeys: readonly PublicKey[]; name: string },
): Promise<string> {
  const operation = 'creating a key quorum'
  const body = { public_keys: [...publicKeys], authorization_threshold: 1, display_name: cutName(name) }
  const quorum = await create(creator, operation, async () => creator.client.sdk.keyQuorums().create(body))
  return parseId(creator.client, operation, quorum)
}

/** Creates a policy without rules, which denies everything. Only its owners can give it rules. */
async function createPolicy(
  creator: Creator,
  { name, enclaveOwnersId }: { name: string; enclaveOwnersId: string },
): Promise<string> {
  const operation = 'creating a policy'
  const policy = await create(creator, operation, async (idempotency_key) =>
    creator.client.sdk.policies().create({
      version: '1.0',
      name: cutName(name),
      chain_type: 'ethereum',
      owner_id: enclaveOwnersId,
      rules: [],
      idempotency_key,
    }),
  )
  return parseId(creator.client, operation, policy)
}

/**
 * Waits for its turn, and creates one resource. If the provider has received an idempotency key before, it may return
 * its stored response, even a 429. So each try has another key.
 */
async function create<Result>(
  { client, places, workspaceId }: Creator,
  operation: string,
  work: (idempotencyKey: string) => Promise<Result>,
): Promise<Result> {
  return await client.call(operation, async () =>
    places.run(workspaceId, { full: tooMany }, async () => createPatiently(async () => work(randomUUID()))),
  )
}

function tooMany(): Error {
  return new Error('too many requests wait to create resources at the enclave')
}

/** Cuts a name that is too long, without splitting a Unicode code point (D17). */
function cutName(name: string): string {
  let cut = ''
  for (const character of name) {
    if (cut.length + character.length > NAME_CHARS_MAX) break
    cut += character
  }
  return cut
}
