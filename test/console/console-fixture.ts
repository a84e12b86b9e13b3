import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { Account } from '../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import type { Role } from '../../server/src/values/role.ts'
import { seedAccount } from '../support/context/connection-rows.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

/** A person who is signed in to the dashboard, and their workspace. */
export interface ConsoleFixture {
  readonly account: Account
  readonly browser: Browser
  readonly userId: string
  readonly passkey: SoftwarePasskey
  /** Returns the path of one of the workspace's endpoints. */
  at(path: string): string
}

/** Signs up a new person, and makes them a member of the given workspace, or of a new one. */
export async function openConsoleFixture(
  server: ConsoleServer,
  { role = 'owner', account: given, name }: { role?: Role; account?: Account; name?: string } = {},
): Promise<ConsoleFixture> {
  const { browser, userId, passkey } = await openVisitor(server, name)
  const account = given ?? (await seedAccount(server.context))
  await addMember(server.context, { account, userId, role, actor: OPERATOR })
  const at = (path: string) => `/console/workspaces/${account.slug}${path === '' ? '' : `/${path}`}`
  return { account, browser, userId, passkey, at }
}
