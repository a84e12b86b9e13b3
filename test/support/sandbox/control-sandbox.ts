import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { FEW_SLOTS } from '../few-slots.ts'
import { prepareSandbox } from './prepared-sandbox.ts'
import { share } from './share.ts'

/** Opens the sandbox that several test files of the control API share. They may move its clock and change its chains. */
export function openControlSandbox(): Promise<ThrowAwaySandbox> {
  return share('sandbox of the control API', async () => {
    const sandbox = await startThrowAwaySandbox({
      prepared: await prepareSandbox(),
      memory: 'large',
      walletSlots: FEW_SLOTS,
    })
    return { ...sandbox, close: () => sandbox.remove() }
  })
}
