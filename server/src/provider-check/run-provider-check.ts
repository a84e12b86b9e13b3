import { randomUUID } from 'node:crypto'
import type { Config } from '../config.ts'
import { generateSignerKey, parseSignerKey, signPayload } from '../enclave/signer-key.ts'
import type { Clock } from '../lib/clock.ts'
import { openChainView } from './chain-view.ts'
import type { CheckRun, CheckWallet } from './check-run.ts'
import { checkDuplicateReference, checkExpiredRequest, checkSendsAtOnce, checkSponsoredSend } from './check-sends.ts'
import { checkCode, checkTypedData } from './check-signatures.ts'
import { checkGrant, checkReadBack, checkUnknownWallet, checkWalletCreation } from './check-wallet.ts'
import { createPasskey } from './create-passkey.ts'
import { fundWallet, type Funding } from './fund-wallet.ts'
import { formatOutcome, type Outcome } from './outcome.ts'
import { openProviderWire } from './provider-wire.ts'

export interface ProviderCheckOptions {
  readonly config: Config
  readonly clock: Clock
  readonly funding: Funding
  readonly tell: (text: string) => void
}

/** Test chains with USDC or that somebody runs for themselves: Sepolia and its layers 2, Amoy, Fuji, Monad's, and anvil. */
const TEST_CHAINS: readonly number[] = [1301, 1337, 4801, 10143, 31337, 43113, 80002, 84532, 421614, 11155111, 11155420]
const NO_WALLET = 'not tried: there is no wallet'
const NO_GRANT = 'not tried: the agent may not sign'
const NO_FUNDS = 'not tried: the wallet was not funded'

/**
 * Makes the calls that the driver relies on, with real credentials on the test chain, and tells of each what was expected
 * beside what came. Returns the exit code: 0 when all came as expected. It leaves a wallet, a key quorum and a policy
 * behind, whose keys nobody has.
 */
export async function runProviderCheck({ config, clock, funding, tell }: ProviderCheckOptions): Promise<number> {
  const settings = config.chains.test
  const chain = openChainView(settings)
  const refusal = await findRefusal(config, chain)
  if (refusal !== null) {
    tell(`${refusal}\n`)
    return 1
  }
  const key = generateSignerKey()
  const signingKey = parseSignerKey(key.privateKey)
  const run: CheckRun = {
    wire: openProviderWire(config.enclave),
    chain,
    settings,
    clock,
    passkey: createPasskey(config.authUrl),
    agent: { publicKey: key.publicKey, sign: (payload) => signPayload(signingKey, payload) },
    runId: `check-${randomUUID().slice(0, RUN_ID_CHARS)}`,
  }
  tell(`The provider at ${new URL(config.enclave.apiUrl).host}, chain ${settings.chainId}, run ${run.runId}\n`)
  return await runSteps(run, { funding, tell })
}

const RUN_ID_CHARS = 13

/** In the order of the list in the README. What needs a step that failed is skipped. */
async function runSteps(
  run: CheckRun,
  { funding, tell }: Pick<ProviderCheckOptions, 'funding' | 'tell'>,
): Promise<number> {
  let count = 0
  let isAllSame = true
  const report = (outcome: Outcome): void => {
    count += 1
    isAllSame &&= outcome.verdict === 'same'
    tell(formatOutcome(count, outcome))
  }
  const [created, wallet] = await checkWalletCreation(run)
  report(created)
  const [granted, grant] =
    wallet === null ? [skip('a signer under a policy', NO_WALLET), null] : await checkGrant(run, wallet)
  report(granted)
  const isFunded = wallet !== null && grant !== null && (await fundWallet(run, wallet, { funding, tell }))
  if (wallet !== null && grant !== null && !isFunded) {
    tell(`${wallet.address} holds too little USDC on chain ${run.settings.chainId}: fund it sooner, or run again.\n`)
  }
  const canSend = grant === null ? NO_GRANT : isFunded ? null : NO_FUNDS
  const sends: readonly (readonly [string, string | null, (wallet: CheckWallet) => Promise<Outcome>])[] = [
    ['a sponsored send', canSend, async (wallet) => await checkSponsoredSend(run, wallet)],
    ['sends at once', canSend, async (wallet) => await checkSendsAtOnce(run, wallet)],
    ['a duplicate reference id', canSend, async (wallet) => await checkDuplicateReference(run, wallet)],
    ['an expired request', grant === null ? NO_GRANT : null, async (wallet) => await checkExpiredRequest(run, wallet)],
  ]
  for (const [title, obstacle, check] of sends) {
    if (wallet === null || obstacle !== null) report(skip(title, wallet === null ? NO_WALLET : (obstacle ?? '')))
    else report(await check(wallet))
  }
  report(
    wallet === null || grant === null
      ? skip('the policy read back', NO_GRANT)
      : await checkReadBack(run, wallet, grant),
  )
  report(await checkUnknownWallet(run))
  report(wallet === null ? skip('a typed-data signature', NO_WALLET) : await checkTypedData(run, wallet))
  report(
    wallet === null || !isFunded
      ? skip("the wallet's code afterwards", wallet === null ? NO_WALLET : NO_FUNDS)
      : await checkCode(run, wallet),
  )
  return isAllSame ? 0 : 1
}

function skip(title: string, came: string): Outcome {
  return { verdict: 'skipped', title, expected: 'to be tried', came }
}

/** A sentence where the run might touch real money, or nothing can be seen; null where it may begin. */
async function findRefusal(
  { chains: { test, live } }: Config,
  chain: ReturnType<typeof openChainView>,
): Promise<string | null> {
  if (!TEST_CHAINS.includes(test.chainId) || test.chainId === live.chainId) {
    return `Refused: chain ${test.chainId} is not a test chain that this program knows. It never runs where USDC is money.`
  }
  const actual = await chain.readChainId().catch(() => null)
  if (actual === null) return 'The first node of TEST_RPC_URLS does not respond. `npm run doctor` tells more.'
  if (actual === BigInt(test.chainId)) return null
  return `Refused: the first node of TEST_RPC_URLS is of chain ${actual}, not of ${test.chainId}.`
}
