import { openState } from '../../../sandbox/src/state/sandbox-state.ts'
import {
  restoreSoftwarePasskey,
  type SoftwarePasskey,
  type StoredPasskey,
} from '../../../sandbox/src/software-passkey.ts'
import { readConfig } from '../../../server/src/config.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { openContext } from '../../../server/src/service.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { findWorkspaceBySlug } from '../../../server/src/domain/workspaces/workspaces-store.ts'
import { addMember } from '../../../server/src/domain/members/add-member.ts'
import { Browser } from '../../console/browser.ts'
import { signUpPerson } from '../context/people.ts'
import type { Answer } from '../http-client.ts'
import type { PayerFixture } from './payer-fixture.ts'
import type { SandboxFixture } from './sandbox-fixture.ts'

export interface WireWithdrawal {
  readonly request_id: string
  readonly request: { readonly payload: string; readonly expires_at: string }
  readonly amount_usdc: string
  readonly balance_usdc: string
  readonly pending_usdc: string
}

export interface WirePaymentRow {
  readonly id: string
  readonly kind: string
  readonly status: string
  readonly tx_hash: string | null
  readonly agent_id: string | null
  readonly [member: string]: unknown
}

/** The dashboard session of an owner of a payer's workspace, and the wallet passkey that owns the payer's wallet. */
export interface WithdrawerFixture {
  readonly browser: Browser
  readonly passkey: SoftwarePasskey
  /** Returns the path of one of the workspace's endpoints. */
  at(path: string): string
  issue(wanted: {
    readonly to: string
    readonly amount_usdc: string | null
    readonly wallet?: string
  }): Promise<WireWithdrawal>
  /** Submits the owner's signature. */
  sign(issued: WireWithdrawal): Promise<Answer>
}

/** Signs up a person and makes them an owner of the payer's workspace. Calls the service's functions directly. */
export async function openWithdrawer(
  fixture: Pick<SandboxFixture, 'dataDir' | 'sandbox' | 'baseUrl' | 'environment'>,
  payer: Pick<PayerFixture, 'slug' | 'mode' | 'wallet'>,
): Promise<WithdrawerFixture> {
  const { dataDir, sandbox, baseUrl } = fixture
  const passkey = openWalletOwner(dataDir, payer.slug)
  const browser = new Browser({ url: baseUrl, config: { authUrl: sandbox.facts.auth_url } })
  await signInNewOwner(fixture, payer.slug, browser)
  const at = (path: string): string => `/console/workspaces/${payer.slug}/${path}`
  return {
    browser,
    passkey,
    at,
    issue: (wanted) =>
      browser.ask('POST', at('withdrawals'), { mode: payer.mode, wallet: payer.wallet, ...wanted }, 201),
    sign: ({ request_id: id, request }) => {
      const response = passkey.assert(Buffer.from(request.payload, 'base64url'))
      return browser.call('POST', at(`withdrawals/${id}/signature`), { response })
    },
  }
}

/** Signs a new owner of the workspace in to a browser. */
export async function signInNewOwner(
  fixture: Pick<SandboxFixture, 'environment'>,
  slug: string,
  browser: Browser,
): Promise<void> {
  const opened = openContext(readConfig(fixture.environment()), {
    clock: createClock(),
    logger: createLogger('silent'),
  })
  try {
    const workspace = await opened.context.db.read(findWorkspaceBySlug(slug))
    if (workspace === null) throw new Error('the workspace does not exist')
    const { userId, secret } = await signUpPerson(opened.context)
    await addMember(opened.context, { workspace, userId, role: 'owner', actor: OPERATOR })
    browser.cookies.set('session', secret)
  } finally {
    await opened.close()
  }
}

/**
 * Returns the wallet passkey that the sandbox has of a workspace's owner. The sandbox signs with it too, for example for
 * another wallet. So each signature continues from the sandbox's counter: a counter that goes back means a copied
 * passkey. After a signature by this passkey, the sandbox must not sign again.
 */
function openWalletOwner(dataDir: string, slug: string): SoftwarePasskey {
  const read = (): StoredPasskey => {
    const stored = openState(dataDir).current.walletOwners[slug]
    if (stored === undefined) throw new Error('the sandbox does not have the wallet passkey')
    return stored
  }
  let { counter } = read()
  return {
    ...restoreSoftwarePasskey(read()),
    assert(challenge) {
      const stored = read()
      const passkey = restoreSoftwarePasskey({ ...stored, counter: Math.max(counter, stored.counter) })
      const assertion = passkey.assert(challenge)
      counter = passkey.counter
      return assertion
    },
  }
}
