import { buildPolicyRules, comparePolicy } from '../enclave/policy-rules.ts'
import { parseAddress } from '../values/address.ts'
import { expiryOf, judge, termsOf, type CheckGrant, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeAnswer, type Outcome } from './outcome.ts'
import { toRecord, type Answer } from './provider-wire.ts'

/** An id of the right form that nothing has. */
const ABSENT_WALLET_ID = 'c00000000000000000000000'
const NAME = 'provider check'

/** 1. A wallet that a passkey owns. */
export async function checkWalletCreation({ wire, passkey, runId }: CheckRun): Promise<[Outcome, CheckWallet | null]> {
  const answer = await wire.post('/v1/wallets', {
    body: { chain_type: 'ethereum', owner: { public_key: passkey.publicKey }, display_name: NAME },
    idempotencyKey: `${runId}-wallet`,
  })
  const { id, address, owner_id: ownerId } = answer.body
  const parsed = parseAddress(String(address))
  const wallet =
    answer.status === 200 && typeof id === 'string' && typeof ownerId === 'string' && parsed !== null
      ? { id, address: parsed, ownerId }
      : null
  const signers = listSigners(answer).length
  const outcome = judge(wallet !== null && signers === 0, {
    title: 'a wallet owned by a passkey',
    expected: '200, an address, an owner, no signers',
    came:
      wallet === null ? describeAnswer(answer) : `200, ${wallet.address}, owner ${wallet.ownerId}, ${signers} signers`,
  })
  return [outcome, wallet]
}

/** 2. An agent's signer under a policy, put on by the owner's signature over the very request. */
export async function checkGrant(run: CheckRun, wallet: CheckWallet): Promise<[Outcome, CheckGrant | null]> {
  const { wire, passkey, agent, runId } = run
  const title = "a signer under a policy, by the owner's signed PATCH"
  const expected = '200, the one signer with its one policy; unsigned: 401'
  const give = (came: string): [Outcome, null] => [judge(false, { title, expected, came }), null]

  const quorum = await wire.post('/v1/key_quorums', {
    body: { public_keys: [agent.publicKey], authorization_threshold: 1, display_name: NAME },
  })
  const signerId = quorum.body['id']
  if (typeof signerId !== 'string') return give(`creating the key quorum: ${describeAnswer(quorum)}`)
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
  if (typeof policyId !== 'string') return give(`creating the policy: ${describeAnswer(policy)}`)

  const path = `/v1/wallets/${wallet.id}`
  const body = { additional_signers: [{ signer_id: signerId, override_policy_ids: [policyId] }] }
  const unsigned = await wire.patch(path, { body, expiresAt: expiryOf(run) })
  const signed = await wire.patch(path, { body, expiresAt: expiryOf(run), sign: passkey.sign })
  const grant = { signerId, policyId }
  const isOn = signed.status === 200 && isOnlySigner(signed, grant)
  const came = `${describeAnswer(signed)}${isOn ? ', the one signer with its one policy' : ''}; unsigned: ${describeAnswer(unsigned)}`
  return [judge(isOn && unsigned.status === 401, { title, expected, came }), isOn ? grant : null]
}

/** 7. The policy and the wallet's signers, read back. */
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
  const told = Object.entries(facts).map(([name, isSame]) => `${name} ${isSame ? 'as written' : 'other than written'}`)
  if (differences.length > 0) told.push(`differences: ${differences.join(', ')}`)
  if (ignored.length > 0) told.push(`members that are new and ignored: ${ignored.join(', ')}`)
  return judge(policy.status === 200 && Object.values(facts).every(Boolean), {
    title: 'the policy read back',
    expected: '200, rules as written, owner as written, signers as written',
    came: policy.status === 200 ? `200, ${told.join(', ')}` : describeAnswer(policy),
  })
}

/** 8. A wallet that there is not. */
export async function checkUnknownWallet({ wire }: CheckRun): Promise<Outcome> {
  const answer = await wire.get(`/v1/wallets/${ABSENT_WALLET_ID}`)
  return judge(answer.status === 404, {
    title: 'an unknown wallet',
    expected: '404',
    came: describeAnswer(answer),
  })
}

function listSigners({ body }: Answer): unknown[] {
  const signers = body['additional_signers']
  return Array.isArray(signers) ? (signers as unknown[]) : []
}

function isOnlySigner(answer: Answer, { signerId, policyId }: CheckGrant): boolean {
  const [signer, ...others] = listSigners(answer).map(toRecord)
  const policies = signer?.['override_policy_ids']
  return (
    others.length === 0 &&
    signer?.['signer_id'] === signerId &&
    Array.isArray(policies) &&
    policies.length === 1 &&
    policies[0] === policyId
  )
}
