import { Link, useLocation } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { inMode } from '../navigation/paths.ts'

const MODES = [
  { mode: 'test', text: 'Test' },
  { mode: 'live', text: 'Live' },
] as const

/**
 * Links to the current page's list in test mode and in live mode. Live mode moves real money, so it has its own colour
 * here and in the banner.
 */
export function ModeSwitch({ slug, mode }: { readonly slug: string; readonly mode: Mode }) {
  const { pathname } = useLocation()
  return (
    <nav aria-label="Mode" className="rounded-lg border border-edge bg-sunken p-0.5">
      <ul className="flex">
        {MODES.map((choice) => {
          const isCurrent = choice.mode === mode
          return (
            <li key={choice.mode}>
              <Link
                to={inMode(pathname, slug, choice.mode)}
                aria-current={isCurrent ? 'true' : undefined}
                className={`flex min-h-9 items-center rounded-md whitespace-nowrap px-3 text-sm font-semibold ${isCurrent ? CURRENT[mode] : 'text-muted hover:text-ink'}`}
              >
                {choice.text}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const CURRENT: Readonly<Record<Mode, string>> = {
  test: 'bg-test text-on-test',
  live: 'bg-live text-on-live',
}

/** Shown above every page of a workspace. Text, colour and pattern tell the modes apart. */
export function ModeBanner({ mode, isConnected }: { readonly mode: Mode; readonly isConnected: boolean }) {
  return (
    <div
      className={`flex flex-wrap items-center justify-center gap-x-4 gap-y-0.5 px-4 text-center py-1 text-sm font-semibold ${BANNERS[mode].className}`}
    >
      <p>{BANNERS[mode].text}</p>
      <p role="status" className="empty:absolute">
        {!isConnected && (
          <span className="rounded-full border border-current px-2.5 py-0.5">Connection lost. Reconnecting…</span>
        )}
      </p>
    </div>
  )
}

const BANNERS = {
  test: {
    text: 'Test mode: no real money',
    className: 'mode-stripes border-y border-line text-test-ink',
  },
  live: { text: 'Live mode: real money', className: 'bg-live text-on-live' },
} as const
