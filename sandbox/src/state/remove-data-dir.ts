import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DATA_FOLDERS } from './data-dir-layout.ts'
import { endLeftovers, PROCESSES_FILE_NAME } from './process-record.ts'
import { FACTS_FILE_NAME } from './sandbox-facts.ts'
import { STATE_FILE_NAME } from './sandbox-state.ts'
import { takeDataDir } from './take-data-dir.ts'

/**
 * Deletes everything that sandboxes created in a data directory. Also deletes the directory itself if nothing else is
 * in it. Returns false if there is no such directory.
 *
 * @throws Error with one sentence if a sandbox is running on the directory, or if no sandbox created it.
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
    // The state file is deleted last. If the deletion is interrupted, this file shows that the folder belongs to a
    // sandbox.
    const names = [...Object.values(DATA_FOLDERS), FACTS_FILE_NAME, PROCESSES_FILE_NAME, STATE_FILE_NAME]
    for (const name of names) rmSync(join(dataDir, name), { recursive: true, force: true })
  } finally {
    taken.release()
  }
  if (readdirSync(dataDir).length === 0) rmdirSync(dataDir)
  return true
}
