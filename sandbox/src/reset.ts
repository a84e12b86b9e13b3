import { MODES } from './addresses.ts'
import { stopLeftoverNode } from './chain/leftover-node.ts'
import { readConfig, refuseArguments } from './config.ts'
import { stopLeftover } from './postgres/stop-leftover.ts'
import { chainFile, postgresDir } from './state/data-dir-layout.ts'
import { removeDataDir } from './state/remove-data-dir.ts'

// `npm run reset` deletes the sandbox's data, so that the next start is like the first one.

async function main(): Promise<number> {
  try {
    refuseArguments()
    const { dataDir } = readConfig()
    const isRemoved = await removeDataDir(dataDir, stopLeftovers)
    process.stdout.write(isRemoved ? `Removed ${dataDir}.\n` : `${dataDir} does not exist: nothing to remove.\n`)
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

/**
 * Stops processes that a killed sandbox left running. The states of its chains are not saved, because all data is
 * deleted.
 */
async function stopLeftovers(dataDir: string): Promise<void> {
  await stopLeftover(postgresDir(dataDir))
  for (const mode of MODES) await stopLeftoverNode(chainFile(dataDir, mode), () => Promise.resolve())
}

process.exit(await main())
