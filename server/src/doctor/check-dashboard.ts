import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Finding } from './finding.ts'

/** The dashboard's files, without which the service does not start; a worker serves none. */
export async function checkDashboard({ role, dashboardDir }: Config): Promise<readonly Finding[]> {
  if (role === 'worker') return []
  const name = 'dashboard'
  try {
    await access(join(dashboardDir, 'index.html'))
    return [{ level: 'ok', name, seen: 'built' }]
  } catch {
    return [{ level: 'fail', name, seen: 'not built', todo: 'Run `npm run build`, or correct DASHBOARD_DIR.' }]
  }
}
