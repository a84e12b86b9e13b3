import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FOLDERS } from '../processes/data-dir-layout.ts'
import { endLeftovers, PROCESSES_FILE_NAME } from '../processes/process-record.ts'
import { FACTS_FILE_NAME } from './sandbox-facts.ts'
import { STATE_FILE_NAME } from './sandbox-state.ts'
import { takeDataDir } from './take-data-dir.ts'

/**
 * Removes what sandboxes made in a data directory, and the directory itself where nothing else is in it. Answers false when
 * there is none.
 *
 * @throws Error with one sentence when a sandbox runs on it, or it is not a sandbox's.
 */
export async function removeDataDir(
  dataDir: string,
  stopLeftovers: (dataDir: string) => Promise<void>,
): Promise<boolean> {
  if (!existsSync(dataDir)) return false
  if (readdirSync(dataDir).length > 0 && !existsSync(join(dataDir, STATE_FILE_NAME))) {
    throw new Error(
      `${dataDir} is not the data directory of a sandbox: it has no ${STATE_FILE_NAME}. Nothing was removed.`,
    )
  }
  const taken = takeDataDir(dataDir)
  try {
    await endLeftovers(dataDir)
    await stopLeftovers(dataDir)
    // The state goes last: it is by this file that an interrupted removal can be told from a stranger's folder.
    const names = [...Object.values(DATA_FOLDERS), FACTS_FILE_NAME, PROCESSES_FILE_NAME, STATE_FILE_NAME]
    for (const name of names) rmSync(join(dataDir, name), { recursive: true, force: true })
  } finally {
    taken.release()
  }
  if (readdirSync(dataDir).length === 0) rmdirSync(dataDir)
  return true
}
