import type { KeyQuorum, Policy, Wallet } from '@privy-io/node'
import { parseAddress, type Address } from '../../values/address.ts'
import type { ExpectedRecord, PublicKey, RecordComparison, SlotIds, SlotRules, WalletIds } from '../enclave.ts'
import { EnclaveRefused } from '../errors.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { malformedResponse } from './failure.ts'
import { normalizePublicKey } from './normalize-public-key.ts'
import { compareRules, sameRules, type PolicyRule } from './terms.ts'
import { parseEnclaveId } from './transactions.ts'

/** A wallet as the enclave returns it. */
interface WalletRecord {
  readonly address: Address
  readonly ownersId: string
  readonly signers: readonly Signer[]
}

/** A signer of a wallet, and the policies that limit it. */
interface Signer {
  readonly signerId: string
  readonly policyIds: readonly string[]
}

interface PolicyRecord {
  readonly rules: readonly PolicyRule[]
  /** The quorum that may change the rules. */
  readonly ownersId: string | null
}

const NOT_FOUND = 404

export async function readOwners(
  client: EnclaveClient,
  { enclaveOwnersId: id }: Pick<WalletIds, 'enclaveOwnersId'>,
): Promise<readonly PublicKey[] | null> {
  return await orNotFound(readMembers(client, id))
}

async function readMembers(client: EnclaveClient, id: string): Promise<readonly PublicKey[]> {
  const operation = 'reading a key quorum'
  const quorum = await client.call(operation, async () => client.sdk.keyQuorums().get(id))
  return parseMembers(client, operation, { id, quorum })
}

export async function readRules(
  client: EnclaveClient,
  { enclaveRulesId }: Pick<SlotIds, 'enclaveRulesId'>,
): Promise<SlotRules> {
  return (await readPolicy(client, enclaveRulesId)).rules
}

async function readPolicy(client: EnclaveClient, id: string): Promise<PolicyRecord> {
  const operation = 'reading a policy'
  const policy = await client.call(operation, async () => client.sdk.policies().get(id))
  return parsePolicy(client, operation, { id, policy })
}

export async function compareRecord(
  client: EnclaveClient,
  { wallet, slots, slot, rules }: ExpectedRecord,
): Promise<RecordComparison> {
  const [{ signers, ownersId }, ofPolicy] = await Promise.all([
    readWallet(client, wallet.enclaveWalletId),
    comparePolicyRecord(client, { wallet, slot, rules }),
  ])
  const ofWallet = [
    ...(areSlots(signers, slots) ? [] : ['signers of the wallet']),
    ...(ownersId === wallet.enclaveOwnersId ? [] : ['owner of the wallet']),
  ]
  return { differences: [...ofWallet, ...ofPolicy.differences], ignored: ofPolicy.ignored }
}

async function readWallet(client: EnclaveClient, id: string): Promise<WalletRecord> {
  const operation = 'reading a wallet'
  return parseWallet(client, operation, await client.call(operation, async () => client.sdk.wallets().get(id)))
}

async function comparePolicyRecord(
  client: EnclaveClient,
  { wallet, slot, rules: wanted }: Omit<ExpectedRecord, 'slots'>,
): Promise<RecordComparison> {
  const policy = await orNotFound(readPolicy(client, slot.enclaveRulesId))
  if (policy === null) return { differences: ['the policy is not found'], ignored: [] }
  const { differences, ignored } = compareRules(policy.rules, wanted)
  const ofOwner = policy.ownersId === wallet.enclaveOwnersId ? [] : ['owner of the policy']
  const isNamed = differences.length > 0 || sameRules(policy.rules, wanted)
  return { differences: [...ofOwner, ...differences, ...(isNamed ? [] : ['names of the rules'])], ignored }
}

/** Returns whether the wallet's signers are those of its slots, and each signer has only the policy of its slot. */
export function areSlots(signers: readonly Signer[], slots: readonly SlotIds[]): boolean {
  const expected = new Map(slots.map(({ signerId, enclaveRulesId }) => [signerId, enclaveRulesId]))
  return (
    signers.length === expected.size &&
    signers.every(({ signerId, policyIds }) => policyIds.length === 1 && policyIds[0] === expected.get(signerId))
  )
}

async function orNotFound<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof EnclaveRefused && error.status === NOT_FOUND) return null
    throw error
  }
}

export function parsePolicy(
  client: EnclaveClient,
  operation: string,
  { id, policy }: { id: string; policy: Policy },
): PolicyRecord {
  if (parseId(client, operation, policy) !== id || !Array.isArray(policy.rules)) {
    throw client.toError(operation, malformedResponse())
  }
  return { rules: policy.rules, ownersId: policy.owner_id }
}

/** Returns the public keys of a quorum's members, as base64 SPKI DER whatever form the enclave returns. */
export function parseMembers(
  client: EnclaveClient,
  operation: string,
  { id, quorum }: { id: string; quorum: KeyQuorum },
): readonly PublicKey[] {
  if (parseId(client, operation, quorum) !== id || !Array.isArray(quorum.authorization_keys)) {
    throw client.toError(operation, malformedResponse())
  }
  return quorum.authorization_keys.map((member) => normalizePublicKey(member.public_key))
}

export function parseWallet(client: EnclaveClient, operation: string, wallet: Wallet): WalletRecord {
  parseId(client, operation, wallet)
  const address = parseAddress(wallet.address)
  const ownersId = parseEnclaveId(wallet.owner_id)
  if (address === null || ownersId === null || !Array.isArray(wallet.additional_signers)) {
    throw client.toError(operation, malformedResponse())
  }
  const signers = wallet.additional_signers.map((signer) => ({
    signerId: signer.signer_id,
    policyIds: signer.override_policy_ids ?? [],
  }))
  return { address, ownersId, signers }
}

/** Returns the id of a response. The SDK returns any body with a successful status, even a proxy's page. */
export function parseId(client: EnclaveClient, operation: string, resource: { id: string }): string {
  const id = parseEnclaveId(resource?.id)
  if (id === null) throw client.toError(operation, malformedResponse())
  return id
}
