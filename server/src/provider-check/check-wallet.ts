import { buildPolicyRules, comparePolicy } from '../enclave/policy-rules.ts'
import { parseAddress } from '../values/address.ts'
import { expiryOf, compare, termsOf, type CheckGrant, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { toRecord, type ProviderResponse } from './provider-wire.ts'

/** A well-formed id that no wallet has. */
const ABSENT_WALLET_ID = 'c00000000000000000000000'
const NAME = 'provider check'

/** Step 1: a wallet that a passkey owns. */
export async function checkWalletCreation({ wire, passkey, runId }: CheckRun): Promise<[Outcome, CheckWallet | null]> {
  const response = await wire.post('/v1/wallets', {
    body: { chain_type: 'ethereum', owner: { public_key: passkey.publicKey }, display_name: NAME },
    idempotencyKey: `${runId}-wallet`,
  })
  const { id, address, owner_id: ownerId } = response.body
  const parsed = parseAddress(String(address))
  const wallet =
    response.status === 200 && typeof id === 'string' && typeof ownerId === 'string' && parsed !== null
      ? { id, address: parsed, ownerId }
      : null
  const signers = listSigners(response).length
  const outcome = compare(wallet !== null && signers === 0, {
    title: 'a wallet owned by a passkey',
    expected: '200, an address, an owner, no signers',
    actual:
      wallet === null
        ? describeResponse(response)
        : `200, ${wallet.address}, owner ${wallet.ownerId}, ${signers} signers`,
  })
  return [outcome, wallet]
}

/** Step 2: an agent's signer under a policy. The owner has signed exactly this request. */
export async function checkGrant(run: CheckRun, wallet: CheckWallet): Promise<[Outcome, CheckGrant | null]> {
  const { wire, passkey, agent, runId } = run
  const title = "a signer under a policy, by the owner's signed PATCH"
  const expected = '200, the one signer with its one policy; unsigned: 401'
  const fail = (actual: string): [Outcome, null] => [compare(false, { title, expected, actual }), null]

  const quorum = await wire.post('/v1/key_quorums', {
    body: { public_keys: [agent.publicKey], authorization_threshold: 1, display_name: NAME },
  })
  const signerId = quorum.body['id']
  if (typeof signerId !== 'string') return fail(`creating the key quorum: ${describeResponse(quorum)}`)
  const policy = await wire.post('/v1/policies', {
    body: {
      version: '1.0',
      name: NAME,
      chain_type: 'ethereum',
      owner_id: wallet.ownerId,
      rules: buildPolicyRules(termsOf(run, wallet)),
    },
    idempotencyKey: `${runId}-policy`,
  })
  const policyId = policy.body['id']
  if (typeof policyId !== 'string') return fail(`creating the policy: ${describeResponse(policy)}`)

  const path = `/v1/wallets/${wallet.id}`
  const body = { additional_signers: [{ signer_id: signerId, override_policy_ids: [policyId] }] }
  const unsigned = await wire.patch(path, { body, expiresAt: expiryOf(run) })
  const signed = await wire.patch(path, { body, expiresAt: expiryOf(run), sign: passkey.sign })
  const grant = { signerId, policyId }
  const isOn = signed.status === 200 && isOnlySigner(signed, grant)
  const actual = `${describeResponse(signed)}${isOn ? ', the one signer with its one policy' : ''}; unsigned: ${describeResponse(unsigned)}`
  return [compare(isOn && unsigned.status === 401, { title, expected, actual }), isOn ? grant : null]
}

/** Step 7: the policy and the wallet's signers, read back. */
export async function checkReadBack(run: CheckRun, wallet: CheckWallet, grant: CheckGrant): Promise<Outcome> {
  const policy = await run.wire.get(`/v1/policies/${grant.policyId}`)
  const read = await run.wire.get(`/v1/wallets/${wallet.id}`)
  const { rules, owner_id: ownerId } = policy.body
  const { differences, ignored } = comparePolicy(Array.isArray(rules) ? (rules as unknown[]) : [], termsOf(run, wallet))
  const facts = {
    rules: differences.length === 0,
    owner: ownerId === wallet.ownerId,
    signers: isOnlySigner(read, grant),
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

/** Step 8: a wallet that does not exist. */
export async function checkUnknownWallet({ wire }: CheckRun): Promise<Outcome> {
  const response = await wire.get(`/v1/wallets/${ABSENT_WALLET_ID}`)
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
