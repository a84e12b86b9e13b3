import { ABSENT_WALLET_PATH } from '../enclave/privy/enclave-client.ts'
import { compareWithTerms, toRules } from '../enclave/privy/terms.ts'
import { parseAddress } from '../values/address.ts'
import { expiryOf, compare, termsOf, type CheckGrant, type CheckRun, type CheckWallet } from './check-run.ts'
import { createCheckWallet, createQuorum } from './create-check-wallet.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { toRecord, type ProviderResponse } from './provider-wire.ts'

/**
 * Step 1: a wallet that a passkey owns, with one slot. Nobody has signed rules for the slot's policy yet, so the policy
 * is empty and denies everything.
 */
export async function checkWalletCreation(run: CheckRun): Promise<[Outcome, CheckWallet | null]> {
  const { passkey, agent } = run
  const title = 'a wallet owned by a passkey, with a signer under an empty policy'
  const expected = '200, an address, the owner, the one signer with its one policy'
  const fail = (actual: string): [Outcome, null] => [compare(false, { title, expected, actual }), null]

  const owners = await createQuorum(run, { label: 'owner', publicKey: passkey.publicKey })
  const ownerId = owners.body['id']
  if (typeof ownerId !== 'string') return fail(describeResponse(owners))
  const [failure, created] = await createCheckWallet(run, { label: 'one', ownerId, publicKeys: [agent.publicKey] })
  if (created === null) return fail(failure)
  const { response, slots } = created
  const { id, address, owner_id: owner } = response.body
  const parsed = parseAddress(String(address))
  if (response.status !== 200 || typeof id !== 'string' || parsed === null) return fail(describeResponse(response))
  const [slot] = slots
  if (slot === undefined) return fail('no slot')
  const isSame = owner === ownerId && isOnlySigner(response, slot)
  const actual = `200, ${parsed}, ${owner === ownerId ? 'the owner' : 'another owner'}, ${listSigners(response).length} signers`
  return [compare(isSame, { title, expected, actual }), { id, address: parsed, ownerId, slot }]
}

/**
 * Step 2: sets the rules of the slot's policy. The owner signs this request. Without a signature, it must be rejected.
 */
export async function checkGrant(run: CheckRun, wallet: CheckWallet): Promise<[Outcome, CheckGrant | null]> {
  const { wire, passkey } = run
  const path = `/v1/policies/${wallet.slot.policyId}`
  const body = { rules: toRules(termsOf(run, wallet)) }
  const unsigned = await wire.patch(path, { body, expiresAt: expiryOf(run) })
  const signed = await wire.patch(path, { body, expiresAt: expiryOf(run), sign: passkey.sign })
  const rules = signed.body['rules']
  const isOn = signed.status === 200 && Array.isArray(rules) && rules.length === body.rules.length
  const outcome = compare(isOn && unsigned.status === 401, {
    title: "rules for a policy, by the owner's signed PATCH",
    expected: '200, both rules; unsigned: 401',
    actual: `${describeResponse(signed)}${isOn ? ', both rules' : ''}; unsigned: ${describeResponse(unsigned)}`,
  })
  return [outcome, isOn ? wallet.slot : null]
}

/** Step 7: reads the policy and the wallet's signers, and compares them with what we sent. */
export async function checkReadBack(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const policy = await run.wire.get(`/v1/policies/${wallet.slot.policyId}`)
  const read = await run.wire.get(`/v1/wallets/${wallet.id}`)
  const { rules, owner_id: ownerId } = policy.body
  const { differences, ignored } = compareWithTerms(
    Array.isArray(rules) ? (rules as unknown[]) : [],
    termsOf(run, wallet),
  )
  const facts = {
    rules: differences.length === 0,
    owner: ownerId === wallet.ownerId,
    signers: isOnlySigner(read, wallet.slot),
  }
  const parts = Object.entries(facts).map(([name, isSame]) => `${name} ${isSame ? 'as written' : 'not as written'}`)
  if (differences.length > 0) parts.push(`differences: ${differences.join(', ')}`)
  if (ignored.length > 0) parts.push(`new members that are ignored: ${ignored.join(', ')}`)
  return compare(policy.status === 200 && Object.values(facts).every(Boolean), {
    title: 'the policy read back',
    expected: '200, rules as written, owner as written, signers as written',
    actual: policy.status === 200 ? `200, ${parts.join(', ')}` : describeResponse(policy),
  })
}

/** Step 8: reads a wallet that does not exist. */
export async function checkUnknownWallet({ wire }: CheckRun): Promise<Outcome> {
  const response = await wire.get(ABSENT_WALLET_PATH)
  return compare(response.status === 404, {
    title: 'an unknown wallet',
    expected: '404',
    actual: describeResponse(response),
  })
}

function listSigners({ body }: ProviderResponse): unknown[] {
  const signers = body['additional_signers']
  return Array.isArray(signers) ? (signers as unknown[]) : []
}

function isOnlySigner(response: ProviderResponse, { signerId, policyId }: CheckGrant): boolean {
  const [signer, ...others] = listSigners(response).map(toRecord)
  const policies = signer?.['override_policy_ids']
  return (
    others.length === 0 &&
    signer?.['signer_id'] === signerId &&
    Array.isArray(policies) &&
    policies.length === 1 &&
    policies[0] === policyId
  )
}
