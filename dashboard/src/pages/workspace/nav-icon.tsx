import type { PageIcon } from './workspace-pages.ts'

const PATHS: Readonly<Record<PageIcon, string>> = {
  overview: 'M3 10.5 10 4l7 6.5V16a1 1 0 0 1-1 1h-4v-4.5H8V17H4a1 1 0 0 1-1-1z',
  payments: 'M4 7h12m0 0-3-3m3 3-3 3M16 13H4m0 0 3-3m-3 3 3 3',
  statements: 'M5 3.5h7l3 3V16.5H5zM12 3.5v3h3M7.5 10h5m-5 3h5',
  agents: 'M5 8h10v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 5 15zM10 8V4.5m-2 0h4M8 11.5v1m4-1v1M5 11H3m14 0h-2',
  grants: 'm10 3 6 2.2v4.3c0 3.6-2.4 6.1-6 7.5-3.6-1.4-6-3.9-6-7.5V5.2zM7.5 10l1.8 1.8 3.4-3.6',
  wallets:
    'M4 6.5h11.5A1.5 1.5 0 0 1 17 8v7a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 3 15V6a1.5 1.5 0 0 1 1.5-1.5H14v2M13.5 11.5h.01',
  recipients:
    'M4 4.5h12v11.5H4zM2.5 8H5m-2.5 4.5H5M10 9.8a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM7 13.8c.5-1.6 1.6-2.3 3-2.3s2.5.7 3 2.3',
  keys: 'M12.5 11a3.7 3.7 0 1 0-3.5-2.5L3.5 14v2.5H6V15h1.5v-1.5H9L10.2 10.7A3.7 3.7 0 0 0 12.5 11zM13.5 6.5h.01',
  webhooks: 'M7.5 9 10 4.8a2.4 2.4 0 1 1 2.3 3.4M8 14h5a2.4 2.4 0 1 1 1-4.4M11.8 7.5l2.3 4M5 10a2.5 2.5 0 1 0 2.8 4',
  events: 'M11 3 5 11.5h4.5L9 17l6-8.5h-4.5z',
  connections: 'M8 5H5.5A1.5 1.5 0 0 0 4 6.5v8A1.5 1.5 0 0 0 5.5 16h8a1.5 1.5 0 0 0 1.5-1.5V12M11 4h5v5m0-5-7 7',
  examples: 'm7 6-4 4 4 4m6-8 4 4-4 4M11.2 4.5l-2.4 11',
  members:
    'M8 9.5A2.7 2.7 0 1 0 8 4a2.7 2.7 0 0 0 0 5.5zM3 16c.4-2.8 2.3-4.2 5-4.2s4.6 1.4 5 4.2M13 4.3a2.6 2.6 0 0 1 0 5M14.5 12c1.5.5 2.3 1.8 2.5 4',
  settings:
    'M3.5 6h6m4 0h3M3.5 14h3m4 0h6M11.5 4.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM8.5 12.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z',
  plan: 'M4 15.5V11m4 4.5V8m4 7.5V5m4 10.5v-6M3 17h14',
  audit: 'M6 3.5h8.5V16.5H6A1.5 1.5 0 0 1 4.5 15V5A1.5 1.5 0 0 1 6 3.5zM7.5 7.5h4.5m-4.5 3h4.5m-4.5 3h3',
}

/** The icon of a page in the navigation. */
export function NavIcon({ icon }: { readonly icon: PageIcon }) {
  return (
    <svg
      viewBox="0 0 20 20"
      className="size-[1.125rem] shrink-0 fill-none stroke-current"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[icon]} />
    </svg>
  )
}
