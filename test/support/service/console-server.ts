import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { Config } from '../../../server/src/config.ts'
import { addApi } from '../../../server/src/api/add-api.ts'
import { addConsole } from '../../../server/src/console/add-console.ts'
import { openHttp } from '../../../server/src/http/open-http.ts'
import { checkResponses } from './check-responses.ts'
import { openFront } from './front.ts'
import { openTestContext, type TestContext } from '../context/test-context.ts'

export const PAGE = '<!doctype html><title>Bursar</title><div id="root"></div>'
export const ASSET = 'export {}'

export interface ConsoleServer extends TestContext {
  readonly url: string
  /** The `Host` header that a browser sends. With any other host name, the dashboard is not served. */
  readonly host: string
}

/**
 * Serves `/v1` and `/console` on a free port, with a fresh database. The dashboard's files are replaced by one page and
 * one asset.
 */
export async function openConsoleServer(
  change: (config: Config) => Config = (config) => config,
): Promise<ConsoleServer> {
  const dashboardDir = await makeDashboard()
  const given = await openTestContext((config) => change({ ...config, dashboardDir, trustedProxies: ['127.0.0.1'] }))
  const { context, config } = given
  const http = openHttp(config, context)
  const assertChecked = checkResponses(http)
  await addApi(http, context, config)
  await addConsole(http, context, config)
  await http.listen({ host: '127.0.0.1', port: 0 })
  const front = await openFront(`http://127.0.0.1:${(http.server.address() as AddressInfo).port}`)
  return {
    ...given,
    url: front.url,
    host: new URL(config.authUrl).host,
    async close() {
      await front.close()
      await http.close()
      await given.close()
      await rm(dashboardDir, { recursive: true })
      assertChecked()
    },
  }
}

async function makeDashboard(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-dashboard-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), PAGE)
  await writeFile(join(folder, 'assets', 'main-1a2b.js'), ASSET)
  await writeFile(join(folder, 'assets', 'main-1a2b.js.br'), brotliCompressSync(ASSET))
  return folder
}
