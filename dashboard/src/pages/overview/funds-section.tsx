import { Link } from 'react-router'
import type { WalletFunds } from '@bursar/server/src/console/contract/overview.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useNow } from '../../components/use-now.ts'
import { toMicro } from '../../format/amount.ts'
import { sumFunds, NOT_READ } from '../../format/funds-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The wallets with the most money are shown. The page of the wallets lists all. */
const WALLETS_SHOWN_MAX = 5
/** A balance that is older than this gets its age, because the chain may be out of reach. */
const OLD_AFTER_MS = 3 * 60_000
const AGE_STEP_MS = 30_000

/** How much there is, and how much agents can still spend now: never more than there is. */
export function FundsSection({ wallets }: { readonly wallets: readonly WalletFunds[] }) {
  const { to } = useWorkspace()
  const shown = wallets
    .toSorted((left, right) => compare(balanceOf(right), balanceOf(left)))
    .slice(0, WALLETS_SHOWN_MAX)
  const more = wallets.length - shown.length
  return (
    <Section title="Money" actions={<TextLink to={to('wallets')}>All wallets</TextLink>}>
      <div className="overflow-hidden rounded-xl border border-line bg-surface">
        <dl className="grid gap-px bg-line sm:grid-cols-2">
          {sumFunds(wallets).map(({ title, usdc }) => (
            <div key={title} className="bg-surface px-5 py-4">
              <dt className="text-sm font-semibold text-muted">{title}</dt>
              {usdc === null ? (
                <dd className="text-lg text-muted">{NOT_READ}</dd>
              ) : (
                <dd className="text-2xl font-bold tracking-tight">
                  <AmountText isRounded usdc={usdc} />
                </dd>
              )}
            </div>
          ))}
        </dl>
        <ul className="divide-y divide-line border-t border-line">
          {shown.map((wallet) => (
            <WalletRow key={wallet.address} wallet={wallet} />
          ))}
          {more > 0 && (
            <li className="px-5 py-3 text-[0.9375rem]">
              <TextLink to={to('wallets')}>{`${more} more ${more === 1 ? 'wallet' : 'wallets'}`}</TextLink>
            </li>
          )}
        </ul>
      </div>
    </Section>
  )
}

function WalletRow({ wallet }: { readonly wallet: WalletFunds }) {
  const { to } = useWorkspace()
  const { address, name, balance_usdc, can_spend_usdc, limits_left_usdc } = wallet
  return (
    <li>
      <Link
        to={to('wallets', address)}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-0.5 px-5 py-3 hover:bg-sunken focus-visible:-outline-offset-2"
      >
        <span className="min-w-0 truncate font-semibold">
          <bdi>{name}</bdi>
        </span>
        <span className="text-right">
          {balance_usdc === null ? (
            <span className="text-muted">Not read yet</span>
          ) : (
            <AmountText isRounded isStrong usdc={balance_usdc} />
          )}
        </span>
        <span className="text-sm text-muted">
          <Age wallet={wallet} />
        </span>
        {can_spend_usdc !== null && (
          <span className="text-right text-sm text-muted">
            {toMicro(limits_left_usdc) === 0n ? (
              'agents can’t spend from it now'
            ) : (
              <>
                <AmountText isRounded usdc={can_spend_usdc} /> can still be spent
              </>
            )}
          </span>
        )}
      </Link>
    </li>
  )
}

/** When an old balance was read. The chain could not be reached since. */
function Age({ wallet: { read_at } }: { readonly wallet: WalletFunds }) {
  const now = useNow(AGE_STEP_MS)
  if (read_at === null || now - new Date(read_at).getTime() <= OLD_AFTER_MS) return null
  return (
    <>
      as of <TimeText at={read_at} isExact />
    </>
  )
}

function balanceOf({ balance_usdc }: WalletFunds): bigint {
  return balance_usdc === null ? -1n : toMicro(balance_usdc)
}

function compare(left: bigint, right: bigint): number {
  return left === right ? 0 : left > right ? 1 : -1
}
