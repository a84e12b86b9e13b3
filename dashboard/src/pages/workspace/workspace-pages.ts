/** The pages in the navigation of a workspace, in order. */
export const PAGE_GROUPS = [
  {
    title: null,
    pages: [
      { parts: [], text: 'Overview', icon: 'overview' },
      { parts: ['payments'], text: 'Payments', icon: 'payments' },
      { parts: ['statements'], text: 'Statements', icon: 'statements' },
    ],
  },
  {
    title: 'Spending',
    pages: [
      { parts: ['agents'], text: 'Agents', icon: 'agents' },
      { parts: ['grants'], text: 'Grants', icon: 'grants' },
      { parts: ['wallets'], text: 'Wallets', icon: 'wallets' },
      { parts: ['recipients'], text: 'Recipients', icon: 'recipients' },
    ],
  },
  {
    title: 'Developers',
    pages: [
      { parts: ['developers', 'keys'], text: 'API keys', icon: 'keys' },
      { parts: ['developers', 'webhooks'], text: 'Webhooks', icon: 'webhooks' },
      { parts: ['developers', 'events'], text: 'Events', icon: 'events' },
      { parts: ['developers', 'connections'], text: 'Connections', icon: 'connections' },
      { parts: ['developers', 'examples'], text: 'Examples', icon: 'examples' },
    ],
  },
  {
    title: 'Workspace',
    pages: [
      { parts: ['members'], text: 'Members', icon: 'members' },
      { parts: ['settings'], text: 'Settings', icon: 'settings' },
      { parts: ['plan'], text: 'Plan', icon: 'plan' },
      { parts: ['audit'], text: 'Audit log', icon: 'audit' },
    ],
  },
] as const

export type PageIcon = (typeof PAGE_GROUPS)[number]['pages'][number]['icon']
