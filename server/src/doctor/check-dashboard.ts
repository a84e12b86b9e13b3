import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Finding } from './finding.ts'

/**
 * Checks that the dashboard's files exist. Without them the service does not start, except as a worker, which does not
 * serve the dashboard.
 */
export async function checkDashboard({ role, dashboardDir }: Config): Promise<readonly Finding[]> {
  if (role === 'worker') return []
  const name = 'dashboard'
  try {
    await access(join(dashboardDir, 'index.html'))
    return [{ level: 'ok', name, observed: 'built' }]
  } catch {
    return [{ level: 'fail', name, observed: 'not built', advice: 'Run `npm run build`, or correct DASHBOARD_DIR.' }]
  }
}
