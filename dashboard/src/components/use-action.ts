import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'

/** After a success, the same action is ignored for this long, so the second click of a double click does nothing. */
const COOLDOWN_MS = 500

/**
 * A mutation for a button or a form that starts only once, however fast the user clicks. `isPending` alone is not
 * enough: it disables the button only after the next render, which is too late for a fast second click.
 */
export function useAction<Data = unknown, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const mutation = useMutation(options)
  const isRunning = useRef(false)
  const lastDone = useRef<{ readonly variables: unknown } | null>(null)
  const { mutateAsync } = mutation
  const mutate = useCallback<typeof mutation.mutate>(
    (...args) => {
      const [variables] = args
      if (isRunning.current || (lastDone.current !== null && isSameAction(lastDone.current.variables, variables)))
        return
      isRunning.current = true
      const release = () => {
        isRunning.current = false
      }
      const finish = () => {
        const done = { variables }
        release()
        lastDone.current = done
        setTimeout(() => {
          if (lastDone.current === done) lastDone.current = null
        }, COOLDOWN_MS)
      }
      // The mutation reports the error. Here a failure only allows an immediate retry.
      mutateAsync(...args).then(finish, release)
    },
    [mutateAsync],
  )
  return { ...mutation, mutate }
}

/** Forms build a new object for each submission, so all objects count as the same action. */
function isSameAction(before: unknown, now: unknown): boolean {
  return Object.is(before, now) || (typeof now === 'object' && now !== null)
}
