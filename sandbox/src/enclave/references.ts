import { invalidData } from './errors.ts'
import type { Store } from './store.ts'

/**
 * What a send gets whose reference id an earlier send has: an error, or a second transaction with the same reference id.
 * The provider documents that reference ids must be unique, and not what happens if they are not.
 */
export const REPEATED_REFERENCES = ['collide', 'allow'] as const
export type RepeatedReference = (typeof REPEATED_REFERENCES)[number]

export type References = ReturnType<typeof createReferences>

/** Keeps what happens to a repeated reference id. The sandbox can change it while the enclave runs. */
export function createReferences(store: Pick<Store, 'listByReference'>) {
  let repeated: RepeatedReference = 'collide'
  return {
    choose: (next: RepeatedReference): void => {
      repeated = next
    },
    /** Throws 400 `invalid_data` if an earlier send has this reference id, and repeated ones collide. */
    check: (referenceId: string | null | undefined): void => {
      if (typeof referenceId !== 'string' || repeated === 'allow') return
      if (store.listByReference(referenceId).length > 0) throw invalidData('reference_id must be unique')
    },
  }
}
