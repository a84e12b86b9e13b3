import { quoteShell } from '../../format/quote-shell.ts'

/** A command or a configuration file, to be copied. */
export interface HostCode {
  /** What it is, such as `Command` or a file's path. */
  readonly what: string
  /** What the copy button copies, such as "the command". */
  readonly copied: string
  readonly code: string
}

/** How to add the MCP server to one agent host: an application that runs agents. */
export interface AgentHost {
  readonly id: string
  readonly name: string
  /** Who runs the host's servers, from which it calls us. Null for a host that runs on the person's own computer. */
  readonly hostedBy: string | null
  readonly code: readonly HostCode[]
  /** What the person does in the host, in order. If there is code, these steps come after it. */
  readonly steps: readonly string[]
  /** What the person should know beforehand. */
  readonly note?: string
  /** How to add the server with an API key instead of a sign-in. Missing if the host accepts no key. */
  readonly withKey?: { readonly code: HostCode; readonly note: string }
}

/** The name of the server in the host's settings. */
const NAME = 'bursar'
/** The environment variable that the examples read the API key from. */
const KEY_VARIABLE = 'BURSAR_KEY'
const FROM_ENVIRONMENT = `In the environment from which you start the host, set ${KEY_VARIABLE} to the API key.`

/** The agent hosts, with commands and files for the MCP server at this URL. */
export function listAgentHosts(mcpUrl: string): readonly AgentHost[] {
  return [
    claudeCode(mcpUrl),
    CLAUDE,
    CHATGPT,
    codex(mcpUrl),
    cursor(mcpUrl),
    visualStudioCode(mcpUrl),
    otherHost(mcpUrl),
  ]
}

function claudeCode(mcpUrl: string): AgentHost {
  const command = `claude mcp add --transport http ${NAME} ${quoteShell(mcpUrl)}`
  return {
    id: 'claude-code',
    name: 'Claude Code',
    hostedBy: null,
    code: [commandOf(command)],
    steps: [
      'In Claude Code, enter /mcp, choose bursar, and choose Authenticate.',
      'Your browser opens Bursar. Choose the agent, and approve.',
    ],
    withKey: {
      code: commandOf(`${command} --header "Authorization: Bearer $${KEY_VARIABLE}"`),
      note: `Set ${KEY_VARIABLE} in your shell first. Claude Code stores the key in its settings.`,
    },
  }
}

const CLAUDE: AgentHost = {
  id: 'claude',
  name: 'Claude',
  hostedBy: 'Anthropic',
  code: [],
  steps: [
    'In Claude on the web or in the desktop app, open Customize and then Connectors. Some versions have Connectors under Settings.',
    'Choose +, then “Add custom connector”. Enter the name Bursar and the MCP URL, and choose Add.',
    'Choose Connect beside Bursar. Your browser opens Bursar. Choose the agent, and approve.',
  ],
  note: 'On Team and Enterprise plans, an owner of the organization adds the connector first. Each member then connects it.',
}

const CHATGPT: AgentHost = {
  id: 'chatgpt',
  name: 'ChatGPT',
  hostedBy: 'OpenAI',
  code: [],
  steps: [
    'In ChatGPT on the web, open Settings, then Apps, then Advanced settings, and turn on Developer mode. Some versions call Apps “Connectors” or “Apps & Connectors”.',
    'Go back to Apps and choose Create. Enter the name Bursar and the MCP URL, and choose OAuth as the authentication.',
    'Choose Create. Your browser opens Bursar. Choose the agent, and approve.',
  ],
  note: 'Some ChatGPT plans let apps only read. Payments need a plan that lets apps make changes. In a company’s workspace, an admin must allow Developer mode.',
}

function codex(mcpUrl: string): AgentHost {
  const file = (...lines: readonly string[]) => ({
    what: '~/.codex/config.toml',
    copied: 'the lines for config.toml',
    code: [`[mcp_servers.${NAME}]`, `url = ${JSON.stringify(mcpUrl)}`, ...lines].join('\n'),
  })
  return {
    id: 'codex',
    name: 'Codex',
    hostedBy: null,
    code: [
      commandOf(`codex mcp add ${NAME} --url ${quoteShell(mcpUrl)}\ncodex mcp login ${NAME}`, 'Commands'),
      { ...file(), what: 'Or add this to ~/.codex/config.toml, and run the second command' },
    ],
    steps: ['Your browser opens Bursar. Choose the agent, and approve.'],
    withKey: { code: file(`bearer_token_env_var = "${KEY_VARIABLE}"`), note: FROM_ENVIRONMENT },
  }
}

function cursor(mcpUrl: string): AgentHost {
  const file = (server: object) => ({
    what: '~/.cursor/mcp.json',
    copied: 'the content of mcp.json',
    code: formatJson({ mcpServers: { [NAME]: server } }),
  })
  return {
    id: 'cursor',
    name: 'Cursor',
    hostedBy: null,
    code: [file({ url: mcpUrl })],
    steps: [
      'In Cursor’s settings, open the list of MCP servers, and log in to bursar.',
      'Your browser opens Bursar. Choose the agent, and approve.',
    ],
    withKey: {
      code: file({ url: mcpUrl, headers: { Authorization: `Bearer \${env:${KEY_VARIABLE}}` } }),
      note: FROM_ENVIRONMENT,
    },
  }
}

function visualStudioCode(mcpUrl: string): AgentHost {
  const server = { type: 'http', url: mcpUrl }
  const file = (content: object) => ({
    what: '.vscode/mcp.json',
    copied: 'the content of mcp.json',
    code: formatJson(content),
  })
  return {
    id: 'vs-code',
    name: 'VS Code',
    hostedBy: null,
    code: [
      commandOf(`code --add-mcp ${quoteShell(JSON.stringify({ name: NAME, ...server }))}`),
      { ...file({ servers: { [NAME]: server } }), what: 'Or put this into .vscode/mcp.json of a project' },
    ],
    steps: [
      'In VS Code, run “MCP: List Servers” from the command palette, choose bursar, and start it.',
      'Allow VS Code to sign in. Your browser opens Bursar. Choose the agent, and approve.',
    ],
    withKey: {
      code: file({
        inputs: [{ type: 'promptString', id: 'bursar-key', description: 'Bursar API key', password: true }],
        servers: { [NAME]: { ...server, headers: { Authorization: 'Bearer ${input:bursar-key}' } } },
      }),
      note: 'VS Code asks for the key when it first starts the server, and stores it safely.',
    },
  }
}

function otherHost(mcpUrl: string): AgentHost {
  return {
    id: 'other',
    name: 'Other',
    hostedBy: null,
    code: [],
    steps: [
      'Add the MCP URL as a remote MCP server. The transport is Streamable HTTP, which some hosts call HTTP.',
      'If the host supports OAuth, it opens Bursar in your browser. Choose the agent, and approve.',
    ],
    withKey: {
      code: {
        what: 'Server with a header',
        copied: 'the server with a header',
        code: formatJson({ url: mcpUrl, headers: { Authorization: 'Bearer YOUR_API_KEY' } }),
      },
      note: 'Some hosts use names other than url and headers. The header itself is always the same.',
    },
  }
}

/**
 * The link that opens Cursor and adds the server. Its parameter `config` is the server's entry in `mcp.json`, as JSON
 * in base64.
 */
export function cursorInstallLink(mcpUrl: string): string {
  const config = encodeURIComponent(btoa(JSON.stringify({ url: mcpUrl })))
  return `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${config}`
}

function commandOf(command: string, what = 'Command'): HostCode {
  return { what, copied: what === 'Command' ? 'the command' : 'the commands', code: command }
}

function formatJson(value: object): string {
  return JSON.stringify(value, null, 2)
}
