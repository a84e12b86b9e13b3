import { computed } from '../../../db/column.ts'
import { one, type Query } from '../../../db/query.ts'
import { textOfMode } from '../../../db/bounded-scan-query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Steps } from './overview.ts'

const { bool } = computed
const STEPS_ROW = { wallet: bool, deposit: bool, agent: bool, signed: bool, key: bool, payment: bool }

const stepsText = textOfMode('find_steps', (mode) => {
  const place = `workspace_id = $1 and mode = ${mode}`
  return `select
      exists (select 1 from wallets where ${place}) as wallet,
      exists (select 1 from deposits where ${place}) as deposit,
      exists (select 1 from agents where ${place} and deleted_at is null) as agent,
      exists (select 1 from grants where ${place} and activated_at is not null) as signed,
      exists (select 1 from api_keys where ${place}) as key,
      exists (select 1 from payments where ${place} and kind <> 'withdrawal') as payment`
})

/** Finds which steps of the setup are done. Each step needs one look-up in an index. */
export function findSteps(workspaceId: string, mode: Mode): Query<Steps> {
  return {
    ...stepsText(mode),
    values: [workspaceId],
    read: one(STEPS_ROW, ({ wallet, deposit, agent, signed, key, payment }) => ({
      wallet,
      deposit,
      agent,
      grant: signed,
      key,
      payment,
    })),
  }
}
