import { join } from 'node:path'
import type { Mode } from '../addresses.ts'

/** The folders in a data directory. The code that writes files next to these folders defines the files' names. */
export const DATA_FOLDERS = {
  // Deleted before the database: with the checkpoint of another database, the server does not start.
  checkpoint: 'checkpoint',
  postgres: 'postgres',
  chains: 'chains',
  enclave: 'enclave',
  logs: 'logs',
} as const

export function postgresDir(dataDir: string): string {
  return join(dataDir, DATA_FOLDERS.postgres, 'data')
}

export function chainFile(dataDir: string, mode: Mode): string {
  return join(dataDir, DATA_FOLDERS.chains, mode)
}

export function enclaveDir(dataDir: string): string {
  return join(dataDir, DATA_FOLDERS.enclave)
}

/** Where the server keeps the newest checkpoint of its transparency log, apart from the database. */
export function checkpointFile(dataDir: string): string {
  return join(dataDir, DATA_FOLDERS.checkpoint, 'log')
}

export function logFile(dataDir: string, program: 'server' | 'enclave' | 'control' | 'seller'): string {
  return join(dataDir, DATA_FOLDERS.logs, `${program}.log`)
}
