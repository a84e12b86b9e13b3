import type { Right } from '@bursar/server/src/values/role.ts'

/** Something that a member can begin from the command palette. */
interface WorkspaceAction {
  readonly text: string
  /** Other words by which the action is found. */
  readonly words: string
  /** The page on which the action happens. `#new` opens the page's form. */
  readonly parts: readonly string[]
  readonly hash?: string
  readonly needs: Right
}

export const WORKSPACE_ACTIONS: readonly WorkspaceAction[] = [
  { text: 'Stop all agents', words: 'suspend pause emergency stop agents', parts: ['stop'], needs: 'manageGrants' },
  { text: 'New grant', words: 'create grant limit allow', parts: ['grants', 'new'], needs: 'manageGrants' },
  { text: 'New agent', words: 'create agent', parts: ['agents'], hash: '#new', needs: 'manageAgents' },
  { text: 'New wallet', words: 'create wallet', parts: ['wallets'], hash: '#new', needs: 'manageWallets' },
  { text: 'New API key', words: 'create API key', parts: ['developers', 'keys'], hash: '#new', needs: 'manageKeys' },
  {
    text: 'New webhook endpoint',
    words: 'create webhook endpoint',
    parts: ['developers', 'webhooks'],
    hash: '#new',
    needs: 'manageWebhooks',
  },
  { text: 'Name a recipient', words: 'new create label', parts: ['recipients'], needs: 'labelRecipients' },
  { text: 'Invite a member', words: 'add person team', parts: ['members'], needs: 'manageMembers' },
  { text: 'Export payments', words: 'csv download', parts: ['payments'], needs: 'read' },
]
