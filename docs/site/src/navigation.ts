/** The sections of the site in the order in which the menu shows them, with the paths of their pages. */
export const NAVIGATION: readonly { readonly title: string; readonly paths: readonly string[] }[] = [
  { title: 'Start', paths: ['index', 'quickstart', 'sandbox', 'dashboard'] },
  {
    title: 'Connect an agent host',
    paths: [
      'hosts/any-mcp-host',
      'hosts/claude-code',
      'hosts/claude',
      'hosts/chatgpt',
      'hosts/cursor',
      'hosts/vs-code',
      'hosts/oauth-by-hand',
    ],
  },
  {
    title: 'Concepts',
    paths: ['concepts/grants', 'concepts/limits', 'concepts/payments', 'concepts/purchases', 'concepts/ledger'],
  },
  { title: 'Build', paths: ['sdk', 'cli', 'retries', 'x402', 'webhooks'] },
  {
    title: 'Operate',
    paths: [
      'operate/install',
      'operate/settings',
      'operate/going-live',
      'operate/monitoring',
      'operate/runbook',
      'operate/backups',
      'operate/upgrades',
      'operate/several-processes',
      'operate/database-servers',
      'operate/signer-page',
    ],
  },
  {
    title: 'Reference',
    paths: [
      'reference/agents',
      'reference/payments',
      'reference/purchases',
      'reference/wallets',
      'reference/ledger',
      'reference/events',
      'reference/identity',
      'reference/webhooks',
      'reference/objects',
      'reference/errors',
      'reference/command-line',
      'reference/control-api',
    ],
  },
  { title: 'Background', paths: ['threat-model', 'glossary'] },
]
