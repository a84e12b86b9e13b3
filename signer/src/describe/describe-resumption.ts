import { cleanText } from '../clean-text.ts'
import type { ResumedGrant, Resumption } from '../decode/resumption.ts'
import type { Claims } from '../read-message.ts'
import type { Description, Fact } from './description.ts'
import { formatAmount, formatTime } from './format.ts'
import { nameAddress } from './name-address.ts'

/** At most this many grants are described one by one. The others are only counted, and the page says so. */
const GRANTS_SHOWN_MAX = 200
const QUOTATION_MARK = /[\p{Quotation_Mark}\u{2BA}\u{2033}]/gu
/** First strong isolate and pop directional isolate: a name in between cannot change the order of the text around it. */
const [ISOLATE, END] = ['\u2068', '\u2069']

/** Describes which grants allow payments again, wallet by wallet. */
export function describeResumption({ grants }: Resumption, claims: Claims): Description {
  const count = grants.length === 1 ? '1 grant' : `${grants.length} grants`
  const shown = grants.slice(0, GRANTS_SHOWN_MAX)
  const hidden = grants.length - shown.length
  const byWallet = Map.groupBy(shown, ({ wallet }) => wallet)
  return {
    title: `Resume ${count}`,
    summary: `${grants.length === 1 ? 'This grant was' : 'These grants were'} stopped. After this, the ${
      new Set(grants.map(({ agentId }) => agentId)).size === 1 ? 'agent' : 'agents'
    } can pay again, within the same limits as before.`,
    facts: [
      ...[...byWallet].map(([wallet, own]): Fact => {
        return {
          label: 'Wallet',
          lines: [nameAddress(wallet, claims), ...own.map((grant) => ({ text: formatGrant(grant) }))],
        }
      }),
      ...(hidden === 0
        ? []
        : [
            {
              label: 'More',
              lines: [
                {
                  text:
                    hidden === 1
                      ? '1 more grant, which is not listed here'
                      : `${hidden} more grants, which are not listed here`,
                },
              ],
            },
          ]),
    ],
    warnings: ['Sign only if you know why the payments were stopped, and that this reason is gone.'],
    button: grants.length === 1 ? 'Sign and resume the grant' : 'Sign and resume the grants',
  }
}

function formatGrant({ agentId, amountMax, dailyMax, recipients, endsAt, hasPurchases }: ResumedGrant): string {
  const agent = `${ISOLATE}“${cleanText(agentId).replaceAll(QUOTATION_MARK, '’')}”${END}`
  const parts = [
    `up to ${formatAmount(amountMax)} USDC in a payment`,
    `${formatAmount(dailyMax)} USDC in 24 hours`,
    recipients === null ? 'to anybody' : recipients === 1 ? 'to 1 recipient' : `to ${recipients} recipients`,
    ...(hasPurchases ? ['purchases allowed'] : []),
    ...(endsAt === null ? [] : [`until ${formatTime(endsAt)}`]),
  ]
  return `Agent ${agent}: ${parts.join(', ')}`
}
