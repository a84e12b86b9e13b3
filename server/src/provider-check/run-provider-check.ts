import { randomUUID } from 'node:crypto'
import type { Config } from '../config.ts'
import { generateSignerKey, parseSignerKey, signPayload } from '../enclave/privy/signer-key.ts'
import type { Clock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { openEgressProxy } from '../lib/outbound/egress-proxy.ts'
import { openChainView } from './chain-view.ts'
import type { CheckRun, CheckWallet } from './check-run.ts'
import { checkAllSlots, checkOwners, checkRevocation, checkWithdrawal } from './check-owners.ts'
import { checkDuplicateReference, checkExpiredRequest, checkSendsAtOnce, checkSponsoredSend } from './check-sends.ts'
import { checkCode, checkPurchaseRule, checkTypedData } from './check-signatures.ts'
import { checkGrant, checkReadBack, checkUnknownWallet, checkWalletCreation } from './check-wallet.ts'
import { createPasskey } from './create-passkey.ts'
import { fundWallet, type Funding } from './fund-wallet.ts'
import { formatOutcome, type Outcome } from './outcome.ts'
import { openProviderWire } from './provider-wire.ts'

export interface ProviderCheckOptions {
  readonly config: Config
  readonly clock: Clock
  readonly funding: Funding
  readonly print: (text: string) => void
}

/**
 * The ids of test chains with USDC, and of local chains: Sepolia and its layer 2 chains, Amoy, Fuji, Monad testnet, and
 * anvil.
 */
const TEST_CHAINS: readonly number[] = [1301, 1337, 4801, 10143, 31337, 43113, 80002, 84532, 421614, 11155111, 11155420]
const NO_WALLET = 'not tried: there is no wallet'
const NO_GRANT = 'not tried: the agent cannot sign'
const NO_FUNDS = 'not tried: the wallet was not funded'

/**
 * Makes the calls that our code in `enclave/` relies on, with real credentials on the test chain, and prints the
 * expected and the actual result of each. Returns the exit code: 0 if all are as expected. The check leaves behind two
 * wallets, with their key quorums and policies. Nobody has their keys.
 */
export async function runProviderCheck({ config, clock, funding, print }: ProviderCheckOptions): Promise<number> {
  const settings = config.chains.test
  const proxy = openEgressProxy(config.egressProxy, { logger: createLogger('silent') })
  const chain = openChainView(settings, proxy)
  const refusal = await findRefusal(config, chain)
  if (refusal !== null) {
    print(`${refusal}\n`)
    return 1
  }
  const key = generateSignerKey()
  const signingKey = parseSignerKey(key.privateKey)
  const run: CheckRun = {
    wire: openProviderWire(config.enclave, proxy),
    chain,
    settings,
    proxy,
    clock,
    passkey: createPasskey(config.authUrl),
    secondPasskey: createPasskey(config.authUrl),
    agent: { publicKey: key.publicKey, sign: (payload) => signPayload(signingKey, payload) },
    runId: `check-${randomUUID().slice(0, RUN_ID_CHARS)}`,
  }
  print(`The provider at ${new URL(config.enclave.apiUrl).host}, chain ${settings.chainId}, run ${run.runId}\n`)
  return await runSteps(run, { funding, print })
}

const RUN_ID_CHARS = 13

/**
 * Runs the steps in the order in which the documentation describes them (docs/site/pages/operate/going-live.md). Skips
 * a step if an earlier step that it needs has failed.
 */
async function runSteps(
  run: CheckRun,
  { funding, print }: Pick<ProviderCheckOptions, 'funding' | 'print'>,
): Promise<number> {
  let count = 0
  let isAllSame = true
  const report = (outcome: Outcome): void => {
    count += 1
    isAllSame &&= outcome.verdict === 'same'
    print(formatOutcome(count, outcome))
  }
  const [created, wallet] = await checkWalletCreation(run)
  report(created)
  const [granted, grant] =
    wallet === null ? [skip('rules for a policy', NO_WALLET), null] : await checkGrant(run, wallet)
  report(granted)
  const isFunded = wallet !== null && grant !== null && (await fundWallet(run, wallet, { funding, print }))
  if (wallet !== null && grant !== null && !isFunded) {
    print(
      `${wallet.address} holds too little USDC on chain ${run.settings.chainId}. Run the check again and fund the new wallet in time.\n`,
    )
  }
  const canSend = grant === null ? NO_GRANT : isFunded ? null : NO_FUNDS
  const needsGrant = grant === null ? NO_GRANT : null
  const runAll = async (steps: readonly Step[]): Promise<void> => {
    for (const [title, obstacle, check] of steps) {
      if (wallet === null || obstacle !== null) report(skip(title, wallet === null ? NO_WALLET : (obstacle ?? '')))
      else report(await check(run, wallet))
    }
  }
  await runAll([
    ['a sponsored send', canSend, checkSponsoredSend],
    ['sends at once', canSend, checkSendsAtOnce],
    ['a duplicate reference id', canSend, checkDuplicateReference],
    ['an expired request', needsGrant, checkExpiredRequest],
    ['the policy read back', needsGrant, checkReadBack],
  ])
  report(await checkUnknownWallet(run))
  await runAll([
    ['a typed-data signature', null, checkTypedData],
    ["the wallet's code afterwards", isFunded ? null : NO_FUNDS, checkCode],
    ["purchases under the grant's rule", needsGrant, checkPurchaseRule],
    ['a wallet with all signers', null, checkAllSlots],
    ['an emptied policy', needsGrant, checkRevocation],
    ['a second passkey for the owners', null, checkOwners],
    ["an owner's transfer", isFunded ? null : NO_FUNDS, checkWithdrawal],
  ])
  return isAllSame ? 0 : 1
}

/** A step that needs the wallet: its title, the reason why it cannot be tried (or null), and the step itself. */
type Step = readonly [string, string | null, (run: CheckRun, wallet: CheckWallet) => Promise<Outcome>]

function skip(title: string, actual: string): Outcome {
  return { verdict: 'skipped', title, expected: 'to be tried', actual }
}

/**
 * Returns why the check must not run: it could move real money, or the chain cannot be read. Returns null if the check
 * may run.
 */
async function findRefusal(
  { chains: { test, live } }: Config,
  chain: ReturnType<typeof openChainView>,
): Promise<string | null> {
  if (!TEST_CHAINS.includes(test.chainId) || test.chainId === live.chainId) {
    return `Refused: chain ${test.chainId} is not a known test chain. This check never runs on a chain where USDC is real money.`
  }
  const actual = await chain.readChainId().catch(() => null)
  if (actual === null) return 'The first node of TEST_RPC_URLS does not respond. Run `npm run doctor` for details.'
  if (actual === BigInt(test.chainId)) return null
  return `Refused: the first node of TEST_RPC_URLS is on chain ${actual}, not on ${test.chainId}.`
}
