import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Abi } from 'viem'

export type Artifact = {
  readonly contract: string
  readonly compiler: string
  readonly settings: ReturnType<typeof formatSettings>
  /** The SHA-256 hash of each source by file name. The names are sorted. */
  readonly sources: Readonly<Record<string, string>>
  readonly abi: Abi
  readonly bytecode: `0x${string}`
}

type Solc = {
  version(): string
  compile(input: string, callbacks: { import(name: string): { contents: string } | { error: string } }): string
}

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

/** The sandbox's own contracts. Each one is `contracts/<name>.sol`, and is compiled to the JSON file named here. */
export const CONTRACTS = [
  { name: 'Usdc', file: 'contracts/usdc.json' },
  { name: 'EntryPoint', file: 'contracts/entry-point.json' },
  { name: 'DelegateAccount', file: 'contracts/delegate-account.json' },
] as const

export type ContractName = (typeof CONTRACTS)[number]['name']

// OpenZeppelin 5.7 uses the instruction mcopy, which Cancun supports. Source names are relative and the code contains
// no metadata, so every checkout compiles to the same bytes.
const formatSettings = (name: ContractName) => ({
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { [formatSource(name)]: { [name]: ['abi', 'evm.bytecode.object'] } },
})

const formatSource = (name: ContractName): string => `contracts/${name}.sol`

const require = createRequire(import.meta.url)

/** Compiles one of the contracts. @throws Error with the compiler's messages if there are errors or warnings. */
export const compileContract = (name: ContractName): Artifact => {
  const source = formatSource(name)
  const settings = formatSettings(name)
  const solc = require('solc') as Solc
  const sources: Record<string, string> = {}
  const read = (sourceName: string, file: string | URL): string => {
    const content = readFileSync(file, 'utf8')
    sources[sourceName] = createHash('sha256').update(content).digest('hex')
    return content
  }
  const input = {
    language: 'Solidity',
    sources: { [source]: { content: read(source, new URL(`../${source}`, import.meta.url)) } },
    settings,
  }
  const callbacks = { import: (imported: string) => ({ contents: read(imported, require.resolve(imported)) }) }
  const output = JSON.parse(solc.compile(JSON.stringify(input), callbacks)) as Output
  const complaints = output.errors ?? []
  if (complaints.length > 0) throw new Error(complaints.map((error) => error.formattedMessage).join('\n'))
  const contract = output.contracts?.[source]?.[name]
  if (contract === undefined) throw new Error('the compiler answered no contract')
  return {
    contract: source,
    compiler: solc.version(),
    settings,
    sources: Object.fromEntries(Object.entries(sources).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    abi: contract.abi,
    bytecode: `0x${contract.evm.bytecode.object}`,
  }
}

/** Returns the content of a contract's JSON file. */
export const formatArtifact = (artifact: Artifact): string => `${JSON.stringify(artifact, null, 2)}\n`
