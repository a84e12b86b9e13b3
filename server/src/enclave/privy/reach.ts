import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { EnclaveOutOfReach } from '../errors.ts'

/** The enclave is out of reach when calls have failed for this long, without a single response in between. */
export const OUT_OF_REACH_MS = 5_000
/** While it is, it is tried again at most this often, when a payment asks for it. */
export const PROBE_EVERY_MS = 1_000
/**
 * Statuses with which a gateway or content delivery network in front of the enclave says that it got no response: those
 * of RFC 9110, and 520 to 530 of Cloudflare. 503 is not one of them, because the enclave itself may be busy.
 */
const NO_RESPONSE_STATUSES: ReadonlySet<number> = new Set([
  502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 528, 529, 530,
])

/** Whether this process can reach the enclave, by what happened to its calls. */
export interface Reach {
  /** Records what happened to a call: the status of its response, or null if there was none. */
  observe(status: number | null): void
  /**
   * Throws `EnclaveOutOfReach` if the enclave is out of reach. Tries the enclave first, so that work goes on as soon as
   * it is back. Costs nothing while it is in reach.
   */
  requireInReach(): Promise<void>
}

/** `probe` makes a call to the enclave that changes nothing, and that is observed too. */
export function createReach(probe: () => Promise<unknown>, { clock, logger }: { clock: Clock; logger: Logger }): Reach {
  /** The first and the last failure since the last response. */
  let failures: { readonly firstMs: number; readonly lastMs: number } | null = null
  let probing: Promise<void> | null = null
  let probedMs = Number.NEGATIVE_INFINITY

  const isOut = (): boolean => failures !== null && failures.lastMs - failures.firstMs >= OUT_OF_REACH_MS

  const runProbe = async (): Promise<void> => {
    // What happened is observed by the call itself.
    await probe().catch(() => undefined)
    probedMs = clock.now().getTime()
    probing = null
  }

  return {
    observe(status) {
      const wasOut = isOut()
      const nowMs = clock.now().getTime()
      const failed = status === null || NO_RESPONSE_STATUSES.has(status)
      failures = failed ? { firstMs: failures?.firstMs ?? nowMs, lastMs: nowMs } : null
      if (isOut() && !wasOut) logger.error('the enclave is out of reach: new payments are turned away until it is back')
      if (wasOut && !isOut()) logger.warn('the enclave is in reach again')
    },
    async requireInReach() {
      if (!isOut()) return
      if (Math.abs(clock.now().getTime() - probedMs) >= PROBE_EVERY_MS) probing ??= runProbe()
      await probing
      if (isOut()) throw new EnclaveOutOfReach()
    },
  }
}
